"""Questions in Markdown as people write them: as headings, after labels, in bold, in lists, in tables.

An answer is the unchanged text up to the next question, without comments.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markdown_entries import (
    BELOW_HEADINGS,
    Entry,
    ends_in_question_mark,
    find_beginning,
    find_text,
    labelled,
)
from faqsvc_embed.files.markdown_text import block_parser, plain_text
from faqsvc_embed.files.names import find_columns

if TYPE_CHECKING:
    from markdown_it.token import Token

_CODE: Final = (
    r"^[ \t]*(`{3,}+(?=[^`\n]*$)|~{3,}+)[^\n]*\n(?:[^\n]*\n)*?(?:[ \t]*\1[`~]*[ \t]*$|[^\n]*\Z)"
    # A code span does not cross a blank line.
    r"|(?<!`)(`+)(?!`)(?:[^`\n]++|`++|\n(?![ \t]*\n))+?(?<!`)\2(?!`)"
)
_COMMENT: Final = re.compile(rf"{_CODE}|\\.|<!--(?s:.*?)(?:-->|\Z)", re.MULTILINE)

_NUMBER: Final = re.compile(r"[0-9]{1,3}[.)][ \t]+(?=.)")
_ID: Final = re.compile(r"(?<!\\)\{#([^{}]*)\}[ \t]*\Z")
_UNSPACED: Final = re.compile(r" {0,3}#{2,6}[^\s#]")
_FOOTNOTE: Final = re.compile(r" {0,3}\[\^[^\[\]]+\]:")


class _Heading(NamedTuple):
    level: int
    text: str
    end: int
    """The number of the line after it; an underlined heading has several lines."""


def find_questions(text: str) -> Document:
    """Return the title and the items of a Markdown file that does not state the format of its answers.

    Raises:
        ValueError: a heading without a space, or a footnote.
    """
    text = without_comments(text)
    environment = dict[str, Any]()
    tokens = block_parser().parse(text, environment)
    references = environment.get("references", {})
    source = _Source(text.split("\n"), tokens, references)
    if mistake := next(source.mistakes(), None):
        raise ValueError(mistake)
    entries = list(_rows(tokens)) or source.entries()
    if all(_NUMBER.match(entry.question) for entry in entries):
        for entry in entries:
            entry.question = _NUMBER.sub("", entry.question, count=1)
    items, answer_lines = list[dict[str, str]](), list[int]()
    for entry in entries:
        question, id_ = split_id(entry.question)
        answer, line = entry.answer()
        item = {"question": plain_text(question, references), "answer": source.with_definitions(answer)}
        answer_lines.append(line + 1)
        if section := plain_text(split_id(entry.section)[0], references):
            item["section"] = section
        items.append(item | ({} if id_ is None else {"id": id_}))
    return Document(
        title=plain_text(split_id(source.title)[0], references) or None,
        items=items,
        positions=[f"line {entry.number + 1}" for entry in entries],
        answer_lines=answer_lines,
        text_outside=source.text_outside(entries),
    )


def split_id(heading: str) -> tuple[str, str | None]:
    """Return the text of a heading, and the id that `{#id}` at its end states."""
    found = _ID.search(heading)
    return (heading, None) if found is None else (heading[: found.start()].rstrip(" \t"), found[1])


def without_comments(text: str) -> str:
    """Return Markdown without its comments; the lines after them keep their numbers."""
    return _COMMENT.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    """Return as many line ends as a comment has, so that the lines after it keep their numbers."""
    is_comment = found[0].startswith("<!--") and found[0].endswith("-->")
    return "\n" * found[0].count("\n") if is_comment else found[0]


def _rows(tokens: "Sequence[Token]") -> Iterator[Entry]:
    """Yield the rows of the tables that have a column of questions and one of answers."""
    columns: tuple[int, int] | None = None
    row = list[str]()
    number = 0
    for token in tokens:
        if token.type == "thead_open":
            columns = None
        elif token.type == "tr_open":
            row, number = [], token.map[0] if token.map else 0
        elif token.type == "inline":
            row.append(token.content)
        elif token.type == "tr_close" and columns is None:
            columns = find_columns(row) or (-1, -1)
        elif token.type == "tr_close" and columns and columns[0] >= 0:
            yield Entry(row[columns[0]], [row[columns[1]]], number=number, first=number)


class _Source:
    """The lines of a file, and what the parser says about them."""

    def __init__(self, lines: list[str], tokens: "Sequence[Token]", references: Mapping[str, Any]) -> None:
        self._lines = lines
        self._headings = dict(_headings(tokens))
        self._tables = [range(*token.map) for token in tokens if token.type == "table_open" and token.map]
        self._definitions = dict[str, str]()
        self._footnotes = list[int]()
        for label, reference in references.items():
            first, end = reference["map"]
            self._definitions[label] = "\n".join(lines[first:end])
            self._footnotes += [first] if _FOOTNOTE.match(lines[first]) else []
            lines[first:end] = [""] * (end - first)
        code = (token.map for token in tokens if token.type in ("fence", "code_block") and token.map)
        self._code = {number for first, end in code for number in range(first, end)}
        texts = set(range(len(lines))).difference(self._code, self._headings)
        self._begin = find_beginning([lines[number] for number in sorted(texts)])
        self._sections = self._section_headings()
        self._questions = self._question_headings()
        self._title = next(self._titles(), None)
        self._used_sections = set[int]()

    @property
    def title(self) -> str:
        """The first heading of level 1 that is not a question."""
        return "" if self._title is None else self._title[1].text

    def _titles(self) -> Iterator[tuple[int, _Heading]]:
        return ((n, h) for n, h in self._headings.items() if h.level == 1 and n not in self._questions)

    def with_definitions(self, answer: str) -> str:
        """Return an answer followed by the link reference definitions that it uses."""
        folded = " ".join(answer.lower().upper().split())  # as labels are matched (CommonMark 0.31, 4.7)
        used = [text for label, text in self._definitions.items() if f"[{label}]" in folded]
        return "\n\n".join(filter(None, [answer, "\n".join(used)]))

    def entries(self) -> list[Entry]:
        """Return the questions with the lines below them."""
        entries, below = list[Entry](), 0
        current: Entry | None = None
        section: tuple[int, _Heading] | None = None
        for number, line in enumerate(self._lines):
            entry: Entry | None = None
            heading = self._headings.get(number)
            if number < below:  # a further line of a question's heading
                continue
            if current is not None and current.is_closed:
                current = None
            if heading is not None and (current is None or heading.level <= current.level):
                if number in self._sections and (number, heading) != self._title:
                    section = number, heading
                elif section is not None and heading.level <= section[1].level:
                    section = None
            if number in self._questions and heading is not None:
                entry = labelled(heading.text) or Entry(heading.text)
                entry.level, below = heading.level, heading.end
            elif heading is not None and (current is None or heading.level <= current.level):
                current = None
            elif heading is None and (current is None or current.level == BELOW_HEADINGS):
                entry = self._entry_at(number)
            if entry is not None:
                entry.number, entry.end = number, max(below, number + 1)
                entry.first = number if entry.lines else entry.end
                if section is not None:
                    entry.section = section[1].text
                    self._used_sections.add(section[0])
                entries.append(entry)
                current = entry
            elif current is not None:
                current.lines.append(line)
                current.end = number + 1
        return entries

    def text_outside(self, entries: Sequence[Entry]) -> list[int]:
        """Return the lines at which text begins that is neither in an entry nor the title, from 1."""
        rows = {entry.number for entry in entries}
        ranges = [
            *(range(entry.number, entry.end) for entry in entries),
            *(range(number, heading.end) for number, heading in filter(None, [self._title])),
            *(range(number, self._headings[number].end) for number in self._used_sections),
            *(table for table in self._tables if not rows.isdisjoint(table)),
        ]
        return find_text(self._lines, {number for one in ranges for number in one})

    def mistakes(self) -> Iterator[str]:
        """Yield mistakes in Markdown that a page would show as they are typed, or not at all."""
        for number, line in enumerate(self._lines):
            if number not in self._code and number not in self._headings and _UNSPACED.match(line):
                yield f"line {number + 1}: a heading needs a space after the number signs"
        for number in self._footnotes:
            yield f"line {number + 1}: footnotes are not shown: write the note into the answer"

    def _entry_at(self, number: int) -> Entry | None:
        """Return the entry that a line of text begins, or None."""
        return self._begin(self._lines[number]) if self._begin and number not in self._code else None

    def _question_headings(self) -> set[int]:
        """Return the headings that are questions, by the numbers of their lines.

        Headings on the highest level with text below them are questions, and so are headings directly below a
        section, and headings with a question mark outside of an answer. If lines of text begin questions and
        no heading has a question mark, no heading is a question.
        """
        levels = {n: h.level for n, h in self._headings.items() if n not in self._sections and h.level > 1}
        if not levels and self._begin is None:  # a file with nothing but questions, at level 1
            levels = {n: h.level for n, h in self._headings.items() if ends_in_question_mark(h.text)}
        marked = {number for number in levels if ends_in_question_mark(self._headings[number].text)}
        if not levels or (self._begin and not marked):
            return set()
        usual = min(levels.values())
        found, inside, section = set[int](), BELOW_HEADINGS, BELOW_HEADINGS
        for number, heading in self._headings.items():
            if heading.level > inside:  # a heading of an answer
                continue
            is_section = number in self._sections and heading.level > 1
            section = heading.level if is_section else BELOW_HEADINGS if heading.level <= section else section
            is_question = number in marked or levels.get(number) in (usual, section + 1)
            inside = heading.level if is_question else BELOW_HEADINGS
            found.update([number] if is_question else [])
        return found

    def _section_headings(self) -> set[int]:
        """Return the headings that have questions below them, and no text, by their line numbers."""
        numbers = [*self._headings, len(self._lines)]
        sections = set[int]()
        for number, following in pairwise(numbers):
            heading, below = self._headings[number], self._headings.get(following)
            first = next((n for n in range(heading.end, following) if self._lines[n].strip()), None)
            asks = ends_in_question_mark(heading.text)
            if first is not None:  # a question may be answered by another one in bold, but not by a label
                entry = self._entry_at(first)
                is_section = entry is not None and (entry.is_labelled or not asks)
            else:
                is_section = below is not None and below.level > heading.level
                is_section = is_section and (not asks or ends_in_question_mark(below.text if below else ""))
            if is_section:
                sections.add(number)
        return sections


def _headings(tokens: "Sequence[Token]") -> Iterator[tuple[int, _Heading]]:
    """Yield the headings with the numbers of their first lines.

    In a file whose headings begin with number signs, a row of hyphens below a text is a rule, not a heading.
    """
    openings = [
        (token, " ".join(inline.content.split("\n")), token.map)
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    has_signs = any(token.markup.startswith("##") for token, _, _ in openings)
    for token, text, (first, end) in openings:
        if token.markup != "-" or not has_signs:
            yield first, _Heading(int(token.tag[1]), text, end)
