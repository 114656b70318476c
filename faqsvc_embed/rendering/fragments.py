"""A rendered FAQ as separate parts, which a page combines."""

import msgspec
from markupsafe import Markup

from faqsvc_embed.rendering.elements import json_ld_element, style_element


class Fragment(msgspec.Struct, frozen=True, eq=False):
    """One rendered FAQ."""

    html: str
    """The section element."""
    json_ld: str
    """Its FAQPage, without an element around it."""
    css: tuple[str, ...]
    """The stylesheet, and the rules of the theme if it has any."""
    css_files: tuple[str, ...]
    """The names of the files with the same content."""
    needs_script: bool
    """Whether it needs the script of the variant `disclosure`."""
    elements: dict[str, str]
    """As `Printed.elements()`, for a page without a nonce."""
    inline: Markup
    """The complete HTML, except the script, for a page without a nonce."""

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return self.html.__sizeof__() + self.json_ld.__sizeof__() + self.inline.__sizeof__()


def make_fragment(
    html: str, json_ld: str, css: tuple[str, ...], css_files: tuple[str, ...], *, needs_script: bool
) -> Fragment:
    """Return a fragment of these parts."""
    styles = [style_element(rules) for rules in css]
    script = json_ld_element(json_ld)
    inline = Markup("\n".join(filter(None, (*styles, html, script))))  # rendered
    return Fragment(
        html, json_ld, css, css_files, needs_script, {**dict.fromkeys(styles, ""), script: json_ld}, inline
    )
