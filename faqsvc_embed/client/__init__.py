"""Plain REST: read, list, publish, unpublish and generate FAQs. Nothing is cached.

Start with `client`, which has the methods for callers that wait, with their documentation. `methods` has
their asynchronous twins, which do the work of both, and sends their requests. The structs that they return
are in `api/contract.py`.
"""

from faqsvc_embed.api.contract import FAQSummary, Preview, Revision
from faqsvc_embed.api.publish_response import GeneratedItem, StoredRevision
from faqsvc_embed.client.client import FAQClient

__all__ = ["FAQClient", "FAQSummary", "GeneratedItem", "Preview", "Revision", "StoredRevision"]
