"""Questions that the markup connects with their answers: `<details>`, `<dl>`, ARIA controls, and tables."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import dropwhile, groupby
from typing import Final

from faqsvc_embed.files.fields import find_columns, is_general
from faqsvc_embed.generation.extraction.candidates import Candidate, Evidence
from faqsvc_embed.generation.extraction.dom import Element, table_rows
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.questions import is_question
from faqsvc_embed.generation.extraction.text import inline_text, question_text

TARGET_ATTRIBUTES: Final = ("data-bs-target", "data-target", "data-collapse-target", "data-accordion-target")

_ROW_NUMBER = re.compile(r"(?:nr?\.?|#)?\s*[0-9]{0,4}[.)]?", re.IGNORECASE)


def explicit_pairs(context: PageContext) -> Iterator[Candidate]:
    """Yield the pairs that the markup connects, whether or not they are questions and answers."""
    with_id = defaultdict[str, list[Element]](list)
    for element in context.elements:
        with_id[element.attrs.get("id", "")].append(element)
    for element in context.elements:
        if element.tag == "details":
            yield from _details(element)
        elif element.tag == "dl":
            yield from _definitions(element)
        elif element.tag == "table":
            yield from _table_rows(element)
        elif (panel := _panel(element, with_id)) is not None:
            yield Candidate(element, (panel,), Evidence.MARKUP, ("panel", *element.look))


def _details(element: Element) -> Iterator[Candidate]:
    summary = next((child for child in element.elements() if child.tag == "summary"), None)
    if summary is not None:
        answer = tuple(child for child in element.children if child is not summary)
        yield Candidate(summary, answer, Evidence.MARKUP, ("details", element.parent))


def _definitions(element: Element) -> Iterator[Candidate]:
    """Yield each term of a definition list with the descriptions that follow it."""
    parts = dropwhile(lambda part: part.tag != "dt", _list_parts(element))
    runs = [tuple(run) for _, run in groupby(parts, key=lambda part: part.tag == "dt")]
    for terms, descriptions in zip(runs[::2], runs[1::2], strict=False):
        for term in terms:
            yield Candidate(term, descriptions, Evidence.MARKUP, ("dl", element.start))


def _list_parts(element: Element) -> Iterator[Element]:
    """Yield the terms and descriptions of a list, also from inside wrappers."""
    for child in element.elements():
        if child.tag in ("dt", "dd"):
            yield child
        elif child.tag != "dl":
            yield from _list_parts(child)


def _table_rows(table: Element) -> Iterator[Candidate]:
    """Yield the rows of a table with columns for questions and answers, or with two cells."""
    # A cell that spans several rows is only in the first of them. Nearly always, it is on the left.
    rows = table_rows(table)
    columns = _titled_columns(rows[0]) if rows else None
    if columns is None:
        yield from _untitled_rows(rows, table)
        return
    for row in rows[1:]:
        missing = len(rows[0]) - len(row)
        if 0 <= missing <= min(columns):
            question, answer = (row[column - missing] for column in columns)
            yield Candidate(question, (answer,), Evidence.NAME, ("table", table.start))


def _untitled_rows(rows: list[list[Element]], table: Element) -> Iterator[Candidate]:
    """Yield the rows of two cells if half of the first cells are questions."""
    cells = [[c for c in row if _ROW_NUMBER.fullmatch(inline_text(c.children)) is None] for row in rows]
    pairs = [(row[0], row[1]) for row in cells if len(row) == 2]
    if 2 * sum(is_question(question_text(question)) for question, _ in pairs) >= len(pairs):
        for question, answer in pairs:
            yield Candidate(question, (answer,), Evidence.MARKUP, ("rows", table.start))


def _titled_columns(header: list[Element]) -> tuple[int, int] | None:
    """Return the columns of questions and answers, if the first row has their titles."""
    titles = [inline_text(cell.children) for cell in header]
    names = find_columns(titles)
    return None if names is None or is_general(names[0]) else (titles.index(names[0]), titles.index(names[1]))


def _panel(control: Element, with_id: Mapping[str, list[Element]]) -> Element | None:
    """Return the panel that a control opens. If a page repeats its id, it is the first after the control."""
    for name in filter(None, _opened_ids(control)):
        if found := with_id.get(name):
            at = bisect_right(found, control.start, key=lambda element: element.start)
            panel = found[at % len(found)]
            if control not in panel and panel not in control:
                return panel
    return None


def _opened_ids(element: Element) -> Iterator[str]:
    """Yield the ids of the panels that an element opens, according to its attributes."""
    # The attributes that scripts use come first: a wrong `aria-controls` is often not noticed.
    attrs = element.attrs
    yield from (attrs[name][1:] for name in TARGET_ATTRIBUTES if attrs.get(name, "").startswith("#"))
    opens = {"data-bs-toggle", "data-toggle", "aria-expanded"} & attrs.keys() or element.role == "button"
    if opens and attrs.get("href", "").startswith("#"):
        yield attrs["href"][1:]
    yield from attrs.get("aria-controls", "").split()
