"""Documents from Markdown.

A file whose front matter states `answerFormat` has the form that `markdown_writer` writes: the title is the
heading of level 1, and every heading of level 2 is a question. In any other file, `markdown_questions`
recognises the usual ways to write questions, and answers are Markdown.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.fields import DOCUMENT_FIELDS, plain_name
from faqsvc_embed.files.json_yaml import parse_yaml, yaml_document
from faqsvc_embed.files.markdown_lines import is_text
from faqsvc_embed.files.markdown_questions import find_questions
from faqsvc_embed.files.markdown_text import block_parser, unescape
from faqsvc_embed.files.records import FRONT_MATTER_NAMES

if TYPE_CHECKING:
    from markdown_it.token import Token


_STATED: Final = frozenset(DOCUMENT_FIELDS.values()) - {"items"}
"""The fields that front matter states; the texts below it have the others."""
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
    title = document.title if isinstance(document.title, str) else ""
    found = find_questions(rest, title, question, is_written=document.answer_format is not None)
    if document.answer_format == "text":
        found = _unescaped(found)
    stated = {name: value for name in _STATED if (value := getattr(document, name)) is not None}
    return replace(found, **{"answer_format": "markdown"} | stated, unknown=document.unknown)


def _unescaped(document: Document) -> Document:
    """Return a document with its answers and its introduction as plain text."""
    items = [item | {"answer": unescape(item["answer"])} for item in document.items]
    introduction = document.introduction and unescape(document.introduction)
    return replace(document, items=items, introduction=introduction)


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
