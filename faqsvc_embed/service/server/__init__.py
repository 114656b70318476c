"""The service under granian: its address, worker processes, proxies in front, and graceful shutdown.

Start with `run.py`. Another ASGI server can also run `create_app()`. That server, or the proxy in front, must
then protect against slow clients, and trust `X-Forwarded-*` headers only from known proxies: otherwise
clients can choose the address by which they are rate-limited.
"""

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("service"):
    from faqsvc_embed.service.server.run import Address, check_proxies, serve

__all__ = ["Address", "check_proxies", "serve"]
