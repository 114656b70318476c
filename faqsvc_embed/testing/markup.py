"""The FAQPage markup of a page, in JSON-LD or microdata, whoever made it."""

import html
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import turbohtml

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.values import local_name, objects_of
from faqsvc_embed.generation.extraction.labels import bare_question
from faqsvc_embed.testing.words import fold, read_words


@dataclass(eq=False, slots=True)
class Pair:
    """A question of the markup, and its place on the page; a text may be HTML or plain text."""

    question: str
    answer: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    place: tuple[int, int] | None = None
    answered: tuple[int, int] | None = None


@dataclass(eq=False, slots=True)
class Markup:
    pairs: list[Pair] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    """The `@id` of each FAQPage, or an empty string."""
    problems: list[str] = field(default_factory=list)
    is_unreadable: bool = False


def read_markup(document: turbohtml.Document, url: str) -> Markup:
    """Return the FAQPages in JSON-LD; those in microdata where there is no JSON-LD."""
    markup = _json_ld(document, url)
    return markup if markup.pages or markup.is_unreadable else _microdata(document, url)


def _json_ld(document: turbohtml.Document, url: str) -> Markup:
    markup, nodes = Markup(), []
    base = document.select_one("base[href]")
    url = urljoin(url, str(base.attr("href"))) if base else url
    for script in document.select("script"):
        if (script.attr("type") or "").split(";")[0].strip().lower() == "application/ld+json":
            try:
                data = json.loads(script.text, parse_constant=_refuse)
            except (ValueError, RecursionError) as error:
                if "FAQPage" in script.text:
                    at = f"line {script.source_line}"
                    markup.problems.append(f"{at}: this JSON-LD cannot be read by any parser: {error}")
                    markup.is_unreadable = True
                continue
            if isinstance(data, dict) and "FAQPage" in script.text and "schema.org" not in script.text:
                markup.problems.append(
                    f"line {script.source_line}: this JSON-LD lacks the @context of schema.org"
                )
            nodes += [{_key(key): value for key, value in node.items()} for node in objects_of(data)]
    by_id = {node["id"]: node for node in nodes if isinstance(node.get("id"), str) and len(node) > 1}
    for node in nodes:
        if "FAQPage" in map(local_name, _texts(node.get("type"))) and len(node) > 2 - ("id" not in node):
            own = node.get("id")
            markup.pages.append(urljoin(url, own) if isinstance(own, str) and own else "")
            questions = [_resolved(value, by_id) for value in _listed(node.get("mainEntity"))]
            if not questions:
                markup.problems.append("a FAQPage of the markup has no questions (mainEntity)")
            for question in questions:
                names = _texts(question.get("name")) or _texts(question.get("text"))
                answers = [_resolved(one, by_id) for one in _listed(question.get("acceptedAnswer"))]
                texts = [text for answer in answers for text in _texts(answer.get("text"))]
                _add(markup, "".join(names[:1]), "".join(texts[:1]))
    return markup


def _microdata(document: turbohtml.Document, url: str) -> Markup:
    """Return the markup in attributes; its texts are mostly the words themselves."""
    markup = Markup()
    for page in document.select("[itemtype]"):
        if not _is_a(page, "FAQPage"):
            continue
        own = str(page.attr("itemid") or "")
        markup.pages.append(urljoin(url, own) if own else "")
        questions = [one for one in page.select("[itemtype]") if _is_a(one, "Question")]
        if not questions:
            markup.problems.append("a FAQPage of the markup has no questions (mainEntity)")
        for question in questions:
            name = question.select_one("[itemprop~=name]")
            answer = question.select_one("[itemprop~=acceptedAnswer]")
            text = answer.select_one("[itemprop~=text]") if answer is not None else None
            _add(markup, _value(name), _value(text), is_html=False)
    return markup


def _value(element: turbohtml.Element | None) -> str:
    if element is None:
        return ""
    content = element.attr("content")
    return str(content) if content is not None else " ".join(line.text for line in read_words(element).lines)


def _is_a(element: turbohtml.Element, kind: str) -> bool:
    return kind in map(local_name, str(element.attr("itemtype")).split())


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _key(key: str) -> str:
    """Return `type` for `@type`, `name` for `schema:name`."""
    return local_name(key).removeprefix("@")


def _listed(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a value, a list, or a list object."""
    values = value if isinstance(value, list) else [value]
    found: list[dict[str, Any]] = []
    for one in values:
        if isinstance(one, dict):
            inner = one.get("@list", one.get("@set"))
            found += [one] if inner is None else _listed(inner)
        elif isinstance(one, str):
            found.append({"@id": one})
    return found


def _resolved(node: dict[str, Any], by_id: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return a node with plain names, and what is said elsewhere of the same `@id`."""
    own = {_key(key): value for key, value in node.items()}
    return {**by_id.get(str(own.get("id")), {}), **own}


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    plain = (one.get("@value") if isinstance(one, dict) else one for one in values)
    return [one for one in plain if isinstance(one, str) and one.strip()]


def _add(markup: Markup, question: str, answer: str, *, is_html: bool = True) -> None:
    """Add a question with its answer, or the problem that one of them is not there."""
    if not question:
        markup.problems.append(f"a question of the markup has no name; its answer is {quoted(answer)}")
        return
    if not answer:
        markup.problems.append(f"in the markup, the question {quoted(question)} has no answer")
    readings = []
    for text in (question, answer):
        meant = {fold(text): None}
        if is_html:
            unescaped = html.unescape(text)
            meant |= {read_words(turbohtml.parse_fragment(one)).text: None for one in (text, unescaped)}
        readings.append(tuple(meant))
    bare = fold(bare_question(question))
    names = tuple(dict.fromkeys(filter(None, (*readings[0], bare))))
    markup.pairs.append(Pair(question, answer, names, tuple(filter(None, readings[1]))))
