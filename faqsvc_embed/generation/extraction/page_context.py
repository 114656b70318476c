"""What surrounds the questions of a page: titles that announce an FAQ, and boilerplate.

Boilerplate belongs to no FAQ: navigation, cookie banners, comments, advertisements.
"""

import re
from collections.abc import Callable
from functools import cache, cached_property
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from faqsvc_embed.generation.extraction.dom import BLOCKS, HEADINGS, NAMES, Element, with_headings, words_of
from faqsvc_embed.generation.extraction.patterns import any_of
from faqsvc_embed.generation.extraction.questions import MAX_LENGTH, announces_faq, is_question
from faqsvc_embed.generation.extraction.text import inline_text, question_text, raw_text
from faqsvc_embed.models.wire import MAX_SECTION

MAX_ID_WORDS: Final = 2
"""Maximum words of an id; a longer id often repeats the title of a section."""

_INTERVIEW = any_of("interview_titles")
_POLICY = any_of("policy_titles")
_SEPARATORS = re.compile("[-_/]")


class PageContext:
    """A page with its boilerplate marked. Its title and the end of its address may announce an FAQ."""

    def __init__(self, top: Element, title: str, url: str, *, is_article: bool) -> None:
        _mark_boilerplate(top)
        everything = top.walk()
        self.size: int = len(everything)
        # Questions in a quotation are not questions of the page, but a quotation may be part of an answer.
        quoted = _within(everything, _is_quotation)
        own = (e for e in everything if e.start not in quoted)
        self.elements: list[Element] = [e for e in own if not e.is_boilerplate]
        first_heading = next((inline_text(e.children) for e in everything if e.tag == "h1"), "")
        last_segment = _SEPARATORS.sub(" ", urlsplit(url).path.rstrip("/").rpartition("/")[2])
        names = [name[:MAX_LENGTH] for name in (title, first_heading, last_segment)]
        shown, address = names[:2], names[2]
        # A page that asks for consent has the address of the FAQ behind it.
        asks_consent = _POLICY.search(shown[1]) and not _POLICY.search(address)
        self.has_faq_title: bool = any(map(announces_faq, shown if asks_consent else names))
        self.is_interview: bool = any(map(_INTERVIEW.search, names))
        is_policy = any(map(_POLICY.search, names))
        # A page whose title is a question is an article about it.
        headings = (inline_text(e.children) for e in everything if e.tag in ("h1", "h2"))
        answers_its_title = any(is_question(heading) and heading in title for heading in headings)
        self.is_article: bool = is_article or self.is_interview or is_policy or answers_its_title
        """Whether it is an article: questions in its running text belong to no FAQ."""
        self._named = _within(everything, _is_named_faq)
        self.headings: list[Element] = [e for e in self.elements if e.tag in HEADINGS]
        announces = cache(lambda heading: announces_faq(inline_text(heading.children)))
        above = with_headings(self.elements, {*self.headings})
        self._below_titles = {element.start for element, titles in above if any(map(announces, titles))}

    @cached_property
    def text_blocks(self) -> list[Element]:
        """The blocks that contain text and no other block."""
        blocks = [e for e in self.elements if e.tag in BLOCKS and not e.contains_blocks]
        return [block for block in blocks if inline_text(block.children)]

    def is_in_faq(self, element: Element) -> bool:
        """Return whether the page, class names or headings announce an FAQ around an element."""
        return self.has_faq_title or element.start in self._named or element.start in self._below_titles

    def sections(self, questions: set[Element], is_taken: Callable[[Element], bool]) -> dict[Element, str]:
        """Return the heading above each question that has one, if these headings differ.

        `is_taken` tells whether a heading belongs to a question or an answer.
        """
        titles = {heading for heading in self.headings if not is_taken(heading)}
        if sum(title.tag == "h1" for title in titles) == 1:
            titles = {title for title in titles if title.tag != "h1"}
        sections, read = dict[Element, str](), cache(question_text)
        for question, above in with_headings(self.elements, titles):
            if question in questions:
                around = (question, *islice(question.ancestors(), 2))
                level = next((HEADINGS[one.tag] for one in around if one.tag in HEADINGS), 7)
                higher = (title for title in reversed(above) if HEADINGS[title.tag] < level)
                text = next(map(read, higher), "")
                if 0 < len(text) <= MAX_SECTION and not announces_faq(text):
                    sections[question] = text
        return sections if len(set(sections.values())) > 1 else {}


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


