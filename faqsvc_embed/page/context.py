"""The page: the FAQs of one response. Context variables hold the current page.

An adapter creates a page for each request. Without an adapter, each rendered template is a page.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any, AnyStr, ClassVar, Final, TypeVar

import msgspec
from markupsafe import Markup

from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.budget import WaitBudget
from faqsvc_embed.page.elements import Printed, TextFilter
from faqsvc_embed.page.placeholders import Filling, Placeholders
from faqsvc_embed.page.preview import PARAMETER, Preview, find_preview
from faqsvc_embed.settings import Settings

T = TypeVar("T")


class Page(msgspec.Struct, eq=False):
    """The FAQs of one response."""

    # A struct, because each request of a host makes one, with or without an FAQ.

    defers: ClassVar[bool] = False
    """FAQs can be filled in after the template was rendered."""
    may_block: ClassVar[bool] = False
    """Whether a running event loop serves only this request, so that it may be blocked."""

    is_over: bool = False
    """Whether the response was sent, so that later rendering is not a part of it."""
    states: dict[Any, FAQState] = {}
    """The states of FAQs on this page, by reader and key. They do not change until it is finished."""
    printed: list[Printed | None] = []
    """What was printed, in the order of the document; None for an FAQ that is printed later."""
    placeholders: Placeholders | None = None
    negotiated: bool = False
    """Whether the language was chosen by the visitor's Accept-Language."""
    may_negotiate: bool = True
    """Whether the headers were not sent yet, so that Vary can still be added."""
    folder: str | None = None
    """The URL path below which the host serves the package's files, if it does."""
    is_diagnosed: bool = False
    """Response headers say where the FAQs came from."""
    slugs: dict[str, None] | None = None
    """The FAQs that were looked up for this page, in order, if response headers name them."""
    preview: Preview | None = None
    """The drafts that the visitor may see, if the request has a preview token."""
    max_age: int | None = None
    """For how many seconds caches may keep the page; None if no FAQ is missing or degraded."""
    may_degrade: bool = False
    """Whether an FAQ in an open placeholder may still shorten `max_age`."""
    _budget: WaitBudget | None = None
    _filter: TextFilter | None = None
    _deferred: list[FAQ] = []
    _ordinals: dict[Any, int] = {}

    __repr__ = object.__repr__  # a page may refer to the headers of its request

    def configure(self, settings: Settings, query_string: str) -> None:
        """Apply the settings for all pages, and the preview token in the address."""
        self.is_diagnosed = settings.diagnostic_headers
        if settings.cache_tags:
            self.slugs = {}
        if settings.preview and PARAMETER in query_string:
            self.preview = find_preview(query_string)

    @property
    def shows_problems(self) -> bool:
        """Whether the page shows what went wrong, for development."""
        return False

    @property
    def budget(self) -> WaitBudget:
        """The time that the page may spend waiting."""
        if self._budget is None:
            self._budget = WaitBudget()
        return self._budget

    def next_ordinal(self, slug: str) -> int:
        """Count an FAQ, and return how many with this slug the page has so far."""
        self._ordinals[slug] = ordinal = self._ordinals.get(slug, 0) + 1
        return ordinal

    def print(self, printed: Printed, reserved: int | None = None) -> Markup:
        """Return the markup of an FAQ, and remember it; `reserved` is its place in the document."""
        if reserved is not None:
            self.printed[reserved] = printed
        else:
            self.printed.append(printed)
        return printed.markup()

    def reserve(self) -> int:
        """Return a place in the document for an FAQ that is printed later."""
        self.printed.append(None)
        return len(self.printed) - 1

    def defer_json_ld(self, faq: FAQ) -> None:
        """Let a later `faq_schema()` print the JSON-LD of an FAQ."""
        self._deferred.append(faq)

    def defer_state(self, state: FAQState) -> FAQState:
        """Return a state for the host's own markup; a later `faq_schema()` prints its JSON-LD."""
        if state.data is not None:
            self.defer_json_ld(state.data)
        return state

    def take_deferred(self) -> list[FAQ]:
        """Return the FAQs that `faq_schema()` must print; only the first call returns them."""
        deferred, self._deferred = self._deferred, []
        return deferred

    def leave_placeholder(self, filling: Filling | str, published: str = "") -> Markup:
        """Return a placeholder to fill in before the response is sent: the HTML `published`, or a comment."""
        if self.placeholders is None:
            self.placeholders = Placeholders()
        return self.placeholders.leave(filling, published)

    @property
    def has_open_placeholders(self) -> bool:
        """Whether some placeholders are not filled yet."""
        return self.placeholders is not None and self.placeholders.are_open

    @property
    def is_unfinished(self) -> bool:
        """Whether placeholders or several FAQs were printed: what contains them has to be changed."""
        return self.placeholders is not None or len(self.printed) > 1

    def may_change(self, length: int) -> bool:
        """Return whether a body of this length may have to be changed; it could have a single FAQ twice."""
        if self.placeholders is not None or len(self.printed) != 1:
            return self.is_unfinished
        one = self.printed[0]
        return one is not None and length >= one.length_of_two

    def must_change(self, body: AnyStr, encode: Callable[[str], AnyStr]) -> bool:
        """Return whether a whole body has to be changed; one that has a single FAQ once has not."""
        if self.is_unfinished or not self.printed or self.printed[0] is None:
            return self.is_unfinished
        return self.printed[0].is_repeated_in(body, encode)

    def limit_max_age(self, seconds: int) -> None:
        """Limit the lifetime of the page in caches."""
        self.max_age = seconds if self.max_age is None else min(seconds, self.max_age)

    def complete(self, text: str) -> str:
        """Return the text of a template that was rendered outside of a request, with its elements once."""
        if not isinstance(text, str) or not self.may_change(len(text)):  # Jinja has native types, too
            return text
        return TextFilter(self.printed).feed(text, last=True) if self.must_change(text, str) else text

    def complete_part(self, part: str) -> str:
        """Return a part of such a text, without the elements that an earlier part contains."""
        if not (self.printed and isinstance(part, str)):
            return part
        if self._filter is None:
            self._filter = TextFilter(self.printed)
        return self._filter.feed(part)

    def end_rendering(self) -> None:
        """End the page of a template, because copies of the context may still refer to it."""
        self.is_over = True

    def language(self, default: str | None) -> str | None:
        """Return the language of the page, or None. `default` is the setting `lang`."""
        return None

    def nonce(self) -> object:
        """Return the nonce of the page's Content-Security-Policy, or a function that returns it, or None."""
        return None


