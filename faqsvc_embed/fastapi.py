"""FAQs in FastAPI: Starlette's middleware, and the embed as a dependency."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.starlette import FAQMiddleware, faqs_from

__all__ = ["FAQMiddleware", "FAQs", "faqs_from"]


async def _faqs(connection: HTTPConnection) -> FAQEmbed:
    return faqs_from(connection)  # awaited in place: a plain function would go to the thread pool and back


FAQs = Annotated[FAQEmbed, Depends(_faqs)]
"""The embed of the request or WebSocket: `async def page(faqs: FAQs)`."""
