"""The preview of what an editor writes, by the renderer of the embeds and the hosted pages."""

from typing import Final

from markupsafe import Markup

from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.rendering.style import Style
from faqsvc_embed.service.desk.draft import Draft
from faqsvc_embed.theme import Theme

# A preview is a section of its own on the page, below a heading of the second level.
_STYLE: Final = Style(Theme(), show_title=True, heading_level=3)


def preview_of(draft: Draft) -> Markup:
    """Return a draft as readers would see it; empty if there is nothing to show."""
    # A renderer caches for as long as a record lives, which is one preview.
    fragment = Renderer().fragment(draft.record(), _STYLE)
    return Markup() if fragment is None else Markup(fragment.html)
