"""FAQs in FastAPI: Starlette's middleware, and the embed as a dependency."""

from typing import Annotated

try:
    from fastapi import Depends
except ImportError as _error:
    raise ImportError("faqsvc_embed.fastapi needs FastAPI: pip install 'faqsvc-embed[fastapi]'") from _error

from starlette.requests import HTTPConnection

from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.starlette import FAQMiddleware, faqs_from

__all__ = ["FAQMiddleware", "FAQs", "faqs_from"]


async def _faqs(connection: HTTPConnection) -> FAQEmbed:
    return faqs_from(connection)  # a coroutine, because FastAPI runs functions in its thread pool


FAQs = Annotated[FAQEmbed, Depends(_faqs)]
"""The embed of the request or WebSocket: `async def page(faqs: FAQs)`."""
