"""The answer that follows a question: from where it begins to the next question, or what ends it before."""

from bisect import bisect_left
from typing import Final

from faqsvc_embed.generation.extraction.candidates import Claims
from faqsvc_embed.generation.extraction.questions import is_come_on
from faqsvc_embed.generation.extraction.text import text_of
from faqsvc_embed.generation.extraction.tree import HEADINGS, RUN, Element, words

BOUNDARIES: Final = words("html body main article section td li dd details")


def answer_after(mark: Element, starts: list[int], claims: Claims) -> tuple[Element | str, ...]:
    """Return the nodes after a mark up to the next one, from the nearest level at which there are some.

    Of a mark that only begins a paragraph, the answer may go on in the paragraphs after that one.
    """
    level = HEADINGS.get(mark.tag, 7)
    nodes: list[Element | str] = []
    found = False
    for around in (mark, *mark.ancestors()):
        if around is not mark and (_bounds(around) or (found and around.tag not in (RUN, "p"))):
            break
        more, ended = until_end(around, level, starts, claims)
        nodes += more
        found = bool(text_of(nodes))
        if ended:
            break
    return tuple(nodes) if found else ()


def _bounds(element: Element) -> bool:
    """Tell whether an answer cannot go on after an element; it can after a cell that is a whole row."""
    if element.tag == "td" and element.parent is not None and len(element.parent.children) == 1:
        return False
    return element.tag in BOUNDARIES


def until_end(
    around: Element, level: int, starts: list[int], claims: Claims
) -> tuple[list[Element | str], bool]:
    """Return the nodes after an element of an answer, and whether something ended the answer."""
    nodes: list[Element | str] = []
    for node in around.after():
        if isinstance(node, Element) and (_ends(node, level, starts, claims) or (nodes and _is_cited(node))):
            return nodes, True
        nodes.append(node)
    return nodes, False


def _is_cited(node: Element) -> bool:
    """Tell whether an element is a quotation with its author: after an answer, what a customer says."""
    tags = {element.tag for element in node.walk()}
    return "blockquote" in tags and not tags.isdisjoint(("cite", "figcaption"))


def _ends(node: Element, level: int, starts: list[int], claims: Claims) -> bool:
    """Tell whether an answer ends before a node: at the next question, heading, line, or invitation."""
    following_mark = bisect_left(starts, node.start)
    if following_mark < len(starts) and starts[following_mark] <= node.end:
        return True
    if claims.has_part_of(node) or node.tag in ("hr", "form", "footer"):
        return True
    if any(HEADINGS.get(element.tag, 8) <= level for element in node.walk()):
        return True
    first = text_of([node]).split("\n", 1)[0]
    return is_come_on(first)
