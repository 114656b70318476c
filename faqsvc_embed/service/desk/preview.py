"""The preview of a draft, made by the same renderer as embeds and hosted pages."""

from typing import Final, NamedTuple

from markupsafe import Markup

from faqsvc_embed.rendering.assets import theme_name
from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.rendering.style import Style
from faqsvc_embed.service.desk.draft import Draft
from faqsvc_embed.theme import Theme

HEADING_LEVEL: Final = 3
"""The level of the preview's title, because the preview is below an h2."""


class Preview(NamedTuple):
    """The HTML of a preview, empty without questions, and the name of the stylesheet with its colours."""

    html: Markup
    theme_file: str


def preview_of(draft: Draft, accent_color: str) -> Preview:
    """Return a draft as readers would see it, in the accent colour of their website."""
    theme = Theme(accent_color or None)
    # A new renderer, because a cache would serve only this one record.
    fragment = Renderer().fragment(draft.record(), Style(theme, heading_level=HEADING_LEVEL))
    return Preview(Markup() if fragment is None else Markup(fragment.html), theme_name(theme))
