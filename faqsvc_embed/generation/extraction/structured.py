"""Questions that a page states for machines: FAQPage as JSON-LD, and as microdata or RDFa in its elements."""

import html
import json
import re
from collections.abc import Iterator
from typing import Any, Final

import turbohtml

from faqsvc_embed.generation.extraction.candidates import LONGEST_ANSWER, Candidate, Shape, shortened
from faqsvc_embed.generation.extraction.text import (
    bare_answer,
    bare_question,
    plain,
    text_of,
)
from faqsvc_embed.generation.extraction.tree import Element, grow
from faqsvc_embed.generation.extraction.view import View

MOST_NODES: Final = 50_000

_WRAPPING = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>|;)\s*$")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_TAG = re.compile(r"<[a-zA-Z/!][^<>]*>")


def in_scripts(document: turbohtml.Document) -> Iterator[tuple[str, str]]:
    """Yield the questions and answers of FAQPages in JSON-LD scripts, as plain text."""
    for script in document.select("script"):
        if (script.attr("type") or "").split(";")[0].strip().lower() == "application/ld+json":
            yield from _stated(_load(script.text))


def _load(text: str) -> Any:
    text = _WRAPPING.sub("", _WRAPPING.sub("", text))
    for attempt in (text, _TRAILING_COMMA.sub(r"\1", text)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _stated(data: Any) -> Iterator[tuple[str, str]]:
    nodes = _nodes(data)
    by_id = {node["@id"]: node for node in nodes if isinstance(node.get("@id"), str) and len(node) > 1}
    for page in nodes:
        if "FAQPage" not in _types(page):
            continue
        for question in _listed(page.get("mainEntity") or page.get("hasPart")):
            question = by_id.get(question.get("@id"), question) if len(question) == 1 else question
            answers = _listed(question.get("acceptedAnswer") or question.get("suggestedAnswer"))
            name = question.get("name") or question.get("text") or question.get("headline")
            answer = by_id.get(answers[0].get("@id"), answers[0]) if answers else {}
            text = answer.get("text") or answer.get("description")
            if isinstance(name, str) and isinstance(text, str):
                yield bare_question(plain(_as_text(name))), bare_answer(_as_text(text))


def _nodes(data: Any) -> list[dict[str, Any]]:
    """Return all objects of a JSON value, the outer ones first."""
    found: list[dict[str, Any]] = []
    waiting = [data]
    while waiting and len(found) < MOST_NODES:
        value = waiting.pop()
        if isinstance(value, dict):
            found.append(value)
            waiting.extend(reversed(list(value.values())))
        elif isinstance(value, list):
            waiting.extend(reversed(value))
    return found


def _types(node: dict[str, Any]) -> list[str]:
    types = node.get("@type")
    names = types if isinstance(types, list) else [types]
    return [name.rpartition("/")[2].rpartition(":")[2] for name in names if isinstance(name, str)]


def _listed(value: Any) -> list[dict[str, Any]]:
    values = value if isinstance(value, list) else [value]
    return [value for value in values if isinstance(value, dict)]


def _as_text(markup: str) -> str:
    """Return what a string of JSON-LD says: it may hold HTML, even escaped once more, or plain lines."""
    return shortened(_read(markup[:LONGEST_ANSWER]), goes_on=len(markup) > LONGEST_ANSWER)


def _read(markup: str) -> str:
    if "&lt;" in markup and not _TAG.search(markup):
        markup = html.unescape(markup)
    if _TAG.search(markup):
        return text_of(grow(turbohtml.parse_fragment(markup)).children)
    lines = [plain(line) for line in html.unescape(markup).strip().splitlines()]
    return re.sub(r"\n{2,}", "\n\n", "\n".join(lines))


def in_elements(view: View) -> Iterator[Candidate]:
    """Yield the questions that attributes of elements name, by microdata or RDFa."""
    for element in view.elements:
        if _is(element, "Question") and not any(_is(above, "QAPage") for above in element.ancestors()):
            name = next((e for e in element.walk() if _has(e, "name") and not _in_answer(e, element)), None)
            answer = next((e for e in element.walk() if _has(e, "acceptedAnswer")), None)
            if name is not None and answer is not None:
                text = next((e for e in answer.walk() if _has(e, "text")), answer)
                yield Candidate(
                    name,
                    (text,),
                    Shape.STATED,
                    question=bare_question(plain(_as_text(name.attrs.get("content", "")))),
                    answer=_as_text(text.attrs.get("content", "")),
                )


def _is(element: Element, kind: str) -> bool:
    types = f"{element.attrs.get('itemtype', '')} {element.attrs.get('typeof', '')}".split()
    return any(name.rpartition("/")[2].rpartition(":")[2] == kind for name in types)


def _has(element: Element, name: str) -> bool:
    names = f"{element.attrs.get('itemprop', '')} {element.attrs.get('property', '')}".split()
    return any(prop.rpartition("/")[2].rpartition(":")[2] == name for prop in names)


def _in_answer(element: Element, question: Element) -> bool:
    return any(_is(above, "Answer") and above in question for above in (element, *element.ancestors()))
