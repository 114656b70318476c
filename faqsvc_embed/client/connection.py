"""Sends the requests of a client, and waits for them in threads and event loops."""

import logging
import traceback
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from copy import copy
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from faqsvc_embed.api.publish_response import masked
from faqsvc_embed.api.requests import Request
from faqsvc_embed.api.responses import Response
from faqsvc_embed.errors import AuthenticationError, FAQError, FAQUnavailable, OutcomeUnknown, without_keys
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from faqsvc_embed.runtime.threads import wait_for
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.api_key import APIKey

T = TypeVar("T")

_NO_KEY: Final = (
    "no API key: set FAQSVC_API_KEY, or api_key in Python; `faqsvc keys create` makes one, and so does the "
    "desk, under Site, Keys"
)

logger: logging.Logger = logging.getLogger("faqsvc_embed")


class Connection:
    """Sends requests to one service.

    Errors are returned as values and raised only for the caller, so that no traceback leads to a response or
    to the key.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        # Imported here, so that importing the package loads no HTTP client.
        from faqsvc_embed.api.transport import Transport

        self._transport = Transport(settings.max_bytes, keeps_connections=True)
        self._background = BackgroundLoop()

    def with_settings(self, settings: Settings) -> "Connection":
        """Return a connection with other settings, such as another key, over the same transport."""
        connection = copy(self)
        connection.settings = settings
        return connection

    def key(self) -> APIKey:
        """Return the API key; raises AuthenticationError if there is none."""
        if self.settings.api_key is None:
            raise AuthenticationError(_NO_KEY)
        return self.settings.api_key

    async def exchange(
        self,
        request: Request,
        parse: Callable[[Response, datetime], T | FAQError],
        key: APIKey | None = None,
        *,
        timeout: float | None = None,
    ) -> T | FAQError:
        """Send a request once, and return its parsed response or an error."""
        about = f"{request.method} {request.url}"
        if self.settings.offline:
            return FAQUnavailable(f"offline: {about} is not sent")
        try:
            response = await self._transport.send(request, timeout or self.settings.timeout, key=key)
            if isinstance(response, FAQError):
                return _masked(response, key)
            return parse(response if key is None else masked(response, key), datetime.now(UTC))
        except Exception as error:  # a bug of this package: the log must not show the key
            text = "".join(traceback.format_exception(error))
            logger.error("%s failed:\n%s", about, key.mask(text) if key else without_keys(text))
            kind = FAQUnavailable if request.method == "GET" else OutcomeUnknown
            return kind(f"{about} failed: {type(error).__name__}; the log has the traceback")

    def wait(self, work: Coroutine[Any, Any, T | FAQError]) -> T:
        """Run work on the background loop and wait for it; a Ctrl-C cancels the work."""
        future = self._start(work)
        try:
            wait_for(future)
            outcome = future.result()
        except CancelledError:
            outcome = FAQUnavailable("the client was closed during the request")
        except BaseException:
            future.cancel()
            raise
        return _or_raise(outcome)

    async def await_(self, work: Coroutine[Any, Any, T | FAQError]) -> T:
        """Run work on the background loop and await it; cancelling the awaiting task cancels the work."""
        import asyncio

        future = self._start(work)
        try:
            outcome = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            outcome = FAQUnavailable("the client was closed during the request")
        return _or_raise(outcome)

    def close(self) -> None:
        """Close the connections and stop the background thread within a second; later calls restart it."""
        self._background.close()

    def _start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            return self._background.submit(work)
        except RuntimeError as error:
            work.close()
            raise FAQUnavailable(f"cannot start a thread to send with: {error}") from None


def _masked(error: FAQError, key: APIKey | None) -> FAQError:
    """Return an error of the HTTP client with the key masked in its message."""
    copied = error.without_traceback()
    if key is not None:
        copied.args = (key.mask(str(error)),)
    return copied


def _or_raise(outcome: T | FAQError) -> T:
    if isinstance(outcome, FAQError):
        raise outcome
    return outcome
