"""Published FAQs: the record at /api/v1/faq/{slug}, the page and its Markdown at /faq/{slug}."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

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
from faqsvc_embed.service.http.requests import JSON
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
    storage, request, query = call.storage, call.request, call.query
    path, token = normalized("NFC", request.path_params["slug"]), query.get(PREVIEW_PARAMETER)
    if path.endswith("/") and is_slug(path[:-1]):
        address = urlsplit(call.urls.page(path[:-1]))
        return RedirectResponse(address.path + (f"?{query}" if query else ""), 308)
    slug = path.removesuffix(MARKDOWN_SUFFIX)  # no slug ends in `.md`
    lang = lookup(query.get("lang", ""))
    if not is_slug(slug):
        raise invalid_slug(path)
    if token and (draft := storage.history.preview(token, slug, lang)) is not None:
        return _page(call, slug, [draft.lang], draft, DRAFT)
    languages = storage.publications.languages(slug)
    if not languages:  # `get` raises, unless the FAQ was published just now
        languages = [storage.publications.get(slug).lang]
    if lang not in languages:
        request.scope[AVAILABLE] = tuple(languages)
        lang = preferred_language(request, languages)
    return _page(call, slug, languages, storage.publications.get(slug, lang), REFUSED if token else None)


def _page(
    call: Call, slug: str, languages: list[str], shown: Publication, notices: Mapping[str, str] | None
) -> Response:
    """Return a page, or its Markdown. A page with a preview token has a notice, and no Markdown."""
    urls, faq = call.urls, FAQ.from_json(shown.record)
    links = PageLinks.of(urls.page(slug), languages, shown.lang, faq.page_url)
    headers = {"content-language": shown.lang}
    policy = {"content-security-policy": content_security_policy(faq)}
    if notices is not None:
        best_media_type(call.request, HTML)  # raises Problem (406): a preview has no Markdown
        text = render_page(urls.base, faq, shown, links, notice=notices[shown.lang])
        return Response(text, 200, PREVIEW_HEADERS | headers | policy, HTML)
    has_suffix = call.request.path_params["slug"].endswith(MARKDOWN_SUFFIX)
    media_type = MARKDOWN if has_suffix else best_media_type(call.request, HTML, MARKDOWN)
    is_markdown, is_negotiated = media_type == MARKDOWN, AVAILABLE in call.request.scope
    headers |= {
        "cache-control": PAGE_CACHE_CONTROL,
        "vary": "Accept, Accept-Language" if is_negotiated else "Accept",
        **links.header(is_markdown=is_markdown),
    }
    if is_markdown or not shown.is_listed:
        headers["x-robots-tag"] = "noindex"
    if is_markdown:
        title, url = faq.title.strip() or MESSAGES[shown.lang].faq, shown.website_url
        text = render_markdown(faq, title=title, page_url=links.canonical, website_url=url)
    else:
        headers |= policy
        text = render_page(urls.base, faq, shown, links)
    return public_response(text, media_type, headers)


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
