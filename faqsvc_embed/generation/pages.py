"""A page that was visited, read: its language, its text, its links, and the questions that it answers."""

from dataclasses import dataclass
from typing import Final

import httpx2
import turbohtml
from turbohtml.detect import detect_language

from faqsvc_embed.generation.extraction.noise import mark_noise
from faqsvc_embed.generation.extraction.pairs import Pair, extract
from faqsvc_embed.generation.extraction.text import plain, text_of
from faqsvc_embed.generation.extraction.tree import grow
from faqsvc_embed.generation.visiting import Reply
from faqsvc_embed.languages import LANGUAGES, lookup

MAX_LINKS: Final = 1_000
_ISO_639_3: Final = dict(zip(("eng", "kor", "jpn", "cmn", "spa", "fra", "deu"), LANGUAGES, strict=True))
SAMPLE: Final = 5_000
"""Characters of a page by which its language is told."""


@dataclass(frozen=True, slots=True)
class Link:
    """Where a page leads, by which words, and in which language if it says so."""

    url: str
    text: str
    lang: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a website; `lang` is one of the seven, or None."""

    url: str
    lang: str | None
    title: str
    text: str
    pairs: tuple[Pair, ...]
    links: tuple[Link, ...]


def read_page(reply: Reply) -> Page:
    """Read what came as HTML: whatever it is, something comes out."""
    document = _parse(reply)
    title = document.find("title")
    text = _text(document)
    return Page(
        url=reply.url,
        lang=_language(document, text),
        title=plain(title.text) if title is not None else "",
        text=text,
        pairs=tuple(extract(document, reply.url)),
        links=tuple(_links(document, reply.url)),
    )


def _parse(reply: Reply) -> turbohtml.Document:
    try:
        return turbohtml.parse(reply.body, encoding=reply.charset, positions=False)
    except (LookupError, ValueError):  # a charset that there is not
        return turbohtml.parse(reply.body, positions=False)


def _text(document: turbohtml.Document) -> str:
    if document.root is None:
        return ""
    top = grow(document.root)
    mark_noise(top)
    return text_of([top])


def _language(document: turbohtml.Document, text: str) -> str | None:
    """Return what the page says its language is, else what its words are."""
    root = document.root
    stated = lookup((root.attr("lang") or "") if root is not None else "")
    return stated or _ISO_639_3.get(detect_language(text[:SAMPLE]).language or "")


def _links(document: turbohtml.Document, url: str) -> list[Link]:
    base = httpx2.URL(url)
    found: dict[str, Link] = {}
    for element in document.select("a[href], link[rel~=alternate][hreflang]"):
        if len(found) == MAX_LINKS:
            break
        try:
            target = str(base.join((element.attr("href") or "").strip()).copy_with(fragment=None))
        except (httpx2.InvalidURL, ValueError):
            continue
        hreflang = element.attr("hreflang") or ""
        found.setdefault(
            target, Link(target, plain(element.text)[:200], lookup(hreflang) if hreflang else None)
        )
    return list(found.values())
