"""The document: one rendering of a top-level template, with all that it includes, imports and extends.

A template that is rendered makes its document the current one, in a context variable. Its page is that of the
request, which an adapter has set (`page.REQUEST`).
"""

from collections.abc import Callable, Set
from contextvars import ContextVar
from typing import Any, Final, NamedTuple
from weakref import ref

import msgspec

from faqsvc_embed.models import FAQ, shown
from faqsvc_embed.page.page import NO_PAGE, REQUEST, Page, request_page
from faqsvc_embed.rendering.fragments import SCRIPTS, ElementOptions, Fragment
from faqsvc_embed.rendering.renderer import FIRST, Numbers, Place

PageSource = Callable[[], Page | None]


class Document(msgspec.Struct, eq=False):
    """Records what one document has printed: each stylesheet is printed once, and each id is unique."""

    page: Page
    """The page of the request, or a page for this document alone; before the first FAQ, `NO_PAGE`."""
    is_joined: bool = False
    """Whether templates that are rendered while it is current belong to it (`FAQEmbed.page`)."""
    is_over: bool = False
    """Whether it has ended; a copy of its context may still refer to it."""
    printed: set[str] = set()
    """The pieces of the stylesheet, the themes and the scripts that it has printed."""
    _filled: set[str] = set()
    """What filled placeholders have printed of it: above the next one, because they are filled in order."""
    _ordinals: dict[str, int] = {}
    _first: dict[str, FAQ] = {}
    """The first FAQ of each slug that is printed only once so far."""
    _anchors: "dict[str, _Anchors]" = {}
    """What is printed of each slug that is printed more than once."""
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
        if not faq.items:
            return FIRST  # nothing is printed
        slug = faq.slug
        if ordinal is None:
            ordinal = self.reserve(slug)
        if not schema:
            self.defer_schema(faq)
        if ordinal == 1 and slug not in self._anchors:
            self._first[slug] = faq
            return FIRST
        return self._anchors_of(slug).place(faq, ordinal)

    def _anchors_of(self, slug: str) -> "_Anchors":
        """Return the printed anchors of a slug. A document that prints an FAQ once never needs them."""
        anchors = self._anchors.get(slug)
        if anchors is None:
            self._anchors[slug] = anchors = _Anchors()
            if (first := self._first.pop(slug, None)) is not None:
                anchors.place(first, 1)
        return anchors

    def print(
        self, fragment: Fragment, options: ElementOptions, *, schema: bool, before: Set[str] | None = None
    ) -> str:
        """Return an FAQ with the stylesheets and the script that the document lacks.

        For an FAQ that fills a placeholder, `before` has the names of what was printed above it.
        """
        missing = fragment.needs - (self.printed if before is None else before | self._filled)
        if options.styles == "none":
            missing &= SCRIPTS
        if missing:
            # The folder has only the whole script.
            printed = missing if options.folder is None or missing.isdisjoint(SCRIPTS) else missing | SCRIPTS
            self.printed |= printed
            if before is not None:
                self._filled |= printed
        usual = fragment.forms.get((options, missing, schema))
        return usual or fragment.joined(options, missing, schema=schema)

    # JSON-LD

    def defer_schema(self, faq: FAQ) -> None:
        """Leave the JSON-LD of a record to a later `faq_schema()`."""
        self._deferred[id(faq)] = faq

    def take_deferred(self) -> list[tuple[FAQ, Numbers]]:
        """Return the records that `faq_schema()` must print, each with the numbers in the `@id`s of its
        questions; only the first call returns them.
        """
        deferred, self._deferred = self._deferred, {}
        return [(faq, self.take(faq)) for faq in deferred.values()]

    def take(self, faq: FAQ) -> Numbers:
        """Return the numbers in the `@id`s of the questions of a record whose JSON-LD is printed now.

        A later `faq_schema()` leaves it out.
        """
        self._deferred.pop(id(faq), None)
        return self._anchors_of(faq.slug).in_json_ld(faq)


