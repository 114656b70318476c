"""Markdown answers (CommonMark 0.31 with the tables of GFM) as safe HTML, and as its subset for JSON-LD.

What other dialects add (footnotes, admonitions, definition lists) is shown in its plainest form. An HTML5
sanitizer with an allowlist cleans the output of the parser and the HTML in Markdown. The JSON-LD is made from
the result, so that both say the same.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from html import unescape
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urljoin, urlsplit

from markupsafe import Markup, escape

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.markdown_cost import is_parsable
from faqsvc_embed.models.parts import link_key
from faqsvc_embed.models.wire import web_address
from faqsvc_embed.rendering import dialects
from faqsvc_embed.rendering.answers import (
    LOWEST_HEADING,
    REL,
    Dropped,
    RenderedAnswer,
    paragraphs,
    visible,
    with_urls,
)
from faqsvc_embed.text import superscript

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from nh3 import Cleaner

SCHEMES: Final = ("http", "https", "mailto", "tel")
"""Schemes of links that are kept, because they lead to the same place from every page."""
_TAGS: Final = (
    "h1 h2 h3 h4 h5 h6 br ol ul li a img p strong em code pre blockquote hr table thead tbody tr th td"
    " b i u s del ins kbd sub sup mark small dl dt dd"
)
TAGS: Final = tuple(_TAGS.split())
_JSON_LD_TAGS: Final = "h1 h2 h3 h4 h5 h6 br ol ul li a p div b strong i em"
JSON_LD_TAGS: Final = tuple(_JSON_LD_TAGS.split())
"""The tags that Google's documentation of FAQPage lists for the text of an answer."""

_TABLE: Final = re.compile("</?(?:table|thead|tbody|t[hd])>")
_ROW: Final = re.compile("(</?)(?:tr|dt|dd)>")
_HEADING: Final = re.compile("<(/?)h([1-6])>")
_EMPTY: Final = re.compile(r"<(p|h[1-6])>(?:\s|<br>)*</\1>\s*")
"""What is left of a paragraph whose image is not shown."""
_RELATIVE: Final = re.compile('<a href="[/#][^"]*"[^<>]*>(.*?)</a>', re.DOTALL)
_STRUCK: Final = re.compile("<(s|del)>.*?</\\1>", re.DOTALL)
_RAISED: Final = re.compile("<sup>([^<>]*)</sup>")
_IMAGE: Final = re.compile('<img src="[^"]*" alt="([^"]*)" loading="lazy">')

_TAG: Final = re.compile(r"<(/?)([A-Za-z][\w.@-]*)((?:\s[^<>]*|/)?)>")
_ATTRIBUTE: Final = re.compile(r"(?<![A-Za-z-])([A-Za-z-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'<>]+)")
_EMBEDS: Final = re.compile(
    "script|style|iframe|video|audio|object|embed|form|input|button|select|textarea|svg|math|canvas"
)
"""Elements that an answer cannot have; a debug page and `check` name them."""
_ELEMENT: Final = re.compile(
    "a|abbr|address|article|aside|b|bd[io]|blockquote|br|caption|center|cite|code|col|colgroup|dd|del|details|dfn"
    "|div|d[lt]|em|figcaption|figure|font|footer|h[1-6r]|header|i|img|ins|kbd|li|main|mark|nav|ol|p|picture|pre"
    "|q|s|samp|section|small|source|span|strike|strong|su[bp]|summary|t[dhrt]|table|tbody|tfoot|thead|time|u|ul"
    "|var|wbr"
)
"""The elements of HTML whose tags are no text."""


def to_html(
    text: str, question_level: int | None, website_url: str | None, links: Mapping[str, str]
) -> RenderedAnswer:
    """Return Markdown as HTML that is safe on any page, empty if it shows nothing.

    Headings are below `question_level`, or bold paragraphs if it is None. Links and images such as `/contact`
    lead to `website_url`; without it, to the website that shows the page. Links such as `#shipping` lead to
    the question that `links` has under its `link_key`.
    """
    if not is_parsable(text):
        plain = paragraphs(text)
        return RenderedAnswer(plain, _for_json_ld(plain), (Dropped(1, "the formatting of the whole answer"),))
    dropped = list[Dropped]()
    env = {"website_url": website_url, "dropped": dropped, "links": links}
    html: str = _parser().render(visible(dialects.in_plain_form(text)), env)
    # At the beginning, a byte order mark would be lost in JSON-LD, which is sanitized once more.
    safe = _EMPTY.sub("", _sanitizer(TAGS).clean(html)).strip().lstrip("\ufeff \t\r\n")
    if not Markup(safe).striptags().strip() and "<img" not in safe:
        dropped.append(Dropped(0, "the whole answer"))
        safe = ""
    json_ld = _for_json_ld(safe)
    if safe and not Markup(json_ld).striptags().strip():
        json_ld = ""
        what = "an image without alternative text" if "<img" in safe else "text that is struck out"
        dropped.append(Dropped(1, f"to search engines, {what}", is_on_page=True))
    return RenderedAnswer(Markup(_below(question_level, safe)), json_ld, tuple(dropped))


