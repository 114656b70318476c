"""Reads FAQs for pages: each FAQ once, within the time that the page may spend waiting."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from faqsvc_embed.api.fields import invalid_slug, is_slug
from faqsvc_embed.cache.entry import Key
from faqsvc_embed.cache.reader import Reader, data_or_raise
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQUnavailable, quoted
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.options import OptionResolver
from faqsvc_embed.page.page import Page
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.runtime.threads import in_event_loop
from faqsvc_embed.settings import Settings

if TYPE_CHECKING:
    from faqsvc_embed.cache.fetch import Fetch

CANNOT_WAIT: Final = (
    "FAQ %s is not cached yet, and a synchronous call in an event loop cannot wait for it: "
    "add FAQMiddleware around the application, or `await embed.aprefetch(...)` before"
)


class PageStates:
    """Reads what is published, and drafts for a page with a preview token, for the pages of one embed."""

    def __init__(self, settings: Settings, reader: Reader, options: OptionResolver) -> None:
        self._settings = settings
        self._reader = reader
        self._options = options
        self._missing = LogOnce()  # a log of its own: visitors who invent slugs use up its limit

    async def prefetch(
        self, page: Page, slugs: Sequence[str], lang: str | None, *, blocks: bool
    ) -> list[FAQ]:
        """Fetch the FAQs that are not cached, together, and return the records."""
        for slug in slugs:
            if not is_slug(slug):
                self.report(slug, invalid_slug(slug))
        keys = [self._options.key(page, slug, lang) for slug in slugs if is_slug(slug)]
        found = [self.look_up_newest(page, key) for key in keys]
        states = [await self.result(page, one, self._settings.wait, blocks=blocks) for one in found]
        if not blocks:
            page.prefetched.update(keys)
        return [state.data for state in states if state.data is not None]

    def report(self, subject: object, error: FAQError) -> None:
        """Report why an FAQ is not shown: raise it if strict, else log it once."""
        if self._settings.strict:
            raise error
        # A fetch reports its error itself; a local source needs no fetch.
        is_local = self._reader.source.is_local
        if is_local or isinstance(error, ConfigurationError) or not is_slug(subject):
            self._missing.warning(str(error), "%s", error)

    def look_up(self, page: Page, key: Key) -> "FAQState | Fetch":
        """Return the state of an FAQ on this page, or the fetch that it waits for."""
        if page.slugs is not None:
            page.slugs[key.slug] = None
        if page.states:
            state = page.states.get((self._reader, key))
            if state is not None and not state.is_loading:
                return state
        has_files = self._reader.source.files is not None
        found = self._reader.look_up(key, reload=has_files and page.shows_problems)
        if isinstance(found, FAQState):
            page.states[self._reader, key] = found
        return found

    def look_up_newest(self, page: Page, key: Key) -> "FAQState | Fetch":
        """Return the draft that the visitor may see, else what is published, as `look_up` does."""
        preview = page.preview
        if preview is None or (token := preview.token_for(key.slug)) is None:
            return self.look_up(page, key)
        draft = Key(key.slug, key.lang, token)
        found = self.look_up(page, draft)
        return self._settled(page, draft, found) if isinstance(found, FAQState) else found

    async def result(self, page: Page, found: "FAQState | Fetch", wait: float, *, blocks: bool) -> FAQState:
        """Return the result of a look-up, waiting for a fetch for the rest of the page's time budget.

        `blocks` is whether the caller waits by blocking its thread. In an event loop it must not, so it gets
        the published record instead of a draft.
        """
        while not isinstance(found, FAQState):
            if not blocks or page.may_block or not in_event_loop():
                with page.budget.waiting(wait) as seconds:
                    state = await self._reader.arrived(found, seconds, blocks=blocks)
                found = self._settled(page, found.key, state)
            elif found.is_draft:
                found = self.look_up(page, Key(found.key.slug, found.key.lang))
            else:
                return self._reader.state(found.key)
        return found

    def _settled(self, page: Page, key: Key, state: FAQState) -> "FAQState | Fetch":
        """Keep a state for the whole page, and return it; for a draft that is missing, look up the FAQ."""
        page.states[self._reader, key] = state
        if key.token is None or page.preview is None:
            return state
        if state.data is None:
            page.preview.refuse(key.slug, state.error)
            return self.look_up(page, Key(key.slug, key.lang))
        page.preview.accept(state.data)
        return state

    def record(self, page: Page, key: Key, state: FAQState) -> FAQ:
        """Return the record of a state, or raise why there is none."""
        self.limit_max_age(page, key, state)
        if not state.is_loading:
            return data_or_raise(state)
        if (self._reader, key) not in page.states:  # this page has not waited for it
            self._options.log.warning("middleware", CANNOT_WAIT, quoted(key.slug))
            raise FAQUnavailable(CANNOT_WAIT % quoted(key.slug))
        raise self._reader.reporter.late(key.slug, self._settings.wait)

    def limit_max_age(self, page: Page, key: Key, state: FAQState) -> None:
        """Let caches store the page only until the next fetch, if the FAQ is missing or degraded."""
        if (seconds := self._reader.max_age(key, state)) is not None:
            page.limit_max_age(seconds)
