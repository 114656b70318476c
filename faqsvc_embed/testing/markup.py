"""The FAQPage markup of a page, in JSON-LD or microdata, whoever made it."""

import html
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import turbohtml

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.values import faq_pages, local_name
from faqsvc_embed.generation.extraction.labels import bare_question
from faqsvc_embed.generation.extraction.markdown import base_of
from faqsvc_embed.generation.extraction.structured_data import json_ld_scripts
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
    ids: list[str] = field(default_factory=list)
    """The `@id` of each FAQPage, or an empty string."""
    problems: list[str] = field(default_factory=list)
    is_unreadable: bool = False


def read_markup(document: turbohtml.Document, url: str) -> Markup:
    """Return the FAQPages in JSON-LD; those in microdata where there is no JSON-LD."""
    markup = Markup()
    base = base_of(document, url)
    pages = faq_pages(_json_ld(document, markup))
    if not pages and not markup.is_unreadable:
        pages = faq_pages([_as_json_ld(page) for page in _items(document, "FAQPage")])
    for page in pages:
        own = page.get("@id")
        markup.ids.append(urljoin(base, own) if isinstance(own, str) and own else "")
        if not page["mainEntity"]:
            markup.problems.append("a FAQPage of the markup has no questions (mainEntity)")
        for question in (one if isinstance(one, dict) else {} for one in page["mainEntity"]):
            answer = question.get("acceptedAnswer")
            answer = answer[0] if isinstance(answer, list) and answer else answer
            text = answer.get("text") if isinstance(answer, dict) else answer
            _add(markup, _text(question.get("name") or question.get("text")), _text(text))
    return markup


def _json_ld(document: turbohtml.Document, markup: Markup) -> list[Any]:
    """Return the data of the scripts in JSON-LD, and add its faults to the problems."""
    found = []
    for script in json_ld_scripts(document):
        line = f"line {script.source_line}: this JSON-LD"
        try:
            found.append(json.loads(script.text, parse_constant=_refuse))
        except (ValueError, RecursionError) as error:
            if "FAQPage" in script.text:
                markup.problems.append(f"{line} cannot be read by any parser: {error}")
                markup.is_unreadable = True
            continue
        if "FAQPage" in script.text and "schema.org" not in script.text:
            markup.problems.append(f"{line} lacks the @context of schema.org")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _as_json_ld(page: turbohtml.Element) -> dict[str, Any]:
    """Return a FAQPage in microdata as JSON-LD, whose texts are HTML."""
    questions = [
        {
            "name": _said(question, "[itemprop~=name]"),
            "acceptedAnswer": _said(question, "[itemprop~=acceptedAnswer] [itemprop~=text]"),
        }
        for question in _items(page, "Question")
    ]
    return {"@type": "FAQPage", "@id": page.attr("itemid") or "", "mainEntity": questions}


def _items(tree: turbohtml.Node, kind: str) -> list[turbohtml.Element]:
    """Return the elements that microdata gives a type."""
    items = tree.select("[itemtype]")
    return [item for item in items if kind in map(local_name, str(item.attr("itemtype")).split())]


def _said(question: turbohtml.Element, selector: str) -> str:
    element = question.select_one(selector)
    if element is None:
        return ""
    content = element.attr("content")
    words = " ".join(line.text for line in read_words(element).lines)
    return html.escape(words if content is None else str(content))


def _text(value: Any) -> str:
    texts = value if isinstance(value, list) else [value]
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _add(markup: Markup, question: str, answer: str) -> None:
    """Add a question with its answer, and a problem if one of them is missing."""
    if not question:
        markup.problems.append(f"a question of the markup has no name; its answer is {quoted(answer)}")
        return
    if not answer:
        markup.problems.append(f"in the markup, the question {quoted(question)} has no answer")
    names, answers = _readings(question), _readings(answer)
    bare = fold(bare_question(question))
    markup.pairs.append(Pair(question, answer, tuple(filter(None, (*names, bare))), answers))


def _readings(text: str) -> tuple[str, ...]:
    """Return the words of a text, read as plain text, as HTML, and as escaped HTML."""
    parsed = (read_words(turbohtml.parse_fragment(one)).text for one in (text, html.unescape(text)))
    return tuple(filter(None, dict.fromkeys((fold(text), *parsed))))
