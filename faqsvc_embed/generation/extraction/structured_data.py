"""FAQPages in JSON-LD, microdata and RDFa, and reading of JSON."""

import html
import json
import re
from collections.abc import Iterator
from typing import Any, Final

import turbohtml

from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.files.markdown_text import escape
from faqsvc_embed.files.values import answer_text, faq_pages, local_name
from faqsvc_embed.generation.extraction.candidates import shortened
from faqsvc_embed.generation.extraction.dom import (
    CHARACTERS_PER_STEP,
    STEPS_TO_CONVERT,
    Node,
    StepBudget,
    build_tree,
)
from faqsvc_embed.generation.extraction.labels import bare_question
from faqsvc_embed.generation.extraction.markdown import markdown_of
from faqsvc_embed.generation.extraction.text import plain, text_of

_WRAPPER = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>|;)\s*$")
_TAG = re.compile(r"<[a-zA-Z/!][^<>]*>")
_PROPERTIES: Final = {
    "name": "[itemprop~=name], [property$=name]",
    "acceptedAnswer": "[itemprop~=acceptedAnswer] [itemprop~=text],"
    " [property$=acceptedAnswer] [property$=text]",
}
"""The elements in a question that have its parts."""


def stated_pairs(document: turbohtml.Document, budget: StepBudget) -> Iterator[tuple[str, str]]:
    """Yield the questions and answers of FAQPages in JSON-LD, or else in attributes; answers are mostly HTML.

    Raises:
        PageTooComplex: the budget is spent.
    """
    pages = faq_pages([load_json(script.text) for script in json_ld_scripts(document)])
    for page in pages or marked_pages(document):
        for question in filter(lambda one: isinstance(one, dict), page["mainEntity"]):
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


def marked_pages(document: turbohtml.Document) -> list[dict[str, Any]]:
    """Return the FAQPages that attributes mark up as microdata or RDFa, like JSON-LD with HTML texts."""
    return [
        {
            "@type": "FAQPage",
            "@id": page.attr("itemid") or "",
            "mainEntity": [
                {name: _value(question, selector) for name, selector in _PROPERTIES.items()}
                for question in _items(page, "Question")
            ],
        }
        for page in _items(document, "FAQPage")
    ]


def _items(tree: turbohtml.Node, kind: str) -> Iterator[turbohtml.Element]:
    """Yield the elements to which attributes give a type, without those inside of others."""
    pending = [*reversed(tree.children)]
    while pending:
        node = pending.pop()
        if isinstance(node, turbohtml.Element):
            types = f"{node.attr('itemtype') or ''} {node.attr('typeof') or ''}".split()
            if kind in map(local_name, types):
                yield node
            else:
                pending += reversed(node.children)


def _value(question: turbohtml.Element, selector: str) -> str:
    """Return the value of a property as HTML."""
    element = question.select_one(selector)
    if element is None:
        return ""
    content = element.attr("content")
    return element.inner_html if content is None else html.escape(str(content))


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
