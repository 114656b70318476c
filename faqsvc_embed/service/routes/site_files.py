"""The files that browsers, crawlers and models expect at the root, such as /sitemap.xml and /llms.txt."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

from starlette.responses import Response

from faqsvc_embed.api.fields import is_slug
from faqsvc_embed.errors import quoted
from faqsvc_embed.files.markdown_writer import escaped_line
from faqsvc_embed.service.context import Call
from faqsvc_embed.service.http.conditional import best_media_type, public_response
from faqsvc_embed.service.http.operation import READS, Operation
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.requests import PublicURLs
from faqsvc_embed.service.pages.html import ICON, PageLinks, content_security_policy, render_start
from faqsvc_embed.service.pages.markdown import link
from faqsvc_embed.service.pages.translations import MESSAGES
from faqsvc_embed.service.storage.publications import Publications
from faqsvc_embed.service.storage.slugs import MARKDOWN_SUFFIX
from faqsvc_embed.service.storage.values import Listing

LIST_TYPES: Final = ("text/plain", "text/markdown")
MAX_LISTED: Final = 1000
"""How many FAQs /llms.txt lists."""
MAX_LINKS: Final = 100
"""How many FAQs the start page lists."""
SITEMAP_SIZE: Final = 2_000
"""FAQs of one sitemap. In seven languages, with the longest slugs, it stays below 50,000 URLs and 50 MB."""
CACHE_CONTROL: Final = "public, max-age=300"


@Operation("get", "/", READS, media_types=("text/html",), is_cached=True, uses_host=True)
def show_start(call: Call) -> Response:
    """Show the start page."""
    urls, faqs = call.urls, call.storage.publications.listed(MAX_LINKS)
    links = [(faq.title.strip() or faq.slug, faq.lang, urls.page(faq.slug)) for faq in faqs]
    headers = {"content-security-policy": content_security_policy()}
    return _response(render_start(urls.base, links), "text/html", headers)


@Operation("get", "/robots.txt", READS, media_types=("text/plain",), is_cached=True, uses_host=True)
def advise_robots(call: Call) -> Response:
    """Tell crawlers where the sitemap is."""
    base, faqs = call.urls.base, call.storage.publications.listed(1)
    text = "User-agent: *\nDisallow:\n" + (f"\nSitemap: {base}/sitemap.xml\n" if faqs else "")
    return _response(text, "text/plain")


@Operation(
    "get",
    "/sitemap.xml",
    READS,
    query=("from",),
    media_types=("application/xml",),
    is_cached=True,
    uses_host=True,
)
def map_site(call: Call) -> Response:
    """List the pages of listed sites; beyond 2,000 FAQs, list the sitemaps with the pages.

    `from` is the first slug of one of these sitemaps.
    """
    first = call.query.get("from")
    if first is not None and not is_slug(first):
        raise Problem.invalid(f"from is {quoted(first)}: expected a slug", code="invalid-parameter")
    return _response(_sitemap(call.storage.publications, call.urls, first), "application/xml")


@Operation("get", "/favicon.ico", READS, media_types=("image/svg+xml",), is_cached=True)
async def show_icon(call: Call) -> Response:  # not in a thread, whose success would end an outage in the log
    """Show the icon of the pages."""
    return _response(ICON, "image/svg+xml")


def _sitemap(publications: Publications, urls: PublicURLs, first: str | None) -> str:
    if first is None:
        starts = publications.starts(SITEMAP_SIZE)
        if len(starts) > 1:
            locations = (f"{urls.base}/sitemap.xml?from={quote(start, safe='')}" for start in starts)
            return _xml("sitemapindex", (f"<sitemap>{_location(url)}</sitemap>" for url in locations))
    faqs = publications.translations(first=first or "", limit=SITEMAP_SIZE)
    return _xml("urlset", chain.from_iterable(_entries(urls, translations) for translations in faqs))


def _entries(urls: PublicURLs, translations: list[Listing]) -> Iterator[str]:
    """Yield an entry for each translation of an FAQ, the default one first."""
    languages = [translation.lang for translation in translations]
    links = PageLinks.of(urls.page(translations[0].slug), languages, languages[0]).languages
    for page, translation in zip(links, translations, strict=True):
        changed = translation.published_at.isoformat(timespec="seconds")
        yield f"<url>{_location(page.canonical)}<lastmod>{changed}</lastmod></url>"


def _location(url: str) -> str:
    return f"<loc>{escape(url)}</loc>"


def _xml(root: str, entries: Iterable[str]) -> str:
    lines = (
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
        *entries,
        f"</{root}>",
    )
    return "\n".join(lines) + "\n"


def _response(text: str, media_type: str, headers: dict[str, str] | None = None) -> Response:
    return public_response(text, media_type, {"cache-control": CACHE_CONTROL, **(headers or {})})


@Operation("get", "/llms.txt", READS, media_types=LIST_TYPES, is_cached=True, uses_host=True)
def list_for_models(call: Call) -> Response:
    """List the FAQs of listed sites as Markdown."""
    urls, media_type = call.urls, best_media_type(call.request, *LIST_TYPES)
    faqs = call.storage.publications.listed(MAX_LISTED + 1)
    headers = {"cache-control": "public, max-age=60", "vary": "Accept"}
    return _response(_text(urls, faqs), media_type, headers)


def _text(urls: PublicURLs, faqs: list[Listing]) -> str:
    # Not escaped as text, which would put backslashes into an address: a host needs no escape in Markdown.
    host = quote(urlsplit(urls.base).netloc, safe=":[]")
    parts = [
        f"# FAQs on {host}",
        "> Questions and answers published by websites. Each FAQ is a page; add"
        f" `{MARKDOWN_SUFFIX}` to its URL for Markdown.",
        "## FAQs",
    ]
    if faqs:
        parts.append("\n".join(_line(urls, faq) for faq in faqs[:MAX_LISTED]))
    if len(faqs) > MAX_LISTED:
        more = link("sitemap", f"{urls.base}/sitemap.xml")
        parts.append(f"These are the first {MAX_LISTED:,} FAQs; the {more} has the pages of all.")
    return "\n\n".join(parts) + "\n"


def _line(urls: PublicURLs, faq: Listing) -> str:
    name = faq.title.strip() or faq.slug
    notes = filter(None, (escaped_line(faq.website_name), MESSAGES[faq.lang].language))
    return f"- {link(name, urls.page(faq.slug) + MARKDOWN_SUFFIX)}: {', '.join(notes)}"
