"""The service under uvicorn: sockets, worker processes, slow clients and graceful shutdown.

`run.py` is the place to begin. Another ASGI server can run `create_app()` as well; what protects from slow
clients is then up to that server, or to the proxy in front of it. So is whose `X-Forwarded-*` headers are
believed: if anyone's are, clients choose the address by which they are rate-limited.
"""

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("service"):
    from faqsvc_embed.service.server.proxies import check_proxies
    from faqsvc_embed.service.server.run import listen, listen_unix, running, serve, serve_workers, url_of

__all__ = ["check_proxies", "listen", "listen_unix", "running", "serve", "serve_workers", "url_of"]
