"""A rendered FAQ: one section with its stylesheet, its questions and its JSON-LD."""

from collections.abc import Iterator
from typing import Any, Final, Self

import msgspec
from markupsafe import Markup

from faqsvc_embed.rendering import elements
from faqsvc_embed.rendering.assets import layered, stylesheet_url
from faqsvc_embed.rendering.elements import ElementOptions

WHOLE: Final = "whole script"
LONG: Final = "script of long FAQs"
"""The part of the script that every variant but `disclosure` needs."""
SCRIPTS: Final = frozenset((WHOLE, LONG))
CLOSING_TAG: Final = "\n</section>"
MAX_FORMS: Final = 2
"""Forms of the whole HTML that a fragment keeps."""


class Rendered(Markup):
    """Rendered HTML, which is printed without a copy: `escape()` copies the text of a `Markup`."""

    __slots__ = ("__html__",)

    def __new__(cls, *args: Any) -> Self:
        markup = super().__new__(cls, *args)
        text = args[0] if args and type(args[0]) is str else str.__str__(markup)
        markup.__html__ = text.__str__  # type: ignore[assignment, method-assign]  # no Python function runs
        return markup

    def __reduce__(self) -> tuple[Any, ...]:
        return Markup, (str.__str__(self),)


class Fragment(msgspec.Struct, eq=False):
    """One rendered FAQ: its parts, and the forms of the whole that were printed."""

    opening_tag: str
    content: str
    """Title and questions."""
    json_ld: str
    """The FAQPage, without a script element."""
    css: dict[str, str]
    """The pieces of the stylesheet that it needs, by name. The name of the rules of a theme is its query."""
    script: str
    """The script that it needs: `WHOLE`, `LONG`, or empty."""
    problems: tuple[str, ...] = ()
    """Parts of the answers that are not shown, for development."""
    needs: frozenset[str] = frozenset()
    """The names of what a document prints once: those in `css`, and those of the script and its part."""
    forms: dict[tuple[ElementOptions, frozenset[str], bool], str] = {}
    """The first forms of the whole HTML by what they depend on: usually with all of `needs`, and without."""

    def __post_init__(self) -> None:
        self.needs = frozenset(
            (*self.css, *(SCRIPTS if self.script == WHOLE else filter(None, [self.script])))
        )

    @property
    def html(self) -> str:
        """The section with its questions alone."""
        return f"{self.opening_tag}{self.content}{CLOSING_TAG}"

    @property
    def size(self) -> int:
        """Bytes in memory, with one form of the whole."""
        return 2 * (self.content.__sizeof__() + self.json_ld.__sizeof__())

    def joined(self, options: ElementOptions, missing: frozenset[str], *, schema: bool) -> str:
        """Return the section with the stylesheets and the script that its document lacks."""
        # The script is above the questions: it changes them before they are painted.
        opening = "\n".join([self.opening_tag, *self._elements(options, missing)])
        json_ld = f"\n{elements.json_ld_element(self.json_ld, options.nonce)}" if schema else ""
        html = "".join([opening, self.content, json_ld, CLOSING_TAG])
        if options.nonce is None and len(self.forms) < MAX_FORMS:
            self.forms[options, missing, schema] = html
        return html

    def _elements(self, options: ElementOptions, missing: frozenset[str]) -> Iterator[str]:
        """Yield the elements of the stylesheets and the script that a document lacks, inline or linked."""
        names = [name for name in self.css if name in missing]
        if names and options.styles == "linked" and options.folder is not None:
            address = f"{options.folder}/{stylesheet_url(*names)}"
            yield elements.link_element(address, options.nonce)
        elif names:
            # One element, because only the first child of a section may be a style element.
            yield elements.style_element(layered(self.css[name] for name in names), options.nonce)
        if self.script in missing and options.folder is not None:
            yield elements.linked_script_element(options.folder, options.nonce)
        elif self.script in missing:
            yield elements.inline_script_element(options.nonce, is_whole=self.script == WHOLE)
