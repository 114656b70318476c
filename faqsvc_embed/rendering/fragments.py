"""A rendered FAQ: one section with its stylesheet, its questions and its JSON-LD."""

from collections.abc import Sequence
from typing import Any, Final, Self

import msgspec
from markupsafe import Markup

from faqsvc_embed.rendering.elements import (
    ElementOptions,
    inline_script_element,
    json_ld_element,
    link_element,
    linked_script_element,
    style_element,
)

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
    file: str
    """The name of the file with the same content."""


class Fragment(msgspec.Struct, eq=False):
    """One rendered FAQ: its parts, and the forms of the whole that were printed."""

    opening_tag: str
    content: str
    """Title and questions."""
    json_ld: str
    """The FAQPage, without a script element."""
    stylesheets: tuple[Stylesheet, ...]
    """The stylesheet of the component, and of the theme if it has rules."""
    needs_script: bool
    """Whether the script has something to add."""
    problems: tuple[str, ...] = ()
    """Parts of the answers that are not shown, for development."""
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
            self._complete = self._joined(_PLAIN, self.stylesheets, with_script=self.needs_script)
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
        with_script: bool = False,
        schema: bool = True,
    ) -> str:
        """Return the section with the stylesheets and the script that its document lacks."""
        if schema and options.nonce is None:
            if not (missing or with_script):
                return self._unstyled or self.unstyled
            is_inline = options.styles == "inline" and not (with_script and options.folder)
            if is_inline and len(missing) == len(self.stylesheets) and with_script == self.needs_script:
                return self._complete or self.complete
        return self._joined(options, missing, with_script=with_script, schema=schema)

    def _joined(
        self,
        options: ElementOptions,
        missing: Sequence[Stylesheet],
        *,
        with_script: bool = False,
        schema: bool = True,
    ) -> str:
        styles, ending = elements_of(missing, options, with_script)
        if schema:
            ending.append(json_ld_element(self.json_ld, options.nonce))
        opening = "\n".join([self.opening_tag, *styles])
        return "".join([opening, self.content, *(f"\n{one}" for one in ending), CLOSING_TAG])


def elements_of(
    stylesheets: Sequence[Stylesheet], options: ElementOptions, with_script: bool
) -> tuple[list[str], list[str]]:
    """Return the elements of stylesheets and of the script, inline or linked, as a page prints them."""
    styles, scripts = list[str](), list[str]()
    if options.styles == "linked" and options.folder is not None:
        styles += [link_element(f"{options.folder}/{sheet.file}", options.nonce) for sheet in stylesheets]
    elif stylesheets:
        # One element, because only the first child of a section may be a style element.
        styles.append(style_element("".join(sheet.css for sheet in stylesheets), options.nonce))
    if with_script and options.folder is not None:
        scripts.append(linked_script_element(options.folder, options.nonce))
    elif with_script:
        scripts.append(inline_script_element(options.nonce))
    return styles, scripts
