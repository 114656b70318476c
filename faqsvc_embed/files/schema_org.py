"""Documents from the FAQPage of schema.org, which websites have in their JSON-LD."""

from collections.abc import Iterator, Mapping
from typing import Any

from faqsvc_embed.files.document import Document
from faqsvc_embed.files.html_text import html_to_text
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
    """Return the document of a FAQPage, whose texts are HTML as search engines read them."""
    site = page.get("isPartOf")
    website = site.get("url") or site.get("@id") if isinstance(site, Mapping) else None
    return Document(
        title=_line(page.get("name")),
        website_url=website or page.get("url"),
        lang=lookup(str(page.get("inLanguage"))),
        answer_format="text",
        items=[_item(question) for question in _list(page.get("mainEntity"))],
    )


def _item(question: object) -> object:
    if not isinstance(question, Mapping):
        return question
    answer = next(iter(_list(question.get("acceptedAnswer"))), None)
    text = answer.get("text") if isinstance(answer, Mapping) else answer
    return {
        "question": _line(question.get("name")),
        "answer": html_to_text(text) if isinstance(text, str) else text,
    }


def _line(text: Any) -> Any:
    return " ".join(html_to_text(text).split()) if isinstance(text, str) else text


def _list(value: Any) -> list[Any]:
    """Return a value as a list: JSON-LD may write a list of one value as the value."""
    return value if isinstance(value, list) else [] if value is None else [value]
