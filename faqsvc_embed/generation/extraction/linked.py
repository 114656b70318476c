"""Questions whose answer the markup names: `<details>`, `<dl>`, what opens a panel, and tables."""

import re
from collections.abc import Iterator
from typing import Final

from faqsvc_embed.generation.extraction.candidates import Candidate, Shape
from faqsvc_embed.generation.extraction.questions import is_question, opens_as_question
from faqsvc_embed.generation.extraction.text import one_line, question_text
from faqsvc_embed.generation.extraction.tree import HEADINGS, Element
from faqsvc_embed.generation.extraction.view import View, targets

LOOSE: Final = frozenset({"p", "ul", "ol", "table", "blockquote", "pre", "figure"})
LARGEST_ITEM: Final = 300
"""Elements of what may be one question with its answer."""
MOST_TERMS: Final = 5
"""Terms that may share a description."""

_NUMBER = re.compile(r"(?:nr?\.?|#)?\s*[0-9]{0,4}[.)]?", re.IGNORECASE)
_QUESTIONS = re.compile(r"questions?|fragen?|preguntas?|q|질문|質問|ご質問|问题|問題|问", re.IGNORECASE)
_ANSWERS = re.compile(
    r"answers?|antwort(?:en)?|respuestas?|r[ée]ponses?|a|답변|답|回答|ご回答|答え|答案|解答|答", re.IGNORECASE
)


def linked(view: View) -> Iterator[Candidate]:
    """Yield what the markup connects; that it is a question is for others to say."""
    opened = set[int]()
    for element in view.elements:
        if element.tag == "details":
            yield from _details(element)
        elif element.tag == "dl":
            yield from _definitions(element)
        elif element.tag == "table":
            yield from _rows(element)
        elif targets(element):
            yield from _opens(view, element, opened)


def _details(element: Element) -> Iterator[Candidate]:
    summary = next((child for child in element.elements() if child.tag == "summary"), None)
    if summary is not None:
        answer = tuple(child for child in element.children if child is not summary)
        around = element.parent.start if element.parent is not None else 0
        yield Candidate(summary, answer, Shape.LINKED, ("details", around))


def _definitions(element: Element) -> Iterator[Candidate]:
    terms: list[Element] = []
    descriptions: list[Element | str] = []
    for part in [*_parts(element), None]:
        if part is None or (part.tag == "dt" and descriptions):
            if descriptions and len(terms) <= MOST_TERMS:
                for term in terms:
                    yield Candidate(term, tuple(descriptions), Shape.LINKED, ("dl", element.start))
            terms, descriptions = [], []
        if part is not None and (terms or part.tag == "dt"):
            (terms if part.tag == "dt" else descriptions).append(part)


def _parts(element: Element) -> Iterator[Element]:
    """Yield the terms and descriptions of a list, out of the wrappers that they may be in."""
    for child in element.elements():
        if child.tag in ("dt", "dd"):
            yield child
        elif child.tag in LOOSE:
            yield child  # though it should be in the description before it
        elif child.tag != "dl":
            yield from _parts(child)


def _rows(table: Element) -> Iterator[Candidate]:
    # A cell that spans rows is missing from the later ones, nearly always on the left.
    rows = [[cell for cell in row.elements() if cell.tag in ("td", "th")] for row in _own_rows(table)]
    columns = _columns(rows[0]) if rows else None
    if columns is None:
        yield from _unnamed(rows, table)
        return
    for row in rows[1:]:
        missing = len(rows[0]) - len(row)
        if 0 <= missing <= min(columns):
            question, answer = (row[column - missing] for column in columns)
            yield Candidate(question, (answer,), Shape.NAMED, ("table", table.start))


def _unnamed(rows: list[list[Element]], table: Element) -> Iterator[Candidate]:
    """Yield rows of two texts, the first a question; where half of them are such, the others, too."""
    cells = [[cell for cell in row if _NUMBER.fullmatch(one_line(cell.children)) is None] for row in rows]
    pairs = [(row[0], row[1]) for row in cells if len(row) == 2]
    asking = sum(is_question(question_text(question)) for question, _ in pairs)
    for question, answer in pairs:
        if 2 * asking >= len(pairs) or is_question(question_text(question)):
            yield Candidate(question, (answer,), Shape.LINKED, ("rows", table.start))


def _own_rows(table: Element) -> Iterator[Element]:
    for child in table.elements():
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from _own_rows(child)


def _columns(header: list[Element]) -> tuple[int, int] | None:
    """Return which columns hold questions and answers, if the first row says so."""
    names = [one_line(cell.children) for cell in header]
    questions = [index for index, name in enumerate(names) if _QUESTIONS.fullmatch(name)]
    answers = [index for index, name in enumerate(names) if _ANSWERS.fullmatch(name)]
    return (questions[0], answers[0]) if questions and answers else None


def _opens(view: View, control: Element, opened: set[int]) -> Iterator[Candidate]:
    """Yield what a control opens, each panel once; a tab only if it is a question itself."""
    for target in targets(control):
        panel = view.by_id.get(target)
        if panel is None or panel.noise or panel.start in opened or control in panel or panel in control:
            continue
        mark = _mark_of(control, panel)
        if control.role != "tab" or is_question(question_text(mark)):
            opened.add(panel.start)
            look = ("panel", control.tag, control.attrs.get("class", ""))
            yield Candidate(mark, (panel,), Shape.LINKED, look)
            return


def _mark_of(control: Element, panel: Element) -> Element:
    """Return where the question is: in the control, around it, or in the one heading beside it."""
    if opens_as_question(question_text(control)):
        return control
    for around in control.ancestors():
        if around.end - around.start > LARGEST_ITEM:
            break
        headings = [e for e in around.walk() if e.tag in HEADINGS and e not in panel]
        if len(headings) == 1 and is_question(question_text(headings[0])):
            return headings[0]
        if panel in around:
            break
        if around.tag in HEADINGS or is_question(question_text(around)):
            return around
    return control
