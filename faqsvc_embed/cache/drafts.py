"""Reads drafts for visitors with a preview token. Drafts are never cached or stored."""

from datetime import UTC, datetime
from typing import Final

from faqsvc_embed.api.requests import NO_VALIDATORS
from faqsvc_embed.api.responses import Fetched
from faqsvc_embed.cache.entries import Entry, Key
from faqsvc_embed.cache.fetch import Fetch
from faqsvc_embed.cache.source import BaseSource, Read
from faqsvc_embed.errors import FAQError, FAQUnavailable
from faqsvc_embed.runtime.background_loop import BackgroundLoop

MAX_DRAFTS: Final = 5
"""Maximum number of drafts that are fetched at once, because any visitor can invent tokens."""


class DraftReader:
    """Fetches the drafts of one source."""

    def __init__(self, source: BaseSource, background: BackgroundLoop) -> None:
        self._source = source
        self._background = background
        self._under_way = set[Fetch]()

    def start(self, key: Key, token: str) -> Fetch:
        """Start to fetch a draft. The fetch results in an entry with the draft, or with an error."""
        fetch = Fetch(key, is_draft=True)
        if len(self._under_way) >= MAX_DRAFTS:
            message = f"the draft of {key.slug!r} is not fetched: {MAX_DRAFTS} others are being fetched"
            fetch.resolve(Entry(key, error=FAQUnavailable(message)))
            return fetch
        self._under_way.add(fetch)
        fetch.result.add_done_callback(lambda _: self._under_way.discard(fetch))
        work = self._read(fetch, token)
        try:
            done = self._background.submit(work)
        except RuntimeError as error:
            work.close()
            fetch.resolve(Entry(key, error=FAQUnavailable(f"no thread to fetch with: {error}")))
            return fetch
        interrupted = Entry(key, error=FAQUnavailable(f"fetching the draft of {key.slug!r} was interrupted"))
        done.add_done_callback(lambda _: fetch.resolve(interrupted))
        return fetch

    async def _read(self, fetch: Fetch, token: str) -> None:
        read = Read(fetch.key, lambda: NO_VALIDATORS, lambda: datetime.now(UTC))
        outcome = await self._source.fetch_draft(read, token)
        if isinstance(outcome, Fetched):
            fetch.resolve(Entry(fetch.key, outcome.faq))
        else:
            error: FAQError = getattr(outcome, "error", FAQUnavailable("there is no draft"))
            fetch.resolve(Entry(fetch.key, error=error))

    def after_fork(self) -> None:
        """Forget the fetches in a forked child, because they belong to the parent."""
        self._under_way.clear()
