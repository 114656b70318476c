"""Starlette applications with two FAQs, which are cached or arrive while a page is made."""

from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates

from faqsvc_embed import FAQEmbed
from faqsvc_embed.starlette import FAQMiddleware
from tests.support.pages import environment

Endpoint = Callable[[Request], Any]


def templates(embed: FAQEmbed, **sources: str) -> Jinja2Templates:
    return Jinja2Templates(env=environment(embed, sources))


def rendering(embed: FAQEmbed, source: str, **options: Any) -> Endpoint:
    """Return an endpoint that renders a template synchronously, within the event loop."""
    made = templates(embed, page=source)

    async def endpoint(request: Request) -> Response:
        return made.TemplateResponse(request, "page", **options)

    return endpoint


def app_of(embed: FAQEmbed, endpoint: Endpoint | str, **options: Any) -> Starlette:
    """Return an application whose page at / comes from an endpoint, or from the source of a template."""
    if isinstance(endpoint, str):
        endpoint = rendering(embed, endpoint)
    app = Starlette(routes=[Route("/", endpoint)], **options)
    app.add_middleware(FAQMiddleware, embed=embed)
    return app
