"""Plain REST: read, list, publish, unpublish and generate FAQs. Nothing is cached.

Start with `client`, which has the methods. `operations` makes their requests, `connection` sends these, and
`api/contract.py` has the structs that the methods return.
"""

from faqsvc_embed.api.contract import FAQSummary, Preview, Revision
from faqsvc_embed.api.publish_response import GeneratedItem, StoredRevision
from faqsvc_embed.client.client import FAQClient

__all__ = ["FAQClient", "FAQSummary", "GeneratedItem", "Preview", "Revision", "StoredRevision"]
