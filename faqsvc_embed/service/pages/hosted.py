"""The hosted pages as HTML and Markdown, and the page for an error, with their texts in seven languages."""

import re
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import shorten
from typing import Final, NamedTuple
from urllib.parse import quote, urldefrag, urlsplit

import httpx2
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.files.html import html_to_markdown
from faqsvc_embed.files.markdown_writer import escaped_line, escaped_text
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.models import FAQ
from faqsvc_embed.models.element_ids import root_id
from faqsvc_embed.page.preview import BANNER_CSS
from faqsvc_embed.rendering import answers
from faqsvc_embed.rendering.answers import visible
from faqsvc_embed.rendering.assets import hash_source, minified, script, stylesheet
from faqsvc_embed.rendering.fragments import Fragment, Style, inline_script_element, json_ld_element
from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.responses import (
    HTML,
    MARKDOWN,
    PRIVATE,
    PROBLEM,
    Problem,
    best_media_type,
    preferred_language,
)
from faqsvc_embed.service.storage.values import ServedFAQ
from faqsvc_embed.theme import Theme

QUESTION_LEVEL: Final = 2
"""The level of the questions in Markdown, unless they are in sections."""
_SAFE_IN_URLS: Final = "%/:?#[]@!$&'*+,;=~"
"""All but parentheses, which end a link in Markdown."""
MAX_DESCRIPTION: Final = 160
"""Characters of the meta description, which consists of the first questions."""
MAX_LINK_HEADER: Final = 700
"""Characters of a Link header: nginx refuses a response whose head is larger than 4 kB."""

PAGE_OFFERS: Final = (HTML, MARKDOWN, PROBLEM)
"""The media types of an address that is a page."""
OTHER_OFFERS: Final = (PROBLEM, HTML)
"""The media types of any other address: a page only for clients that name HTML, as browsers do."""

PAGE_STATUSES: Final = (404, 410, 429, 500, 503)

ICON: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7"'
    ' fill="#1d2228"/><path d="M11 12a5 5 0 1 1 7 4.600q-2 1-2 3.400M16 25v.010" fill="none" stroke="#fff"'
    ' stroke-width="3" stroke-linecap="round"/></svg>'
)

# The title of the page is the only heading above the questions.
_STYLE: Final = Style(Theme(), show_title=False, heading_level=1)
_PIECES: Final = ("base", "toggle", "details", "rich", "sections", "long", "languages")
"""The pieces of the component's stylesheet that hosted pages need."""
_renderer = Renderer()
_templates = Environment(
    loader=PackageLoader("faqsvc_embed.service.pages"), autoescape=True, undefined=StrictUndefined
)


class Messages(NamedTuple):
    """The texts of a page in one language."""

    language: str
    """The name of the language."""
    languages: str
    faq: str
    """The title of an FAQ that has none."""
    no_questions: str
    not_found: str
    not_found_reason: str
    gone: str
    gone_reason: str
    unavailable: str
    unavailable_reason: str
    updated: str
    """The text before the date of the last change."""
    date_format: str
    months: str
    """The names of the months, with spaces between them."""
    ask: str
    """The sentence that leads to the website, whose name replaces `%s`."""
    markdown: str
    """The link to the Markdown of the page."""
    start: str
    """The link from an error to the start page."""

    def date(self, day: date) -> str:
        """Return a date as people write it."""
        return self.date_format.format(day=day.day, month=self.months.split()[day.month - 1], year=day.year)


_FILE: Final = Path(__file__).parent / "translations.toml"
MESSAGES: Final = {
    lang: Messages(**texts) for lang, texts in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()
}


class LanguageLink(NamedTuple):
    """A link to the page in one language. `url` names it, so the reader's preference does not count."""

    lang: str
    name: str
    url: str
    canonical: str


