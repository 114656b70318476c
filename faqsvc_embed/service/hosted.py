"""GET /faq/{slug}: an FAQ as a page of its own, or as Markdown, in the language that the reader prefers."""

from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.reading import is_slug
from faqsvc_embed.errors import quoted
from faqsvc_embed.languages import LANGUAGES, MAX_HEADER, lookup, negotiate
from faqsvc_embed.models import FAQ
from faqsvc_embed.service import pages
from faqsvc_embed.service.accepting import accepted
from faqsvc_embed.service.addresses import Addresses, page_address
from faqsvc_embed.service.asking import ask
from faqsvc_embed.service.markdown import page_markdown
from faqsvc_embed.service.problems import Problem
from faqsvc_embed.service.reading import cacheable
from faqsvc_embed.service.storage import Edition, Storage
from faqsvc_embed.service.words import WORDS

CACHE_CONTROL: Final = "public, max-age=300"
HTML: Final = "text/html"
MARKDOWN: Final = "text/markdown"
SUFFIX: Final = ".md"
"""Behind the address of a page, it asks for its Markdown: the proposal of llms.txt."""


class Wanted(NamedTuple):
    """What a request asks for: the languages that there are, its own first, and the one to answer in."""

    slug: str
    media_type: str
    languages: tuple[str, ...]
    lang: str
    is_negotiated: bool
    """The language came from the Accept-Language header, or from there being none."""


@dataclass(frozen=True)
class Hosted:
    """The handler of hosted pages."""

    storage: Storage
    addresses: Addresses

    async def __call__(self, request: Request) -> Response:
        """Answer with the page, or with the Markdown, or tell kindly that there is none."""
        base = self.addresses.base(request)
        # A large FAQ takes some time to render: nobody else is to wait for it.
        response = await ask(partial(self._respond, request, base))
        return response if response is not None else _missing(request)

    def _respond(self, request: Request, base: str) -> Response | None:
        wanted = self._wanted(request)
        edition = self.storage.edition(wanted.slug, wanted.lang) if wanted is not None else None
        if wanted is None or edition is None:
            return None
        faq = FAQ.from_json(edition.record)
        links = pages.links(page_address(base, wanted.slug), wanted.languages, wanted.lang)
        if wanted.media_type == MARKDOWN:
            body = _markdown(faq, edition, links)
            headers = {"link": f'<{links.canonical}>; rel="canonical"', "x-robots-tag": "noindex"}
        else:
            body = pages.hosted(faq, edition.website_url, links)
            headers = {"link": links.header, "content-security-policy": pages.policy()}
        headers["content-language"] = wanted.lang
        headers["vary"] = "Accept, Accept-Language" if wanted.is_negotiated else "Accept"
        return cacheable(request, body.encode(), wanted.media_type, CACHE_CONTROL, headers)

    def _wanted(self, request: Request) -> Wanted | None:
        slug = request.path_params["slug"]
        languages = self._languages(slug)
        if has_suffix := not languages and slug.endswith(SUFFIX):
            slug = slug.removesuffix(SUFFIX)
            languages = self._languages(slug)
        if not languages:
            return None
        by_header = accepted(request, HTML, MARKDOWN)  # of what there is: else it is not there, in any form
        media_type = MARKDOWN if has_suffix else by_header
        chosen = lookup(request.query_params.get("lang", ""))
        if chosen in languages:
            return Wanted(slug, media_type, languages, chosen, False)
        return Wanted(slug, media_type, languages, _preferred(request, languages), True)

    def _languages(self, slug: str) -> tuple[str, ...]:
        return self.storage.languages(slug) if is_slug(slug) else ()


def _preferred(request: Request, languages: tuple[str, ...]) -> str:
    # Those that there are not are excluded as a reader would do it.
    excluded = [f"{lang};q=0" for lang in LANGUAGES if lang not in languages]
    header = ", ".join([*excluded, *request.headers.getlist("accept-language")])
    return negotiate(header[:MAX_HEADER], languages[0]) or languages[0]


def _markdown(faq: FAQ, edition: Edition, links: pages.Links) -> str:
    title = faq.title.strip() or WORDS[edition.lang].faq
    return page_markdown(faq, title=title, address=links.canonical, website_url=edition.website_url)


def _missing(request: Request) -> Response:
    if not _reads_html(request):
        raise Problem(404, f"there is no FAQ {quoted(request.path_params['slug'])}")
    lang = negotiate(", ".join(request.headers.getlist("accept-language"))[:MAX_HEADER], "en") or "en"
    headers = {
        "cache-control": "no-store",
        "content-language": lang,
        "content-security-policy": pages.policy(),
        "vary": "Accept, Accept-Language",
        "x-content-type-options": "nosniff",
    }
    return Response(pages.missing(lang), 404, headers, HTML)


def _reads_html(request: Request) -> bool:
    try:
        return accepted(request, HTML, MARKDOWN) == HTML
    except Problem:
        return False
