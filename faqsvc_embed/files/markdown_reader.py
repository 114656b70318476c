"""Documents from Markdown.

A file whose front matter states `answerFormat` has the form that `markdown_writer` writes: the title is the
heading of level 1, every heading of level 2 is a question, and answers are read exactly as they are. In any
other file, `markdown_questions` recognises the usual ways to write questions, and answers are Markdown.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile, zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.asking import asks
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.fields import plain_name
from faqsvc_embed.files.json_yaml import parse_yaml, yaml_document
from faqsvc_embed.files.markdown_lines import is_text, split_id, without_comments
from faqsvc_embed.files.markdown_questions import find_questions
from faqsvc_embed.files.markdown_text import block_parser, unescape
from faqsvc_embed.files.records import FRONT_MATTER_NAMES

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
        ValueError: the front matter is not YAML or TOML or not closed, or there is no question.
    """
    document, question, below, tokens = Document(), "", 0, list["Token"]()
    lines = text.split("\n")
    if text.startswith("+++\n") and "+++" in lines[1:]:
        below = lines.index("+++", 1) + 1
        document, question = _toml("\n".join(lines[1 : below - 1]))
    elif text.startswith("---"):
        tokens = block_parser().parse(text)
        if tokens and tokens[0].type == "front_matter" and tokens[0].map:
            document, question = _front_matter(tokens[0].content)
            below = tokens[0].map[1]
    rest = "\n" * below + "\n".join(lines[below:])  # lines keep their numbers
    if document.items is not None:
        notes = [
            f"line {n + 1}: this text is not read"
            for n, line in enumerate(lines)
            if n >= below and is_text(line)
        ]
        return replace(document, answer_format=document.answer_format or "markdown", notes=notes[:1])
    if tokens and tokens[0].type == "hr" and _is_front_matter(lines[1:]):
        raise ValueError("line 1: the front matter is not closed: add a line of --- below its last field")
    if document.answer_format is not None:
        document = _with_headings(document, lines, tokens)
        if not document.items:
            raise ValueError(
                "no question found: with answerFormat, each question is a line that begins with ##"
            )
        return document
    title = document.title if isinstance(document.title, str) else ""
    found = find_questions(rest, title, question)
    return replace(
        document,
        title=found.title if document.title is None else document.title,
        introduction=found.introduction if document.introduction is None else document.introduction,
        answer_format="markdown",
        items=found.items,
        positions=found.positions,
        answer_lines=found.answer_lines,
        notes=found.notes,
    )


def _toml(content: str) -> tuple[Document, str]:
    """Return the document with the fields of front matter in TOML, and its question if it states one."""
    try:
        return _with_question(tomllib.loads(content))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"line 1: the front matter is not TOML: {error}") from None


def _is_front_matter(lines: Sequence[str]) -> bool:
    """Return whether the lines below a first line of --- are fields; other text may follow a rule."""
    first = takewhile(lambda line: line.strip() and not line.startswith("##"), lines)
    fields = map(_FIELD.match, first)
    return any(plain_name(field[1]) in FRONT_MATTER_NAMES for field in fields if field is not None)


def _with_question(fields: Mapping[str, Any]) -> tuple[Document, str]:
    question = fields.get("question", "")
    document = yaml_document({name: value for name, value in fields.items() if name != "question"})
    return document, question if isinstance(question, str) else ""


def _front_matter(content: str) -> tuple[Document, str]:
    """Return the document with the fields of front matter, and its question if it states one."""
    fields = parse_yaml(f"\n{content}")  # the line feed stands for the line ---
    if fields is None:
        return Document(), ""
    if not isinstance(fields, Mapping):
        raise ValueError(f"the front matter between the lines of --- has no fields, but {quoted(fields)}")
    document, question = _with_question(fields)
    if document.answer_format not in (None, "text", "markdown"):
        raise ValueError(f"answerFormat is {quoted(document.answer_format)}: use text or markdown")
    return document, question


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
    start = max(
        [heading.line + 1 for heading in titles] + [token.map[1] for token in tokens[:1] if token.map]
    )
    introduction = _answer(document, above[start:])
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
        introduction=introduction or document.introduction,
    )


def _is_section(heading: "_Heading", following: "_Heading | None", lines: Sequence[str]) -> bool:
    if following is None or following.markup != "###" or asks(heading.text):
        return False
    return not any(line.strip() for line in lines[heading.line + 1 : following.line])


def _first_text(lines: Sequence[str], start: int) -> int:
    return next((number for number in range(start, len(lines)) if lines[number].strip(" \t")), start)


def _answer(document: Document, lines: Sequence[str]) -> str:
    """Return an answer without the blank lines around it."""
    text = re.sub(r"\A(?:[ \t]*\n)+|(?:\n[ \t]*)+\Z", "", "\n".join(["", *lines, ""]))
    return unescape(text) if document.answer_format == "text" else text
