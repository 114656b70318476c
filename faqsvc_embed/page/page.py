"""The page: what the FAQs of one request share."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any, ClassVar, Final

import msgspec

from faqsvc_embed.api.contract import PREVIEW_PARAMETER
from faqsvc_embed.cache.entry import Key
from faqsvc_embed.cache.fetch import Fetch
from faqsvc_embed.cache.reader import Reader
from faqsvc_embed.languages import MAX_HEADER, lookup, negotiate
from faqsvc_embed.models import FAQState
from faqsvc_embed.page.border import Passing
from faqsvc_embed.page.headers import Headers, fillable_charset, may_be_shared
from faqsvc_embed.page.placeholders import BodyFiller, Placeholders
from faqsvc_embed.page.preview import Preview, find_preview
from faqsvc_embed.rendering.assets import FOLDER, are_served
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.runtime.threads import in_event_loop
from faqsvc_embed.settings import Settings

_log: Final = LogOnce()


class Page(msgspec.Struct, eq=False):
    """What the FAQs of one request share; outside of a request, each document has a page of its own."""

    # A struct is made quickly: each request of a host makes one, with or without an FAQ.

    fills_placeholders: ClassVar[bool] = False
    """Whether the adapter can fill placeholders that templates leave while an event loop runs."""
    may_block: ClassVar[bool] = False
    """Whether a call may block the running event loop, because it serves only this request."""

    is_over: bool = False
    """Whether the response was sent, so that later rendering is not a part of it."""
    states: dict[tuple[Reader, Key], FAQState] = {}
    """The states of FAQs on this page, by reader and key. They do not change until it is over."""
    prefetched: set[Key] = set()
    """The FAQs that were awaited before rendering, and therefore leave no placeholder."""
    placeholders: Placeholders = msgspec.field(default_factory=Placeholders)
    negotiated: bool = False
    """Whether the language was chosen by the visitor's Accept-Language."""
    sent_headers: Headers | None = None
    """The headers of the response after they were sent. Vary cannot be added to them."""
    folder: str | None = None
    """The URL path below which the host serves the package's files, if it does."""
    slugs: dict[str, None] | None = None
    """The FAQs that were looked up for this page, in order, if response headers name them."""
    preview: Preview | None = None
    """The drafts that the visitor may see, if the request has a preview token."""
    streams: tuple[Any, ...] = ()
    """The documents that are rendered in parts for the response; `document` reads and writes them."""
    passes: Passing = ()
    """The exceptions that break the page: all if the setting `strict` is on."""
    max_age: int | None = None
    """For how many seconds caches may keep the page; None if no FAQ is missing or degraded."""
    may_degrade: bool = False
    """Whether an FAQ in an open placeholder may still shorten `max_age`."""
    _waited: float = 0.0
    """The seconds that the page has spent waiting; waits that overlap count once."""
    _waiting: int = 0
    _waits_since: float = 0.0

    def __repr__(self) -> str:
        return object.__repr__(self)  # a page may refer to the headers of its request

    def configure(self, settings: Settings, query_string: str, root_path: str) -> None:
        """Apply the settings for all pages, and the preview token in the address.

        `root_path` is the path of the application in the URL.
        """
        if are_served(settings):
            self.folder = f"{root_path.rstrip('/')}/{FOLDER}"
        if settings.cache_tags:
            self.slugs = {}
        if settings.strict:
            self.passes = Exception
        if settings.preview and PREVIEW_PARAMETER in query_string:
            self.preview = find_preview(query_string)
            self.placeholders.are_used = self.preview is not None

    def end(self) -> None:
        """End the page: its response was sent."""
        self.is_over = True
        self.streams = ()  # they refer to the page

    # What adapters know of a request

    @property
    def shows_problems(self) -> bool:
        """Whether the page shows what went wrong, for development."""
        return False

    def language(self, default: str | None) -> str | None:
        """Return the language of the page, or None. `default` is the setting `lang`."""
        return None

    def nonce(self) -> object:
        """Return the nonce of the page's Content-Security-Policy, or a function that returns it, or None."""
        return None

    # Reading: each FAQ has one state on a page. The reader is that of the embed that shows it.

    def look_up(self, reader: Reader, key: Key, *, blocks: bool = True) -> FAQState | Fetch:
        """Return the state of an FAQ on this page, or the fetch that it waits for; see `Reader.look_up`."""
        if self.slugs is not None:
            self.slugs[key.slug] = None
        if self.states:
            state = self.states.get((reader, key))
            if state is not None and not state.is_loading:
                return state
        has_files = reader.source.files is not None
        found = reader.look_up(key, reload=has_files and self.shows_problems, blocks=blocks)
        if isinstance(found, FAQState):
            self.states[reader, key] = found
        return found

    def look_up_newest(self, reader: Reader, key: Key, *, blocks: bool = True) -> FAQState | Fetch:
        """Return the draft that the visitor may see, else what is published, as `look_up` does."""
        if self.preview is None or (token := self.preview.token_for(key.slug)) is None:
            return self.look_up(reader, key, blocks=blocks)
        draft = Key(key.slug, key.lang, token)
        found = self.look_up(reader, draft)
        return self._settled(reader, draft, found) if isinstance(found, FAQState) else found

    async def result(self, reader: Reader, found: FAQState | Fetch, wait: float, *, blocks: bool) -> FAQState:
        """Return the result of a look-up, waiting for a fetch for the rest of the time budget.

        `blocks` is whether the caller waits by blocking its thread. In an event loop it must not, so it gets
        the published record instead of a draft.
        """
        while not isinstance(found, FAQState):
            if not blocks or self.may_block or not in_event_loop():
                with self._wait(wait) as seconds:
                    state = await reader.arrived(found, seconds, blocks=blocks)
                found = self._settled(reader, found.key, state)
            elif found.is_draft:
                found = self.look_up(reader, Key(found.key.slug, found.key.lang))
            else:
                return reader.state(found.key)
        return found

    @contextmanager
    def _wait(self, limit: float) -> Iterator[float]:
        """Yield the seconds that are left of a budget of `limit`, and subtract the wait from it."""
        if not self._waiting:
            self._waits_since = time.monotonic()
        self._waiting += 1
        try:
            yield max(0.0, limit - self._waited - (time.monotonic() - self._waits_since))
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._waited += time.monotonic() - self._waits_since

    def _settled(self, reader: Reader, key: Key, state: FAQState) -> FAQState | Fetch:
        """Keep a state for the whole page, and return it; for a draft that is missing, look up the FAQ."""
        self.states[reader, key] = state
        if key.token is None or self.preview is None:
            return state
        if state.data is None:
            self.preview.refuse(key.slug, state.error)
            return self.look_up(reader, Key(key.slug, key.lang))
        self.preview.accept(state.data)
        return state

    # Placeholders

    def can_defer(self, key: Key) -> bool:
        """Return whether an FAQ may leave a placeholder, because waiting would block an event loop."""
        return self.fills_placeholders and key not in self.prefetched and in_event_loop()

    def new_filler(self, status: int, headers: Headers) -> BodyFiller | None:
        """Return what fills the placeholders of a response; None without any, or for other than HTML."""
        charset = fillable_charset(status, headers) if self.placeholders.are_used else None
        return None if charset is None else BodyFiller(self.placeholders, charset)

    def report_lost_placeholders(self, status: int, method: str | None) -> None:
        """Log once that a response was sent without a placeholder of its page."""
        # A preview is complete without them: the published FAQ stays.
        is_page = status == HTTPStatus.OK and method != "HEAD" and self.preview is None
        if is_page and self.placeholders.unfound:
            _log.warning(
                "lost",
                "a response lacks an FAQ that was not cached when its template was rendered: its placeholder "
                "is not in the HTML body, because it was escaped, compressed or kept in a cache of the host; "
                "`await embed.aprefetch(...)` before rendering the template",
            )

    # The lifetime of the page in caches

    def limit_by(self, reader: Reader, key: Key, state: FAQState) -> None:
        """Let caches store the page only until the next fetch of an FAQ that is missing or degraded."""
        if (seconds := reader.max_age(key, state)) is not None:
            self.limit_max_age(seconds)

    def limit_max_age(self, seconds: int) -> None:
        """Let caches store the page for at most some seconds."""
        self.max_age = seconds if self.max_age is None else min(seconds, self.max_age)


