"""The service under uvicorn: sockets, worker processes, slow clients and graceful shutdown.

Start with `run.py`. Another ASGI server can also run `create_app()`. That server, or the proxy in front, must
then protect against slow clients, and trust `X-Forwarded-*` headers only from known proxies: otherwise
clients can choose the address by which they are rate-limited.
"""

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("service"):
    from faqsvc_embed.service.server.proxies import check_proxies
    from faqsvc_embed.service.server.run import listen, listen_unix, running, serve, serve_workers, url_of

__all__ = ["check_proxies", "listen", "listen_unix", "running", "serve", "serve_workers", "url_of"]
