"""The FAQ service: FAQs are published with an API key and read by slug.

`create_app` in `app.py` lists all routes and is the place to begin. `routes/` has one module for each of
them, `http/` what they share, `storage/` the database, `pages/` the hosted pages; `server/` runs the
application under uvicorn.
"""

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("service"):
    from faqsvc_embed.service.app import create_app

__all__ = ["create_app"]
