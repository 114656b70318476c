"""The FAQ service: owners publish FAQs with an API key, and anyone reads them by slug.

Start with `create_app` in `app.py`, which lists all routes. `routes/` has the routes, `http/` their shared
code, `storage/` the database, and `pages/` the hosted pages. `server/` runs the application under uvicorn.
"""

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("service"):
    from faqsvc_embed.service.app import create_app

__all__ = ["create_app"]
