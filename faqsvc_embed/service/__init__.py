"""The FAQ service: owners publish FAQs with an API key, and anyone reads them by slug.

Start with `create_app` in `app.py`, which lists all routes. `routes/` has the routes, `http/` their shared
code, `storage/` the database, and `pages/` the hosted pages. `server.py` runs the application under granian.
"""

from typing import TYPE_CHECKING, Any

from faqsvc_embed.runtime.extras import needs_extra

if TYPE_CHECKING:
    from faqsvc_embed.service.app import create_app

__all__ = ["create_app"]


def __getattr__(name: str) -> Any:
    # The commands for keys and databases start in half the time without the application.
    if name == "create_app":
        with needs_extra("service"):
            from faqsvc_embed.service.app import create_app

        return create_app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
