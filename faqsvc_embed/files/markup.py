"""The markup in the answers of records: what it is, and all of them in one format."""

import html
import re
from dataclasses import replace
from typing import Final

from faqsvc_embed.files.document import Document
from faqsvc_embed.files.html import html_to_line, html_to_markdown
from faqsvc_embed.files.markdown_text import TAG, escape, plain_text

_MARKDOWN: Final = re.compile(
    r"\*\*[^\s*][^*\n]{0,300}\*\*|__[^\s_][^_\n]{0,300}__|\]\((?:https?:|mailto:|tel:|/|#|\.)[^\s()]|`[^`\n]{1,200}`"
    r"|^(?:```|~~~)|^\|?[ ]*:?-{3,}:?[ ]*\||^#{1,6} \S"
    r"|^[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S[^\n]{0,500}\n+[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S",
    re.MULTILINE,
)
"""Bold text, a link, code, a table, a heading, or two items of a list."""


_IN_MARKDOWN: Final = re.compile(
    r"^[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S|(?<![\w*_])([*_])(?=[^\s*_])[^*_\n]{1,300}(?<=\S)\1(?![\w*_])",
    re.MULTILINE,
)
"""An item of a list, or emphasis, which are Markdown beside answers that are."""


_ENTITY: Final = re.compile("&(?:[a-zA-Z]{2,8}|#[0-9]{2,5}|#x[0-9a-fA-F]{2,4});")


def has_markdown(text: object) -> bool:
    """Return whether a text has a link, bold text, code, a table, a heading or a list of Markdown."""
    return isinstance(text, str) and _MARKDOWN.search(text) is not None


def has_tags(text: object) -> bool:
    """Return whether a text has a tag of HTML."""
    return isinstance(text, str) and TAG.search(text) is not None


def as_one_format(document: Document, *, is_html: bool = False) -> Document:
    """Return a document that does not state the format of its answers with that which they have.

    They are Markdown if one has markup: HTML becomes Markdown, and plain text keeps its lines. `is_html` says
    that its texts are HTML, as in JSON-LD, so that no sign of theirs is Markdown.
    """
    if document.answer_format is not None:
        return document

    def is_markdown(text: str) -> bool:
        return not is_html and has_markdown(text)

    items = [item for item in document.items if isinstance(item, dict)]
    for item in items:
        for name in ("question", "answer"):
            if isinstance(text := item.get(name), str) and not (has_tags(text) or is_markdown(text)):
                item[name] = html.unescape(text) if _ENTITY.search(text) else text
    texts = [item["answer"] for item in items if isinstance(item.get("answer"), str)]
    has_markup = any(is_markdown(text) or has_tags(text) for text in texts)
    for item in items if has_markup or is_html else ():
        if isinstance(question := item.get("question"), str):
            if is_markdown(question) or (not is_html and _IN_MARKDOWN.search(question)):
                question = plain_text(question, {})
            item["question"] = html_to_line(question) if has_tags(question) or is_html else question
        if isinstance(text := item.get("answer"), str) and has_markup:
            if has_tags(text) and (is_html or not (has_markdown(text) or _IN_MARKDOWN.search(text))):
                item["answer"] = html_to_markdown(text)
            elif is_html or not (has_markdown(text) or _IN_MARKDOWN.search(text)):
                item["answer"] = escape(text.strip())
    if not (has_markup or is_html):
        return document
    title = html_to_line(document.title) if is_html and isinstance(document.title, str) else document.title
    return replace(document, title=title, answer_format="markdown" if has_markup else "text")
