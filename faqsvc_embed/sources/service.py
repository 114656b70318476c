"""The FAQs of a service, over HTTP, with its change feed and its drafts."""

import importlib
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

from faqsvc_embed.api.contract import PREVIEW_HEADER
from faqsvc_embed.api.requests import NO_VALIDATORS, read_request
from faqsvc_embed.api.responses import Failed, Fetched, Outcome, parse_response
from faqsvc_embed.api.transport import Transport, load_certificates
from faqsvc_embed.cache.source import BaseSource, Feed, Files, Read, Refresh
from faqsvc_embed.errors import FAQError, FAQUnavailable
from faqsvc_embed.settings import Settings
from faqsvc_embed.sources.feed import ChangeFeed

# The HTTP client imports it for the first request. A child that is forked meanwhile would have half of it.
with suppress(ImportError):
    importlib.import_module("anyio._backends._asyncio")


class ServiceSource(BaseSource):
    """The FAQs of a service. With a folder, its files are shown until the service has responded."""

    has_drafts = True

    def __init__(self, settings: Settings, folder: Files | None = None) -> None:
        self.name: str = settings.base_url
        self.follows_changes: bool = settings.push
        self.files: Files | None = folder
        self._timeout = settings.timeout
        self._transport = Transport(settings.max_bytes)
        load_certificates(settings.base_url)

    async def fetch(self, read: Read) -> Outcome:
        """Send the request. Repeat it once without validators if the response confirms another record."""
        if read.key.token is not None:
            return await self._draft(read, read.key.token)
        headers = {"cache-control": "no-cache"} if read.skips_caches else {}
        outcome = await self._send(read, headers, read.cached)
        if (
            read.cached is not None
            and isinstance(outcome, Failed)
            and outcome.error.status == HTTPStatus.NOT_MODIFIED
        ):
            outcome = await self._send(read, headers)
        return outcome

    async def _draft(self, read: Read, token: str) -> Outcome:
        outcome = await self._send(read, {PREVIEW_HEADER: token})
        if isinstance(outcome, Fetched) and not outcome.cache_control.no_store:
            # A cache in front of the service may ignore `Vary`, and send the published record.
            message = f"{self.name} sent no draft of {read.key.slug!r}: its response lacks no-store"
            return Failed(FAQUnavailable(message))
        return outcome

    async def _send(self, read: Read, headers: dict[str, str], cached: Fetched | None = None) -> Outcome:
        validators = NO_VALIDATORS if cached is None else cached.validators
        request = read_request(self.name, read.key.slug, read.key.lang, validators, headers)
        response = await self._transport.send(request, self._timeout)
        if isinstance(response, FAQError):
            return Failed(response)
        return parse_response(response, request, read.key.slug, read.wall_clock(), cached)

    def feed(self, cached_slugs: Callable[[], list[str]], refresh: Refresh) -> Feed:
        return ChangeFeed(self.name, self._timeout, cached_slugs, refresh)
