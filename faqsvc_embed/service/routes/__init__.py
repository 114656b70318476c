"""The routes of the service. Each module has related routes, whose handlers declare their `Operation`.

A handler takes a `Call`, and returns a response or raises a `Problem`.
"""

from faqsvc_embed.service.http.operation import OPERATIONS
from faqsvc_embed.service.routes import events, openapi, owners, readers

__all__ = ["OPERATIONS", "events", "openapi", "owners", "readers"]
