"""Parts of a page that belong to no FAQ: navigation, cookie banners, comments, advertisements."""

from typing import Final

from faqsvc_embed.generation.extraction.dom import HEADINGS, NAMES, Element, words_of
from faqsvc_embed.generation.extraction.text import raw_text

MAX_ID_WORDS: Final = 2


def mark_boilerplate(top: Element) -> None:
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
    for element in top.walk():
        if element.tag in ("body", "main", "h1") or element.role == "main":
            content.add(element.start)
            for ancestor in element.ancestors():
                if ancestor.start in content:
                    break
                content.add(ancestor.start)
    return content


def _is_boilerplate(element: Element) -> bool:
    """Return whether tag, role, names or content make an element boilerplate."""
    if element.words & NAMES["content"]:  # some page builders put answers into `<nav class="faq-answer">`
        return False
    if element.tag == "nav" and element.role != "navigation":
        return not _is_drop_down_text(element)
    if element.tag in ("aside", "nav", "dialog", "form") or element.role in NAMES["boilerplate_role"]:
        return True
    names = _names(element)
    is_footer = bool(names & NAMES["footer"]) and element.tag in ("div", "section")
    if is_footer or element.tag in ("header", "footer"):
        return not any(ancestor.tag in NAMES["section"] for ancestor in element.ancestors())
    if names & NAMES["boilerplate"] <= {"toc", "sidebar", "breadcrumb"} and not _is_mostly_links(element):
        return False  # an element named `toc-container` or `sidebar-none` may also contain the text
    return element.tag not in NAMES["small"] and bool(names & NAMES["boilerplate"])


def _names(element: Element) -> frozenset[str]:
    """Return the words of class names, and of the id unless it repeats the title of a section."""
    words = words_of(element.attrs.get("id", ""))
    return words_of(element.attrs.get("class", "")) | (words if len(words) <= MAX_ID_WORDS else frozenset())


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
