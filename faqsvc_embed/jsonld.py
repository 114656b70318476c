"""FAQ records → one FAQPage node → one script-safe string: the only serialiser (schema.org, RFC 8259)."""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final

from faqsvc_embed.records import FAQ, Item
from faqsvc_embed.steps import Steps, finished

# Inside a script element a parser looks for nothing but `</script` and `<!--`; `&` matters in XHTML, and
# the two separators ended a line in JavaScript before 2019. Escaped so, the JSON means the same.
_SCRIPT_SAFE: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


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
    return finished(node_steps(faqs))


def node_steps(faqs: Sequence[FAQ]) -> Steps[dict[str, Any]]:
    """Make what `page_node` returns, a question at a time."""
    seen, entries = set[str](), list[tuple[FAQ, Item]]()
    for faq in faqs:
        for item in faq.items:
            if _is_new(item, seen):
                entries.append((faq, item))
            yield
    if not entries:
        return {}
    languages = {faq.lang for faq, _ in entries}
    yield
    shared = languages.pop() if len(languages) == 1 else None
    node: dict[str, Any] = {"@context": "https://schema.org", "@type": "FAQPage"}
    if shared is not None:
        node["inLanguage"] = shared
    node["mainEntity"] = questions = list[dict[str, Any]]()
    for faq, item in entries:
        questions.append(_question(item, None if shared is not None else faq.lang))
        yield
    return node


def serialise(node: dict[str, Any]) -> str:
    """Return a node as JSON that can stand in a script element; the empty node is the empty string."""
    return "".join(serialised_in_parts(node))


def serialised_in_parts(node: dict[str, Any]) -> Iterator[str]:
    """Yield what `serialise` returns, a question at a time: 10,000 of them hold nobody up."""
    questions = node.get("mainEntity")
    if not isinstance(questions, list):
        yield _dumps(node) if node else ""
        return
    head = {name: value for name, value in node.items() if name != "mainEntity"}
    yield f'{_dumps(head)[:-1]}{"," if head else ""}"mainEntity":['
    for number, question in enumerate(questions):
        yield f",{_dumps(question)}" if number else _dumps(question)
    yield "]}"


def _dumps(node: dict[str, Any]) -> str:
    return json.dumps(node, ensure_ascii=False, allow_nan=False, separators=(",", ":")).translate(
        _SCRIPT_SAFE
    )


def _question(item: Item, language: str | None) -> dict[str, Any]:
    question: dict[str, Any] = {"@type": "Question", "name": item.question}
    if language is not None:
        question["inLanguage"] = language
    question["acceptedAnswer"] = {"@type": "Answer", "text": item.answer}
    return question


def _is_new(item: Item, seen: set[str]) -> bool:
    """Tell whether an item can be marked up, and its question was not before, in this record or another."""
    if not item.question.strip() or not item.answer.strip():
        return False
    key = " ".join(unicodedata.normalize("NFC", item.question).split())
    if key in seen:
        return False
    seen.add(key)
    return True
