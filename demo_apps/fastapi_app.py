"""The FastAPI host: the embed is a dependency, of pages, of a page without templates, and of data."""

import secrets
from functools import partial
from html import escape
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates
from starlette.responses import Response

from demo_apps import site
from faqsvc_embed import FAQEmbed, FAQError
from faqsvc_embed.fastapi import FAQMiddleware, FAQs
from faqsvc_embed.jinja import install

PLAIN = site.Page("plain", "/plain", ("pricing",))
DATA = "/faq/pricing"


def create_app(base_url: str | None = None) -> FastAPI:
    """Build the host; `base_url` is the address of the FAQ service."""
    embed = FAQEmbed(base_url or site.SERVICE, wait=site.WAIT)
    templates = Jinja2Templates(site.TEMPLATES)
    install(templates.env, embed)
    app = FastAPI(title="Heron & Ink")
    app.add_middleware(FAQMiddleware, embed=embed)
    for page in site.PAGES:
        app.add_api_route(
            page.path, partial(show, page, templates), response_class=HTMLResponse, name=page.name
        )
    app.add_api_route(PLAIN.path, plain, response_class=HTMLResponse)
    app.add_api_route("/faq/{slug}", data)
    app.mount("/static", StaticFiles(directory=site.STATIC))
    return app


async def show(page: site.Page, templates: Jinja2Templates, request: Request, faqs: FAQs) -> Response:
    """Answer with a page in the reader's language."""
    lang = site.language(request.query_params.get("lang"), request.headers.get("Accept-Language", ""))
    await faqs.aprefetch(*page.shows, lang=lang)
    if page.strict_policy:
        request.state.csp_nonce = secrets.token_urlsafe(16)
    response = templates.TemplateResponse(request, page.template, site.context(page, lang, "FastAPI"))
    response.headers["Content-Language"] = lang
    response.headers.add_vary_header("Accept-Language")
    if page.strict_policy:
        response.headers["Content-Security-Policy"] = site.policy(request.state.csp_nonce)
    return response


async def plain(faqs: FAQs, lang: str | None = None) -> str:
    """Answer with a page that no template makes."""
    block = await faqs.arender("pricing", lang=lang)
    language = escape(site.language(lang))
    return f'<!doctype html><html lang="{language}"><title>Heron &amp; Ink</title>{block}</html>'


async def data(slug: str, faqs: FAQs, lang: str | None = None) -> dict[str, Any]:
    """Answer with an FAQ as the service sent it, held as on every page."""
    try:
        return (await faqs.aget_faq(slug, lang=lang)).to_dict()
    except FAQError as error:
        raise HTTPException(404, str(error)) from None