NO_PAGE: Final = Page(is_over=True)
"""Stands for no page. It is over, so that the first FAQ looks for another one (`document_with_page`)."""
REQUEST: Final[ContextVar[Page | None]] = ContextVar("faqsvc_page", default=None)
"""The page of the request in this context."""


def request_page() -> Page | None:
    """Return the page of the request in this context; None after its response was sent."""
    page = REQUEST.get()
    return None if page is None or page.is_over else page


def first_of(get: Callable[[str], Any], names: Iterable[str]) -> Any:
    """Return the first value that the host has set under these names. A function is called for its value."""
    for name in names:
        value = get(name)
        value = value() if callable(value) else value
        if value:
            return value
    return None


class RequestPage(Page):
    """The page of a request whose language the host chooses, or else the visitor prefers."""

    def chosen_language(self) -> object:
        """Return the language that the host chose for this request, as it is, or None."""
        return None

    def accept_language(self) -> str:
        """Return the Accept-Language header of the visitor."""
        return ""

    def language(self, default: str | None) -> str | None:
        """Return the language that the host chose, else the setting, else the visitor's (RFC 4647, 3.4).

        The host may choose another one for a part of the page, such as an email.
        """
        choice = self.chosen_language()
        language = None if choice is None else lookup(str(choice))
        if language is not None or default is not None:
            return language or default
        if self.sent_headers is None:
            self.negotiated = True
        elif not self.negotiated and may_be_shared(self.sent_headers):
            _log.warning(
                "streamed",
                "an FAQ of a streamed page is not in the visitor's language, because the headers were sent: "
                "add Vary: Accept-Language to the response, or set the language",
            )
            return None
        return negotiate(self.accept_language()[:MAX_HEADER])  # it caches the header
