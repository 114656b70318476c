"""The elements that a page has once: stylesheets, the script, and the FAQPage.

Every FAQ is printed with all its elements, so that it also works in an error page or an email. Before a
response is sent, duplicate elements are removed, and all FAQPages are merged into the first one.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import AnyStr, Final

import msgspec
from markupsafe import Markup

from faqsvc_embed.rendering import json_ld
from faqsvc_embed.rendering.elements import (
    inline_script_element,
    json_ld_element,
    link_element,
    linked_script_element,
    style_element,
)
from faqsvc_embed.rendering.fragments import Fragment
from faqsvc_embed.settings.validators import Styles

HEAD: Final = 64
"""Only this prefix of an element is searched for; longer needles take milliseconds to prepare."""
MAX_MERGED: Final = 8
MAX_MERGED_SIZE: Final = 250_000
ROOT_TAG: Final = '<section class="faqsvc'
"""How each FAQ begins, after its stylesheets."""

# A FAQPage is searched for behind an FAQ only, because the host may write one of its own.
_BEFORE_FAQ_PAGE: Final = ("</section>", "</script>")
_ELEMENT: Final = (
    r'<(?:style(?: nonce="[^"<>]*")?>@layer faqsvc\{[^<]*</style>'
    r'|link rel="stylesheet" href="[^"<>]*/faqsvc[.-][^"<>]*"[^<>]*>'
    r'|script src="[^"<>]*/faqsvc\.[^"<>]*"[^<>]*></script>'
    r'|script type="application/ld\+json"(?: nonce="[^"<>]*")?>'
    r'(\{"@context":"https://schema.org","@type":"FAQPage"[^<]*)</script>)'
)

Needles = Mapping[bytes, Sequence[tuple[bytes, str]]]
"""What is searched for in a body, encoded and as text, by its first bytes."""
Occurrence = tuple[int, int, str]
"""Where it begins and ends, and its text."""


class Surroundings(msgspec.Struct, frozen=True, gc=False):
    """The options of a page for the elements around an FAQ."""

    styles: Styles = "inline"
    nonce: str | None = None
    """The nonce of the Content-Security-Policy."""
    folder: str | None = None
    """The URL path of the package's static files; if it is None, styles and scripts are inline."""

    def style_elements(self, fragment: Fragment) -> Sequence[str]:
        """Return the stylesheets of a fragment."""
        if self.styles == "none":
            return ()
        if self.styles == "linked" and self.folder is not None:
            return [link_element(f"{self.folder}/{name}", self.nonce) for name in fragment.css_files]
        return [style_element(css, self.nonce) for css in fragment.css]

    def script_elements(self, fragment: Fragment) -> list[str]:
        """Return the script of a fragment, if it needs one."""
        if not fragment.needs_script:
            return []
        if self.folder is not None:
            return [linked_script_element(self.folder, self.nonce)]
        return [inline_script_element(self.nonce)]


PLAIN: Final = Surroundings()
"""The options of most pages. A fragment is then printed without changes."""


