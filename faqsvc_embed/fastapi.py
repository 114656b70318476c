"""FAQs in FastAPI: Starlette's middleware, and the embed as a dependency."""

from typing import Annotated

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("fastapi"):
    from fastapi import Depends

from starlette.requests import HTTPConnection

from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.starlette import FAQMiddleware, faqs_from

__all__ = ["FAQMiddleware", "FAQs", "faqs_from"]


async def _faqs(connection: HTTPConnection) -> FAQEmbed:
    return faqs_from(connection)  # a coroutine, because FastAPI runs functions in its thread pool


FAQs = Annotated[FAQEmbed, Depends(_faqs)]
"""The embed of the request or WebSocket: `async def page(faqs: FAQs)`."""
