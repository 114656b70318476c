"""Documents from the FAQPage of schema.org, which websites have in their JSON-LD."""

import html
from collections.abc import Iterator, Mapping
from typing import Any

from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markdown_text import TAG, escape
from faqsvc_embed.files.markup import html_to_line, html_to_markdown
from faqsvc_embed.languages import lookup


def find_faq_page(value: object) -> Mapping[str, Any] | None:
    """Return the FAQPage among the nodes of a page's JSON-LD, if there is one."""
    return next((node for node in _nodes(value) if "FAQPage" in _list(node.get("@type"))), None)


def _nodes(value: object) -> Iterator[Mapping[str, Any]]:
    for node in _list(value):
        if isinstance(node, Mapping):
            yield node
            yield from _nodes(node.get("@graph"))
            yield from _nodes(node.get("mainEntity"))


def read_faq_page(page: Mapping[str, Any]) -> Document:
    """Return the document of a FAQPage, whose texts are HTML as search engines read them.

    Its answers are Markdown if one of them has a tag, so that links, lists and bold words stay.
    """
    site = page.get("isPartOf")
    website = site.get("url") or site.get("@id") if isinstance(site, Mapping) else None
    items = [_item(question) for question in _list(page.get("mainEntity"))]
    answers = [item["answer"] for item in items if isinstance(item, dict)]
    has_tags = any(TAG.search(answer) for answer in answers if isinstance(answer, str))
    for item in items:
        if isinstance(item, dict) and isinstance(item["answer"], str):
            item["answer"] = _answer(item["answer"], as_markdown=has_tags)
    return Document(
        title=_line(page.get("name")),
        website_url=website or page.get("url"),
        lang=lookup(str(page.get("inLanguage"))),
        answer_format="markdown" if has_tags else "text",
        items=items,
    )


def _item(question: object) -> object:
    if not isinstance(question, Mapping):
        return question
    answer = next(iter(_list(question.get("acceptedAnswer"))), None)
    text = answer.get("text") if isinstance(answer, Mapping) else answer
    return {"question": _line(question.get("name")), "answer": text}


def _answer(text: str, *, as_markdown: bool) -> str:
    if TAG.search(text):
        return html_to_markdown(text)
    # A text without any tag keeps its lines.
    plain = html.unescape(text).strip()
    return escape(plain) if as_markdown else plain


def _line(text: Any) -> Any:
    return html_to_line(text) if isinstance(text, str) else text


def _list(value: Any) -> list[Any]:
    """Return a value as a list: JSON-LD may write a list of one value as the value."""
    return value if isinstance(value, list) else [] if value is None else [value]
