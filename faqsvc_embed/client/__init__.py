"""Plain REST: read, list, publish, unpublish and generate FAQs. Nothing is cached.

`client` has the methods, `connection` sends what they ask for. `api/contract.py` has the structs that they
return. Start with `client`.
"""

from faqsvc_embed.api.contract import FAQSummary, Preview, Revision
from faqsvc_embed.api.publish_response import StoredRevision
from faqsvc_embed.client.client import FAQClient

__all__ = ["FAQClient", "FAQSummary", "Preview", "Revision", "StoredRevision"]