def _below(level: int | None, html: str) -> str:
    """Return HTML whose highest headings come right below a level; without one, they are bold paragraphs."""
    if level is None:
        bold = _HEADING.sub(lambda one: "</strong></p>" if one[1] else "<p><strong>", html)
        return _sanitizer(TAGS).clean(bold)  # balances it: a heading may contain blocks, a paragraph may not
    lower = level + 1 - min((int(one[2]) for one in _HEADING.finditer(html)), default=1)
    return _HEADING.sub(lambda one: f"<{one[1]}h{min(int(one[2]) + lower, LOWEST_HEADING)}>", html)


def _for_json_ld(html: str) -> str:
    """Return the HTML of an answer with the tags and attributes that JSON-LD may contain.

    A row of a table becomes a line, and a link that leads to the page's own website its text. What is struck
    out is left out, and superscript digits stay superscript. All headings have one level, because what is
    above them differs from page to page.
    """
    html = _RAISED.sub(lambda one: superscript(one[1]), _RELATIVE.sub(r"\1", _STRUCK.sub("", str(html))))
    html = _TABLE.sub("", _ROW.sub(r"\1div>", _IMAGE.sub(r"\1", html)))
    return _sanitizer(JSON_LD_TAGS).clean(_HEADING.sub(r"<\1h4>", html)).strip()


def load() -> None:
    """Import the parser and the sanitiser, so that no page has to."""
    _parser()
    _sanitizer(TAGS)


@cache
def _sanitizer(tags: tuple[str, ...]) -> "Cleaner":
    from nh3 import Cleaner

    attributes = {"*": set[str](), "a": {"href"}}
    if tags is TAGS:
        attributes |= {"ol": {"start"}, "img": {"src", "alt", "loading"}}
    return Cleaner(
        tags=set(tags),
        attributes=attributes,
        url_schemes=set(SCHEMES),
        link_rel=REL if tags is TAGS else None,
        allowed_classes={tag: set(dialects.ALIGNMENTS.values()) for tag in ("th", "td") if tag in tags},
    )


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table").enable("strikethrough")
    dialects.add_to(parser)
    parser.core.ruler.push("faqsvc", _adjust)
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # `_address` drops what leads nowhere
    # Its first use sorts its rules and fills tables of characters. No other thread and no fork may see
    # them half done.
    parser.render("*a* <https://a.example/%20>", {"website_url": None})
    return parser


def _adjust(state: "StateCore") -> None:
    """Simplify what dialects add, and replace links without an address by their text."""
    line = 1
    dialects.simplify(state)
    for token in state.tokens:
        line = token.map[0] + 1 if token.map else line
        if token.type == "html_block":
            token.content = _html(token.content, line, state.env)
        elif token.type == "inline":
            token.children = list(_resolved(token.children or [], line, state.env))


def _html(markup: str, line: int, env: Mapping[str, Any]) -> str:
    """Return HTML with resolved links and images; the sanitizer sees it later.

    Tags that HTML does not have are text, and components on a line of their own are dropped.
    """
    is_comment = markup.startswith("<!--") and "-->" in markup
    if markup.startswith(("<?", "<!")) and not is_comment:
        return str(escape(markup))

    def tag(found: re.Match[str]) -> str:
        at = line + markup.count("\n", 0, found.start())
        end, name, attributes = found.groups()
        lower = name.lower()
        if lower in ("a", "img") and not end:
            return _html_link(lower, attributes, at, env)
        if lower == "summary":
            return "</strong></p>" if end else "<p><strong>"
        is_embed = _EMBEDS.fullmatch(lower) is not None  # the sanitizer removes its tag, and a whole script
        if is_embed or (
            name[0].isupper() and (attributes.strip() or not markup[found.end() :].partition("\n")[0].strip())
        ):
            if not end:
                env["dropped"].append(Dropped(at, f"<{name}>"))
            return found[0] if is_embed else ""
        return found[0] if _ELEMENT.fullmatch(lower) else str(escape(found[0]))

    return _TAG.sub(tag, markup)


