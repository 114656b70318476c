"""Reads FAQs for pages: each FAQ once, within the time that the page may spend waiting."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from faqsvc_embed.api.slugs import invalid_slug, is_slug
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.reader import Reader, data_or_raise
from faqsvc_embed.errors import FAQUnavailable, quoted
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.options import OptionResolver
from faqsvc_embed.page.page import Page
from faqsvc_embed.page.problems import Problems
from faqsvc_embed.runtime.threads import in_event_loop
from faqsvc_embed.settings import Settings

if TYPE_CHECKING:
    from faqsvc_embed.cache.fetch import Fetch

CANNOT_WAIT: Final = (
    "FAQ %s is not cached yet, and a synchronous call in an event loop cannot wait for it: "
    "add FAQMiddleware around the application, or `await embed.aprefetch(...)` before"
)


class PageStates:
    """Reads the states of FAQs for the pages of one embed."""

    def __init__(
        self, settings: Settings, reader: Reader, options: OptionResolver, problems: Problems
    ) -> None:
        self._settings = settings
        self._reader = reader
        self._options = options
        self._problems = problems

    def get(self, page: Page, slug: str, lang: str | None, wait: float | None) -> FAQState:
        """Return the state of an FAQ; if it is not cached, wait for it, but not in an event loop."""
        try:
            seconds, key = self._options.wait(wait, slug), self._options.key(page, slug, lang)
            return self.note_max_age(page, key, self.wait_for(page, self.look_up(page, key), seconds))
        except Exception as error:
            return self._problems.state(page, slug, error)

    async def aget(self, page: Page, slug: str, lang: str | None, wait: float | None) -> FAQState:
        """Return the state of an FAQ; if it is not cached, await it."""
        try:
            seconds, key = self._options.wait(wait, slug), self._options.key(page, slug, lang)
            return self.note_max_age(page, key, await self.await_for(page, self.look_up(page, key), seconds))
        except Exception as error:
            return self._problems.state(page, slug, error)

    def prefetch(self, page: Page, slugs: Sequence[str], lang: str | None) -> None:
        """Fetch the FAQs that are not cached, together; in an event loop, do not wait for them."""
        for found in [self.look_up(page, key) for key in self._keys(page, slugs, lang)]:
            self.wait_for(page, found, self._settings.wait)

    async def aprefetch(self, page: Page, slugs: Sequence[str], lang: str | None) -> list[FAQ]:
        """Fetch the FAQs that are not cached, together, and return the records."""
        keys = self._keys(page, slugs, lang)
        found = [self.look_up(page, key) for key in keys]
        states = [await self.await_for(page, one, self._settings.wait) for one in found]
        page.prefetched.update(keys)
        return [state.data for state in states if state.data is not None]

    def _keys(self, page: Page, slugs: Sequence[str], lang: str | None) -> list[Key]:
        for slug in slugs:
            if not is_slug(slug):
                self._problems.handle(page, slug, invalid_slug(slug))
        return [self._options.key(page, slug, lang) for slug in slugs if is_slug(slug)]

    def look_up(self, page: Page, key: Key) -> "FAQState | Fetch":
        """Return the state on this page, or the result of a look-up."""
        slug: object = key.slug
        if not isinstance(slug, str):  # it may be unhashable
            return self._reader.look_up(key)
        if page.slugs is not None:
            page.slugs[key.slug] = None
        if page.states:
            state = page.states.get((self._reader, key))
            if state is not None and not state.is_loading:
                return state
        found = self._reader.look_up(key, reload=self._reader.has_files and page.shows_problems)
        return self._remember(page, key, found) if isinstance(found, FAQState) else found

    def wait_for(self, page: Page, found: "FAQState | Fetch", wait: float) -> FAQState:
        """Return a state, or wait for it, for the rest of this page's time budget."""
        if isinstance(found, FAQState):
            return found
        if cannot_wait(page):
            return self._reader.state(found.key)
        return self._remember(page, found.key, self._wait(page, found, wait))

    async def await_for(self, page: Page, found: "FAQState | Fetch", wait: float) -> FAQState:
        """Return a state, as `wait_for` does, without blocking the event loop."""
        if isinstance(found, FAQState):
            return found
        return self._remember(page, found.key, await self._await(page, found, wait))

    def _wait(self, page: Page, fetch: "Fetch", wait: float) -> FAQState:
        with page.budget.waiting():
            return self._reader.wait_for(fetch, page.budget.left(wait))

    async def _await(self, page: Page, fetch: "Fetch", wait: float) -> FAQState:
        with page.budget.waiting():
            return await self._reader.await_for(fetch, page.budget.left(wait))

    def _remember(self, page: Page, key: Key, state: FAQState) -> FAQState:
        """Keep a state for the rest of the page, unless it is loading: the next call may find the record."""
        page.states[self._reader, key] = state
        return state

    def record(self, page: Page, key: Key, state: FAQState) -> FAQ:
        """Return the record of a state, or raise why there is none."""
        self.note_max_age(page, key, state)
        if not state.is_loading:
            return data_or_raise(state)
        if (self._reader, key) not in page.states:  # this page has not waited for it
            self._options.log.warning("middleware", CANNOT_WAIT, quoted(key.slug))
            raise FAQUnavailable(CANNOT_WAIT % quoted(key.slug))
        raise self._reader.reporter.late(key.slug, self._settings.wait)

    def note_max_age(self, page: Page, key: Key, state: FAQState) -> FAQState:
        """Limit for how long caches may store a page with this state."""
        if self._settings.degraded_max_age is not None:
            seconds = self._reader.max_age(key, state)
            if seconds is not None:
                page.limit_max_age(seconds)
        return state


def cannot_wait(page: Page) -> bool:
    """Return whether waiting would block an event loop that serves other requests."""
    return in_event_loop() and not page.may_block
