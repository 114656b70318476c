"""The website in FastAPI. `FAQs` is a dependency: for templates, for a page without one, and for JSON."""

import secrets
from html import escape
from typing import Annotated, Any

from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from fastapi.templating import Jinja2Templates
from starlette.responses import Response

from demo_apps import site
from faqsvc_embed import FAQEmbed, FAQError, Theme
from faqsvc_embed.fastapi import FAQMiddleware, FAQs
from faqsvc_embed.jinja import install

PLAIN = site.Page("plain", "/plain", ("pricing",))


def create_app(base_url: str = site.SERVICE) -> FastAPI:
    """Return the application. It reads FAQs from the service at `base_url`."""
    embed = FAQEmbed(
        base_url, wait=3.0, look="plain", theme=Theme("#5ef2c2")
    )  # the service starts with the demo
    templates = Jinja2Templates(site.TEMPLATES)
    install(templates.env, embed)
    app = FastAPI(title="Heron & Ink")
    app.add_middleware(FAQMiddleware, embed=embed)
    app.mount("/static", StaticFiles(directory=site.STATIC))

    @app.get("/plain", response_class=HTMLResponse)
    async def plain(faqs: FAQs, lang: str | None = None) -> str:
        """Return a page that is written without a template."""
        fragment = await faqs.arender("pricing", lang=lang)
        language = escape(site.choose_language(lang))
        return f'<!doctype html><html lang="{language}"><title>Heron &amp; Ink</title>{fragment}</html>'

    @app.get("/faq/{slug}")
    async def data(slug: str, faqs: FAQs, lang: str | None = None) -> dict[str, Any]:
        """Return an FAQ as JSON."""
        try:
            return (await faqs.aget_faq(slug, lang=lang)).to_dict()
        except FAQError as error:
            raise HTTPException(404, str(error)) from None

    @app.get("/", response_class=HTMLResponse)
    @app.get("/{name}", response_class=HTMLResponse)
    async def show(
        request: Request,
        faqs: FAQs,
        name: str = "home",
        lang: str | None = None,
        accept_language: Annotated[str | None, Header()] = None,
    ) -> Response:
        """Return a page of the website."""
        page = site.find_page(name)
        if page is None:
            raise HTTPException(404)
        lang = site.choose_language(lang, accept_language)
        await faqs.aprefetch(*page.slugs, lang=lang)
        if page.has_strict_policy:
            request.state.csp_nonce = secrets.token_urlsafe(16)  # the middleware finds it there
        response = templates.TemplateResponse(request, page.template, site.context(page, lang, "FastAPI"))
        response.headers["Content-Language"] = lang
        response.headers.add_vary_header("Accept-Language")
        if page.has_strict_policy:
            response.headers["Content-Security-Policy"] = site.policy(request.state.csp_nonce)
        return response

    return app
