"""The Starlette host: templates are rendered in the event loop, and a cold FAQ is there all the same."""

import secrets
from functools import partial

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from demo_apps import site
from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware, faqs_from


def create_app(base_url: str | None = None) -> Starlette:
    """Build the host; `base_url` is the address of the FAQ service."""
    embed = FAQEmbed(base_url or site.SERVICE, wait=site.WAIT)
    templates = Jinja2Templates(site.TEMPLATES)
    install(templates.env, embed)
    pages = [Route(page.path, partial(show, page, templates), name=page.name) for page in site.PAGES]
    app = Starlette(routes=[*pages, Mount("/static", StaticFiles(directory=site.STATIC))])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


async def show(page: site.Page, templates: Jinja2Templates, request: Request) -> Response:
    """Answer with a page in the reader's language."""
    lang = site.language(request.query_params.get("lang"), request.headers.get("Accept-Language", ""))
    if page.strict_policy:
        request.state.csp_nonce = secrets.token_urlsafe(16)
    if page.headless:  # a template that takes the data cannot wait for it; whoever renders it can
        await faqs_from(request).aprefetch(*page.shows, lang=lang)
    response = templates.TemplateResponse(request, page.template, site.context(page, lang, "Starlette"))
    response.headers["Content-Language"] = lang
    response.headers.add_vary_header("Accept-Language")
    if page.strict_policy:
        response.headers["Content-Security-Policy"] = site.policy(request.state.csp_nonce)
    return response
