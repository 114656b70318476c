"""Documents as Markdown: front matter, the title as the first heading, and a heading for each question.

`markdown_reader` reads exactly the same document from it, whatever the texts contain.
"""

import json
import math
from dataclasses import replace
from typing import Final

from faqsvc_embed.files.data import to_fields
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markdown_reader import read_markdown
from faqsvc_embed.files.markdown_text import escape, escape_line
from faqsvc_embed.text import LINE_END

_WRITTEN: Final = ("question", "answer", "section", "id")
"""The fields of an item; others, such as the source of a generated item, are left out."""


def write_markdown(document: Document) -> str:
    """Return a document as readable Markdown, or as front matter alone if that would be read differently.

    For example, a heading of level 2 in a Markdown answer would begin another question.
    """
    document = replace(
        document,
        answer_format=document.answer_format or "text",
        items=[
            {name: item[name] for name in _WRITTEN if item.get(name) is not None} for item in document.items
        ],
    )
    text = _front_matter(replace(document, title=None, introduction=None, items=None)) + _body(document)
    return text if _reads_as(text, document) else _front_matter(document, quotes=True)


def _reads_as(text: str, document: Document) -> bool:
    """Return whether a file with this text is read as the document."""
    try:
        return "\r" not in text and read_markdown(text) == document  # reading a file changes `\r` to `\n`
    except ValueError:
        return False


def _front_matter(document: Document, *, quotes: bool = False) -> str:
    import yaml

    # YAML in double quotes has an escape for every character (YAML 1.2, 5.7).
    style = '"' if quotes else None
    fields = to_fields(document)
    if document.cta is not None:
        fields["cta"] = json.dumps(document.cta, ensure_ascii=False)  # scalars of YAML are read as text
    written = yaml.safe_dump(fields, allow_unicode=True, sort_keys=False, width=math.inf, default_style=style)
    return f"---\n{written}---\n"


def _body(document: Document) -> str:
    parts = [f"# {escape_line(document.title)}"] if document.title is not None else []
    if document.introduction is not None:
        is_text = document.answer_format == "text"
        parts.append(escape(document.introduction) if is_text else document.introduction)
    section = None
    for item in document.items:
        if item.get("section") not in (None, section):
            parts.append(f"## {escape_line(item['section'])}")
        section = item.get("section")
        id_ = f" {{#{item['id']}}}" if item.get("id") is not None else ""
        answer = escape(item["answer"]) if document.answer_format == "text" else item["answer"]
        parts += [f"{'##' if section is None else '###'} {escape_line(item['question'])}{id_}", answer]
    return "".join(f"\n{part}\n" for part in parts)


def escaped_line(text: str) -> str:
    """Return text as one line of Markdown; line ends become spaces, as on a page."""
    return escape_line(LINE_END.sub(" ", text.replace("\f", " ")).strip(" "))


def escaped_text(text: str) -> str:
    """Return text as paragraphs of Markdown, without white space around it."""
    return escape(LINE_END.sub("\n", text.replace("\f", " ")).strip(" \n"))
