"""Reads FAQs for pages: each FAQ once, within the time that the page may spend waiting."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from faqsvc_embed.api.slugs import invalid_slug, is_slug
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.reader import Reader, data_or_raise
from faqsvc_embed.errors import FAQUnavailable, quoted
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.context import Page
from faqsvc_embed.page.options import OptionResolver
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
            seconds = self._options.wait(wait, slug)
            key = self._options.key(page, slug, lang)
            found = self.wait_for(page, self.look_up_draft(page, key), seconds)
            return self.note_max_age(page, key, found)
        except Exception as error:
            return self._problems.state(page, slug, error)

    async def aget(self, page: Page, slug: str, lang: str | None, wait: float | None) -> FAQState:
        """Return the state of an FAQ; if it is not cached, await it."""
        try:
            seconds = self._options.wait(wait, slug)
            key = self._options.key(page, slug, lang)
            found = await self.await_for(page, self.look_up_draft(page, key), seconds)
            return self.note_max_age(page, key, found)
        except Exception as error:
            return self._problems.state(page, slug, error)

    async def aprefetch(self, page: Page, slugs: Sequence[str], lang: str | None) -> None:
        """Fetch the FAQs that are not cached, together."""
        for fetch in self._start(page, slugs, lang):
            await self.await_for(page, fetch, self._settings.wait)

    def prefetch(self, page: Page, slugs: Sequence[str], lang: str | None) -> None:
        """Fetch the FAQs that are not cached, together; in an event loop, do not wait for them."""
        try:
            for fetch in self._start(page, slugs, lang):
                self.wait_for(page, fetch, self._settings.wait)
        except Exception as error:
            self._problems.handle(page, slugs, error)

    def _start(self, page: Page, slugs: Sequence[str], lang: str | None) -> "list[Fetch]":
        for slug in slugs:
            if not is_slug(slug):
                self._problems.handle(page, slug, invalid_slug(slug))
        keys = [self._options.key(page, slug, lang) for slug in slugs if is_slug(slug)]
        found = [self.look_up(page, key) for key in keys]
        if page.preview is not None:
            found += [self.look_up_draft(page, key) for key in keys]
        return [fetch for fetch in found if not isinstance(fetch, FAQState)]

    def look_up(self, page: Page, key: Key) -> "FAQState | Fetch":
        """Return the state on this page, or the result of a look-up."""
        slug: object = key.slug
        if not isinstance(slug, str):  # it may not even be hashable
            return self._reader.look_up(key)
        if page.slugs is not None:
            page.slugs[key.slug] = None
        if page.states:
            state = page.states.get((self._reader, key))
            if state is not None and not state.is_loading:
                return state
        has_folder = self._settings.directory is not None
        found = self._reader.look_up(key, reload=has_folder and page.shows_problems)
        return self._remember(page, key, found) if isinstance(found, FAQState) else found

    def look_up_draft(self, page: Page, key: Key) -> "FAQState | Fetch":
        """Look up the draft, if the visitor may see it, else what is published."""
        preview = page.preview
        token = preview.token_for(key.slug) if preview is not None else None
        if preview is None or token is None:
            return self.look_up(page, key)
        return preview.drafts.get((self._reader, key)) or self._reader.read_draft(key, token)

    def wait_for(self, page: Page, found: "FAQState | Fetch", wait: float) -> FAQState:
        """Return a state, or wait for it, for the rest of this page's time budget."""
        while not isinstance(found, FAQState):
            if in_event_loop() and not page.may_block:
                return self._state_without_waiting(page, found)
            with page.budget.waiting():
                state = self._reader.wait_for(found, page.budget.left(wait))
            found = self._arrived(page, found, state)
        return found

    async def await_for(self, page: Page, found: "FAQState | Fetch", wait: float) -> FAQState:
        """Return a state, as `wait_for` does, without blocking the event loop."""
        while not isinstance(found, FAQState):
            with page.budget.waiting():
                state = await self._reader.await_for(found, page.budget.left(wait))
            found = self._arrived(page, found, state)
        return found

    def _state_without_waiting(self, page: Page, fetch: "Fetch") -> FAQState:
        if not fetch.is_draft:
            return self._reader.state(fetch.key)
        found = self.look_up(page, fetch.key)
        return found if isinstance(found, FAQState) else FAQState(is_fetching=True)

    def _arrived(self, page: Page, fetch: "Fetch", state: FAQState) -> "FAQState | Fetch":
        """Keep the state that a fetch led to; if a draft cannot be shown, look up the published record."""
        if page.preview is not None and fetch.is_draft and state.data is None:
            page.preview.refuse(fetch.key.slug, state.error)
            return self.look_up(page, fetch.key)
        return self._remember(page, fetch.key, state, is_draft=fetch.is_draft)

    def _remember(self, page: Page, key: Key, state: FAQState, *, is_draft: bool = False) -> FAQState:
        """Keep a state for the rest of the page, unless it is loading: the next call may find the record."""
        states = page.preview.drafts if is_draft and page.preview is not None else page.states
        states[self._reader, key] = state
        return state

    def record(self, page: Page, key: Key, state: FAQState, *, has_waited: bool) -> FAQ:
        """Return the record of a state, or raise why there is none."""
        self.note_max_age(page, key, state)
        if not state.is_loading:
            return data_or_raise(state)
        if not has_waited:
            self._options.log.warning("middleware", CANNOT_WAIT, quoted(key.slug))
            raise FAQUnavailable(CANNOT_WAIT % quoted(key.slug))
        raise self._reader.report_late(key.slug, self._settings.wait)

    def note_max_age(self, page: Page, key: Key, state: FAQState) -> FAQState:
        """Limit for how long caches may store a page with this state."""
        if self._settings.degraded_max_age is not None:
            seconds = self._reader.max_age(key, state)
            if seconds is not None:
                page.limit_max_age(seconds)
        return state
