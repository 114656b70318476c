"""FAQ records → one FAQPage node → one script-safe string: the only serialiser (schema.org, RFC 8259)."""

import json
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from faqsvc_embed.records import FAQ, Item
from faqsvc_embed.steps import MUCH, Steps, finished

# Inside a script element a parser looks for nothing but `</script` and `<!--`; `&` matters in XHTML, and
# the two separators ended a line in JavaScript before 2019. Escaped so, the JSON means the same.
_SCRIPT_SAFE: Final = (
    ("<", "\\u003c"),
    (">", "\\u003e"),
    ("&", "\\u0026"),
    ("\u2028", "\\u2028"),
    ("\u2029", "\\u2029"),
)

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def to_json_ld(faq: FAQ) -> dict[str, Any]:
    """Return the FAQPage node of a record, for a graph of the host's own; empty if there is nothing in it.

    Items with an empty question or answer are left out, and a question that comes twice is there once,
    with its first answer. The texts are the record's, to the letter.
    """
    return page_node([faq])


def to_json_ld_string(faq: FAQ) -> str:
    """Return the FAQPage of a record as JSON, empty if there is nothing in it.

    It is safe inside a script element as it is: it holds no `<`, `>`, `&`, U+2028 or U+2029.
    """
    return serialise(to_json_ld(faq))


def page_node(faqs: Sequence[FAQ]) -> dict[str, Any]:
    """Return the one FAQPage node of a page that shows all of `faqs`, in this order; empty if none has items.

    `inLanguage` is on the page if all agree, else on each question.
    """
    marked_up = finished(_mark_up(faqs))
    if not marked_up.items:
        return {}
    return {**marked_up.head(), "mainEntity": [marked_up.question(at) for at in range(len(marked_up.items))]}


def serialised_page(faqs: Sequence[FAQ]) -> Steps[str]:
    """Make `serialise(page_node(faqs))` a question at a time, and without holding all of them at once."""
    marked_up = yield from _mark_up(faqs)
    if not marked_up.items:
        return ""
    parts = [_dumps(marked_up.head())[:-1], ',"mainEntity":[']
    for at in range(len(marked_up.items)):
        question = yield from _dumping(marked_up.question(at))
        parts.append(f",{question}" if at else question)
        yield
    parts.append("]}")
    return "".join(parts)


def serialise(node: dict[str, Any]) -> str:
    """Return a node as JSON that can stand in a script element; the empty node is the empty string."""
    return _dumps(node) if node else ""


def _dumps(node: dict[str, Any]) -> str:
    return finished(_dumping(node))


def _dumping(node: dict[str, Any]) -> Steps[str]:
    text = _encode(node)
    if len(text) <= MUCH:
        return _script_safe(text)
    parts = list[str]()
    for start in range(0, len(text), MUCH):
        parts.append(_script_safe(text[start : start + MUCH]))
        yield
    return "".join(parts)


def _script_safe(text: str) -> str:
    for character, escape in _SCRIPT_SAFE:
        text = text.replace(character, escape)
    return text


class _MarkedUp:
    """The items of a page that can be marked up, each question once, and the languages of their FAQs."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.languages: list[str | None] = []

    @cached_property
    def shared(self) -> str | None:
        """The language of all of them."""
        return self.languages[0] if len(set(self.languages)) == 1 else None

    def head(self) -> dict[str, Any]:
        """Return the node without its questions."""
        node = {"@context": "https://schema.org", "@type": "FAQPage"}
        return node if self.shared is None else {**node, "inLanguage": self.shared}

    def question(self, at: int) -> dict[str, Any]:
        """Return the node of one question; its language is said where the page's is not."""
        item, language = self.items[at], None if self.shared is not None else self.languages[at]
        question: dict[str, Any] = {"@type": "Question", "name": item.question}
        if language is not None:
            question["inLanguage"] = language
        question["acceptedAnswer"] = {"@type": "Answer", "text": item.answer}
        return question


def _mark_up(faqs: Sequence[FAQ]) -> Steps[_MarkedUp]:
    marked_up, seen = _MarkedUp(), set[str]()
    for faq in faqs:
        for item in faq.items:
            yield
            if not item.question.strip() or not item.answer.strip():
                continue
            key = " ".join(unicodedata.normalize("NFC", item.question).split())
            if key not in seen:
                seen.add(key)
                marked_up.items.append(item)
                marked_up.languages.append(faq.lang)
    return marked_up