class PageLinks(NamedTuple):
    """The URLs of a page: `page` leads to the reader's language, `canonical` to the served one."""

    page: str
    canonical: str
    markdown: str
    languages: tuple[LanguageLink, ...]
    owner: str = ""
    """The page of the owner's website that shows the FAQ, and is the canonical one."""

    @classmethod
    def of(cls, page: str, languages: Sequence[str], lang: str, owner: str | None = None) -> "PageLinks":
        """Return the URLs of a page that exists in `languages`, default first, and is served in `lang`.

        The canonical URL is that of the page of the owner's website, `owner`, without its fragment. Without
        `owner`, it is the URL in `lang`; that of the default language names no language.
        """
        links = {
            language: LanguageLink(
                language,
                MESSAGES[language].language,
                url=f"{page}?lang={language}",
                canonical=page if language == languages[0] else f"{page}?lang={language}",
            )
            for language in (*languages, lang)  # `lang` may have been published since
        }
        canonical = urldefrag(owner).url if owner else links[lang].canonical
        return cls(page, canonical, f"{page}.md?lang={lang}", tuple(links.values()), owner or "")

    def header(self, *, is_markdown: bool = False) -> dict[str, str]:
        """Return the Link header of the page or of its Markdown; empty if no address fits into it."""
        links = [(self.canonical, 'rel="canonical"')]
        if not is_markdown:
            links.append((self.markdown, 'rel="alternate"; type="text/markdown"'))
        header = ""
        for url, parameters in links:
            longer = f"{header}, <{ascii_url(url)}>; {parameters}".removeprefix(", ")
            header = longer if len(longer) <= MAX_LINK_HEADER else header
        return {"link": header} if header else {}


def ascii_url(url: str) -> str:
    """Return a URL in ASCII: with its host in punycode, and everything after it percent-encoded."""
    with suppress(httpx2.InvalidURL, UnicodeError):  # a URL may have a host name that cannot be registered
        url = str(httpx2.URL(url))
    return quote(url, safe="%/:?#[]@!$&'()*+,;=~", errors="replace")


def render_page(
    base: str, faq: FAQ, publication: ServedFAQ, links: PageLinks, *, notice: str | None = None
) -> str:
    """Return the page of an FAQ. With a notice about a preview, it has no JSON-LD."""
    lang = faq.lang or "en"
    url = publication.website_url
    website = url if url.startswith(("http://", "https://")) else ""
    website_name = visible(faq.website_name.strip())
    fragment = _renderer.fragment(faq, _STYLE)
    questions = " ".join(item.question.strip() for item in faq.items[:3])
    return _templates.get_template("faq.html").render(
        links._asdict(),
        base=base,
        lang=lang,
        messages=MESSAGES[lang],
        css=_css(),
        title=visible(faq.title.strip() or MESSAGES[lang].faq),
        website_name=website_name,
        website_url=website,
        ask=_ask(MESSAGES[lang].ask, links.owner or website, website_name),
        published_on=publication.published_at.date(),
        is_indexed=notice is None and publication.is_listed,
        description=visible(shorten(questions, MAX_DESCRIPTION, placeholder="…")),
        fragment=_body(fragment, with_json_ld=notice is None),
        notice=notice,
    )


def render_markdown(faq: FAQ, *, title: str, page_url: str, website_url: str = "") -> str:
    """Return an FAQ as Markdown: title, source, links to the questions on the page, and all answers.

    It has the same questions as the page, in the same order.
    """
    items = answers.items(faq, QUESTION_LEVEL)
    anchor = f"{page_url}#{root_id(faq.slug)}--"
    contents = [link(item.question, f"{anchor}{item.name}") for item in items]
    parts = [
        f"# {escaped_line(title)}",
        _source(faq, page_url, website_url),
        _markdown_of(faq, faq.introduction or "", answers.introduction(faq, QUESTION_LEVEL).html),
        "\n".join(f"- {line}" for line in contents),
    ]
    for section, group in groupby(items, lambda item: item.section):
        parts.append(f"## {escaped_line(section)}" if section else "")
        level = QUESTION_LEVEL + bool(section)
        for item in group:
            question = f"{'#' * level} {escaped_line(item.question)}"
            parts.append(f"{question}\n\n{_markdown_of(faq, item.text, item.html)}")
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown_of(faq: FAQ, text: str, html: object) -> str:
    """Return a text as Markdown, made from its HTML, because the original may mean something else here."""
    return escaped_text(text) if faq.answer_format == "text" else html_to_markdown(str(html), is_whole=True)


