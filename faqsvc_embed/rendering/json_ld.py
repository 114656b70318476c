"""FAQPage JSON-LD (schema.org, Google's structured data for FAQPage): the only serializer of the package."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.rendering.answers import Answers
from faqsvc_embed.text import in_portions, question_key

QUESTION_LEVEL: Final = 3
"""The level of question headings when JSON-LD is made without a page."""
# Within a script element an HTML parser looks for `</script` and `<!--` only; `&` matters in XHTML, and the
# two separators ended a line in JavaScript before 2019. As escapes they mean the same in JSON.
_SCRIPT_SAFE: Final = (
    ("<", "\\u003c"),
    (">", "\\u003e"),
    ("&", "\\u0026"),
    ("\u2028", "\\u2028"),
    ("\u2029", "\\u2029"),
)


class Question(msgspec.Struct, frozen=True, gc=False):
    """One question as JSON-LD contains it."""

    name: str
    text: str
    """Its answer."""
    lang: str | None
    """The language of both."""


# The nodes as they are written. Thousands of objects that the garbage collector tracks would keep it busy.


class _AnswerNode(msgspec.Struct, gc=False, kw_only=True):
    type: str = msgspec.field(name="@type", default="Answer")
    text: str


class _QuestionNode(msgspec.Struct, gc=False, kw_only=True):
    type: str = msgspec.field(name="@type", default="Question")
    name: str
    lang: str | msgspec.UnsetType = msgspec.field(name="inLanguage", default=msgspec.UNSET)
    answer: _AnswerNode = msgspec.field(name="acceptedAnswer")


class PageNode(msgspec.Struct, kw_only=True):
    """A FAQPage node."""

    context: str = msgspec.field(name="@context", default="https://schema.org")
    type: str = msgspec.field(name="@type", default="FAQPage")
    lang: str | msgspec.UnsetType = msgspec.field(name="inLanguage", default=msgspec.UNSET)
    questions: list[_QuestionNode] = msgspec.field(name="mainEntity")


def to_json_ld(faq: FAQ) -> dict[str, Any]:
    """Return the FAQPage node of a record, for a graph of the host's own; empty if it has no questions.

    Items with an empty question or answer are left out, and the first of equal questions counts. Texts are
    those of the record, unchanged; Markdown answers are HTML, as on a page.

    Raises:
        ConfigurationError: it is not an `FAQ`.
    """
    node = _record_node(faq)
    return {} if node is None else msgspec.to_builtins(node)


def to_json_ld_string(faq: FAQ) -> str:
    """Return the FAQPage of a record as JSON, empty if it has no questions.

    It is safe inside a script element: it contains no `<`, `>`, `&`, U+2028 or U+2029.

    Raises:
        ConfigurationError: it is not an `FAQ`.
    """
    return serialize(_record_node(faq))


def _record_node(faq: object) -> PageNode | None:
    if not isinstance(faq, FAQ):
        hint = ": pass its data" if isinstance(faq, FAQState) else ""
        raise ConfigurationError(f"JSON-LD is made from an FAQ, not from {type(faq).__name__}{hint}")
    if faq.answer_format == "markdown":
        answered = Answers().items(faq, QUESTION_LEVEL)
        return page_node(Question(item.question, item.json_ld, faq.lang) for item in answered)
    return page_node(Question(item.question, item.answer, faq.lang) for item in faq.items)


def page_node(questions: Iterable[Question]) -> PageNode | None:
    """Return the FAQPage node of a page with these questions, in this order; None if there are none.

    `inLanguage` is on the page if all questions agree, else on each question.
    """
    unique: dict[tuple[str, str], Question] = {}
    for question in questions:
        if question.name.strip() and question.text.strip():
            unique.setdefault(question_key(question.name), question)
    if not unique:
        return None
    languages = {question.lang for question in unique.values()}
    page_language = languages.pop() if len(languages) == 1 else None
    return PageNode(
        lang=page_language or msgspec.UNSET,
        questions=[
            _QuestionNode(
                name=question.name,
                lang=(page_language is None and question.lang) or msgspec.UNSET,
                answer=_AnswerNode(text=question.text),
            )
            for question in unique.values()
        ],
    )


def serialize(node: PageNode | None) -> str:
    """Return a node as JSON that can stand in a script element; None is an empty string."""
    return "" if node is None else in_portions(_script_safe, msgspec.json.encode(node).decode())


def _script_safe(text: str) -> str:
    for character, escape in _SCRIPT_SAFE:
        text = text.replace(character, escape)
    return text


def merge(texts: Sequence[str]) -> str:
    """Return one FAQPage with the questions of several, each of which `serialize` has written."""
    questions = list[Question]()
    for text in texts:
        page = msgspec.json.decode(text, type=PageNode)
        questions += (
            Question(node.name, node.answer.text, node.lang or page.lang or None) for node in page.questions
        )
    return serialize(page_node(questions))


def is_page(text: str) -> bool:
    """Return whether a text is a FAQPage that `merge` can read."""
    try:
        msgspec.json.decode(text, type=PageNode)
    except msgspec.MsgspecError:
        return False
    return True
