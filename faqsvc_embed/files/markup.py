"""Recognises markup in the answers of records, and writes all of them in one format."""

import html
import re
from dataclasses import replace
from typing import Any, Final

from faqsvc_embed.files.document import Document
from faqsvc_embed.files.html import html_to_line, html_to_markdown
from faqsvc_embed.files.markdown_lines import unnumbered
from faqsvc_embed.files.markdown_text import TAG, escape, plain_text

_MARKDOWN: Final = re.compile(
    r"\*\*[^\s*][^*\n]{0,300}\*\*|__[^\s_][^_\n]{0,300}__|\]\((?:https?:|mailto:|tel:|/|#|\.|\{)[^\s()]|`[^`\n]{1,200}`"
    r"|^(?:```|~~~)|^\|?[ ]*:?-{3,}:?[ ]*\||^#{1,6} \S"
    r"|^[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S[^\n]{0,500}\n+[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S",
    re.MULTILINE,
)
"""Bold text, a link, code, a table, a heading, or two items of a list."""
_IN_MARKDOWN: Final = re.compile(
    r"^[ ]{0,3}(?:[-*+]|[0-9]{1,3}[.)]) \S|\]\([^\s()]+\)"
    r"|(?<![\w*_])([*_])(?=[^\s*_])[^*_\n]{1,300}(?<=\S)\1(?![\w*_])",
    re.MULTILINE,
)
"""An item of a list, a link or emphasis: Markdown if other answers certainly are."""
_LOST: Final = re.compile(
    r"(?i)<(script|iframe|object|embed|video|audio|form|button|input|select|textarea|canvas)(?=[\s/>])"
    r"|\b(?:href|src)\s{0,9}=\s{0,9}[\"']?\s{0,9}(javascript|vbscript|data):"
)
"""HTML that Markdown lacks, and addresses of links and images that no page would show."""
_EMBEDS: Final = re.compile(r"(?i)<(?:iframe|video|audio)\s[^<>]*>")
_ENTITY: Final = re.compile("&(?:[a-zA-Z]{2,8}|#[0-9]{2,5}|#x[0-9a-fA-F]{2,4});")


def has_markdown(text: object) -> bool:
    """Return whether a text has a link, bold text, code, a table, a heading or a list of Markdown."""
    return isinstance(text, str) and _MARKDOWN.search(text) is not None


def has_tags(text: object) -> bool:
    """Return whether a text has a tag of HTML, or embeds a page."""
    return isinstance(text, str) and (TAG.search(text) or _EMBEDS.search(text)) is not None


def _uncounted(questions: list[str]) -> list[str]:
    """Return questions without a label or numbers that count them. Others are words, as in `3 days or 5?`."""
    shorter = unnumbered(questions)
    before = [one[: one.find(rest)] for one, rest in zip(questions, shorter, strict=True)]
    numbers = [re.sub(r"(?i:faq|no|q)|\W", "", one) for one in before]
    counted = list(map(str, range(1, len(questions) + 1)))
    return shorter if numbers == counted or not any(numbers) else questions


def as_one_format(
    document: Document, *, is_html: bool = False, meant: re.Pattern[str] | None = None
) -> Document:
    """Return a document with the format of its answers; if it states none, they are read to find it.

    They are Markdown if one has markup: HTML becomes Markdown, and plain text keeps its lines. `is_html` says
    that the texts are HTML, as in JSON-LD, and no Markdown. `meant` finds further signs of Markdown.
    """
    if document.answer_format is not None:
        return document
    items = [item for item in document.items if isinstance(item, dict)]
    if all(isinstance(item["question"], str) for item in items):
        for item, question in zip(items, _uncounted([item["question"] for item in items]), strict=True):
            item["question"] = question
    texts = [document.introduction, *(item.get("answer") for item in items)]
    signs, notes = [_MARKDOWN, *([meant] if meant else [])], list(document.notes)

    def is_markdown(text: object) -> bool:
        return isinstance(text, str) and not is_html and any(sign.search(text) for sign in signs)

    has_markup = any(has_tags(text) or is_markdown(text) for text in texts)
    signs += [_IN_MARKDOWN] if has_markup else []

    def line(text: Any) -> Any:
        if not isinstance(text, str):
            return text
        if is_markdown(text):
            text = plain_text(text, {}) if has_markup else text
        elif not (has_tags(text) or is_html):
            text = html.unescape(text) if _ENTITY.search(text) else text
        return html_to_line(text) if is_html or (has_markup and has_tags(text)) else text

    def paragraphs(text: Any, index: int) -> Any:
        if not isinstance(text, str) or is_markdown(text):
            return text
        if has_tags(text):
            found = [f"<{tag}>" if tag else f"the link to '{name}:'" for tag, name in _LOST.findall(text)]
            notes.extend(f"{document.place(index, 1)}: {one} is not shown" for one in dict.fromkeys(found))
            return html_to_markdown(text)
        text = html.unescape(text) if _ENTITY.search(text) else text
        return escape(text.strip()) if has_markup else text

    for index, item in enumerate(document.items):
        if isinstance(item, dict):
            item |= {"question": line(item["question"]), "answer": paragraphs(item["answer"], index)}
    if not (has_markup or is_html):
        return document
    return replace(
        document,
        title=line(document.title),
        introduction=paragraphs(document.introduction, -1),
        answer_format="markdown" if has_markup else "text",
        notes=notes,
    )
