"""The files that browsers and crawlers expect at the root: /, /robots.txt, /sitemap.xml, /favicon.ico."""

from functools import partial
from typing import Final
from xml.sax.saxutils import escape

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.conditional import conditional_response
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.http.urls import PublicURLs
from faqsvc_embed.service.pages.html import ICON, content_security_policy, render_start
from faqsvc_embed.service.storage.values import Listing
from faqsvc_embed.service.storage.writer import digest_of

MAX_LINKS: Final = 100
"""FAQs that the start page lists; /llms.txt has all."""
MAX_URLS: Final = 50_000
"""URLs of a sitemap (sitemaps.org)."""
CACHE_CONTROL: Final = "public, max-age=300"


async def show_start(service: ServiceContext, request: Request) -> Response:
    """GET /: the start page, with FAQs of listed sites."""
    urls = service.urls(request)
    faqs = await _listed(service, MAX_LINKS)
    links = [(faq.title.strip() or faq.slug, faq.lang, urls.page(faq.slug)) for faq in faqs]
    headers = {"content-security-policy": content_security_policy()}
    return _response(request, render_start(urls.base, links), "text/html", headers)


async def advise_robots(service: ServiceContext, request: Request) -> Response:
    """GET /robots.txt: allow everything, and name the sitemap (RFC 9309)."""
    text = f"User-agent: *\nDisallow:\n\nSitemap: {service.urls(request).base}/sitemap.xml\n"
    return _response(request, text, "text/plain")


async def map_site(service: ServiceContext, request: Request) -> Response:
    """GET /sitemap.xml: the pages of listed sites, with the time of their last change."""
    urls = service.urls(request)
    text = await run_blocking(_sitemap, urls, await _listed(service, MAX_URLS))
    return _response(request, text, "application/xml")


async def show_icon(_: ServiceContext, request: Request) -> Response:
    """GET /favicon.ico: the icon as SVG, which browsers accept under this name."""
    return _response(request, ICON, "image/svg+xml")


async def _listed(service: ServiceContext, limit: int) -> list[Listing]:
    return await run_blocking(partial(service.storage.publications.listed, limit=limit))


def _sitemap(urls: PublicURLs, faqs: list[Listing]) -> str:
    entries = "".join(
        f"<url><loc>{escape(urls.page(faq.slug))}</loc>"
        f"<lastmod>{faq.published_at.isoformat(timespec='seconds')}</lastmod></url>\n"
        for faq in faqs
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    )


def _response(
    request: Request, text: str, media_type: str, headers: dict[str, str] | None = None
) -> Response:
    headers = {"cache-control": CACHE_CONTROL, **(headers or {})}
    return conditional_response(request, text.encode(), media_type, headers, digest=digest_of(text))
