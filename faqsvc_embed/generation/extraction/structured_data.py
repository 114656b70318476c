"""Questions in structured data, FAQPage in JSON-LD and Question in microdata or RDFa, and reading of JSON."""

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import turbohtml

from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.files.markdown_text import escape
from faqsvc_embed.files.values import answer_text, faq_page, local_name
from faqsvc_embed.generation.extraction.candidates import Candidate, Evidence, shortened
from faqsvc_embed.generation.extraction.dom import (
    CHARACTERS_PER_STEP,
    STEPS_TO_CONVERT,
    Element,
    Node,
    StepBudget,
    build_tree,
)
from faqsvc_embed.generation.extraction.labels import bare_question
from faqsvc_embed.generation.extraction.markdown import markdown_of
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.text import plain, text_of

_WRAPPER = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>|;)\s*$")
_TAG = re.compile(r"<[a-zA-Z/!][^<>]*>")


def json_ld_pairs(document: turbohtml.Document, budget: StepBudget) -> Iterator[tuple[str, str]]:
    """Yield the questions and answers of FAQPages in JSON-LD scripts; answers are unchanged, mostly HTML.

    Raises:
        PageTooComplex: the budget is spent.
    """
    page = faq_page([load_json(script.text) for script in json_ld_scripts(document)]) or {"items": []}
    for question in filter(lambda one: isinstance(one, dict), page["items"]):
        name, answer = question.get("name"), answer_text(question.get("acceptedAnswer"), None)
        if isinstance(name, str) and isinstance(answer, str):
            yield bare_question(plain(text_of_value(name, budget))), answer


def json_ld_scripts(document: turbohtml.Document) -> list[turbohtml.Element]:
    """Return the scripts of a page that are in JSON-LD."""
    types = ((script, script.attr("type") or "") for script in document.select("script"))
    return [script for script, kind in types if kind.split(";")[0].strip().lower() == "application/ld+json"]


def is_article(document: turbohtml.Document) -> bool:
    """Return whether a page says that it is an article: a blog post or news."""
    kinds = [meta.attr("content") or "" for meta in document.select('meta[property="og:type"]')]
    return any(kind.strip().lower() == "article" for kind in kinds)


def microdata_pairs(context: PageContext) -> Iterator[Candidate]:
    """Yield the questions that attributes mark up as microdata or RDFa."""
    for element in context.elements:
        if _is_a(element, "Question") and not any(_is_a(above, "QAPage") for above in element.ancestors()):
            inside = element.walk()
            name = next((e for e in inside if _has(e, "name")), None)
            answer = next((e for e in inside if _has(e, "acceptedAnswer")), None)
            if name is not None and answer is not None:
                text = next((e for e in answer.walk() if _has(e, "text")), answer)
                yield Candidate(
                    name,
                    (text,),
                    Evidence.STRUCTURED_DATA,
                    question=bare_question(plain(text_of_value(name.attrs.get("content", ""), name.budget))),
                    answer=text_of_value(text.attrs.get("content", ""), text.budget),
                )


def _is_a(element: Element, kind: str) -> bool:
    types = f"{element.attrs.get('itemtype', '')} {element.attrs.get('typeof', '')}".split()
    return kind in map(local_name, types)


def _has(element: Element, name: str) -> bool:
    properties = f"{element.attrs.get('itemprop', '')} {element.attrs.get('property', '')}".split()
    return name in map(local_name, properties)


def load_json(text: str) -> Any:
    """Return the value of a JSON text, which may have a wrapper, or None."""
    text = _WRAPPER.sub("", _WRAPPER.sub("", text))
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def text_of_value(value: str, budget: StepBudget) -> str:
    """Return the text of a string that is HTML, HTML with its tags escaped, or plain lines."""
    nodes = _nodes(value, budget)
    text = _plain_lines(value) if nodes is None else text_of(nodes)
    return shortened(text, is_cut=len(value) > MAX_ANSWER)


def markdown_of_value(value: str, budget: StepBudget, url: str) -> str:
    """Return the text of such a string as Markdown; its links are relative to the address `url`."""
    nodes = _nodes(value, budget)
    text = escape(_plain_lines(value)) if nodes is None else markdown_of(nodes, url)
    return shortened(text, is_cut=len(value) > MAX_ANSWER)


def _nodes(value: str, budget: StepBudget) -> list[Node] | None:
    """Return the nodes of HTML, or None for plain text."""
    markup = value[:MAX_ANSWER]
    budget.spend(STEPS_TO_CONVERT * len(markup) // CHARACTERS_PER_STEP)
    if "&lt;" in markup and not _TAG.search(markup):
        markup = html.unescape(markup)
    return build_tree(turbohtml.parse_fragment(markup), budget).children if _TAG.search(markup) else None


def _plain_lines(value: str) -> str:
    lines = [plain(line) for line in html.unescape(value[:MAX_ANSWER]).strip().splitlines()]
    return re.sub(r"\n{2,}", "\n\n", "\n".join(lines))