def _source(faq: FAQ, page_url: str, website_url: str) -> str:
    name = faq.website_name.strip()
    website = (link(name, website_url) if website_url else escaped_line(name)) if name else ""
    return " · ".join(filter(None, (website, f"<{quote(ascii_url(page_url), safe=_SAFE_IN_URLS)}>")))


def link(text: str, url: str) -> str:
    """Return a Markdown link, escaped so that neither text nor URL can end it early."""
    return f"[{escaped_line(text)}]({quote(ascii_url(url), safe=_SAFE_IN_URLS)})"


def error_response(
    service: ServiceContext, offers: tuple[str, ...], request: Request, problem: Problem
) -> Response:
    """Return a problem as a page if the client prefers HTML among the offers, else as a document."""
    try:
        is_page = best_media_type(request, *offers) == HTML
        base = service.urls(request).base
    except Problem:  # the client accepts none of the offers, or its Host header is invalid
        is_page, base = False, ""
    if not is_page or problem.status not in PAGE_STATUSES:
        return problem.response()
    lang = lookup(request.query_params.get("lang", "")) or preferred_language(request, LANGUAGES)
    messages = MESSAGES[lang]
    heading, reason = {
        404: (messages.not_found, messages.not_found_reason),
        410: (messages.gone, messages.gone_reason),
    }.get(problem.status, (messages.unavailable, messages.unavailable_reason))
    page = _templates.get_template("error.html").render(
        base=base,
        lang=lang,
        heading=heading,
        reason=reason,
        ask=_ask(messages.ask, problem.website_url, ""),
        start=messages.start if problem.status in (404, 410) else "",
        css=_css(),
    )
    headers = {
        **PRIVATE,
        "content-language": lang,
        "content-security-policy": content_security_policy(),
        "vary": "Accept, Accept-Language",
        **problem.headers,
    }
    return Response(page, problem.status, headers, HTML)


def render_start(base: str, links: Sequence[tuple[str, str, str]]) -> str:
    """Return the start page; `links` are the title, language and URL of FAQs."""
    return _templates.get_template("start.html").render(base=base, lang="en", links=links, css=_css())


def content_security_policy(faq: FAQ | None = None) -> str:
    """Return the Content-Security-Policy of these pages; that of an FAQ allows its script and its images."""
    of_faq = ""
    if faq is not None:
        of_faq = f"script-src {hash_source(script(is_whole=False))}; "
        of_faq += f"img-src {images}; " if (images := image_source(faq)) else ""
    return (
        f"default-src 'none'; style-src {hash_source(_css())}; {of_faq}"
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def image_source(faq: FAQ) -> str:
    """Return the origin of the website whose images an FAQ may show; empty if it shows none."""
    try:
        parts = urlsplit(ascii_url(faq.website_url or ""))
    except ValueError:  # the form of the desk may have any text
        return ""
    is_host = re.fullmatch(r"[\w.:\[\]-]+", parts.netloc, re.ASCII)
    return f"{parts.scheme}://{parts.netloc}" if is_host and parts.scheme in ("http", "https") else ""


@cache
def _css() -> Markup:
    css = (Path(__file__).parent / "static" / "page.css").read_text(encoding="utf-8")
    return Markup(minified(css) + BANNER_CSS + stylesheet(*_PIECES))


def _body(fragment: Fragment | None, *, with_json_ld: bool) -> Markup:
    if fragment is None:
        return Markup()
    json_ld = json_ld_element(fragment.json_ld) if with_json_ld else ""
    # Above the questions, so that nothing moves.
    element = inline_script_element(is_whole=False) if fragment.script else ""
    return Markup(f"{element}{fragment.html}\n{json_ld}")


def _ask(sentence: str, url: str, name: str) -> Markup:
    """Return the sentence that links to the website for other questions; empty without an address."""
    if not url:
        return Markup()
    anchor = Markup('<a href="{}" rel="nofollow noopener">{}</a>').format(url, name or urlsplit(url).netloc)
    before, _, after = sentence.partition("%s")
    return Markup("{}{}{}").format(before, anchor, after)
