"""A rendered FAQ: one section with its stylesheet, its questions and its JSON-LD."""

from collections.abc import Sequence
from typing import Any, Final, Self

import msgspec
from markupsafe import Markup

from faqsvc_embed.rendering.assets import layered, pieces, stylesheet_name
from faqsvc_embed.rendering.elements import (
    ElementOptions,
    inline_script_element,
    json_ld_element,
    link_element,
    linked_script_element,
    style_element,
)

WHOLE: Final = "whole script"
LONG: Final = "script of long FAQs"
"""The part of the script that every variant but `disclosure` needs."""
CLOSING_TAG: Final = "\n</section>"
_PLAIN: Final = ElementOptions()


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


class Stylesheet(msgspec.Struct, frozen=True, gc=False):
    """A stylesheet that a document needs once."""

    css: str
    name: str
    """The name of a piece, or of the file of a theme."""


class Fragment(msgspec.Struct, eq=False):
    """One rendered FAQ: its parts, and the forms of the whole that were printed."""

    opening_tag: str
    content: str
    """Title and questions."""
    json_ld: str
    """The FAQPage, without a script element."""
    stylesheets: tuple[Stylesheet, ...]
    """The pieces of the stylesheet that it needs, and the theme if that has rules."""
    script: str
    """The script that it needs: `WHOLE`, `LONG`, or empty."""
    problems: tuple[str, ...] = ()
    """Parts of the answers that are not shown, for development."""
    # No cached properties: those of Python 3.11 have a lock, which a forked child inherits.
    _complete: str = ""
    _unstyled: str = ""

    @property
    def html(self) -> str:
        """The section with its questions alone."""
        return f"{self.opening_tag}{self.content}{CLOSING_TAG}"

    @property
    def size(self) -> int:
        """Bytes in memory, with one form of the whole."""
        return 2 * (self.content.__sizeof__() + self.json_ld.__sizeof__())

    @property
    def complete(self) -> str:
        """The section with its stylesheet, script and JSON-LD, inline and without a nonce."""
        if not self._complete:
            self._complete = self._joined(_PLAIN, self.stylesheets, script=self.script)
        return self._complete

    @property
    def unstyled(self) -> str:
        """The section without stylesheet and script, for a document that has printed them."""
        if not self._unstyled:
            self._unstyled = self._joined(_PLAIN, ())
        return self._unstyled

    def print(
        self,
        options: ElementOptions,
        missing: Sequence[Stylesheet],
        *,
        script: str = "",
        schema: bool = True,
    ) -> str:
        """Return the section with the stylesheets and the script that its document lacks."""
        if schema and options.nonce is None:
            if not (missing or script):
                return self._unstyled or self.unstyled
            is_inline = options.styles == "inline" and not (script and options.folder)
            if is_inline and len(missing) == len(self.stylesheets) and script == self.script:
                return self._complete or self.complete
        return self._joined(options, missing, script=script, schema=schema)

    def _joined(
        self,
        options: ElementOptions,
        missing: Sequence[Stylesheet],
        *,
        script: str = "",
        schema: bool = True,
    ) -> str:
        styles, scripts = elements_of(missing, options, script)
        # The script is above the questions: it changes them before they are painted.
        opening = "\n".join([self.opening_tag, *styles, *scripts])
        json_ld = f"\n{json_ld_element(self.json_ld, options.nonce)}" if schema else ""
        return "".join([opening, self.content, json_ld, CLOSING_TAG])


def elements_of(
    stylesheets: Sequence[Stylesheet], options: ElementOptions, script: str
) -> tuple[list[str], list[str]]:
    """Return the elements of stylesheets and of the script, inline or linked, as a page prints them."""
    styles, scripts = list[str](), list[str]()
    if options.styles == "linked" and options.folder is not None:
        names = [sheet.name for sheet in stylesheets if sheet.name in pieces()]
        themes = [sheet.name for sheet in stylesheets if sheet.name not in pieces()]
        files = [stylesheet_name(*names)] * bool(names) + themes
        styles += [link_element(f"{options.folder}/{file}", options.nonce) for file in files]
    elif stylesheets:
        # One element, because only the first child of a section may be a style element.
        styles.append(style_element(layered(sheet.css for sheet in stylesheets), options.nonce))
    if script and options.folder is not None:
        scripts.append(linked_script_element(options.folder, options.nonce))
    elif script:
        scripts.append(inline_script_element(options.nonce, is_whole=script == WHOLE))
    return styles, scripts
