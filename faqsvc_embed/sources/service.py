"""The FAQs of a service, over HTTP, with its change feed and its drafts."""

import importlib
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from faqsvc_embed.api.contract import PREVIEW_HEADER
from faqsvc_embed.api.requests import NO_VALIDATORS, Request, Validators, read_request
from faqsvc_embed.api.responses import Failed, Fetched, NotModified, Outcome, parse_response
from faqsvc_embed.api.transport import Transport, load_certificates, open_stream
from faqsvc_embed.cache.source import BaseSource, Feed, Files, Read, Refresher
from faqsvc_embed.errors import FAQError, FAQUnavailable
from faqsvc_embed.settings import Settings
from faqsvc_embed.sources.feed import ChangeFeed

if TYPE_CHECKING:
    from faqsvc_embed.sources.folder import FolderSource


# The HTTP client imports it for the first request. A child that is forked meanwhile would have half of it.
with suppress(ImportError):
    importlib.import_module("anyio._backends._asyncio")


class ServiceSource(BaseSource):
    """The FAQs of a service. With a folder, its files are shown until the service has responded."""

    has_drafts = True

    def __init__(self, settings: Settings, folder: "FolderSource | None" = None) -> None:
        self.name: str = settings.base_url
        self.follows_changes: bool = settings.push
        self.files: Files | None = folder
        self._timeout = settings.timeout
        self._transport = Transport(settings.max_bytes)
        load_certificates(settings.base_url)

    async def fetch(self, read: Read) -> Outcome:
        """Send the request. Repeat it once if its validators were wrong, or those of a forgotten record."""
        validators, start = read.validators(), time.monotonic()
        outcome = await self._send(read, validators, self._timeout)
        if isinstance(outcome, Failed):
            is_wrong = outcome.is_misdirected and bool(validators)
        else:  # the record was forgotten or replaced during the request
            is_wrong = isinstance(outcome, NotModified) and read.validators() != validators
        if is_wrong:
            outcome = await self._send(read, NO_VALIDATORS, self._timeout - (time.monotonic() - start))
        return outcome

    async def _send(self, read: Read, validators: Validators, timeout: float) -> Outcome:
        slug, lang = read.key.slug, read.key.lang
        request = read_request(self.name, slug, lang, validators)
        if read.skips_caches:
            request = Request(request.url, {**request.headers, "cache-control": "no-cache"})
        response = await self._transport.send(request, timeout)
        if isinstance(response, FAQError):
            return Failed(response)
        return parse_response(response, request, slug, read.wall_clock())

    async def fetch_draft(self, read: Read, token: str) -> Outcome:
        request = read_request(self.name, read.key.slug, read.key.lang)
        request = Request(request.url, {**request.headers, PREVIEW_HEADER: token})
        response = await self._transport.send(request, self._timeout)
        if isinstance(response, FAQError):
            return Failed(response)
        outcome = parse_response(response, request, read.key.slug, read.wall_clock())
        if isinstance(outcome, Fetched) and not outcome.cache_control.no_store:
            # A cache in front of the service may ignore `Vary`, and send the published record.
            return Failed(FAQUnavailable(f"the response to {request.url} is not a draft: it lacks no-store"))
        return outcome

    def feed(self, cached_slugs: Callable[[], list[str]], refresher: Refresher) -> Feed:
        timeout = self._timeout
        return ChangeFeed(self.name, lambda request: open_stream(request, timeout), cached_slugs, refresher)
