"""Reads drafts for visitors with a preview token. Drafts are never cached or stored."""

from datetime import UTC, datetime
from typing import Final

from faqsvc_embed.api.contract import PREVIEW_HEADER
from faqsvc_embed.api.requests import Request, read_request
from faqsvc_embed.api.responses import Fetched, parse_response
from faqsvc_embed.api.transport import Transport
from faqsvc_embed.cache.entries import Entry, Key
from faqsvc_embed.cache.fetch import Fetch
from faqsvc_embed.errors import FAQError, FAQUnavailable
from faqsvc_embed.settings import Settings

MAX_DRAFTS: Final = 5
"""Maximum number of drafts that are fetched at once, because any visitor can invent tokens."""


class DraftReader:
    """Fetches the drafts of one service."""

    def __init__(self, settings: Settings, transport: Transport) -> None:
        self._settings = settings
        self._transport = transport
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
            done = self._transport.submit(work)
        except RuntimeError as error:
            work.close()
            fetch.resolve(Entry(key, error=FAQUnavailable(f"no thread to fetch with: {error}")))
            return fetch
        interrupted = Entry(key, error=FAQUnavailable(f"fetching the draft of {key.slug!r} was interrupted"))
        done.add_done_callback(lambda _: fetch.resolve(interrupted))
        return fetch

    async def _read(self, fetch: Fetch, token: str) -> None:
        key = fetch.key
        request = read_request(self._settings.base_url, key.slug, key.lang)
        request = Request(request.url, {**request.headers, PREVIEW_HEADER: token})
        response = await self._transport.send(request, self._settings.timeout)
        if isinstance(response, FAQError):
            fetch.resolve(Entry(key, error=response))
            return
        outcome = parse_response(response, request, key.slug, datetime.now(UTC))
        if isinstance(outcome, Fetched) and outcome.cache_control.no_store:
            fetch.resolve(Entry(key, outcome.faq))
            return
        # A cache before the service may ignore `Vary`, and respond with what is published.
        no_draft = FAQUnavailable(f"the response to {request.url} is not a draft: it lacks no-store")
        fetch.resolve(Entry(key, error=getattr(outcome, "error", no_draft)))

    def after_fork(self) -> None:
        """Forget the fetches in a forked child, because they belong to the parent."""
        self._under_way.clear()
