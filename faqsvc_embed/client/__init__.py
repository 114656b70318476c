"""Plain REST: read, list, publish, unpublish and generate FAQs. Nothing is cached.

Start with `methods`, which has one for each route; those of `client` do the same for callers that wait.
`connection` sends their requests.
The structs that they return are in `api/contract.py`.
"""

from faqsvc_embed.api.contract import FAQSummary, Preview, Revision
from faqsvc_embed.api.publish_response import GeneratedItem, StoredRevision
from faqsvc_embed.client.client import FAQClient

__all__ = ["FAQClient", "FAQSummary", "GeneratedItem", "Preview", "Revision", "StoredRevision"]
