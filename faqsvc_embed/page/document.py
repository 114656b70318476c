"""The document: one rendering of a top-level template, with all that it includes, imports and extends."""

from collections.abc import Set
from typing import Final

import msgspec

from faqsvc_embed.models import FAQ
from faqsvc_embed.page.page import Page
from faqsvc_embed.rendering.elements import ElementOptions
from faqsvc_embed.rendering.fragments import Fragment
from faqsvc_embed.rendering.renderer import FIRST, Place

SCRIPT: Final = "script"
"""The script, in the set of files that a document has printed."""


class Document(msgspec.Struct, eq=False):
    """Records what one document has printed: each stylesheet is printed once, and each id is unique."""

    page: Page | None = None
    """The page of the request, or of this document alone; set for the first FAQ (`Presenter.page_of`)."""
    is_joined: bool = False
    """Whether templates that are rendered while it is current belong to it (`FAQEmbed.page`)."""
    is_over: bool = False
    """Whether it has ended; a copy of its context may still refer to it."""
    printed: set[str] = set()
    """The files that it has printed: stylesheets, and the script."""
    _filled: set[str] = set()
    """The files that placeholders have printed. They are filled later, after the text below them."""
    _ordinals: dict[str, int] = {}
    _shown: "dict[str, list[_Shown]]" = {}
    """The first copy of each record, by slug."""
    _deferred: dict[int, FAQ] = {}
    """The records whose JSON-LD is left to `faq_schema()`, by identity."""

    def reserve(self, slug: str) -> int:
        """Count an FAQ, and return how often its slug is in the document so far."""
        self._ordinals[slug] = ordinal = self._ordinals.get(slug, 0) + 1
        return ordinal

    def place(self, faq: FAQ, *, schema: bool, ordinal: int | None = None) -> Place:
        """Return the place of a record that is printed now; `ordinal` is the number of its placeholder.

        Without `schema`, a later `faq_schema()` prints its JSON-LD.
        """
        if ordinal is None:
            self._ordinals[faq.slug] = ordinal = self._ordinals.get(faq.slug, 0) + 1
        if not schema:
            self.defer_schema(faq)
        first = self._find(faq) if faq.slug in self._shown else None
        if first is None:
            first = _Shown(faq, ordinal, schema)
            self._shown.setdefault(faq.slug, []).append(first)
        elif schema:
            first.has_schema = True
        return FIRST if ordinal == first.ordinal == 1 else Place(ordinal, first.ordinal)

    def _find(self, faq: FAQ) -> "_Shown | None":
        """Return the first copy of a record that was printed."""
        for shown in self._shown.get(faq.slug, ()):
            if shown.faq is faq or shown.faq == faq:
                return shown
        return None

    def print(
        self,
        page: Page,
        fragment: Fragment,
        options: ElementOptions,
        *,
        schema: bool,
        before: Set[str] | None = None,
    ) -> str:
        """Return an FAQ with the stylesheets and the script that the document lacks.

        For an FAQ that fills a placeholder, `before` are the files that were printed above it.
        """
        printed = self.printed if before is None else before | self._filled
        missing = fragment.stylesheets if options.styles != "none" else ()
        if printed:
            missing = tuple([sheet for sheet in missing if sheet.file not in printed])
        with_script = fragment.needs_script and SCRIPT not in printed
        if missing or with_script:
            files = [SCRIPT] if with_script else []
            for sheet in missing:
                files.append(sheet.file)
            self.printed.update(files)
            if before is not None:
                self._filled.update(files)
            page.inline.append((missing, options, with_script))
        return fragment.print(options, missing, with_script=with_script, schema=schema)

    # JSON-LD

    def defer_schema(self, faq: FAQ) -> None:
        """Leave the JSON-LD of a record to a later `faq_schema()`."""
        self._deferred[id(faq)] = faq

    def take_deferred(self) -> list[FAQ]:
        """Return the records that `faq_schema()` must print; only the first call returns them."""
        deferred, self._deferred = self._deferred, {}
        found = [(faq, self._find(faq)) for faq in deferred.values()]
        return [faq for faq, shown in found if shown is None or not shown.has_schema]

    def take(self, faq: FAQ) -> None:
        """Note that the JSON-LD of a record is printed now, so that a later `faq_schema()` leaves it out."""
        self._deferred.pop(id(faq), None)

    def schema_place(self, faq: FAQ) -> Place | None:
        """Return the place that the element ids of a record's questions come from, or None."""
        shown = self._find(faq)
        return None if shown is None else Place(shown.ordinal, shown.ordinal)


class _Shown(msgspec.Struct, eq=False):
    """The first copy of a record in a document."""

    faq: FAQ
    ordinal: int
    has_schema: bool
