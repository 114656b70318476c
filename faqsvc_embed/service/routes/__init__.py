"""The routes of the service: one module for each path, whose handlers declare their `Operation`.

A handler takes the `ServiceContext` and the request, and returns a response or raises a `Problem`.
"""

from faqsvc_embed.service.http.operation import OPERATIONS
from faqsvc_embed.service.routes import (
    events,
    generate,
    health,
    history,
    hosted_pages,
    list_faqs,
    llms_txt,
    openapi,
    publish,
    read,
    removal,
    site_files,
)

__all__ = [
    "OPERATIONS",
    "events",
    "generate",
    "health",
    "history",
    "hosted_pages",
    "list_faqs",
    "llms_txt",
    "openapi",
    "publish",
    "read",
    "removal",
    "site_files",
]