class Printed(msgspec.Struct, frozen=True, gc=False):
    """One FAQ, or the output of one `faq_schema()`, as it was printed."""

    fragment: Fragment | None
    surroundings: Surroundings
    json_ld: str
    """Its FAQPage; empty if it was printed without one."""

    def markup(self) -> Markup:
        """Return the FAQ with all its elements."""
        fragment, around = self.fragment, self.surroundings
        if fragment is None:
            return Markup(json_ld_element(self.json_ld, around.nonce))  # serialized for it
        if self._is_plain(fragment):
            return fragment.inline
        before = "".join(f"{element}\n" for element in around.style_elements(fragment))
        after = [*around.script_elements(fragment), json_ld_element(self.json_ld, around.nonce)]
        return Markup("\n".join(filter(None, (f"{before}{fragment.html}", *after))))  # rendered

    def elements(self) -> Mapping[str, str]:
        """Map each element that a page needs once to its FAQPage JSON, or to an empty string."""
        fragment, around, elements = self.fragment, self.surroundings, dict[str, str]()
        if fragment is not None and self._is_plain(fragment):
            return fragment.elements
        if fragment is not None:
            elements.update(dict.fromkeys(around.style_elements(fragment), ""))
            elements.update(dict.fromkeys(around.script_elements(fragment), ""))
        if self.json_ld:
            elements[json_ld_element(self.json_ld, around.nonce)] = self.json_ld
        return elements

    def is_repeated_in(self, body: AnyStr, encode: Callable[[str], AnyStr]) -> bool:
        """Return whether a body has its first element again, in a copy or in a part the host has cached."""
        element = next(iter(self.elements()), "")
        head = encode(element[:HEAD])
        at = body.find(head)
        return bool(element) and at >= 0 and body.find(head, at + len(element)) >= 0

    @property
    def length_of_two(self) -> int:
        """How long a body is at least that has this FAQ and its stylesheet again."""
        fragment = self.fragment
        if fragment is None or self.surroundings.styles != "inline":
            return 0
        return 2 * len(fragment.css[0]) + len(fragment.html) + len(self.json_ld)

    def _is_plain(self, fragment: Fragment) -> bool:
        """Return whether the fragment is printed as it is."""
        return self.surroundings is PLAIN and self.json_ld != "" and not fragment.needs_script


def merge_pages(texts: tuple[str, ...]) -> str:
    """Return one FAQPage with the questions of several. The last few are remembered."""
    merged = _merged.get(texts)
    if merged is None:
        merged = json_ld.merge(texts)
        if len(merged) <= MAX_MERGED_SIZE:
            if len(_merged) >= MAX_MERGED:
                _merged.clear()
            _merged[texts] = merged
    return merged


_merged: Final[dict[tuple[str, ...], str]] = {}


def find_elements(html: str) -> dict[str, str]:
    """Return the elements of the FAQs in a text, as `Printed.elements` does."""
    found = dict[str, str]()
    for match in re.finditer(_ELEMENT, html):
        text = match[1] or ""
        before = html[max(0, match.start() - HEAD) : match.start()].rstrip()
        if not text or (before.endswith(_BEFORE_FAQ_PAGE) and json_ld.is_page(text)):
            found[match[0]] = text
    return found


