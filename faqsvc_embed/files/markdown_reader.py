"""Documents from Markdown.

A file whose front matter states `answerFormat` has the form that `markdown_writer` writes: the title is the
heading of level 1, every heading of level 2 is a question, and answers are read exactly as they are. In any
other file, `markdown_questions` recognises the usual ways to write questions, and answers are Markdown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile, zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.json_yaml import FRONT_MATTER_NAMES, parse_yaml, yaml_document
from faqsvc_embed.files.markdown_entries import ends_in_question_mark, find_text
from faqsvc_embed.files.markdown_questions import find_questions, split_id, without_comments
from faqsvc_embed.files.markdown_text import block_parser, unescape
from faqsvc_embed.files.names import plain_name

if TYPE_CHECKING:
    from markdown_it.token import Token


class _Heading(NamedTuple):
    line: int
    markup: str
    text: str


_FIELD: Final = re.compile(r"([A-Za-z][\w -]*):(?:[ \t]|$)")


def read_markdown(text: str) -> Document:
    """Return the FAQ in a Markdown file.

    Raises:
        ValueError: the front matter is not YAML or not closed, or there is no question.
    """
    tokens = block_parser().parse(text) if text.startswith("---") else []
    document, below = Document(), 0
    if tokens and tokens[0].type == "front_matter" and tokens[0].map:
        document, below = _front_matter(tokens[0].content), tokens[0].map[1]
    lines = text.split("\n")
    if document.items is not None:
        answer_format = document.answer_format or "markdown"
        return replace(document, answer_format=answer_format, text_outside=find_text(lines, range(below)))
    if tokens and tokens[0].type == "hr" and _is_front_matter(lines[1:]):
        raise ValueError("line 1: the front matter is not closed: add a line of --- below its last field")
    if document.answer_format is not None:
        document = _with_headings(document, lines, tokens)
    else:
        # Blank lines replace the front matter, so that lines keep their numbers.
        found = find_questions("\n" * below + "\n".join(lines[below:]))
        document = replace(
            document,
            title=found.title if document.title is None else document.title,
            answer_format="markdown",
            items=found.items,
            positions=found.positions,
            answer_lines=found.answer_lines,
            text_outside=found.text_outside,
        )
        if not document.items:
            raise ValueError(
                "no question found: write each as a heading, or after Q: with the answer after A:"
            )
    if not document.items:
        raise ValueError("no question found: with answerFormat, each question is a line that begins with ##")
    return document


def _is_front_matter(lines: Sequence[str]) -> bool:
    """Return whether the lines below a first line of --- are fields; other text may follow a rule."""
    first = takewhile(lambda line: line.strip() and not line.startswith("##"), lines)
    fields = map(_FIELD.match, first)
    return any(plain_name(field[1]) in FRONT_MATTER_NAMES for field in fields if field is not None)


def _front_matter(content: str) -> Document:
    """Return the document with the fields of front matter."""
    fields = parse_yaml(f"\n{content}")  # the line feed stands for the line ---
    if fields is None:
        return Document()
    if not isinstance(fields, Mapping):
        raise ValueError(f"the front matter between the lines of --- has no fields, but {quoted(fields)}")
    document = yaml_document(fields)
    if document.answer_format not in (None, "text", "markdown"):
        raise ValueError(f"answerFormat is {quoted(document.answer_format)}: use text or markdown")
    return document


def _with_headings(document: Document, lines: Sequence[str], tokens: "Sequence[Token]") -> Document:
    """Return a document with the title and the items of a file that states the format of its answers.

    A heading of level 2 that does not ask, directly above one of level 3, is a section: its questions are on
    level 3.
    """
    headings = [
        _Heading(opening.map[0], opening.markup, inline.content)
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open" and opening.level == 0 and opening.map
    ]
    below = [heading for heading in headings if heading.markup in ("##", "###")]
    parts, section, read = list[tuple[_Heading, str]](), "", set[int]()
    for heading, following in zip_longest(below, below[1:]):
        if heading.markup == "###":
            parts += [(heading, section)] if section else []
        elif _is_section(heading, following, lines):
            section = unescape(heading.text)
            read.add(heading.line)
        else:
            parts.append((heading, ""))
            section = ""
    first = min([*read, *(heading.line for heading, _ in parts[:1]), len(lines)])
    ends = [heading.line for heading in below if heading.line in read or heading in dict(parts)]
    titles = [heading for heading in headings if heading.markup == "#" and heading.line < first][:1]
    above = without_comments("\n".join(lines[:first])).split("\n")
    read = {heading.line for heading in titles}.union(
        *(range(*token.map) for token in tokens[:1] if token.map)
    )
    items = list[dict[str, str]]()
    for heading, of_section in parts:
        question, id_ = split_id(heading.text)
        end = next((line for line in ends if line > heading.line), len(lines))
        item = {"question": unescape(question), "answer": _answer(document, lines[heading.line + 1 : end])}
        optional = {"section": of_section or None, "id": id_}
        items.append(item | {name: value for name, value in optional.items() if value is not None})
    return replace(
        document,
        title=unescape(titles[0].text) if titles and document.title is None else document.title,
        items=items,
        positions=[f"line {heading.line + 1}" for heading, _ in parts],
        answer_lines=[_first_text(lines, heading.line + 1) + 1 for heading, _ in parts],
        text_outside=find_text(above, read),
    )


def _is_section(heading: "_Heading", following: "_Heading | None", lines: Sequence[str]) -> bool:
    if following is None or following.markup != "###" or ends_in_question_mark(heading.text):
        return False
    return not any(line.strip() for line in lines[heading.line + 1 : following.line])


def _first_text(lines: Sequence[str], start: int) -> int:
    return next((number for number in range(start, len(lines)) if lines[number].strip(" \t")), start)


def _answer(document: Document, lines: Sequence[str]) -> str:
    """Return an answer without the blank lines around it."""
    text = re.sub(r"\A(?:[ \t]*\n)+|(?:\n[ \t]*)+\Z", "", "\n".join(["", *lines, ""]))
    return unescape(text) if document.answer_format == "text" else text
