"""Questions that look like questions, and the answers that follow them: headings, class names, emphasis."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from faqsvc_embed.generation.extraction.answering import answer_after, until_end
from faqsvc_embed.generation.extraction.candidates import Candidate, Claims, Places, Shape
from faqsvc_embed.generation.extraction.headed import headed, look_of
from faqsvc_embed.generation.extraction.noise import is_call, leads_elsewhere
from faqsvc_embed.generation.extraction.questions import (
    asks,
    ends_as_question,
    is_come_on,
    is_question,
)
from faqsvc_embed.generation.extraction.text import (
    bare_question,
    is_marked_question,
    question_text,
    split_at_answer,
    strings,
    text_of,
)
from faqsvc_embed.generation.extraction.tree import HEADINGS, RUN, Element, words
from faqsvc_embed.generation.extraction.view import FAQ_WORDS, View

OPENING: Final = words(
    "faq faqs accordion toggle toggles collapse collapsible qa expand expander expandable disclosure spoiler"
)
TITLES: Final = words("title header heading head trigger button btn label summary name handle toggler")
QUESTIONS: Final = words("question frage pregunta domanda ques")
ANSWERS: Final = words("answer antwort respuesta reponse ans")
NOT_ONE: Final = words("ul ol section main article body form table")
EMPHASIS: Final = words("strong b em u")
PARAGRAPHS: Final = frozenset(["p", "div", "li", "dt", RUN, *HEADINGS])
ITEMS: Final = frozenset({"div", "li", "article", "section"})
SHORT: Final = 7
LONGEST_PARAGRAPH: Final = 200


def following(view: View, claims: Claims) -> Iterator[Candidate]:
    """Yield each mark outside of what is claimed already, with what follows it."""
    marks = _marks(view, claims)
    starts = sorted(mark.start for mark, _ in marks)
    for mark, shape in marks:
        look = (shape, mark.tag, mark.attrs.get("class", ""))
        if split := _split(mark, shape):
            question, answer = " ".join(split[0].split()), split[1]
            # Between blank lines of one paragraph, the answer goes on to the next question.
            rest = until_end(mark, 7, starts, claims)[0] if mark.tag == RUN else []
            answer = "\n\n".join(filter(None, (answer, text_of(rest))))
            yield Candidate(mark, tuple(rest), shape, look, question=bare_question(question), answer=answer)
        elif nodes := answer_after(mark, starts, claims):
            yield Candidate(mark, nodes, shape, look)


def _split(mark: Element, shape: Shape) -> tuple[str, str] | None:
    """Return the question and the answer of a mark that holds both, else None."""
    if is_marked_question(mark):
        return split_at_answer(text_of([mark]))
    if shape is Shape.PLAIN and not asks(question_text(mark)):
        first, _, rest = text_of([mark]).partition("\n")
        return (first, rest) if rest else None
    return None


def _marks(view: View, claims: Claims) -> list[tuple[Element, Shape]]:
    """Return what may be a question, in document order; none is in another."""
    free = [element for element in view.elements if not claims.has(element)]
    taken = Claims(view.size)
    marks: list[tuple[Element, Shape]] = []
    for shape, found in (
        (Shape.NAMED, _named(free)),
        (Shape.HEADED, _titled(view, free)),
        (Shape.HEADED, headed(view, free)),
        (Shape.PLAIN, _emphasised(view, free)),
        (Shape.PLAIN, _alike(view, free)),
        (Shape.PLAIN, _lined(view, free)),
        (Shape.PLAIN, _first_of_items(view, free)),
    ):
        for mark in found:
            if not taken.has_part_of(mark) and not is_come_on(question_text(mark)):
                taken.claim(mark)
                marks.append((mark, shape))
    return sorted(marks, key=lambda found: found[0].start)


def is_called_question(element: Element) -> bool:
    """Tell whether a class name calls an element a question: `question`, or `q` of an FAQ."""
    return bool(element.words & QUESTIONS) or ("q" in element.words and bool(element.words & FAQ_WORDS))


def _named(free: list[Element]) -> Iterator[Element]:
    """Yield what its class name calls a question, and what begins with `Q:`."""
    answers = Places(element for element in free if element.words & ANSWERS)
    called = [element for element in free if is_called_question(element) and element.tag not in NOT_ONE]
    yield from _innermost([element for element in called if not answers.inside(element)])
    for element in free:
        if element.tag in PARAGRAPHS and not element.holds_blocks and is_marked_question(element):
            yield element


def _titled(view: View, free: list[Element]) -> Iterator[Element]:
    """Yield the titles of what opens: by class name, by ARIA without a target, labels of hidden boxes."""
    answers = Places(element for element in free if element.words & ANSWERS)
    found: list[Element] = []
    for element in free:
        if element.tag in NOT_ONE:
            continue
        if element.words & OPENING and element.words & TITLES:
            if not answers.inside(element):
                found.append(element)
        elif element.tag == "dt" and is_question(question_text(element)):
            found.append(element)  # of no list, or the list would have claimed it
        elif (
            element.tag in ("button", "label") or element.role == "button" or "aria-expanded" in element.attrs
        ):
            in_form = any(above.tag == "form" for above in element.ancestors())
            if not in_form and is_question(question_text(element)):
                found.append(element)
    found += _opening_alike(view, free)
    yield from _innermost(sorted(found, key=lambda element: element.start))


def _opening_alike(view: View, free: list[Element]) -> Iterator[Element]:
    """Yield what opens something and is no question, where most that look the same are questions."""
    looks = defaultdict[object, list[Element]](list)
    for element in free:
        if "aria-expanded" in element.attrs:
            looks[look_of(element)].append(element)
    for alike in looks.values():
        others = [element for element in alike if not is_question(question_text(element))]
        if 2 * len(others) < len(alike):
            yield from others
        elif len(others) < len(alike):
            yield from (element for element in others if view.announces_faq(element))


def _innermost(elements: list[Element]) -> Iterator[Element]:
    """Yield those that hold no other one, except where that is only a part of the text, such as a number."""
    places = Places(element for element in elements if len(question_text(element)) > SHORT)
    kept = {element.start for element in elements if places.inside(element) <= 1}
    for element in elements:
        if element.start not in kept:
            continue
        text = question_text(element)
        in_longer = any(
            above.start in kept and len(question_text(above)) > len(text) for above in element.ancestors()
        )
        if text and not in_longer:
            yield element


def _emphasised(view: View, free: list[Element]) -> Iterator[Element]:
    """Yield what begins a line, is emphasised, and asks: with a mark, or beside others in an FAQ."""
    found = [
        element
        for element in free
        if element.tag in EMPHASIS and asks(question_text(element)) and _begins(element)
    ]
    marked = sum(ends_as_question(question_text(element)) for element in found)
    for element in found:
        if view.announces_faq(element) or (marked > 1 and ends_as_question(question_text(element))):
            yield element


def _begins(element: Element) -> bool:
    """Tell whether only a number stands before an element in its line."""
    siblings = element.parent.children if element.parent is not None else []
    for place in range(element.place - 1, -1, -1):
        before = siblings[place]
        if isinstance(before, Element):
            if before.tag == "br" or "".join(strings(before)).strip():
                return before.tag == "br"
        elif before.strip(" \t\r\n0123456789.)"):
            return False
    return True


def _alike(view: View, free: list[Element]) -> Iterator[Element]:
    """Yield blocks of a look in which nearly all are questions; in an FAQ any block that ends as one."""
    inside = {element.start for element in free}
    leaves = [leaf for leaf in view.leaves if leaf.start in inside and not _is_cell(leaf)]
    leaves = [leaf for leaf in leaves if leaf.tag != "li" or not leads_elsewhere(leaf)]
    texts = {leaf.start: question_text(leaf) for leaf in leaves}
    looks = defaultdict[object, list[Element]](list)
    for leaf in leaves:
        looks[look_of(leaf)].append(leaf)
    for alike in looks.values():
        asking = [leaf for leaf in alike if asks(texts[leaf.start]) and not is_come_on(texts[leaf.start])]
        if not any(ends_as_question(texts[leaf.start]) for leaf in asking):
            continue
        different = len({texts[leaf.start] for leaf in asking})  # the same in every item asks the reader
        if different > 1 and len(asking) / len(alike) >= 0.8 and not is_call(asking[0]):
            yield from asking
    for leaf, after in pairwise(leaves):
        text = texts[leaf.start]
        is_one = leaf.tag != "li" and len(text) <= LONGEST_PARAGRAPH and asks(text)
        is_alone = is_one and not asks(texts[after.start])
        if is_alone and view.announces_faq(leaf) and not is_call(leaf):
            yield leaf


def _lined(view: View, free: list[Element]) -> Iterator[Element]:
    """Yield the paragraphs of an FAQ whose first line asks, and whose other lines answer."""
    inside = {element.start for element in free}
    for leaf in view.leaves:
        if leaf.start in inside and any(node.tag == "br" for node in leaf.walk()):
            question, *answer = text_of([leaf]).split("\n")
            is_one = len(question) <= LONGEST_PARAGRAPH and ends_as_question(question)
            if is_one and answer and not any(map(ends_as_question, answer)) and view.announces_faq(leaf):
                yield leaf


def _first_of_items(view: View, free: list[Element]) -> Iterator[Element]:
    """Yield the first block of each of at least three items in a row that look the same, if most ask."""
    leaves = [leaf for leaf in view.leaves if not _is_cell(leaf)]
    starts = [leaf.start for leaf in leaves]
    rows = defaultdict[object, list[Element]](list)
    for element in free:
        first = bisect_left(starts, element.start)
        holds_more = first + 1 < len(starts) and starts[first + 1] <= element.end
        if holds_more and element.parent is not None and element.tag in ITEMS:
            rows[element.parent.start, element.tag, element.attrs.get("class", "")].append(leaves[first])
    for row in rows.values():
        asking = sum(asks(text) and not is_come_on(text) for text in map(question_text, row))
        if len(row) > 2 and asking / len(row) >= 0.6 and not is_call(row[0]):
            yield from row


def _is_cell(leaf: Element) -> bool:
    """Tell whether a block is one of several in a row, or part of a list of definitions."""
    if leaf.tag in ("td", "th"):
        return leaf.parent is not None and len(leaf.parent.children) > 1
    return leaf.tag in ("dt", "dd")
