"""What the public reads: the record and the page of an FAQ, and the lists of FAQs, such as /sitemap.xml."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Final
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

from starlette.responses import RedirectResponse, Response

from faqsvc_embed.api.contract import PREVIEW_HEADER, PREVIEW_PARAMETER, REVISION_HEADER, Record
from faqsvc_embed.api.fields import invalid_slug, is_slug
from faqsvc_embed.errors import quoted
from faqsvc_embed.files.markdown_writer import escaped_line
from faqsvc_embed.languages import lookup
from faqsvc_embed.models import FAQ
from faqsvc_embed.page.preview import DRAFT, REFUSED
from faqsvc_embed.service.context import PublicURLs
from faqsvc_embed.service.http.operation import FAQ_PATH, Call, Operation
from faqsvc_embed.service.http.response_cache import AVAILABLE
from faqsvc_embed.service.http.responses import (
    HTML,
    JSON,
    MARKDOWN,
    PREVIEW_HEADERS,
    Problem,
    best_media_type,
    preferred_language,
    public_response,
)
from faqsvc_embed.service.pages.hosted import (
    ICON,
    MESSAGES,
    PageLinks,
    content_security_policy,
    link,
    render_markdown,
    render_page,
    render_start,
)
from faqsvc_embed.service.storage.reading import Publications
from faqsvc_embed.service.storage.slugs import MARKDOWN_SUFFIX
from faqsvc_embed.service.storage.values import Listing, ServedFAQ
from faqsvc_embed.text import normalized

READS: Final = (404, 406, 410, 422, 503)
"""The statuses of problems that a read of FAQs may have."""
TEXT: Final = "text/plain"
CACHE_CONTROL: Final = "public, max-age=300"
RECORD_CACHE_CONTROL: Final = "public, max-age=3600"  # like the default of the setting `fresh_for`
LIST_TYPES: Final = (TEXT, MARKDOWN)
MAX_LISTED: Final = 1000
"""How many FAQs /llms.txt lists."""
MAX_LINKS: Final = 100
"""How many FAQs the start page lists."""
SITEMAP_SIZE: Final = 2_000
"""FAQs of one sitemap. In seven languages, with the longest slugs, it stays below 50,000 URLs and 50 MB."""

_public: Final = partial(Operation, "get", problems=READS, is_cached=True, uses_host=True)


@_public(
    "/faq/{slug:path}",
    statuses=(200, 308),
    query=("lang:page", PREVIEW_PARAMETER),  # previews are not cached, but only a few are rendered at a time
    media_types=(HTML, MARKDOWN),
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
    call: Call, slug: str, languages: list[str], shown: ServedFAQ, notices: Mapping[str, str] | None
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
        "cache-control": CACHE_CONTROL,
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


@_public(
    FAQ_PATH,
    problems=(403, *READS),
    response=Record,
    query=("lang",),
    headers=(PREVIEW_HEADER,),
    media_types=(JSON,),
    uses_host=False,
)
def read_faq(call: Call) -> Response:
    """Read an FAQ, in its default language unless `lang` is available."""
    best_media_type(call.request, JSON)
    slug, lang = call.slug, call.lang
    if (token := call.request.headers.get(PREVIEW_HEADER)) is not None:
        draft = call.storage.history.preview(token, slug, lang)
        if draft is None:
            raise Problem(403, "invalid-preview", "The preview token has expired, or is for another FAQ")
        headers = {**PREVIEW_HEADERS, "content-language": draft.lang, "vary": PREVIEW_HEADER}
        return Response(draft.record.encode(), 200, headers, JSON)
    publication = call.storage.publications.get(slug, lang)
    headers = {
        "cache-control": RECORD_CACHE_CONTROL,
        "content-language": publication.lang,
        "vary": PREVIEW_HEADER,
        REVISION_HEADER: str(publication.number),
    }
    return public_response(publication.record, JSON, headers, digest=publication.digest)


@_public("/", media_types=(HTML,))
def show_start(call: Call) -> Response:
    """Show the start page."""
    urls, faqs = call.urls, call.storage.publications.listed(MAX_LINKS)
    links = [(faq.title.strip() or faq.slug, faq.lang, urls.page(faq.slug)) for faq in faqs]
    headers = {"content-security-policy": content_security_policy()}
    return _response(render_start(urls.base, links), HTML, headers)


@_public("/robots.txt", media_types=(TEXT,))
def advise_robots(call: Call) -> Response:
    """Tell crawlers where the sitemap is."""
    base, faqs = call.urls.base, call.storage.publications.listed(1)
    text = "User-agent: *\nDisallow:\n" + (f"\nSitemap: {base}/sitemap.xml\n" if faqs else "")
    return _response(text, TEXT)


@_public("/sitemap.xml", query=("from",), media_types=("application/xml",))
def map_site(call: Call) -> Response:
    """List the pages of listed sites; beyond 2,000 FAQs, list the sitemaps with the pages.

    `from` is the first slug of one of these sitemaps.
    """
    first = call.query.get("from")
    if first is not None and not is_slug(first):
        raise Problem.invalid(f"from is {quoted(first)}: expected a slug", code="invalid-parameter")
    text = _sitemap(call.storage.publications, call.urls, first)
    # Any slug may be the first: such parts would take the place of what is read in the cache.
    headers = None if first is None else {"cache-control": "public, max-age=0"}
    return _response(text, "application/xml", headers)


@_public("/favicon.ico", media_types=("image/svg+xml",), uses_host=False)
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
    return _xml("urlset", chain.from_iterable(_page_entries(urls, translations) for translations in faqs))


def _page_entries(urls: PublicURLs, translations: list[Listing]) -> Iterator[str]:
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


@_public("/llms.txt", media_types=LIST_TYPES)
def list_for_models(call: Call) -> Response:
    """List the FAQs of listed sites as Markdown."""
    urls, media_type = call.urls, best_media_type(call.request, *LIST_TYPES)
    faqs = call.storage.publications.listed(MAX_LISTED + 1)
    headers = {"cache-control": "public, max-age=60", "vary": "Accept"}
    return _response(_list_in_markdown(urls, faqs), media_type, headers)


def _list_in_markdown(urls: PublicURLs, faqs: list[Listing]) -> str:
    # Not escaped as text, which would put backslashes into an address: a host needs no escape in Markdown.
    host = quote(urlsplit(urls.base).netloc, safe=":[]")
    parts = [
        f"# FAQs on {host}",
        "> Questions and answers published by websites. Each FAQ is a page; add"
        f" `{MARKDOWN_SUFFIX}` to its URL for Markdown.",
        "## FAQs",
    ]
    if faqs:
        parts.append("\n".join(_list_item(urls, faq) for faq in faqs[:MAX_LISTED]))
    if len(faqs) > MAX_LISTED:
        more = link("sitemap", f"{urls.base}/sitemap.xml")
        parts.append(f"These are the first {MAX_LISTED:,} FAQs; the {more} has the pages of all.")
    return "\n\n".join(parts) + "\n"


def _list_item(urls: PublicURLs, faq: Listing) -> str:
    name = faq.title.strip() or faq.slug
    notes = filter(None, (escaped_line(faq.website_name), MESSAGES[faq.lang].language))
    return f"- {link(name, urls.page(faq.slug) + MARKDOWN_SUFFIX)}: {', '.join(notes)}"
