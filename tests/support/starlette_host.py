"""Starlette applications with two FAQs, which are cached or arrive while a page is made."""

from collections.abc import Callable
from typing import Any

import pytest
from jinja2 import DictLoader, Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.slow import slow_embed

A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Wer?", "Wir – „wir“ & <du>."), title="Legal"))
FAQS = {"pricing": A, "legal": B}
TWO = '{{ faq("pricing") }}<hr>{% faq "legal" %}'

Endpoint = Callable[[Request], Any]
Make = Callable[..., FAQEmbed]
embeds = pytest.mark.parametrize("make", [fake_embed, slow_embed], ids=["cached", "uncached"])


def templates(embed: FAQEmbed, **sources: str) -> Jinja2Templates:
    made = Jinja2Templates(env=Environment(autoescape=True, loader=DictLoader(sources)))
    install(made.env, embed)
    return made


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
