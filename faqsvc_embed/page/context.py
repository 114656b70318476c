"""The current page and the current document: context variables hold them.

An adapter sets the page of a request; a template that is rendered sets its document.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final
from weakref import ref

from faqsvc_embed.page.document import Document
from faqsvc_embed.page.page import Page

PageSource = Callable[[], Page | None]

REQUEST: Final[ContextVar[Page | None]] = ContextVar("faqsvc_page", default=None)
"""The page of the request in this context."""
DOCUMENT: Final[ContextVar[Document | None]] = ContextVar("faqsvc_document", default=None)
"""The document that is being rendered in this context."""

_STREAMS: Final[ContextVar[tuple[tuple[Document, "ref[Any]"], ...]]] = ContextVar(
    "faqsvc_streams", default=()
)
"""The documents that are rendered in parts in this context, with their generators."""


def request_page() -> Page | None:
    """Return the page of the request in this context; None after its response was sent."""
    page = REQUEST.get()
    return None if page is None or page.is_over else page


def current_document() -> Document | None:
    """Return the document that is being rendered in this context."""
    document = DOCUMENT.get()
    if document is not None and not document.is_over:
        return document
    for stream, generator in _STREAMS.get():
        running = generator()
        if getattr(running, "gi_running", False) or getattr(running, "ag_running", False):
            return stream
    return None


def begin_stream(generator: object) -> None:
    """Give a rendering in parts a document, which is the current one while a part is produced.

    Nothing is wrapped around the generator, because that would cost as much as a small part.
    """
    if joined_document() is None:
        others = (stream for stream in _STREAMS.get() if _is_unfinished(stream[1]()))
        _STREAMS.set((*others, (Document(), ref(generator))))


def _is_unfinished(generator: Any) -> bool:
    return (
        getattr(generator, "gi_frame", None) is not None or getattr(generator, "ag_frame", None) is not None
    )


def joined_document() -> Document | None:
    """Return the document to which templates that are rendered now belong, if there is one."""
    document = DOCUMENT.get()
    return document if document is not None and document.is_joined and not document.is_over else None


@contextmanager
def rendering(document: Document) -> Iterator[None]:
    """Make `document` the current one; templates that are rendered belong to it if it is joined."""
    before = DOCUMENT.get()
    DOCUMENT.set(document)  # without a token: a generator may continue in another context
    try:
        yield
    finally:
        document.is_over = True
        DOCUMENT.set(before)
