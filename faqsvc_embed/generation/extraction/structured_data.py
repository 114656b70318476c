"""Questions in structured data: FAQPage in JSON-LD, and Question in microdata or RDFa."""

from collections.abc import Iterator
from typing import Any

import turbohtml

from faqsvc_embed.generation.extraction.budget import StepBudget
from faqsvc_embed.generation.extraction.candidates import Candidate, Evidence
from faqsvc_embed.generation.extraction.dom import Element
from faqsvc_embed.generation.extraction.json_objects import Object, load_json, objects_of, text_of_value
from faqsvc_embed.generation.extraction.labels import bare_question
from faqsvc_embed.generation.extraction.page_context import PageContext
from faqsvc_embed.generation.extraction.text import plain


def json_ld_pairs(document: turbohtml.Document, budget: StepBudget) -> Iterator[tuple[str, str]]:
    """Yield the questions and answers of FAQPages in JSON-LD scripts; answers are unchanged, mostly HTML.

    Raises:
        PageTooComplex: the budget is spent.
    """
    for script in document.select("script"):
        if (script.attr("type") or "").split(";")[0].strip().lower() == "application/ld+json":
            for question, answer in _stated_pairs(load_json(script.text)):
                yield bare_question(plain(text_of_value(question, budget))), answer


def is_article(document: turbohtml.Document) -> bool:
    """Return whether a page says that it is an article: a blog post or news."""
    for meta in document.select("meta"):
        if (meta.attr("property") or "").lower() == "og:type":
            return (meta.attr("content") or "").strip().lower() == "article"
    return False


def _stated_pairs(data: Any) -> Iterator[tuple[str, str]]:
    """Yield the questions and answers of the FAQPages in JSON-LD."""
    nodes = objects_of(data)
    by_id = {node["@id"]: node for node in nodes if isinstance(node.get("@id"), str) and len(node) > 1}
    for page in nodes:
        if "FAQPage" not in _types(page):
            continue
        for question in _listed(page.get("mainEntity")):
            question = by_id.get(question.get("@id"), question) if len(question) == 1 else question
            answers = _listed(question.get("acceptedAnswer"))
            answer = by_id.get(answers[0].get("@id"), answers[0]) if answers else {}
            name, text = question.get("name"), answer.get("text")
            if isinstance(name, str) and isinstance(text, str):
                yield name, text


def _types(node: Object) -> list[str]:
    types = node.get("@type")
    names = types if isinstance(types, list) else [types]
    return [_local_name(name) for name in names if isinstance(name, str)]


def _local_name(name: str) -> str:
    """Return the last part of an address or prefixed name: `Question` of `https://schema.org/Question`."""
    return name.rpartition("/")[2].rpartition(":")[2]


def _listed(value: Any) -> list[Object]:
    values = value if isinstance(value, list) else [value]
    return [value for value in values if isinstance(value, dict)]


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
    return kind in map(_local_name, types)


def _has(element: Element, name: str) -> bool:
    properties = f"{element.attrs.get('itemprop', '')} {element.attrs.get('property', '')}".split()
    return name in map(_local_name, properties)
