"""Sends each change of an FAQ to a CDN or a host, as a message of Standard Webhooks (standardwebhooks.com).

Each change is one message. One process of the service at a time sends the messages, in order, and repeats
each until the receiver accepts it, or has refused it five times. The database has the number of the last
accepted message. If a process is killed just after a message was accepted, the message is sent again with
the same id.
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
from faqsvc_embed.api.requests import user_agent
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import Storage, StorageUnavailable
from faqsvc_embed.service.storage.change_log import LoggedChange
from faqsvc_embed.service.storage.deliveries import Deliveries
from faqsvc_embed.service.telemetry.outages import webhook_outages

POLL: Final = 0.5
"""Seconds between two queries for changes."""
TIMEOUT: Final = 10.0
"""Seconds for one delivery."""
CLAIM: Final = 30.0
"""Seconds after which another process takes over from one that was killed."""
BATCH: Final = 100
"""Changes that are read at a time."""
BACKOFF_BASE: Final = 1.0
BACKOFF_CAP: Final = 300.0
"""Seconds after the first failure, doubled with each further one up to the cap."""
MAX_REFUSALS: Final = 5
"""Refusals of a message after which the next one is sent."""
UNAVAILABLE: Final = frozenset({408, 425, 429, 502, 503, 504})
"""Statuses that do not refuse the message: it is repeated until the receiver returns another status."""
PREFIX: Final = "whsec_"

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

logger: Final = logging.getLogger("faqsvc_embed.service")

_is_delivering: Final = ContextVar("faqsvc_is_delivering", default=False)


class Refused(Exception):
    """The receiver responded, but did not accept the message."""


class Webhook:
    """Delivers the changes of all FAQs to one URL."""

    def __init__(self, storage: Storage, url: str, secret: str) -> None:
        """Raise ConfigurationError if the URL or the secret is not valid."""
        self._url = _valid_url(url)
        self._signer = _signer(secret)
        self._storage = storage
        self._deliveries = Deliveries(storage.database, storage.clock, url)
        self._failures = 0

    async def run(self) -> None:
        """Deliver until the task is cancelled."""
        _is_delivering.set(True)  # in the context of this task
        logging.getLogger("httpx2").addFilter(_may_be_logged)  # adding it again has no effect
        has_begun = False
        async with httpx2.AsyncClient(timeout=TIMEOUT, follow_redirects=False) as client:
            while True:
                try:
                    if not has_begun:
                        await _in_thread(self._deliveries.begin)
                        has_begun = True
                    if await _in_thread(self._deliveries.are_due):
                        await self._deliver(client)
                except StorageUnavailable:  # `run_blocking` has reported it
                    pass
                except Exception as error:  # the next round tries again
                    webhook_outages.failed(error)
                await asyncio.sleep(POLL)

    async def _deliver(self, client: httpx2.AsyncClient) -> None:
        delivered = await _in_thread(self._deliveries.claim, CLAIM)
        if delivered is None:
            return
        try:
            for number, message_id, message in await _in_thread(self._messages, delivered):
                refusals = 0
                while (problem := await self._post(client, message_id, message)) is not None:
                    webhook_outages.failed(problem)
                    refusals += isinstance(problem, Refused)
                    if refusals == MAX_REFUSALS:
                        webhook_outages.dropped += 1
                        logger.error("the webhook refused the message %s for good: %s", message_id, problem)
                        break
                    longest = min(BACKOFF_BASE * 2.0 ** min(self._failures, 10), BACKOFF_CAP)
                    self._failures += 1
                    delay = longest * random.uniform(0.5, 1.0)
                    if await _in_thread(self._deliveries.claim, delay + CLAIM) is None:
                        return
                    await asyncio.sleep(delay)
                else:
                    webhook_outages.succeeded()
                self._failures = 0
                await _in_thread(self._deliveries.advance, number)
                if await _in_thread(self._deliveries.claim, CLAIM) is None:
                    return
        finally:
            with suppress(StorageUnavailable):  # the claim expires by itself
                await _in_thread(self._deliveries.release)

    def _messages(self, delivered: int) -> list[tuple[int, str, bytes]]:
        """Return the number, the id and the body of the next messages."""
        first, _ = self._storage.changes.kept()
        if delivered < first - 1:  # the log no longer has all missed changes
            body = _body("faqs.reset", self._storage.clock(), {})
            return [(first - 1, f"reset-{first - 1}", body)]
        return [_message(change) for change in self._storage.changes.after(delivered, BATCH)]

    async def _post(self, client: httpx2.AsyncClient, message_id: str, body: bytes) -> Exception | None:
        """Send a message; return None if it was accepted, else the reason."""
        now = datetime.now(UTC)
        headers = {
            "content-type": "application/json",
            "user-agent": user_agent(),
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": self._signer.sign(message_id, now, body.decode()),
        }
        try:
            async with (
                asyncio.timeout(TIMEOUT),
                client.stream("POST", self._url, content=body, headers=headers) as response,
            ):
                if response.is_success:
                    return None
                kind = OSError if response.status_code in UNAVAILABLE else Refused
                return kind(f"it returned {response.status_code}")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:  # also a TimeoutError
            return OSError(type(error).__name__)  # the message of the error may have the URL


async def _in_thread(function: Callable[[*Ts], T], *args: *Ts) -> T:
    """Call a function in a thread; when cancelled, wait for the thread, which may use the database."""
    call = asyncio.ensure_future(run_blocking(function, *args))
    try:
        return await asyncio.shield(call)
    except asyncio.CancelledError:
        await asyncio.wait([call])
        raise


def _may_be_logged(record: logging.LogRecord) -> bool:
    """Refuse the lines in which the HTTP client names the webhook's URL, which may contain a password."""
    return record.levelno > logging.INFO or not _is_delivering.get()


def _message(change: LoggedChange) -> tuple[int, str, bytes]:
    state = "unpublished" if change.revision is None else "published"
    data = {
        "slug": change.slug,
        "lang": change.lang,
        "revision": change.revision,
        "tag": cache_tag(change.slug),
    }
    # With the time, because two databases under one URL may have the same numbers.
    message_id = f"faq-{change.number}-{int(change.created_at.timestamp())}"
    return change.number, message_id, _body(f"faq.{state}", change.created_at, data)


def _body(type_: str, at: datetime, data: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"type": type_, "timestamp": at.isoformat(), "data": data})


def _valid_url(url: str) -> str:
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
    except Exception:  # errors of base64 and the library may show the secret
        signer = None
    if signer is None:
        raise ConfigurationError(
            "webhook_secret (not shown): expected whsec_ and base64, as `openssl rand -base64 32` prints it"
        )
    return signer
