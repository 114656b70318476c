"""A page of a website: its language, text, links, questions and answers."""

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin

import httpx2
import turbohtml
from turbohtml.detect import LanguageDetection
from turbohtml.detect import detect_language as detect

from faqsvc_embed.files.detection import CODES, MAX_LENGTH, SCRIPTS, characters_of, detect_language
from faqsvc_embed.generation.crawl.fetcher import Response
from faqsvc_embed.generation.extraction.extractor import Pair, extract
from faqsvc_embed.generation.extraction.questions import is_question
from faqsvc_embed.generation.extraction.text import base_of, plain
from faqsvc_embed.languages import lookup
from faqsvc_embed.models import Item

MAX_LINKS: Final = 2_000
"""Links of a page that are read."""
CLEAR_LENGTH: Final = 200
"""Characters that a text must have for its language to be clear."""
CLEAR_CONFIDENCE: Final = 0.9
"""The confidence that the detector must have for a language to be clear."""
MIN_SHARE: Final = 0.1
"""The share of a script in the letters of a text; the rest may be code and names."""
MIN_TEXT: Final = 200
"""Minimum characters of text; a page with fewer characters and with scripts is filled by its scripts."""

_SUPPORTED: Final = LanguageDetection(allowed=frozenset(CODES))
_TAG = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,4}")


@dataclass(frozen=True, slots=True)
class Link:
    """A link with its text, and the language of its target if the page states it."""

    url: str
    text: str = ""
    lang: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of a website; `lang` is one of the supported languages, or None."""

    url: str
    lang: str | None = None
    tag: str | None = None
    """The tag of its language, which may be one that is not supported."""
    title: str = ""
    text: str = ""
    pairs: tuple[Pair, ...] = ()
    links: tuple[Link, ...] = ()
    needs_script: bool = False
    """Whether it lacks text, or answers, before its script has run."""


def read_page(response: Response) -> Page:
    """Return the page in a response. Any bytes are accepted, as in browsers."""
    document = _parse(response)
    content = extract(document, response.url)
    tag = _stated_tag(document)
    lang = _language(tag, content.text)
    is_empty = len(content.text) < MIN_TEXT and document.find("script") is not None
    return Page(
        url=response.url,
        lang=lang,
        tag=lang or tag,
        title=content.title,
        text=content.text,
        pairs=content.pairs,
        links=tuple(_links(document, response.url)),
        needs_script=is_empty or (not content.pairs and _asks_in_panels(document)),
    )


def _asks_in_panels(document: turbohtml.Document) -> bool:
    """Return whether several questions open panels, which are empty if the page has no pairs."""
    openers = document.select("[aria-expanded], [aria-controls], summary")[:MAX_LINKS]
    return sum(is_question(plain(one.text[:1_000])) for one in openers) > 1


def _parse(response: Response) -> turbohtml.Document:
    body, encoding = response.body, response.charset
    with suppress(UnicodeDecodeError):
        if not body.isascii() and body.decode():
            encoding = "utf-8"  # whatever the header says: text in another charset is hardly ever valid UTF-8
    try:
        return turbohtml.parse(body, encoding=encoding, detect_encoding=True, positions=False)
    except (LookupError, ValueError):  # no such charset
        return turbohtml.parse(body, detect_encoding=True, positions=False)


def _language(tag: str | None, text: str) -> str | None:
    """Return the language of a page: the stated one, unless its text is clearly in another language."""
    if tag is None:
        return detected_language(text)
    stated = lookup(tag)
    return stated and (contradicts(text, stated) or stated)


def _stated_tag(document: turbohtml.Document) -> str | None:
    """Return the language tag that a page states."""
    root = document.root
    tag = (root.attr("lang") or root.attr("xml:lang") or "").strip() if root is not None else ""
    return tag if _TAG.fullmatch(tag) else None


def detected_language(text: str) -> str | None:
    """Return the supported language of a text, or None if it is in another one."""
    sample = text[:MAX_LENGTH]
    if script := _script_language(sample):
        return script
    found = detect(sample)
    if len(sample) >= CLEAR_LENGTH and found.confidence >= CLEAR_CONFIDENCE:
        return CODES.get(found.language or "")
    return detect_language([Item(0, sample, "")])  # the detector is sure of short texts in any language


def contradicts(text: str, lang: str) -> str | None:
    """Return the supported language that a text is clearly in, or None if that may be `lang`."""
    sample = text[:MAX_LENGTH]
    if len(sample) < CLEAR_LENGTH:
        return None
    script = _script_language(sample)
    if script is None and lang in SCRIPTS:
        is_absent = SCRIPTS["zh" if lang == "ja" else lang].search(sample) is None
        return detected_language(sample) if is_absent else None
    if script is not None:
        shares_characters = {script, lang} == {"ja", "zh"}
        return None if script == lang or shares_characters else script
    found = detect(sample, _SUPPORTED)
    language = CODES.get(found.language or "")
    return language if language != lang and found.confidence >= CLEAR_CONFIDENCE else None


def _script_language(text: str) -> str | None:
    """Return the language of the script of a text, or None if it is none of the three."""
    letters = sum(map(str.isalpha, text))
    counts = dict(zip(SCRIPTS, (sum(map(len, found)) for found in characters_of(text)), strict=True))
    # Japanese comes before Chinese, because it has Chinese characters too.
    return next((lang for lang, count in counts.items() if letters and count >= MIN_SHARE * letters), None)


def _links(document: turbohtml.Document, url: str) -> list[Link]:
    """Return the links of a page, each address once."""
    base = base_of(document, url)
    links: dict[str, Link] = {}
    for element in document.select("a[href], link[rel~=alternate][hreflang]")[:MAX_LINKS]:
        try:
            address = urljoin(base, (element.attr("href") or "").strip())
            target = str(httpx2.URL(address).copy_with(fragment=None))
        except (httpx2.InvalidURL, ValueError):
            continue
        lang = lookup(element.attr("hreflang") or "")
        links.setdefault(target, Link(target, plain(element.text[:1_000])[:200], lang))
    return list(links.values())
