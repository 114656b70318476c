"""The questions and answers of one page: every shape is asked, and what one found no other finds again."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import turbohtml

from faqsvc_embed.api.fields import MAX_QUESTION
from faqsvc_embed.generation.extraction.candidates import Candidate, Claims, Places, Shape
from faqsvc_embed.generation.extraction.following import following, is_called_question
from faqsvc_embed.generation.extraction.linked import linked
from faqsvc_embed.generation.extraction.noise import leads_elsewhere, mark_noise
from faqsvc_embed.generation.extraction.questions import (
    LONGEST,
    is_come_on,
    is_filled_in_later,
    is_question,
)
from faqsvc_embed.generation.extraction.structured import in_elements, in_scripts
from faqsvc_embed.generation.extraction.text import is_marked_question, one_line, plain
from faqsvc_embed.generation.extraction.tree import HEADINGS, Element, grow
from faqsvc_embed.generation.extraction.view import View


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its answer as plain text; `fragment` leads to it on its page, or is None."""

    question: str
    answer: str
    fragment: str | None
    in_faq: bool
    """It stands where the page announces questions."""


def extract(document: turbohtml.Document, url: str) -> list[Pair]:
    """Return the questions and answers of a page, each once, in the order of the page."""
    if document.root is None:
        return []
    top = grow(document.root)
    mark_noise(top)
    title = document.find("title")
    view = View(top, plain(title.text) if title is not None else "", url)
    found = _find(view)
    fragments = _Fragments(found, view)
    shown: dict[str, Pair] = {}
    for candidate in sorted(found, key=lambda candidate: candidate.shape):
        in_faq = view.announces_faq(candidate.mark)
        pair = Pair(candidate.question, candidate.answer, fragments.of(candidate), in_faq)
        shown.setdefault(key(pair.question), pair)
    # What a page states for machines is complete and clean; where it is shown is the better address.
    stated: dict[str, Pair] = {}
    for question, answer in in_scripts(document):
        same = shown.get(key(question))
        if len(question) > MAX_QUESTION:  # which could not be published, and is hardly one
            continue
        if key(question) and key(answer) and not is_filled_in_later(question + answer):
            fragment = same.fragment if same is not None else fragments.of_text(question)
            stated.setdefault(key(question), Pair(question, answer, fragment, True))
    order = dict.fromkeys([*(key(candidate.question) for candidate in found), *stated])
    return [stated.get(one) or shown[one] for one in order]


def key(question: str) -> str:
    """Return what equal questions have in common: not case, not punctuation."""
    return "".join(character for character in question.casefold() if character.isalnum())


def _find(view: View) -> list[Candidate]:
    """Return what the page shows as questions with answers, in document order."""
    claims = Claims(view.size)
    found = _accepted([*in_elements(view), *linked(view)], view, claims)
    found += _accepted(list(following(view, claims)), view, claims)
    return sorted(found, key=lambda candidate: candidate.mark.start)


def _accepted(candidates: list[Candidate], view: View, claims: Claims) -> list[Candidate]:
    """Return the candidates that are questions, by their words or by their neighbours', and claim them."""
    usable = [candidate for candidate in candidates if _is_usable(candidate, view)]
    alike = Counter(candidate.group for candidate in usable)
    asking = Counter(candidate.group for candidate in usable if is_question(candidate.question))
    every_mark = Places(candidate.mark for candidate in usable)
    question_marks = Places(c.mark for c in usable if is_question(c.question))
    accepted: list[Candidate] = []
    for candidate in sorted(usable, key=lambda candidate: candidate.shape):
        share = asking[candidate.group] / alike[candidate.group]
        if (
            not claims.has_part_of(candidate.mark)
            and not _is_container(candidate, every_mark, question_marks)
            and _is_question_here(candidate, share, view)
        ):
            accepted.append(candidate)
            for element in (candidate.mark, *candidate.answer_elements()):
                claims.claim(element)
    return accepted


def _is_usable(candidate: Candidate, view: View) -> bool:
    question, answer = candidate.question, candidate.answer
    if not key(question) or not key(answer) or len(question) > LONGEST or key(question) == key(answer):
        return False
    if is_filled_in_later(question + answer) or view.is_hidden_for_good(candidate.mark):
        return False
    if candidate.shape is Shape.STATED:
        return True
    return not is_come_on(question) and not _is_menu(candidate)


def _is_menu(candidate: Candidate) -> bool:
    """Tell whether an answer is a list of boxes to tick or, below a link or what is no question, of links."""
    elements = [element for node in candidate.answer_elements() for element in node.walk()]
    if sum(element.tag == "label" for element in elements) > 1:
        return True
    links = sum(len(one_line(element.children)) for element in elements if element.tag == "a")
    if is_question(candidate.question) and not leads_elsewhere(candidate.mark):
        return False
    return links > 0.8 * len(one_line(candidate.answer_nodes))


def _is_question_here(candidate: Candidate, share: float, view: View) -> bool:
    if candidate.shape is Shape.STATED or is_question(candidate.question) or share >= 0.5:
        return True
    mark = candidate.mark
    if candidate.shape is Shape.NAMED and (is_called_question(mark) or mark.tag in ("td", "th")):
        return True
    return is_marked_question(mark) or view.announces_faq(mark)


def _is_container(candidate: Candidate, every_mark: Places, question_marks: Places) -> bool:
    """Tell whether what looks like an answer is a group of questions under a title of their own."""
    if candidate.shape is Shape.STATED:
        return False
    answer = candidate.answer_elements()
    if any(question_marks.inside(element) for element in answer):
        return True
    if is_question(candidate.question):
        return False
    if any(every_mark.inside(element) for element in answer):
        return True
    inside = [element for node in answer for element in node.walk()]
    emphasised = [element for element in inside if element.tag in (*HEADINGS, "strong", "b")]
    return sum(is_question(one_line(element.children)) for element in emphasised) > 1


class _Fragments:
    """The ids that lead nearest to questions."""

    def __init__(self, found: list[Candidate], view: View) -> None:
        self._marks = Places(candidate.mark for candidate in found)
        self._view = view
        self._by_text: dict[str, Element] | None = None

    def of(self, candidate: Candidate) -> str | None:
        """Return the id of the question, of what holds it alone, of its answer, or of what is around."""
        mark = candidate.mark
        return _first_id(
            chain(
                mark.walk(),
                (above for above in mark.ancestors() if self._marks.inside(above) == 1),
                (element for node in candidate.answer_elements() for element in node.walk()),
                mark.ancestors(),
            )
        )

    def of_text(self, question: str) -> str | None:
        """Return the id nearest to where the page shows a text, if it does."""
        if self._by_text is None:
            self._by_text = {key(one_line(leaf.children)): leaf for leaf in reversed(self._view.leaves)}
        leaf = self._by_text.get(key(question))
        return _first_id(chain(leaf.walk(), leaf.ancestors())) if leaf is not None else None


def _first_id(elements: Iterator[Element]) -> str | None:
    ids = (element.attrs.get("id") for element in elements if element.tag not in ("html", "body"))
    return next((found for found in ids if found), None)
