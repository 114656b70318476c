"""FAQs for the tests of rendering, and their fragments."""

from typing import Final

from faqsvc_embed import FAQ, Item
from faqsvc_embed.models import AnswerFormat
from faqsvc_embed.rendering.fragments import Fragment, Style
from faqsvc_embed.rendering.renderer import FIRST, Place, Renderer

RENDERER: Final = Renderer()
PLAIN: Final = Style()


def faq(
    *pairs: tuple[str, str],
    title: str = "Prices",
    lang: str | None = "en",
    slug: str = "pricing",
    answer_format: AnswerFormat = "text",
) -> FAQ:
    """Return an FAQ of these questions and answers, or of two short ones."""
    pairs = pairs or (("What?", "Nothing."), ("How?", "So."))
    items = tuple(Item(index, question, answer) for index, (question, answer) in enumerate(pairs))
    return FAQ(slug, title=title, lang=lang, items=items, answer_format=answer_format)


def fragment(faq: FAQ, style: Style = PLAIN, place: Place = FIRST) -> Fragment:
    """Return the fragment of an FAQ that has something to show."""
    rendered = RENDERER.fragment(faq, style, place)
    assert rendered is not None
    return rendered
