"""What the parts of a page have to be, to compare whole pages."""

import json
from typing import Any

import html5lib

from faqsvc_embed import FAQ
from faqsvc_embed.rendering.assets import stylesheet
from faqsvc_embed.rendering.json_ld import Question, page_node, serialize
from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.rendering.style import Style

STYLE = f"<style>{stylesheet()}</style>\n"


def block(faq: FAQ, ordinal: int = 1) -> str:
    """Return the HTML of an FAQ in its default style."""
    fragment = Renderer().fragment(faq, Style(), ordinal)
    assert fragment is not None
    return fragment.html


def script(*faqs: FAQ, nonce: str = "") -> str:
    """Return the JSON-LD of a page that shows these FAQs."""
    questions = [Question(item.question, item.answer, faq.lang) for faq in faqs for item in faq.items]
    return f'\n<script type="application/ld+json"{nonce}>{serialize(page_node(questions))}</script>'


def alone(faq: FAQ) -> str:
    """Return all that a page prints of its only FAQ."""
    return f"{STYLE}{block(faq)}{script(faq)}"


def nodes(html: str) -> list[Any]:
    """Return every JSON-LD node of a document, as a parser finds it."""
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    return [json.loads(e.text) for e in tree.iter("script") if e.get("type") == "application/ld+json"]
