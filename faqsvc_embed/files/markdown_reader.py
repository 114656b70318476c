"""Documents from Markdown.

A file whose front matter states `answerFormat` has the form that `markdown_writer` writes: the title is the
heading of level 1, every heading of level 2 is a question, and answers are read exactly as they are. In any
other file, `markdown_questions` recognises the usual ways to write questions, and answers are Markdown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.json_yaml import FRONT_MATTER_NAMES, parse_yaml, yaml_document
from faqsvc_embed.files.markdown_entries import find_text
from faqsvc_embed.files.markdown_questions import find_questions, without_comments
from faqsvc_embed.files.markdown_text import block_parser, unescape
from faqsvc_embed.files.names import plain_name

if TYPE_CHECKING:
    from markdown_it.token import Token

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
        document = _with_sections(document, lines, tokens)
    else:
        # Blank lines replace the front matter, so that lines keep their numbers.
        found = find_questions("\n" * below + "\n".join(lines[below:]))
        document = replace(
            document,
            title=found.title if document.title is None else document.title,
            answer_format="markdown",
            items=found.items,
            positions=found.positions,
            text_outside=found.text_outside,
        )
        if not document.items:
            raise ValueError(
                "no question found: write each as a heading, or after Q: with the answer after A:"
            )
    if not document.items:
        raise ValueError("no question found: a file with answerFormat has each in a line that begins with ##")
    return document


def _is_front_matter(lines: Sequence[str]) -> bool:
    """Return whether the lines below a first line of --- are fields; other text may follow a rule."""
    first = takewhile(lambda line: line.strip() and not line.startswith("##"), lines)
    fields = map(_FIELD.match, first)
    return any(plain_name(field[1]) in FRONT_MATTER_NAMES for field in fields if field is not None)


def _front_matter(content: str) -> Document:
    """Return the document with the fields of front matter."""
    fields = parse_yaml(f"\n{content}")  # the line before it is ---
    if fields is None:
        return Document()
    if not isinstance(fields, Mapping):
        raise ValueError(f"the front matter between the lines of --- has no fields, but {quoted(fields)}")
    document = yaml_document(fields)
    if document.answer_format not in (None, "text", "markdown"):
        raise ValueError(f"answerFormat is {quoted(document.answer_format)}: use text or markdown")
    return document


def _with_sections(document: Document, lines: Sequence[str], tokens: "Sequence[Token]") -> Document:
    """Return a document with the title and the items of a file that states the format of its answers."""
    headings = [
        (opening.map[0], opening.markup, inline.content)
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open" and opening.level == 0 and opening.map
    ]
    questions = [(line, content) for line, markup, content in headings if markup == "##"]
    ends = [*(line for line, _ in questions[1:]), len(lines)]
    first = questions[0][0] if questions else len(lines)
    titles = [(line, content) for line, markup, content in headings if markup == "#" and line < first][:1]
    above = without_comments("\n".join(lines[:first])).split("\n")
    read = {line for line, _ in titles}.union(*(range(*token.map) for token in tokens[:1] if token.map))
    return replace(
        document,
        title=unescape(titles[0][1]) if titles and document.title is None else document.title,
        items=[
            {"question": unescape(question), "answer": _answer(document, lines[line + 1 : end])}
            for (line, question), end in zip(questions, ends, strict=False)
        ],
        positions=[f"line {line + 1}" for line, _ in questions],
        text_outside=find_text(above, read),
    )


def _answer(document: Document, lines: Sequence[str]) -> str:
    """Return an answer without the blank lines around it."""
    text = re.sub(r"\A(?:[ \t]*\n)+|(?:\n[ \t]*)+\Z", "", "\n".join(["", *lines, ""]))
    return unescape(text) if document.answer_format == "text" else text