class _Anchors(msgspec.Struct, eq=False):
    """The questions and sections of one slug that a document has printed."""

    _first: dict[tuple[str | None, ...], int] = {}
    """The number in the id of the first element of each question."""
    _used: set[str] = set()

    def place(self, faq: FAQ, ordinal: int) -> Place:
        """Return the place of a record that is printed now; an id that the document has gets a number."""
        in_elements, in_json_ld = list[int](), list[int]()
        for anchor, key in _keys(faq):
            number = ordinal if anchor in self._used else 0
            self._used.add(anchor)
            in_elements.append(number)
            in_json_ld.append(self._first.setdefault(key, number))
        return Place(ordinal, tuple(in_elements), tuple(in_json_ld))

    def in_json_ld(self, faq: FAQ) -> Numbers:
        """Return the numbers in the `@id`s of a record's questions; None for one without an element."""
        return tuple(self._first.get(key) for _, key in _keys(faq))


def _keys(faq: FAQ) -> list[tuple[str, tuple[str | None, ...]]]:
    """Return the anchors of a record, each with a key that is equal for the same question on a page."""
    items, anchors = shown(faq).items, shown(faq).anchors
    keys: list[tuple[str | None, ...]] = [(item.question, item.answer, faq.lang) for item in items]
    keys += [()] * (len(anchors) - len(items))  # the anchors of sections come after those of questions
    return [(anchor, (anchor, *key)) for anchor, key in zip(anchors, keys, strict=True)]


# The current document

DOCUMENT: Final[ContextVar[Document | None]] = ContextVar("faqsvc_document", default=None)
"""The document of this context. It is set without tokens, because a generator may continue in another one."""


class _Stream(NamedTuple):
    """A template that a generator of Jinja renders in parts.

    Between two parts, the host may render other templates. So an FAQ belongs to the stream whose generator is
    running. A wrapper that makes the document current for each part would cost as much as a small part.
    """

    document: Document
    generator: "ref[Any]"
    outer: Document | None
    """The document that was current when the stream began; a template within a part has another one."""

    def is_running(self) -> bool:
        """Return whether a part is being rendered."""
        generator = self.generator()
        return getattr(generator, "gi_running", False) or getattr(generator, "ag_running", False)


_STREAMS: Final[ContextVar[tuple[_Stream, ...]]] = ContextVar("faqsvc_streams", default=())
"""The streams outside of a request, newest first; a page has those of its request."""


def document_with_page(document: Document | None, source: PageSource | None) -> Document:
    """Return a document that has a page; for None, the document that is being rendered.

    The page is that of the request, from the context or from `source`. Outside of a request, each document
    has a page of its own.
    """
    request = REQUEST.get()
    if request is not None and request.is_over:
        request = None
    if document is None:
        document = DOCUMENT.get()
        for stream in _STREAMS.get() if request is None else request.streams:
            if stream.outer is document and stream.is_running():
                document = stream.document
                break
        if document is None or document.is_over:
            document = Document(NO_PAGE)
    if document.page.is_over:
        document.page = request or (source() if source is not None else None) or Page()
    return document


def begin_stream(generator: object) -> None:
    """Begin a document for a template whose parts a generator renders."""
    if joined_document() is not None:
        return
    stream, page = _Stream(Document(NO_PAGE), ref(generator), DOCUMENT.get()), request_page()
    others = _STREAMS.get() if page is None else page.streams
    streams = (stream, *(other for other in others if other.generator() is not None))
    if page is None:
        _STREAMS.set(streams)
    else:  # not in the context, because a view may run in a thread with a copy of it
        page.streams = streams


def joined_document() -> Document | None:
    """Return the document of `FAQEmbed.page()`. All templates that are rendered within it belong to it."""
    document = DOCUMENT.get()
    return document if document is not None and document.is_joined and not document.is_over else None


def begin_document() -> Document | None:
    """Make a new document the current one, and return it; the caller ends it, and restores `DOCUMENT`.

    Return None if this rendering belongs to the document of `FAQEmbed.page()`.
    """
    if joined_document() is not None:
        return None
    document = Document(NO_PAGE)
    DOCUMENT.set(document)
    return document