class ElementFilter:
    """Removes duplicate elements from the body of a response.

    A complete body is searched first. A streamed body cannot be, so its first FAQPage gets the questions of
    everything printed from its first FAQ on; what was printed before may be for an email. An FAQ within an
    HTML comment stays as it is, because nobody sees it.
    """

    def __init__(
        self,
        printed: Sequence[Printed | None],
        charset: str = "utf-8",
        encoders: Sequence[Callable[[str], bytes]] = (str.encode,),
    ) -> None:
        """`printed` is what was printed so far, and grows; the body may have it in any of these encodings."""
        self._printed = printed
        self._charset = charset
        self._encoders = encoders
        self._comment = by_head((encoders[-1](mark), mark) for mark in ("<!--", "-->"))
        self._elements = dict[str, str]()
        self._needles: Needles = {}
        self._known = 0
        self._sent = set[str]()
        self._has_json_ld = False
        self._is_in_comment = False
        self._is_first = True
        self.has_changed = False

    def feed(self, body: bytes, *, last: bool) -> tuple[bytes, bytes]:
        """Return the part of a piece that can be sent, and the rest, which belongs before the next piece."""
        is_whole, self._is_first = self._is_first and last, False
        self._search_for(self._cached(body) if is_whole else {})
        everything = occurrences(body, self._needles)
        found = list(self._without_comments(body, everything))
        present = [element for _, _, element in found if self._elements[element]]
        if present and not is_whole:
            present = list(self._elements)[list(self._elements).index(present[0]) :]
        texts = tuple(dict.fromkeys(text for element in present if (text := self._elements[element])))
        parts, start = list[bytes](), 0
        for at, end, element in found:
            is_json_ld = self._elements[element] != ""
            replacement = self._replacement(element, texts) if is_json_ld else self._repeated(element)
            if replacement is not None:
                parts += [body[start:at], self._encoders[-1](replacement)]
                start = end
                self.has_changed = True
        end = len(body)
        if not last:
            end = hold_back(body, start, {**self._needles, **self._comment})
            self._read_comments(body, everything[-1][1] if everything else 0, len(body))
        return b"".join([*parts, body[start:end]]), body[end:]

    def _search_for(self, cached: dict[str, str]) -> None:
        """Search for the elements of everything printed so far, and for those in `cached` parts."""
        printed = [one for one in self._printed if one is not None]
        if len(printed) == self._known and not cached:
            return
        self._known = len(printed)
        self._elements = cached
        for one in printed:
            self._elements.update(one.elements())
        self._needles = by_head((encode(text), text) for encode in self._encoders for text in self._elements)

    def _without_comments(self, body: bytes, found: Iterable[Occurrence]) -> Iterator[Occurrence]:
        """Yield the elements outside of HTML comments; a comment may have begun in an earlier piece."""
        start = 0
        for at, end, element in found:
            self._read_comments(body, start, at)
            if not self._is_in_comment:
                yield at, end, element
            start = end

    def _read_comments(self, body: bytes, start: int, end: int) -> None:
        """Note whether a part of the body ends within a comment."""
        opened, closed = (body.rfind(mark, start, end) for mark in self._comment)
        if opened != closed:
            self._is_in_comment = opened > closed

    def _cached(self, body: bytes) -> dict[str, str]:
        """Return the elements of a whole body, if it has FAQs that the host printed before and has cached."""
        printed = sum(one is not None and one.fragment is not None for one in self._printed)
        is_cached = body.count(self._encoders[0](ROOT_TAG)) > printed
        return find_elements(body.decode(self._charset, "replace")) if is_cached else {}

    def _repeated(self, element: str) -> str | None:
        """Return None to keep the first of equal elements, and an empty string to remove the others."""
        if element in self._sent:
            return ""
        self._sent.add(element)
        return None

    def _replacement(self, element: str, texts: tuple[str, ...]) -> str | None:
        """Return the merged FAQPage for the first one, or None to keep it; an empty string for the others."""
        if self._has_json_ld:
            return ""
        self._has_json_ld = True
        if len(texts) < 2:
            return None
        opening_tag = element[: element.index(">") + 1]
        return f"{opening_tag}{merge_pages(texts)}</script>"


class TextFilter:
    """Removes duplicate elements from the parts of a text; each element is within one part."""

    def __init__(self, printed: Sequence[Printed | None]) -> None:
        self._filter = ElementFilter(printed)

    def feed(self, text: str, *, last: bool = False) -> str:
        """Return a part of the text without elements that an earlier part has."""
        filtered, rest = self._filter.feed(text.encode("utf-8", "surrogatepass"), last=last)
        return (filtered + rest).decode("utf-8", "surrogatepass")


def by_head(needles: Iterable[tuple[bytes, str]], length: int = HEAD) -> Needles:
    """Group what is searched for by its first bytes."""
    groups = dict[bytes, list[tuple[bytes, str]]]()
    for needle, element in needles:
        groups.setdefault(needle[:length], []).append((needle, element))
    return groups


def occurrences(body: bytes, needles: Needles) -> list[Occurrence]:
    """Return where each needle begins and ends in a body, in order; they may overlap."""
    found = list[Occurrence]()
    for head, candidates in needles.items():
        at = body.find(head)
        while at >= 0:
            end = at + 1
            for needle, element in candidates:
                if body.startswith(needle, at):
                    end = at + len(needle)
                    found.append((at, end, element))
                    break
            at = body.find(head, end)
    return sorted(found)


def hold_back(body: bytes, start: int, needles: Needles) -> int:
    """Return where a needle begins that the end of a body may cut off; the body's length if there is none."""
    end = len(body)
    for head, candidates in needles.items():
        longest = max(len(needle) for needle, _ in candidates)
        at = body.find(head, max(start, len(body) - longest + 1))
        while at >= 0 and not any(needle.startswith(body[at:]) for needle, _ in candidates):
            at = body.find(head, at + 1)
        if at < 0:  # the head itself may be cut off
            at = body.find(head[:1], max(start, len(body) - len(head) + 1))
            while at >= 0 and not head.startswith(body[at:]):
                at = body.find(head[:1], at + 1)
        if at >= 0:
            end = min(end, at)
    return end