def _html_link(name: str, attributes: str, line: int, env: Mapping[str, Any]) -> str:
    """Return the tag of a link or an image, whose address is resolved as in Markdown."""
    values = {key.lower(): unescape(value.strip("\"'")) for key, value in _ATTRIBUTE.findall(attributes)}
    given = values.get("href" if name == "a" else "src", "")
    if name == "a":
        address = _address("link", given, line, env) if given else None
        return f'<a href="{escape(address)}">' if address is not None else ""
    address = _address("image", given, line, env)
    if address is None:
        return str(escape(values.get("alt", "")))
    return f'<img src="{escape(address)}" alt="{escape(values.get("alt", ""))}" loading="lazy">'


def _resolved(tokens: "list[Token]", line: int, env: Mapping[str, Any]) -> "Iterator[Token]":
    """Yield the tokens of a text with resolved links and images, and its URLs as links.

    Links without an address are dropped.
    """
    is_kept, in_link, before = True, False, ""
    for token in tokens:
        kind = token.type
        if kind in ("softbreak", "hardbreak"):
            line += 1
        elif kind == "html_inline":
            is_type = before[-1:].isalnum() and token.content[1:2].isupper()  # as in List<String>
            token.content = str(escape(token.content)) if is_type else _html(token.content, line, env)
            if (tag := _TAG.fullmatch(token.content)) and tag[2].lower() == "a":
                in_link = not tag[1]
        elif kind == "link_open":
            address = _address("link", str(token.attrGet("href")), line, env)
            token.attrSet("href", address or "")
            is_kept, in_link = address is not None, True
        elif kind == "link_close":
            in_link = False
        elif kind == "image":
            address = _address("image", str(token.attrGet("src")), line, env)
            token.attrSet("src", address or "")
            token.attrSet("loading", "lazy")
            if address is None:  # it is on another website, which would learn of each visitor
                token.type, token.content = "text", unescape(token.content)
        before = token.content if kind == "text" else ""
        if token.type == "text" and not in_link and "://" in token.content:
            yield from _linked(token)
        elif is_kept or kind not in ("link_open", "link_close"):
            yield token


def _linked(text: "Token") -> "Iterator[Token]":
    """Yield the tokens of a text whose URLs are links."""
    from markdown_it.token import Token

    for part, is_url in with_urls(text.content):
        token = text.copy(content=part)
        if is_url:
            yield Token("link_open", "a", 1, attrs={"href": part})
        yield token
        if is_url:
            yield Token("link_close", "a", -1)


def _address(kind: str, given: str, line: int, env: Mapping[str, Any]) -> str | None:
    """Return the address of a link or image. If it depends on the page that shows it, note that instead."""
    address = _resolved_address(given, env, is_image=kind == "image")
    if address is None:
        env["dropped"].append(Dropped(line, f"the {kind} to {quoted(unquote(given))}"))
    return address


def _resolved_address(given: str, env: Mapping[str, Any], *, is_image: bool) -> str | None:
    website_url = env["website_url"]
    if given.startswith("/") and not given.startswith(("//", "/\\")):
        return given if website_url is None else urljoin(website_url, given)
    if is_image:
        is_own = website_url is not None and _site(given) == _site(website_url) is not None
        return given if is_own else None
    if given.startswith("#"):
        links: Mapping[str, str] = env["links"]
        return links.get(key := link_key(given)) or links.get(key.lstrip("0123456789"))
    return given if _leads_somewhere(given) else None


def _site(address: str) -> tuple[bytes, int | None] | None:
    """Return the host of a web address, in ASCII if it is in another script, and its port."""
    if web_address(address) is None:
        return None
    try:
        parts = urlsplit(address)
        is_plain = "@" not in parts.netloc
        return ((parts.hostname or "").encode("idna"), parts.port) if is_plain else None
    except ValueError:  # no host, or none that can be one
        return None


def _leads_somewhere(address: str) -> bool:
    scheme, _, rest = address.partition(":")
    if scheme.lower() in ("http", "https"):
        return re.match(r"//[^\s/?#\\]", rest) is not None
    return scheme.lower() in SCHEMES and bool(rest.strip())
