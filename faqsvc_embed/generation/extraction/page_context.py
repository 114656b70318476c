"""The surroundings of the questions of a page: headings and names that announce an FAQ."""

import re
from collections.abc import Callable
from functools import cached_property
from urllib.parse import urlsplit

from faqsvc_embed.generation.extraction.dom import BLOCKS, HEADINGS, NAMES, Element
from faqsvc_embed.generation.extraction.questions import (
    announces_faq,
    announces_interview,
    announces_policy,
    is_question,
)
from faqsvc_embed.generation.extraction.text import inline_text

_SEPARATORS = re.compile("[-_/]")


class PageContext:
    """A page whose boilerplate is marked. Its title and the end of its address may announce an FAQ."""

    def __init__(self, top: Element, title: str, url: str, *, is_article: bool = False) -> None:
        everything = top.walk()
        # Questions in a quotation are not questions of the page, but a quotation may be part of an answer.
        quoted = _within(everything, _is_quotation)
        self.size: int = len(everything)
        self.elements: list[Element] = [
            e for e in everything if not e.is_boilerplate and e.start not in quoted
        ]
        first_heading = next((inline_text(e.children) for e in everything if e.tag == "h1"), "")
        last_segment = _SEPARATORS.sub(" ", urlsplit(url).path.rstrip("/").rpartition("/")[2])
        names = (title, first_heading, last_segment)
        self.has_faq_title: bool = any(map(announces_faq, names))
        self.is_interview: bool = any(map(announces_interview, names))
        headings = (inline_text(e.children) for e in everything if e.tag in ("h1", "h2"))
        # A page whose title is a question is an article about it.
        has_question_as_title = any(is_question(heading) and heading in title for heading in headings)
        is_other = self.is_interview or has_question_as_title or any(map(announces_policy, names))
        self.is_article: bool = is_article or is_other
        self._named = _within(everything, _is_named_faq)
        self._below_titles = _below_faq_titles(self.elements)

    @cached_property
    def text_blocks(self) -> list[Element]:
        """The blocks that contain text and no other block."""
        blocks = [e for e in self.elements if e.tag in BLOCKS and not e.contains_blocks]
        return [block for block in blocks if inline_text(block.children)]

    def is_in_faq(self, element: Element) -> bool:
        """Return whether the page, class names or headings announce an FAQ around an element."""
        return self.has_faq_title or element.start in self._named or element.start in self._below_titles


def _below_faq_titles(elements: list[Element]) -> set[int]:
    """Return the positions of the elements below headings that announce an FAQ."""
    found, above = set[int](), list[tuple[int, bool]]()
    for element in elements:
        level = HEADINGS.get(element.tag)
        if level is not None:
            above = [heading for heading in above if heading[0] < level]
        if any(is_faq for _, is_faq in above):
            found.add(element.start)
        if level is not None:
            above.append((level, announces_faq(inline_text(element.children))))
    return found


def _is_named_faq(element: Element) -> bool:
    """Return whether class names, an id or microdata call an element an FAQ."""
    is_named = element.tag != "body" and bool(element.words & NAMES["faq"])
    return is_named or "FAQPage" in element.attrs.get("itemtype", "")


def _is_quotation(element: Element) -> bool:
    """Return whether an element is a quotation, and no indented part of the page."""
    if element.tag != "blockquote":
        return False
    titles = (e for e in element.walk() if e.tag in (*HEADINGS, "b", "strong", "dt", "summary"))
    return sum(is_question(inline_text(e.children)) for e in titles) < 2


def _within(elements: list[Element], condition: Callable[[Element], bool]) -> set[int]:
    """Return the positions of the elements that meet a condition, and of everything inside them."""
    found = set[int]()
    for element in elements:
        if (element.parent is not None and element.parent.start in found) or condition(element):
            found.add(element.start)
    return found
