"""GET /llms.txt: the FAQs of listed sites, for language models (llmstxt.org)."""

from functools import partial
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.content import digest_of
from faqsvc_embed.files.markdown_writer import escaped_line
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.conditional import best_media_type, conditional_response
from faqsvc_embed.service.http.operation import READS, Operation
from faqsvc_embed.service.http.response_cache import Selection
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.http.urls import PublicURLs
from faqsvc_embed.service.pages.markdown import link
from faqsvc_embed.service.pages.translations import MESSAGES
from faqsvc_embed.service.storage.slugs import MARKDOWN_SUFFIX
from faqsvc_embed.service.storage.values import Listing

CACHE_CONTROL: Final = "public, max-age=60"
MEDIA_TYPES: Final = ("text/plain", "text/markdown")
MAX_LISTED: Final = 1000
"""How many FAQs are listed."""


@Operation("get", "/llms.txt", (400, *READS), cached=Selection(MEDIA_TYPES))
async def list_for_models(service: ServiceContext, request: Request) -> Response:
    """List the FAQs of listed sites as Markdown."""
    urls = service.urls(request)
    media_type = best_media_type(request, *MEDIA_TYPES)
    faqs = await run_blocking(partial(service.storage.publications.listed, limit=MAX_LISTED + 1))
    headers = {"cache-control": CACHE_CONTROL, "vary": "Accept"}
    text = _text(urls, faqs)
    return conditional_response(request, text.encode(), media_type, headers, digest=digest_of(text))


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
