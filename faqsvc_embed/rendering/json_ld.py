"""FAQ records → one FAQPage node → one script-safe string: the only serialiser (schema.org, RFC 8259)."""

import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from faqsvc_embed.models import FAQ
from faqsvc_embed.runtime.steps import MUCH, Steps, finished, portions

# Inside a script element a parser looks for nothing but `</script` and `<!--`; `&` matters in XHTML, and
# the two separators ended a line in JavaScript before 2019. Escaped so, the JSON means the same.
_SCRIPT_SAFE: Final = (
    ("<", "\\u003c"),
    (">", "\\u003e"),
    ("&", "\\u0026"),
    ("\u2028", "\\u2028"),
    ("\u2029", "\\u2029"),
)

_encode_any = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_encode_ours = msgspec.json.Encoder().encode
"""Does the same, many times faster, of what holds clean text only."""

_Question = tuple[str, str, str | None]
"""What is asked, the answer, and the language of both."""


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
    if not marked_up.questions:
        return {}
    return {**marked_up.head(), "mainEntity": marked_up.nodes(marked_up.questions)}


def serialised_page(faqs: Sequence[FAQ]) -> Steps[str]:
    """Make `serialise(page_node(faqs))` some questions at a time, and without holding all of them at once."""
    marked_up = yield from _mark_up(faqs)
    if not marked_up.questions:
        return ""
    head = _encode_ours(marked_up.head()).decode()
    parts = [_script_safe(head)[:-1], ',"mainEntity":']
    for some in portions(marked_up.questions, lambda asked: len(asked[0]) + len(asked[1])):
        text = _encode_ours(marked_up.nodes(some)).decode()
        parts.append("," if len(parts) > 2 else "[")
        for start in range(1, len(text) - 1, MUCH):
            parts.append(_script_safe(text[start : min(start + MUCH, len(text) - 1)]))
            yield
    parts.append("]}")
    return "".join(parts)


def serialise(node: dict[str, Any]) -> str:
    """Return a node as JSON that can stand in a script element; the empty node is the empty string."""
    return _script_safe(_encode_any(node)) if node else ""


def _script_safe(text: str) -> str:
    for character, escape in _SCRIPT_SAFE:
        text = text.replace(character, escape)
    return text


class _MarkedUp(NamedTuple):
    """What of a page can be marked up: each question once, with its answer and the language of its FAQ."""

    questions: list[_Question]
    shared: str | None
    """The language of all of them."""

    def head(self) -> dict[str, Any]:
        """Return the node without its questions."""
        node = {"@context": "https://schema.org", "@type": "FAQPage"}
        return node if self.shared is None else {**node, "inLanguage": self.shared}

    def nodes(self, questions: Iterable[_Question]) -> list[dict[str, Any]]:
        """Return the nodes of questions; the language of one is said where the page's is not."""
        nodes: list[dict[str, Any]] = []
        for name, text, language in questions:
            node: dict[str, Any] = {"@type": "Question", "name": name}
            if language is not None and self.shared is None:
                node["inLanguage"] = language
            node["acceptedAnswer"] = {"@type": "Answer", "text": text}
            nodes.append(node)
        return nodes


def _mark_up(faqs: Sequence[FAQ]) -> Steps[_MarkedUp]:
    questions: list[_Question] = []
    seen: set[str] = set()
    for faq in faqs:
        for some in portions(faq.items, lambda item: len(item.question)):
            for item in some:
                words = " ".join(unicodedata.normalize("NFC", item.question).split())
                if words and words not in seen and item.answer.strip():
                    seen.add(words)
                    questions.append((item.question, item.answer, faq.lang))
            yield
    languages = {language for _, _, language in questions}
    return _MarkedUp(questions, languages.pop() if len(languages) == 1 else None)