def _mark_boilerplate(top: Element) -> None:
    """Set `is_boilerplate` on the elements that contain no question or answer, and on all inside them."""
    content = _around_content(top)
    for element in top.walk():
        if element.parent is not None and element.parent.is_boilerplate:
            element.is_boilerplate = True
        elif element.start not in content:
            element.is_boilerplate = _is_boilerplate(element)


def _around_content(top: Element) -> set[int]:
    """Return the positions of elements that contain the main part or a title, whatever their class names."""
    content = {top.start}
    for element in reversed(top.walk()):  # what is inside an element comes before it
        is_main = element.tag in ("body", "main", "h1") or element.role == "main"
        if is_main or any(inner.start in content for inner in element.elements()):
            content.add(element.start)
    return content


def _is_boilerplate(element: Element) -> bool:
    """Return whether tag, role, names or content make an element boilerplate."""
    if element.words & NAMES["content"]:  # some page builders put answers into `<nav class="faq-answer">`
        return False
    if element.tag == "nav" and element.role != "navigation":
        return not _is_drop_down_text(element)
    if element.tag in ("aside", "nav", "dialog", "form") or element.role in NAMES["boilerplate_role"]:
        return True
    first = next(next(element.elements(), element).elements(), element)
    if element.tag == "div" and first.attrs.get("href", "").startswith(("#cmnt_ref", "#ftnt_ref")):
        return True  # a comment or footnote of Google Docs, and not the page that has them
    by_id = words_of(element.attrs.get("id", ""))
    names = element.class_words | (by_id if len(by_id) <= MAX_ID_WORDS else frozenset())
    is_footer = bool(names & NAMES["footer"]) and element.tag in ("div", "section")
    if is_footer or element.tag in ("header", "footer"):
        return not any(ancestor.tag in NAMES["section"] for ancestor in element.ancestors())
    if names & NAMES["boilerplate"] <= {"toc", "sidebar", "breadcrumb"} and not _is_mostly_links(element):
        return False  # an element named `toc-container` or `sidebar-none` may also contain the text
    return element.tag not in NAMES["small"] and bool(names & NAMES["boilerplate"])


def _is_drop_down_text(nav: Element) -> bool:
    """Return whether a `<nav>` contains text, few links, and nothing that opens."""
    opens = any(element.tag in ("summary", "button", *HEADINGS) for element in nav.walk())
    return not opens and not _is_mostly_links(nav)


def _is_mostly_links(element: Element) -> bool:
    links = sum(len(raw_text(inner)) for inner in element.walk() if inner.tag == "a")
    return links >= 0.5 * len(raw_text(element).strip())


def is_promotional(question: Element) -> bool:
    """Return whether a question is in an advertisement, a quiz, a poll or the like."""
    return any(
        element.words & NAMES["promotion"]
        and not any(inner.tag in ("h1", "main") for inner in element.walk())
        for element in question.ancestors()  # not the question, whose id often repeats its words
    )


def is_link(element: Element) -> bool:
    """Return whether the whole text of an element is a link to another page, which then has the answer."""
    links = [inner for inner in element.walk() if inner.tag == "a"]
    if len(links) != 1 or links[0].attrs.get("href", "#").startswith(("#", "javascript:")):
        return False
    return raw_text(links[0]).split() == raw_text(element).split()
