"""The current page and the current document, in context variables.

An adapter sets the page of a request; a template that is rendered sets its document.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, NamedTuple
from weakref import ref

from faqsvc_embed.page.document import Document
from faqsvc_embed.page.page import NO_PAGE, Page

PageSource = Callable[[], Page | None]

REQUEST: Final[ContextVar[Page | None]] = ContextVar("faqsvc_page", default=None)
"""The page of the request in this context."""
DOCUMENT: Final[ContextVar[Document | None]] = ContextVar("faqsvc_document", default=None)
"""The document that is being rendered in this context."""


class _Stream(NamedTuple):
    """A template that a generator renders in parts. Between them, the host may render other templates."""

    document: Document
    """The document of all that is printed while the generator runs."""
    generator: "ref[Any]"
    outer: Document | None
    """The document that was current when the stream began. Another one is rendered inside of the stream."""

    def is_running(self) -> bool:
        """Return whether a part is being rendered."""
        generator = self.generator()
        return getattr(generator, "gi_running", False) or getattr(generator, "ag_running", False)

    def is_unfinished(self) -> bool:
        """Return whether the generator has not ended."""
        generator = self.generator()
        return any(getattr(generator, name, None) is not None for name in ("gi_frame", "ag_frame"))


_STREAMS: Final[ContextVar[tuple[_Stream, ...]]] = ContextVar("faqsvc_streams", default=())
"""The streams outside of a request, newest first."""


def request_page() -> Page | None:
    """Return the page of the request in this context; None after its response was sent."""
    page = REQUEST.get()
    return None if page is None or page.is_over else page


def document_with_page(document: Document | None = None, source: PageSource | None = None) -> Document:
    """Return a document that has a page; by default, the document that is being rendered.

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
    """Begin a document for a template whose parts a generator renders.

    The generator is not wrapped, because a wrapper would cost as much as a small part. The page of a request
    stores the stream, because a view may run in a thread with a copy of the context.
    """
    if joined_document() is not None:
        return
    page = request_page()
    others = _STREAMS.get() if page is None else page.streams
    streams = (
        _Stream(Document(NO_PAGE), ref(generator), DOCUMENT.get()),
        *(stream for stream in others if stream.is_unfinished()),
    )
    if page is None:
        _STREAMS.set(streams)
    else:
        page.streams = streams


def joined_document() -> Document | None:
    """Return the document of `FAQEmbed.page()`. All templates that are rendered within it belong to it."""
    document = DOCUMENT.get()
    return document if document is not None and document.is_joined and not document.is_over else None


def begin_document(document: Document | None = None) -> Document | None:
    """Make a document the current one, and return it; the caller ends it, and restores `DOCUMENT`.

    By default it is a new one, or None if this rendering belongs to the document of `FAQEmbed.page()`.
    """
    if document is None:
        if joined_document() is not None:
            return None
        document = Document(NO_PAGE)
    DOCUMENT.set(document)  # without a token: a generator may continue in another context
    return document