class JoinedPage(Page):
    """One page from several rendered parts outside of a request, without duplicate elements."""

    def complete(self, text: str) -> str:
        return self.complete_part(text)

    def end_rendering(self) -> None:
        """Do nothing: the page ends with its `with` block."""


PageSource = Callable[[], Page | None]

Current = ContextVar[Page | None]

REQUEST: Final[Current] = ContextVar("faqsvc_page", default=None)
"""The page of the request in this context."""
RENDERING: Final[Current] = ContextVar("faqsvc_rendering", default=None)
"""The page of the template that is being rendered outside of a request."""
_joined: Final[ContextVar[JoinedPage | None]] = ContextVar("faqsvc_joined", default=None)


def request_page() -> Page | None:
    """Return the page of the request in this context; None after its response was sent."""
    page = REQUEST.get()
    return None if page is None or page.is_over else page


def rendering_page() -> Page | None:
    """Return the page of the template that is being rendered outside of a request."""
    page = RENDERING.get()
    return None if page is None or page.is_over else page


def joined_page() -> JoinedPage | None:
    """Return the joined page of this context."""
    page = _joined.get()
    return None if page is None or page.is_over else page


def is_part() -> bool:
    """Return whether what is rendered now is a part of a request, or of a template being rendered."""
    return request_page() is not None or rendering_page() is not None


def enter_request(page: Page) -> Token[Page | None]:
    """Make `page` the page of the request in this context; `leave_request` takes the result."""
    return REQUEST.set(page)


def leave_request(token: Token[Page | None]) -> None:
    """Restore the page that was current before `enter_request`."""
    REQUEST.reset(token)


def enter_rendering(page: Page) -> Token[Page | None]:
    """Make `page` the page of the template that is being rendered; `leave_rendering` takes the result."""
    return RENDERING.set(page)


def leave_rendering(token: Token[Page | None]) -> None:
    """Restore the page that was current before `enter_rendering`."""
    RENDERING.reset(token)


def within(current: Current, page: Page, parts: Iterator[T]) -> Iterator[T]:
    """Yield parts that are each produced with `page` as the current one: `REQUEST` or `RENDERING`."""
    while True:
        token = current.set(page)  # not around `yield`, because the caller has a context of its own
        try:
            part = next(parts, None)
        finally:
            current.reset(token)
        if part is None:
            return
        yield part


async def awithin(current: Current, page: Page, parts: AsyncIterator[T]) -> AsyncIterator[T]:
    """Yield asynchronous parts, as `within` does."""
    while True:
        token = current.set(page)
        try:
            part = await anext(parts, None)
        finally:
            current.reset(token)
        if part is None:
            return
        yield part


@contextmanager
def joined_context() -> Iterator[None]:
    """Combine everything that is rendered in this context into one page."""
    page = JoinedPage()
    token = _joined.set(page)
    try:
        yield
    finally:
        page.is_over = True
        _joined.reset(token)
