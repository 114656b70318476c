"""What the parts of a page have to be, to compare whole pages."""

import json
from typing import Any

import html5lib

from faqsvc_embed import FAQ, Theme
from faqsvc_embed.rendering.assets import stylesheet
from faqsvc_embed.rendering.json_ld import page_node, serialise
from faqsvc_embed.rendering.renderer import Look, Renderer

STYLE = f"<style>{stylesheet()}</style>\n"


def block(faq: FAQ, ordinal: int = 1) -> str:
    """Return the HTML of a block in its default look."""
    rendered = Renderer().block(faq, Look(Theme(), True, 2), ordinal)
    assert rendered is not None
    return rendered.html


def script(*faqs: FAQ, nonce: str = "") -> str:
    """Return the JSON-LD of a page that shows these FAQs."""
    return f'\n<script type="application/ld+json"{nonce}>{serialise(page_node(faqs))}</script>'


def alone(faq: FAQ) -> str:
    """Return all that a page prints of its only FAQ."""
    return f"{STYLE}{block(faq)}{script(faq)}"


def nodes(html: str) -> list[Any]:
    """Return every JSON-LD node of a document, as a parser finds it."""
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    return [json.loads(e.text) for e in tree.iter("script") if e.get("type") == "application/ld+json"]
