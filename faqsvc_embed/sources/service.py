"""The FAQs of a service, over HTTP, with its drafts and its change feed.

The feed announces that an FAQ was edited or unpublished, so that it reaches this process within seconds. The
record, or the 410, always comes from a separate request, so a wrong feed only causes additional requests.
"""

import asyncio
import importlib
import random
import weakref
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from math import inf
from typing import Final

import httpx2

from faqsvc_embed.api.contract import MAX_SLUGS, PREVIEW_HEADER
from faqsvc_embed.api.requests import EVENT_STREAM, NO_VALIDATORS, feed_request, read_request
from faqsvc_embed.api.responses import (
    JSON_TYPES,
    NOT_OFFERED,
    Failed,
    FAQChange,
    Fetched,
    Outcome,
    parse_change,
    parse_response,
    parse_retry_after,
)
from faqsvc_embed.api.transport import Transport, load_certificates, open_stream
from faqsvc_embed.cache.source import BaseSource, Feed, Files, Read, Refresh
from faqsvc_embed.errors import FAQError, FAQUnavailable
from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.backoff import longest_backoff
from faqsvc_embed.runtime.bounded_log import LogOnce, logger
from faqsvc_embed.settings import Settings

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


# The change feed

SETTLE: Final = 0.2
"""Seconds to collect new slugs before a connection is opened to follow them."""
RECONNECT_INTERVAL: Final = 1.0
"""Minimum seconds between two connections."""
MISSING_INTERVAL: Final = 10.0
"""Minimum seconds between two connections if only missing FAQs are new: visitors can invent slugs."""
MAX_DELAY: Final = 5.0
"""Maximum seconds between two attempts while the service is down: edits arrive soon after a restart."""
STABLE: Final = 60.0
"""Seconds after which a connection that ends has not failed."""
REFRESHES: Final = 50
"""Refreshes per second, if all FAQs are refreshed at once."""
REFRESH_INTERVAL: Final = 0.5
"""Seconds after the refresh of a slug in which further changes are collected into one refresh."""
IDLE_TIMEOUT: Final = 45.0
"""Seconds without a byte after which the connection counts as dead; the service sends some every 15."""
MAX_RESETS: Final = 10
"""Resets on one connection above which it counts as broken: each revalidates everything that is followed."""
MAX_EVENT: Final = 16_384
"""Maximum bytes of one event; an FAQ service sends about 300."""
NOT_OFFERED_INTERVAL: Final = 600.0
"""Seconds until a service without a feed is asked again: a gateway may have responded in its place."""

_random: Final = random.SystemRandom()  # the host may seed the generator of the module


