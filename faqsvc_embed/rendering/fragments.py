"""A rendered FAQ: one section with its stylesheet, its questions and its JSON-LD."""

from collections.abc import Iterator, Sequence

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

CLOSING_TAG = "\n</section>"


class Stylesheet(msgspec.Struct, frozen=True, gc=False):
    """A stylesheet that a document needs once."""

    css: str
    file: str
    """The name of the file with the same content."""


class Fragment(msgspec.Struct, frozen=True, eq=False):
    """One rendered FAQ, in parts and in the two forms that most documents print."""

    opening_tag: str
    content: str
    """Title and questions."""
    json_ld: str
    """The FAQPage, without a script element."""
    stylesheets: tuple[Stylesheet, ...]
    """The stylesheet of the component, and of the theme if it has rules."""
    needs_script: bool
    """Whether the script has something to add."""
    complete: Markup
    """The section with its stylesheet, script and JSON-LD, inline and without a nonce."""
    unstyled: Markup
    """The section without stylesheet and script, for a document that has printed them."""
    problems: tuple[str, ...] = ()
    """Parts of the answers that are not shown, for development."""

    @property
    def html(self) -> str:
        """The section with its questions alone."""
        return f"{self.opening_tag}{self.content}{CLOSING_TAG}"

    @property
    def size(self) -> int:
        """Bytes in memory."""
        texts = (self.content, self.json_ld, self.complete, self.unstyled)
        return sum(text.__sizeof__() for text in texts)

    def print(
        self,
        options: ElementOptions,
        missing: Sequence[Stylesheet],
        *,
        with_script: bool = False,
        schema: bool = True,
    ) -> Markup:
        """Return the section with the stylesheets and the script that its document lacks."""
        if schema and options.nonce is None:
            if not missing and not with_script:
                return self.unstyled
            is_inline = options.styles == "inline" and not (with_script and options.folder)
            if is_inline and len(missing) == len(self.stylesheets) and with_script == self.needs_script:
                return self.complete
        elements = [*_style_elements(missing, options), self.content.removeprefix("\n")]
        if with_script:
            elements.append(_script_element(options))
        if schema:
            elements.append(json_ld_element(self.json_ld, options.nonce))
        return Markup("\n".join([self.opening_tag, *elements]) + CLOSING_TAG)  # rendered


def make_fragment(
    opening_tag: str,
    content: str,
    json_ld: str,
    stylesheets: tuple[Stylesheet, ...],
    *,
    needs_script: bool,
) -> Fragment:
    """Return a fragment of these parts."""
    css = style_element("".join(sheet.css for sheet in stylesheets))
    script = f"\n{inline_script_element()}" if needs_script else ""
    end = f"\n{json_ld_element(json_ld)}{CLOSING_TAG}"
    return Fragment(
        opening_tag,
        content,
        json_ld,
        stylesheets,
        needs_script,
        complete=Markup(f"{opening_tag}\n{css}{content}{script}{end}"),  # rendered
        unstyled=Markup(f"{opening_tag}{content}{end}"),
    )


def inline_elements(
    stylesheets: Sequence[Stylesheet], options: ElementOptions, with_script: bool
) -> Iterator[str]:
    """Yield the inline elements that `Fragment.print` includes."""
    if stylesheets and (options.styles == "inline" or options.folder is None):
        # One element, because only the first child of a section may be a style element.
        yield style_element("".join(sheet.css for sheet in stylesheets), options.nonce)
    if with_script and options.folder is None:
        yield inline_script_element(options.nonce)


def _style_elements(stylesheets: Sequence[Stylesheet], options: ElementOptions) -> Iterator[str]:
    if options.styles == "linked" and options.folder is not None:
        for sheet in stylesheets:
            yield link_element(f"{options.folder}/{sheet.file}", options.nonce)
    else:
        yield from inline_elements(stylesheets, options, False)


def _script_element(options: ElementOptions) -> str:
    if options.folder is not None:
        return linked_script_element(options.folder, options.nonce)
    return inline_script_element(options.nonce)
