"""The website in Starlette. `install` adds `faq()` to the templates; the middleware waits for their FAQs."""

import secrets

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from demo_apps import site
from faqsvc_embed import FAQEmbed, Theme
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware, faqs_from


def create_app(base_url: str = site.SERVICE) -> Starlette:
    """Return the application. It reads FAQs from the service at `base_url`."""
    embed = FAQEmbed(
        base_url, wait=3.0, look="cards", theme=Theme("#2b59c3")
    )  # the service starts with the demo
    templates = Jinja2Templates(site.TEMPLATES)
    install(templates.env, embed)

    async def show(request: Request) -> Response:
        page = site.find_page(request.path_params.get("name", "home"))
        if page is None:
            raise HTTPException(404)
        lang = site.choose_language(request.query_params.get("lang"), request.headers.get("Accept-Language"))
        if page.has_strict_policy:
            request.state.csp_nonce = secrets.token_urlsafe(16)  # the middleware finds it there
        if page.is_headless:  # `use_faq()` in a template cannot wait inside an event loop
            await faqs_from(request).aprefetch(*page.slugs, lang=lang)
        response = templates.TemplateResponse(request, page.template, site.context(page, lang, "Starlette"))
        response.headers["Content-Language"] = lang
        response.headers.add_vary_header("Accept-Language")
        if page.has_strict_policy:
            response.headers["Content-Security-Policy"] = site.policy(request.state.csp_nonce)
        return response

    return Starlette(
        routes=[
            Route("/", show),
            Route("/{name}", show),
            Mount("/static", StaticFiles(directory=site.STATIC)),
        ],
        middleware=[Middleware(FAQMiddleware, embed=embed)],
    )
