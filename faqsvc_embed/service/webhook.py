"""Tells a CDN or a host which FAQs have changed, as the Standard Webhooks specification says.

Each change is one message. They are sent in order, by one process of the service at a time, and each until
it is accepted: the database has the number of the last one. A message that was accepted just before a
process was killed is sent again, with the same id.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, TypeVar, TypeVarTuple
from urllib.parse import urlsplit

import httpx2
import msgspec
from standardwebhooks import Webhook as Signer

from faqsvc_embed.api.cache_tags import cache_tag
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import Storage, StorageUnavailable
from faqsvc_embed.service.storage.change_log import LoggedChange
from faqsvc_embed.service.storage.deliveries import Deliveries
from faqsvc_embed.service.telemetry.outages import OutageLog

POLL: Final = 0.5
"""Seconds between two looks for changes."""
TIMEOUT: Final = 10.0
"""Seconds for one delivery."""
CLAIM: Final = 30.0
"""Seconds after which another process goes on, if the one that delivers was killed."""
BATCH: Final = 100
BACKOFF_BASE: Final = 1.0
BACKOFF_CAP: Final = 300.0
PREFIX: Final = "whsec_"

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_is_delivering: Final = ContextVar("faqsvc_is_delivering", default=False)


class Webhook:
    """Delivers the changes of all FAQs to one URL."""

    def __init__(self, storage: Storage, url: str, secret: str) -> None:
        """Raises ConfigurationError if the URL or the secret is not valid."""
        self._url = _checked(url)
        self._signer = _signer(secret)
        self._storage = storage
        self._deliveries = Deliveries(storage.database, storage.clock, url)
        self._outages = OutageLog("the webhook")
        self._failures = 0

    async def run(self) -> None:
        """Deliver until the task is cancelled."""
        _is_delivering.set(True)  # in the context of this task
        logging.getLogger("httpx2").addFilter(_is_of_others)  # the same filter is added once
        has_begun = False
        async with httpx2.AsyncClient(timeout=TIMEOUT, follow_redirects=False) as client:
            while True:
                try:
                    if not has_begun:
                        await _in_thread(self._deliveries.begin)
                        has_begun = True
                    if await _in_thread(self._deliveries.are_due):
                        await self._deliver(client)
                except StorageUnavailable:  # which is reported already
                    pass
                except Exception as error:  # the changes are still to be delivered
                    self._outages.failed(error)
                await asyncio.sleep(POLL)

    async def _deliver(self, client: httpx2.AsyncClient) -> None:
        delivered = await _in_thread(self._deliveries.claim, CLAIM)
        if delivered is None:
            return
        try:
            for number, message_id, message in await _in_thread(self._messages, delivered):
                while (problem := await self._post(client, message_id, message)) is not None:
                    self._outages.failed(OSError(problem))
                    longest = min(BACKOFF_BASE * 2.0 ** min(self._failures, 10), BACKOFF_CAP)
                    self._failures += 1
                    delay = longest * random.uniform(0.5, 1.0)
                    if await _in_thread(self._deliveries.claim, delay + CLAIM) is None:
                        return
                    await asyncio.sleep(delay)
                self._failures = 0
                self._outages.succeeded()
                await _in_thread(self._deliveries.advance, number)
                if await _in_thread(self._deliveries.claim, CLAIM) is None:
                    return
        finally:
            with suppress(StorageUnavailable):  # or else the claim expires
                await _in_thread(self._deliveries.release)

    def _messages(self, delivered: int) -> list[tuple[int, str, bytes]]:
        """Return the number, the id and the body of each next message."""
        first, _ = self._storage.changes.kept()
        if delivered < first - 1:  # the receiver was away for longer than the log reaches back
            body = _body("faqs.reset", self._storage.clock(), {})
            return [(first - 1, f"reset-{first - 1}", body)]
        return [_message(change) for change in self._storage.changes.after(delivered, BATCH)]

    async def _post(self, client: httpx2.AsyncClient, message_id: str, body: bytes) -> str | None:
        """Send a message; return why it was not accepted."""
        now = datetime.now(UTC)
        headers = {
            "content-type": "application/json",
            "user-agent": "faqsvc",
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": self._signer.sign(message_id, now, body.decode()),
        }
        try:
            async with (
                asyncio.timeout(TIMEOUT),
                client.stream("POST", self._url, content=body, headers=headers) as response,
            ):
                return None if response.is_success else f"it returned {response.status_code}"
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:  # also a TimeoutError
            return type(error).__name__


async def _in_thread(function: Callable[[*Ts], T], *args: *Ts) -> T:
    """Call a function in a thread. If it is cancelled, it ends with the thread, which uses the database."""
    call = asyncio.ensure_future(run_blocking(function, *args))
    try:
        return await asyncio.shield(call)
    except asyncio.CancelledError:
        await asyncio.wait([call])
        raise


def _is_of_others(record: logging.LogRecord) -> bool:
    """Return whether a line of the HTTP client is not about the webhook, whose URL may contain a password."""
    return record.levelno > logging.INFO or not _is_delivering.get()


def _message(change: LoggedChange) -> tuple[int, str, bytes]:
    state = "unpublished" if change.revision is None else "published"
    data = {
        "slug": change.slug,
        "lang": change.lang,
        "revision": change.revision,
        "tag": cache_tag(change.slug),
    }
    # The time tells apart the changes of two databases under one URL.
    message_id = f"faq-{change.number}-{int(change.created_at.timestamp())}"
    return change.number, message_id, _body(f"faq.{state}", change.created_at, data)


def _body(type_: str, at: datetime, data: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"type": type_, "timestamp": at.isoformat(), "data": data})


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid or not url.isascii() or not url.isprintable() or " " in url:
        raise ConfigurationError("webhook (not shown, it may contain a password): expected an http(s) URL")
    return url


def _signer(secret: str) -> Signer:
    try:
        signer = Signer(secret.strip()) if secret.startswith(PREFIX) else None
    except Exception:  # whatever base64 and the library raise, which may show the secret
        signer = None
    if signer is None:
        raise ConfigurationError(
            "webhook_secret (not shown): expected whsec_ and base64, as `openssl rand -base64 32` prints it"
        )
    return signer
