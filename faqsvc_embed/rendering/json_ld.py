"""FAQPage JSON-LD (schema.org, Google's structured data for FAQPage): the only serializer of the package."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.models import FAQ, FAQState, shown
from faqsvc_embed.rendering import answers
from faqsvc_embed.rendering.answers import QUESTION_LEVEL
from faqsvc_embed.text import in_portions

# In a script element, an HTML parser looks only for `</script` and `<!--`. `&` matters in XHTML, and the two
# separators ended a line in JavaScript before 2019. As escapes, all mean the same in JSON.
_ESCAPES: Final = (("<", "\\u003c"), ("&", "\\u0026"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))

_PAGE_HEAD: Final = '{"@context":"https://schema.org","@type":"FAQPage","@id":"#faqpage","mainEntity":['

Node = dict[str, Any]


def question_nodes(
    faq: FAQ,
    texts: Iterable[tuple[int, str, str]],
    ids: Sequence[str | None] | None = None,
    lang: str | None = None,
) -> list[Node]:
    """Return the nodes of questions, from their places, names and answers.

    A question without an answer, or that equals an earlier one, is left out. `ids` has the id of each
    question's element on the page, which becomes its `@id`; None if it has no element.
    """
    nodes, keys = dict[int, Node](), shown(faq).keys
    for place, name, text in texts:
        node, answer = {"@type": "Question"}, {"@type": "Answer"}
        if ids and (element_id := ids[place]):
            node["@id"], answer["@id"] = f"#{element_id}", f"#{element_id}-answer"
        node["name"], answer["text"] = name, text
        if lang:
            node["inLanguage"] = lang
        if text.strip():
            nodes.setdefault(keys[place], {**node, "acceptedAnswer": answer})
    return list(nodes.values())


def to_json_ld(faq: FAQ) -> dict[str, Any]:
    """Return the FAQPage node of a record, for a graph of the host's own; empty if it has no questions.

    Items with an empty question or answer are left out, and the first of equal questions counts. Texts are
    unchanged, but Markdown answers are HTML, as on a page.

    Raises:
        ConfigurationError: it is not an `FAQ`.
    """
    given: object = faq
    if not isinstance(given, FAQ):
        hint = ": pass its data" if isinstance(given, FAQState) else ""
        if isinstance(given, Mapping):
            hint = ": FAQ.from_dict(record) reads the JSON of the service"
        raise ConfigurationError(f"JSON-LD is made from an FAQ, not from {type(given).__name__}{hint}")
    if faq.answer_format == "markdown":
        items = answers.items(faq, QUESTION_LEVEL)
        nodes = question_nodes(faq, ((item.place, item.question, item.json_ld) for item in items))
    else:  # plain text needs no HTML
        plain = enumerate(shown(faq).items)
        nodes = question_nodes(faq, ((place, item.question, item.answer) for place, item in plain))
    language = {"inLanguage": faq.lang} if faq.lang else {}
    head = {"@context": "https://schema.org", "@type": "FAQPage", **language}
    return {**head, "mainEntity": nodes} if nodes else {}


def to_json_ld_string(faq: FAQ) -> str:
    """Return the FAQPage of a record as JSON, empty if it has no questions.

    It is safe inside a script element: it contains no `<`, `>`, `&`, U+2028 or U+2029.

    Raises:
        ConfigurationError: it is not an `FAQ`.
    """
    node = to_json_ld(faq)
    return serialize(node) if node else ""


def page_json(questions: Iterable[str]) -> str:
    """Return a FAQPage with these questions, which are JSON; empty without questions.

    Each FAQ of a page prints one. All have the same `@id`, so they are one node (JSON-LD 1.1, 3.3).
    """
    members = ",".join(questions)
    return f"{_PAGE_HEAD}{members}]}}" if members else ""


def serialize(node: Node) -> str:
    """Return a node as JSON that can stand in a script element."""
    return in_portions(_escaped, msgspec.json.encode(node).decode())


def question_json(node: Node) -> str:
    """Return a question for `page_json`; to save bytes, only a `>` that ends CDATA in XHTML is escaped."""
    text = msgspec.json.encode(node).decode().replace("]]>", "]]\\u003e")
    return in_portions(_escaped_except_gt, text)


def _escaped(text: str) -> str:
    return _escaped_except_gt(text).replace(">", "\\u003e")


def _escaped_except_gt(text: str) -> str:
    for character, escape in _ESCAPES:
        text = text.replace(character, escape)
    return text
