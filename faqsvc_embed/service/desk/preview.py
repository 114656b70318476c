"""The preview of what an editor writes, by the renderer of the embeds and the hosted pages."""

from typing import Final, NamedTuple

from markupsafe import Markup

from faqsvc_embed.rendering.assets import theme_name
from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.rendering.style import Style
from faqsvc_embed.service.desk.draft import Draft
from faqsvc_embed.theme import Theme

HEADING_LEVEL: Final = 3
"""A preview is a section of its own on the page, below a heading of the second level."""


class Preview(NamedTuple):
    """The HTML of a preview, empty if there is nothing to show, and the name of the file with its colours."""

    html: Markup
    theme_file: str


def preview_of(draft: Draft, accent_color: str) -> Preview:
    """Return a draft as readers would see it, in the accent colour of their website."""
    theme = Theme(accent_color or None)
    # A renderer caches for as long as a record lives, which is one preview.
    fragment = Renderer().fragment(draft.record(), Style(theme, heading_level=HEADING_LEVEL))
    return Preview(Markup() if fragment is None else Markup(fragment.html), theme_name(theme))
