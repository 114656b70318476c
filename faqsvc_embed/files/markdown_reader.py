"""Documents from Markdown.

A file whose front matter states `answerFormat` has the form that `markdown_writer` writes: the title is the
heading of level 1, and every heading of level 2 is a question. In any other file, `markdown_questions`
recognises the usual ways to write questions, and answers are Markdown.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.asking import says_faq
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.fields import DOCUMENT_FIELDS, FRONT_MATTER_NAMES, plain_name
from faqsvc_embed.files.json_yaml import parse_toml, parse_yaml, yaml_document
from faqsvc_embed.files.markdown_lines import is_text
from faqsvc_embed.files.markdown_questions import find_questions
from faqsvc_embed.files.markdown_text import unescape
from faqsvc_embed.files.markup import has_markdown, has_tags

_STATED: Final = frozenset(DOCUMENT_FIELDS.values()) - {"items"}
"""The fields that front matter states; the texts below it have the others."""
_RULE: Final = re.compile(r"[ ]{0,3}(?:-+|=+)[ \t]*\Z")
"""A line that makes the line above it a heading."""
_MAX_NAME: Final = 80
"""Characters of a field that may be the name of a page."""
_ABOUT: Final = ("description", "keywords", "layout")
"""Fields for search engines and templates. They may mention an FAQ, but do not say that the page is one."""
_METADATA: Final = re.compile(r"[a-z][\w-]*:(?:[ \t]|$)")
"""A field in the lines above a text."""
_FIELD: Final = re.compile(r"([A-Za-z][\w -]*):(?:[ \t]|$)")


def read_markdown(text: str) -> Document:
    """Return the FAQ in a Markdown file.

    Raises:
        ValueError: the front matter is not YAML or TOML or not closed, or there is no question.
    """
    lines = text.split("\n")
    fields, below = _front_matter(lines)
    question = fields.get("question")
    if isinstance(slug := fields.get("slug"), str) and "/" in slug:  # the address of a page elsewhere
        fields = {name: value for name, value in fields.items() if name != "slug"}
    document = yaml_document({name: value for name, value in fields.items() if name != "question"})
    if document.answer_format not in (None, "text", "markdown"):
        raise ValueError(f"answerFormat is {quoted(document.answer_format)}: use text or markdown")
    own = document.items if document.positions or "items" in fields else None
    try:
        found = find_questions(
            "\n" * below + "\n".join(lines[below:]),  # lines keep their numbers
            document.title if isinstance(document.title, str) else "",
            question if isinstance(question, str) else "",
            is_written=document.answer_format is not None,
            is_faq=any(map(says_faq, _names(fields))),
        )
    except ValueError:
        if own is None:
            raise
        found = Document(items=[])
    if own is not None and not (isinstance(own, list) and len(own) < len(found.items)):
        texts = [n for n, line in enumerate(lines, 1) if n > below and is_text(line)]
        end = f" to line {texts[-1]}" if len(texts) > 1 else ""
        notes = [f"line {n}: the text{end} is left out: the front matter has questions" for n in texts[:1]]
        return replace(document, answer_format=document.answer_format or "markdown", notes=notes)
    if document.answer_format == "text":
        found = _unescaped(found)
    stated = {name: value for name in _STATED if (value := getattr(document, name)) is not None}
    if "introduction" in stated:
        stated["introduction_line"] = None
    if own:  # the front matter repeats some of the questions for search engines
        more = [f"{document.place(0, 0)}: the questions of the front matter are left out: the text has more"]
        found = replace(found, notes=[*more, *found.notes])
    answer_format = "text" if _is_plain(lines, found) else "markdown"
    unknown = [*document.unknown, *(name for name in ("faqs", "questions") if fields.get(name))]
    return replace(found, **{"answer_format": answer_format} | stated, unknown=unknown)


def _is_plain(lines: Sequence[str], document: Document) -> bool:
    """Return whether a file is plain text: its questions are bare lines, and no text has markup."""
    bare = {one.strip() for one, below in zip(lines, [*lines[1:], ""], strict=True) if not _RULE.match(below)}
    texts = [document.introduction or "", *(item["answer"] for item in document.items)]
    is_bare = all(item["question"] in bare for item in document.items)
    return is_bare and not any(has_markdown(text) or has_tags(text) for text in texts)


def _unescaped(document: Document) -> Document:
    """Return a document with its answers and its introduction as plain text."""
    items = [item | {"answer": unescape(item["answer"])} for item in document.items]
    introduction = document.introduction and unescape(document.introduction)
    return replace(document, items=items, introduction=introduction)


def _front_matter(lines: Sequence[str]) -> tuple[Mapping[str, Any], int]:
    """Return the fields of front matter in YAML or TOML, and the number of its lines.

    Fields without lines of `---` around them, as MkDocs reads them, end at a blank line.
    """
    rule, top = (
        lines[0].rstrip(),
        [*takewhile(lambda line: line.strip() and not line.startswith("##"), lines)],
    )
    ends = (rule, "...") if rule == "---" else (rule,)  # as YAML ends a document, and Pandoc reads it
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() in ends), None)
    if rule == "+++" and end is not None:
        return parse_toml("\n".join(["", *lines[1:end]])), end + 1
    if rule == "---" and end is not None:
        below, top = end + 1, ["", *lines[1:end]]  # with its first line, for numbers in errors
    elif rule == "---" and any(map(_is_known, top)):
        raise ValueError("line 1: the front matter is not closed: add a line of --- below its last field")
    elif all(map(_METADATA.match, top)) and (any(map(_is_known, top)) or len(top) > 1):
        below = len(top)
    else:
        return {}, 0
    fields = parse_yaml("\n".join(top)) if any(top) else {}
    if not isinstance(fields, Mapping):
        raise ValueError(f"the front matter between the lines of --- has no fields, but {quoted(fields)}")
    return fields, below


def _is_known(line: str) -> bool:
    """Return whether a line is a field of an FAQ."""
    found = _FIELD.match(line)
    return found is not None and plain_name(found[1]) in FRONT_MATTER_NAMES


def _names(value: object) -> Iterator[str]:
    """Yield the short texts in front matter, one of which may say that the page is an FAQ."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _names(inner) if name not in _ABOUT else ()
    elif isinstance(value, str) and len(value) <= _MAX_NAME:
        yield value
