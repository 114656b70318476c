"""What the parts of a page have to be, to compare whole pages."""

import json
from typing import Any

import html5lib

from faqsvc_embed import FAQ
from faqsvc_embed.rendering.assets import stylesheet
from faqsvc_embed.rendering.renderer import Place, Renderer
from faqsvc_embed.rendering.style import Style

STYLE = f"<style>{stylesheet()}</style>\n"


def alone(faq: FAQ) -> str:
    """Return all that a document prints of its only FAQ."""
    fragment = Renderer().fragment(faq, Style())
    assert fragment is not None
    return fragment.complete


def again(faq: FAQ, place: Place) -> str:
    """Return what a document prints that has printed the stylesheet."""
    fragment = Renderer().fragment(faq, Style(), place)
    assert fragment is not None
    return fragment.unstyled


def nodes(html: str) -> list[Any]:
    """Return every JSON-LD node of a document, as a parser finds it."""
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    return [json.loads(e.text) for e in tree.iter("script") if e.get("type") == "application/ld+json"]
