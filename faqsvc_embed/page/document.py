"""The document: one rendering of a top-level template, with all that it includes, imports and extends."""

from typing import Final

import msgspec
from markupsafe import Markup

from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.page import Page
from faqsvc_embed.rendering.elements import ElementOptions
from faqsvc_embed.rendering.fragments import Fragment
from faqsvc_embed.rendering.renderer import FIRST, Place

SCRIPT: Final = "script"
"""The script, in the set of files that a document has printed."""

_NO_PAGE: Final = Page(is_over=True)


class Document(msgspec.Struct, eq=False):
    """Records what one document has printed: each stylesheet is printed once, and each id is unique."""

    page: Page = msgspec.field(default_factory=lambda: _NO_PAGE)
    """The page of the request, or of this document alone; set for the first FAQ (`Presenter.join`)."""
    is_joined: bool = False
    """Whether templates that are rendered while it is current belong to it (`FAQEmbed.page`)."""
    is_over: bool = False
    """Whether it has ended; a copy of its context may still refer to it."""
    printed: set[str] = set()
    """The files that it has printed: stylesheets, and the script."""
    filled: set[str] = set()
    """The same for filled placeholders."""
    _ordinals: dict[str, int] = {}
    _shown: "list[_Shown]" = []
    _deferred: list[FAQ] = []

    def reserve(self, slug: str) -> int:
        """Count an FAQ, and return how often its slug is in the document so far."""
        self._ordinals[slug] = ordinal = self._ordinals.get(slug, 0) + 1
        return ordinal

    def place(self, faq: FAQ, *, schema: bool, ordinal: int | None = None) -> Place:
        """Return the place of a record that is printed now; `ordinal` is the number of its placeholder.

        Without `schema`, a later `faq_schema()` prints its JSON-LD.
        """
        if ordinal is None:
            ordinal = self.reserve(faq.slug)
        first = self._find(faq) if self._shown else None
        if first is None:
            first = _Shown(faq, ordinal, schema)
            self._shown.append(first)
        elif schema:
            first.has_schema = True
        if not schema:
            self._deferred.append(faq)
        return FIRST if ordinal == first.ordinal == 1 else Place(ordinal, first.ordinal)

    def _find(self, faq: FAQ) -> "_Shown | None":
        """Return the first copy of a record that was printed."""
        for shown in self._shown:
            if shown.faq is faq or (shown.faq.slug == faq.slug and shown.faq == faq):
                return shown
        return None

    def print(
        self, fragment: Fragment, options: ElementOptions, printed: set[str], *, schema: bool
    ) -> Markup:
        """Return an FAQ with the stylesheets and script that are not in `printed`, and add them to it."""
        missing = fragment.stylesheets
        if options.styles == "none":
            missing = ()
        elif printed:
            missing = tuple([sheet for sheet in missing if sheet.file not in printed])
        with_script = fragment.needs_script and SCRIPT not in printed
        if missing or with_script:
            for sheet in missing:
                printed.add(sheet.file)
            if with_script:
                printed.add(SCRIPT)
            self.page.inline.append((missing, options, with_script))
        return fragment.print(options, missing, with_script=with_script, schema=schema)

    def defer_state(self, state: FAQState) -> FAQState:
        """Return a state for the host's own markup; a later `faq_schema()` prints its JSON-LD."""
        if state.data is not None:
            self._deferred.append(state.data)
        return state

    def take_deferred(self) -> list[FAQ]:
        """Return the records that `faq_schema()` must print; only the first call returns them."""
        deferred, self._deferred = self._deferred, []
        return [faq for faq in deferred if (shown := self._find(faq)) is None or not shown.has_schema]

    def take(self, faq: FAQ) -> list[FAQ]:
        """Return a record whose JSON-LD is printed now, so that a later `faq_schema()` leaves it out."""
        self._deferred = [other for other in self._deferred if other is not faq]
        return [faq]

    def schema_place(self, faq: FAQ) -> Place | None:
        """Return the place that the element ids of a record's questions come from, or None."""
        shown = self._find(faq)
        return None if shown is None else Place(shown.ordinal, shown.ordinal)


class _Shown(msgspec.Struct, eq=False):
    """The first copy of a record in a document."""

    faq: FAQ
    ordinal: int
    has_schema: bool
