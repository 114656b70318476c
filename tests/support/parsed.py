"""What a visitor and a search engine find of our FAQs in a page, as an HTML5 parser reads it."""

import json
from typing import Any, NamedTuple

import turbohtml

from faqsvc_embed import FAQ


class Summary(NamedTuple):
    """The FAQs of a page, with the elements that a page has once."""

    faqs: list[list[str]]
    """The questions of each FAQ that is shown."""
    styles: int
    """Inline stylesheets, of the component and of themes."""
    faq_pages: list[list[str]]
    """The questions of each FAQPage in JSON-LD."""


def summary(html: str | bytes) -> Summary:
    """Return what a page shows; fail if two elements of it have the same id."""
    tree = turbohtml.parse(html)
    ids = [element.attrs["id"] for element in tree.select("[id]")]
    assert len(ids) == len(set(ids)), "two elements have the same id"
    return Summary(
        [
            [question.text for question in faq.select(".faqsvc-question")]
            for faq in tree.select("section.faqsvc")
        ],
        len(tree.select("style")),
        [[question["name"] for question in node["mainEntity"]] for node in json_ld(html)],
    )


def page_of(*faqs: FAQ) -> Summary:
    """Return the summary of a page that shows these FAQs as it should: styles once, and one FAQPage."""
    questions = [[item.question.strip() for item in faq.items] for faq in faqs]
    merged = dict.fromkeys(question for one in questions for question in one)
    return Summary(questions, 1 if faqs else 0, [list(merged)] if faqs else [])


def json_ld(html: str | bytes) -> list[dict[str, Any]]:
    """Return every JSON-LD node of a page."""
    scripts = turbohtml.parse(html).select('script[type="application/ld+json"]')
    return [json.loads(script.text) for script in scripts]


def nonces(html: str | bytes) -> list[str | None]:
    """Return the nonces of the styles, links and scripts of a page, in order."""
    elements = turbohtml.parse(html).select("style, link, script")
    return [_text(element.attrs.get("nonce")) for element in elements]


def text_of(html: str | bytes, selector: str) -> list[str]:
    """Return the texts of the elements that a CSS selector finds."""
    return [element.text for element in turbohtml.parse(html).select(selector)]


def attributes(html: str | bytes, selector: str, name: str) -> list[str | None]:
    """Return an attribute of each element that a CSS selector finds."""
    return [_text(element.attrs.get(name)) for element in turbohtml.parse(html).select(selector)]


def _text(value: str | list[str] | None) -> str | None:
    """Return an attribute as it was written; the parser splits lists of tokens such as `class`."""
    return " ".join(value) if isinstance(value, list) else value
