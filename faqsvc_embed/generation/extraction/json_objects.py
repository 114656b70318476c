"""The JSON in pages, read leniently, and the text of its values."""

import html
import json
import re
from typing import Any, Final

import turbohtml

from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.generation.extraction.budget import CHARACTERS_PER_STEP, STEPS_TO_CONVERT, StepBudget
from faqsvc_embed.generation.extraction.candidates import shortened
from faqsvc_embed.generation.extraction.dom import Node, build_tree
from faqsvc_embed.generation.extraction.markdown import escaped, markdown_of
from faqsvc_embed.generation.extraction.text import plain, text_of

MAX_NODES: Final = 50_000
"""Objects of one JSON text that are read."""

_WRAPPER = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>|;)\s*$")
_TAG = re.compile(r"<[a-zA-Z/!][^<>]*>")

Object = dict[str, Any]


def load_json(text: str) -> Any:
    """Return the value of a JSON text, which may have a wrapper, or None."""
    text = _WRAPPER.sub("", _WRAPPER.sub("", text))
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def objects_of(data: Any) -> list[Object]:
    """Return all objects of a JSON value, the outer ones first."""
    found: list[Object] = []
    pending = [data]
    while pending and len(found) < MAX_NODES:
        value = pending.pop()
        if isinstance(value, dict):
            found.append(value)
            pending.extend(reversed(value.values()))
        elif isinstance(value, list):
            pending.extend(reversed(value))
    return found


def text_of_value(value: str, budget: StepBudget) -> str:
    """Return the text of a string that is HTML, HTML with its tags escaped, or plain lines."""
    nodes = _nodes(value, budget)
    text = _plain_lines(value) if nodes is None else text_of(nodes)
    return shortened(text, is_cut=len(value) > MAX_ANSWER)


def markdown_of_value(value: str, budget: StepBudget, url: str) -> str:
    """Return the text of such a string as Markdown; `url` is the address that its links are relative to."""
    nodes = _nodes(value, budget)
    text = escaped(_plain_lines(value)) if nodes is None else markdown_of(nodes, url)
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
