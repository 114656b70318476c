"""The markup in the answers of records: what it is, and all of them in one format."""

import re
from dataclasses import replace
from typing import Any, Final

from faqsvc_embed.files.document import Document
from faqsvc_embed.files.html_reader import html_to_line, html_to_markdown
from faqsvc_embed.files.markdown_text import TAG, escape

_MARKDOWN: Final = re.compile(
    r"\*\*[^\s*][^*\n]{0,300}\*\*|__[^\s_][^_\n]{0,300}__|\]\((?:https?:|mailto:|tel:|/|#|\.)[^\s()]|`[^`\n]{1,200}`"
    r"|^#{1,6} \S|^[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S[^\n]{0,500}\n+[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S",
    re.MULTILINE,
)
"""Bold text, a link, code, a heading, or two items of a list."""


def has_markdown(text: object) -> bool:
    """Return whether a text has a link, bold text, code, a heading or a list of Markdown."""
    return isinstance(text, str) and _MARKDOWN.search(text) is not None


def has_tags(text: object) -> bool:
    """Return whether a text has a tag of HTML."""
    return isinstance(text, str) and TAG.search(text) is not None


def as_one_format(document: Document) -> Document:
    """Return a document that does not state the format of its answers with that which they have.

    They are Markdown if one has markup: HTML becomes Markdown, and plain text keeps its lines.
    """
    if document.answer_format is not None:
        return document
    items = [item for item in document.items if isinstance(item, dict)]
    answers = [item.get("answer") for item in items]
    if not any(has_markdown(answer) or has_tags(answer) for answer in answers):
        return document
    for item in items:
        if has_tags(item.get("question")):
            item["question"] = html_to_line(item["question"])
        if isinstance(item.get("answer"), str):
            item["answer"] = _as_markdown(item["answer"])
    return replace(document, answer_format="markdown")


def _as_markdown(text: str) -> Any:
    if has_markdown(text):
        return text
    if has_tags(text):
        return html_to_markdown(text)
    return escape(text.strip())