class ChangeFeed:
    """Follows the cached slugs by one connection, in a task of the background loop."""

    def __init__(
        self, base_url: str, timeout: float, cached_slugs: Callable[[], list[str]], refresh: Refresh
    ) -> None:
        """`timeout` limits the seconds until a connection is open; `cached_slugs` returns what to follow."""
        self._base_url = base_url
        self._timeout = timeout
        self._cached_slugs = cached_slugs
        self._refresh = weakref.WeakMethod(refresh)  # so that the feed does not keep an unused embed alive
        self._log = LogOnce()
        self._reset()
        fork.register(self)

    def _reset(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self.is_connected: bool = False
        self._slugs = frozenset[str]()
        """The slugs of the connection, open or not."""
        self._heard = frozenset[str]()
        """Slugs whose changes since `_last_id` have all arrived."""
        self._last_id = ""
        self._deadline = asyncio.Timeout(None)
        """The end of the connection."""
        self._due = inf
        """When to connect again, to follow new slugs."""
        self._connected_at = 0.0
        self._changes: dict[str, FAQChange | None] = {}
        """The slugs with a timer, and the change that is passed on when it ends; None if there is none.

        A slug keeps a timer after its refresh, so that the changes of that time become one refresh.
        """

    def follow(self, slug: str, *, is_missing: bool = False, may_be_old: bool = False) -> None:
        """Follow the changes of a slug, from a coroutine of the background loop.

        If its record `may_be_old`, it is refreshed, even if the slug is followed already.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._reset()
            self._loop = loop
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._run())
        elif slug in self._slugs:
            if may_be_old:
                self._changed(FAQChange(slug, state=None))
        elif len(self._slugs) >= MAX_SLUGS:
            message = "the change feed has no room for %r and others: they expire as usual"
            self._log.warning("full", message, slug)
        else:
            interval = MISSING_INTERVAL if is_missing else RECONNECT_INTERVAL
            self._due = min(self._due, max(loop.time(), self._connected_at + interval))
            if self.is_connected and not self._deadline.expired():
                self._deadline.reschedule(self._due)

    def after_fork(self) -> None:
        """Forget the connection in a forked child, because it belongs to the parent."""
        self._loop, self.is_connected = None, False

    async def _run(self) -> None:
        """Keep a connection until nothing is cached any more."""
        failures, loop = 0, asyncio.get_running_loop()
        while self._refresh() is not None:
            await asyncio.sleep(SETTLE)
            self._slugs, self._due = frozenset(self._cached_slugs()[:MAX_SLUGS]), inf
            if not self._slugs:
                return
            started = loop.time()
            try:
                async with asyncio.timeout(None) as self._deadline:
                    await self._receive()
            except (FAQError, TimeoutError) as error:
                if self._deadline.expired():  # there are new slugs to follow
                    continue
                was_open = self._connected_at > started
                if was_open and loop.time() - self._connected_at > STABLE:
                    failures = 0
                if not failures:
                    logger.info("the change feed is interrupted; records expire as usual: %s", error)
                failures += 1
                await asyncio.sleep(_delay(error, failures, was_open=was_open))

    async def _receive(self) -> None:
        """Open a connection, and pass on what arrives until it ends."""
        request = feed_request(self._base_url, self._slugs, self._last_id)
        async with open_stream(request, self._timeout, IDLE_TIMEOUT) as response:
            _check(response)
            response.encoding = "utf-8"  # as all event streams are, whatever their header says
            resets = 0
            new, self._heard = self._slugs - self._heard, self._slugs
            self._connected_at, self.is_connected = asyncio.get_running_loop().time(), True
            self._deadline.reschedule(None if self._due == inf else self._due)
            try:
                self._refresh_all(new)  # they may have changed before the connection
                async for event in httpx2.EventSource(response, MAX_EVENT):
                    if event.id.isascii() and event.id.isprintable():  # it is sent back in a header
                        self._last_id = event.id or self._last_id
                    change = parse_change(event.data) if event.event == "faq" else None
                    if change is not None and change.slug in self._slugs:
                        self._changed(change)
                    elif event.event == "reset":  # the service no longer has the events since `_last_id`
                        self._refresh_all(self._slugs)
                        resets += 1
                        if resets > MAX_RESETS:
                            raise FAQUnavailable("it sends too many resets")
                raise FAQUnavailable("the service closed it")
            finally:
                self.is_connected = False

    def _refresh_all(self, slugs: Collection[str]) -> None:
        """Refresh slugs, spread over a time that is long enough."""
        for slug in slugs:
            self._changed(FAQChange(slug, state=None), _random.random() * len(slugs) / REFRESHES)

    def _changed(self, change: FAQChange, delay: float = 0.0) -> None:
        """Refresh a slug after `delay` seconds, or with its timer; a mere refresh replaces no change."""
        if change.slug not in self._changes:
            asyncio.get_running_loop().call_later(delay, self._announce, change.slug)
        if change.state is not None or self._changes.get(change.slug) is None:
            self._changes[change.slug] = change

    def _announce(self, slug: str) -> None:
        """End the timer of a slug: refresh it if it has changed, and start the next timer."""
        change, refresh = self._changes.pop(slug), self._refresh()
        if change is not None and refresh is not None:
            self._changes[slug] = None
            asyncio.get_running_loop().call_later(REFRESH_INTERVAL, self._announce, slug)
            refresh(change)


def _delay(error: Exception, failures: int, *, was_open: bool) -> float:
    """Return the seconds after which to connect again, with jitter."""
    delay = longest_backoff(failures)
    if not was_open and (getattr(error, "status", None) or 500) >= 500:  # the service is down
        delay = min(delay, MAX_DELAY)
    min_delay = getattr(error, "retry_after", None) or RECONNECT_INTERVAL
    return max(min_delay, delay * _random.uniform(0.5, 1.0))


def _check(response: httpx2.Response) -> None:
    """Raise FAQUnavailable unless a response is a feed; `retry_after` may say when to try again."""
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status_code == 200 and media_type == EVENT_STREAM:
        return
    retry_after = parse_retry_after(response.headers.get("retry-after"), datetime.now(UTC))
    if response.status_code in NOT_OFFERED and media_type in JSON_TYPES:  # HTML may be of a proxy
        retry_after = NOT_OFFERED_INTERVAL
    message = f"the response is not a change feed: {response.status_code}, {media_type[:100]!r}"
    raise FAQUnavailable(message, status=response.status_code, retry_after=retry_after)
