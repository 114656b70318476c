"""Published FAQs: the record at /api/v1/faq/{slug}, the page and its Markdown at /faq/{slug}."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from faqsvc_embed.api.contract import PREVIEW_HEADER, PREVIEW_PARAMETER, REVISION_HEADER, Record
from faqsvc_embed.api.fields import invalid_slug, is_slug
from faqsvc_embed.languages import lookup
from faqsvc_embed.models import FAQ
from faqsvc_embed.page.preview import DRAFT, REFUSED
from faqsvc_embed.service.context import Call
from faqsvc_embed.service.http.conditional import (
    PREVIEW_HEADERS,
    best_media_type,
    preferred_language,
    public_response,
)
from faqsvc_embed.service.http.operation import FAQ_PATH, READS, Operation
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.requests import JSON, PublicURLs
from faqsvc_embed.service.http.response_cache import AVAILABLE
from faqsvc_embed.service.pages.html import PageLinks, content_security_policy, render_page
from faqsvc_embed.service.pages.markdown import render_markdown
from faqsvc_embed.service.pages.translations import MESSAGES
from faqsvc_embed.service.routes.errors import HTML
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.slugs import MARKDOWN_SUFFIX
from faqsvc_embed.service.storage.values import Publication
from faqsvc_embed.text import normalized

PAGE_CACHE_CONTROL: Final = "public, max-age=300"
RECORD_CACHE_CONTROL: Final = "public, max-age=3600"  # like the default of the setting `fresh_for`
MARKDOWN: Final = "text/markdown"


@Operation(
    "get",
    "/faq/{slug:path}",
    READS,
    statuses=(200, 308),
    query=("lang:page", PREVIEW_PARAMETER),  # previews are not cached, but only a few are rendered at a time
    media_types=(HTML, MARKDOWN),
    is_cached=True,
    uses_host=True,
)
def show_faq(call: Call) -> Response:
    """Show an FAQ as a page, or as Markdown where `Accept` prefers it or `.md` is appended.

    An address with a slash at its end redirects to the one without.
    """
    storage, urls, query = call.storage, call.urls, call.request.query_params
    token, slug = query.get(PREVIEW_PARAMETER), call.request.path_params["slug"]
    if slug.endswith("/") and is_slug(slug[:-1]):
        address = urlsplit(urls.page(slug[:-1]))
        return RedirectResponse(address.path + (f"?{query}" if query else ""), 308)
    draft = None
    if token and is_slug(slug):
        draft = storage.history.preview(token, slug, lookup(query.get("lang", "")))
    if draft is not None:
        return _preview_page(urls, _Selection(slug, HTML, [draft.lang], draft.lang, False), draft, DRAFT)
    selection = _select(storage, call.request)
    publication = storage.publications.get(selection.slug, selection.lang)
    if token:
        return _preview_page(urls, selection, publication, REFUSED)
    return _page(urls, selection, publication)


class _Selection(NamedTuple):
    """The representation that a request selects."""

    slug: str
    media_type: str
    languages: list[str]
    """All languages of the FAQ, the default first."""
    lang: str
    is_negotiated: bool
    """Whether the language depends on the Accept-Language header."""


def _preview_page(
    urls: PublicURLs, selection: _Selection, shown: Publication, notices: Mapping[str, str]
) -> Response:
    """Return a page with a notice: that it is a draft, or that the preview token is not valid."""
    faq = FAQ.from_json(shown.record)
    links = PageLinks.of(urls.page(selection.slug), selection.languages, shown.lang, faq.page_url)
    headers = {
        **PREVIEW_HEADERS,
        "content-language": shown.lang,
        "content-security-policy": content_security_policy(faq),
    }
    text = render_page(urls.base, faq, shown, links, notice=notices[shown.lang])
    return Response(text, 200, headers, HTML)


def _page(urls: PublicURLs, selection: _Selection, publication: Publication) -> Response:
    faq = FAQ.from_json(publication.record)
    links = PageLinks.of(urls.page(selection.slug), selection.languages, publication.lang, faq.page_url)
    is_markdown = selection.media_type == MARKDOWN
    headers = {
        "cache-control": PAGE_CACHE_CONTROL,
        "content-language": publication.lang,
        "vary": "Accept, Accept-Language" if selection.is_negotiated else "Accept",
        **links.header(is_markdown=is_markdown),
    }
    if is_markdown or not publication.is_listed:
        headers["x-robots-tag"] = "noindex"
    if is_markdown:
        title, url = faq.title.strip() or MESSAGES[publication.lang].faq, publication.website_url
        text = render_markdown(faq, title=title, page_url=links.canonical, website_url=url)
    else:
        headers["content-security-policy"] = content_security_policy(faq)
        text = render_page(urls.base, faq, publication, links)
    return public_response(text, selection.media_type, headers)


def _select(storage: Storage, request: Request) -> _Selection:
    """Return the representation that a request selects; raise FAQNotFound, Gone, or Problem (406)."""
    path = normalized("NFC", request.path_params["slug"])
    slug = path.removesuffix(MARKDOWN_SUFFIX)  # no slug ends in it
    if not is_slug(slug):
        raise invalid_slug(path)
    languages = storage.publications.languages(slug)
    if not languages:  # `get` raises, unless the FAQ was published just now
        languages = [storage.publications.get(slug).lang]
    media_type = MARKDOWN if slug != path else best_media_type(request, HTML, MARKDOWN)
    lang = lookup(request.query_params.get("lang", ""))
    if lang in languages:
        return _Selection(slug, media_type, languages, lang, False)
    request.scope[AVAILABLE] = tuple(languages)
    return _Selection(slug, media_type, languages, preferred_language(request, languages), True)


@Operation(
    "get",
    FAQ_PATH,
    (403, *READS),
    response=Record,
    query=("lang",),
    headers=(PREVIEW_HEADER,),
    media_types=(JSON,),
    is_cached=True,
)
def read_faq(call: Call) -> Response:
    """Read an FAQ, in its default language unless `lang` is available."""
    best_media_type(call.request, JSON)
    slug, lang = call.slug, call.lang
    if (token := call.request.headers.get(PREVIEW_HEADER)) is not None:
        return _draft(call.storage, token, slug, lang)
    publication = call.storage.publications.get(slug, lang)
    headers = {
        "cache-control": RECORD_CACHE_CONTROL,
        "content-language": publication.lang,
        "vary": PREVIEW_HEADER,
        REVISION_HEADER: str(publication.number),
    }
    return public_response(publication.record, JSON, headers, digest=publication.digest)


def _draft(storage: Storage, token: str, slug: str, lang: str | None) -> Response:
    """Return the newest revision, which may be a draft."""
    draft = storage.history.preview(token, slug, lang)
    if draft is None:
        raise Problem(403, "invalid-preview", "The preview token has expired, or is for another FAQ")
    headers = {**PREVIEW_HEADERS, "content-language": draft.lang, "vary": PREVIEW_HEADER}
    return Response(draft.record.encode(), 200, headers, JSON)
