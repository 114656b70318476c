"""Sends the requests of a client, and waits for them in threads and event loops."""

import asyncio
import logging
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError
from copy import copy
from datetime import UTC, datetime
from typing import Final, TypeVar

from faqsvc_embed.api.publish_response import masked
from faqsvc_embed.api.requests import Request
from faqsvc_embed.api.responses import Response
from faqsvc_embed.errors import AuthenticationError, FAQError, FAQUnavailable, OutcomeUnknown, without_keys
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from faqsvc_embed.runtime.threads import wait_for
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.api_key import APIKey

T = TypeVar("T")
Parse = Callable[[Response, datetime], T | FAQError]

_NO_KEY: Final = (
    "no API key: set FAQSVC_API_KEY, or api_key in Python; `faqsvc keys create` makes one, and so does the "
    "desk, under Site, Keys"
)

logger: logging.Logger = logging.getLogger("faqsvc_embed")


class Connection:
    """Sends requests to one service.

    The background loop returns errors as values. They are raised only for the caller, so that no traceback
    leads to a response or to the key.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.blocks = False
        """Whether `send` blocks the thread of its caller, and so awaits nothing."""
        # Imported here, so that importing the package loads no HTTP client.
        from faqsvc_embed.api.transport import Transport

        self._transport = Transport(settings.max_bytes, keeps_connections=True)
        self._background = BackgroundLoop()

    def with_settings(self, settings: Settings, *, blocks: bool = False) -> "Connection":
        """Return a connection with other settings, such as another key, over the same transport."""
        connection = copy(self)
        connection.settings, connection.blocks = settings, blocks
        return connection

    async def send(
        self, request: Request, parse: Parse[T], *, is_public: bool = False, timeout: float | None = None
    ) -> T:
        """Send a request once, with the API key unless it `is_public`, and return the parsed response.

        A Ctrl-C, or cancelling the task that awaits it, cancels the request.
        """
        key = None if is_public else self.settings.api_key
        if key is None and not is_public:
            raise AuthenticationError(_NO_KEY)
        work = self._exchange(request, parse, key, timeout or self.settings.timeout)
        try:
            future = self._background.submit(work)
        except (RuntimeError, OSError) as error:  # OSError: too many open files
            work.close()
            raise FAQUnavailable(f"cannot start a thread to send with: {error}") from None
        try:
            if self.blocks:
                wait_for(future)
                outcome = future.result()
            else:
                outcome = await asyncio.wrap_future(future)
        except (CancelledError, asyncio.CancelledError):
            if not self.blocks and (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            outcome = _failed(request, "the client was closed during the request")
        except BaseException:
            future.cancel()
            raise
        if isinstance(outcome, FAQError):
            raise outcome
        return outcome

    async def _exchange(
        self, request: Request, parse: Parse[T], key: APIKey | None, timeout: float
    ) -> T | FAQError:
        """Return the parsed response to a request, or an error."""
        about = f"{request.method} {request.url}"
        if self.settings.offline:
            return FAQUnavailable(f"offline: {about} is not sent")
        try:
            response = await self._transport.send(request, timeout, key=key)
            if isinstance(response, FAQError):
                return _masked(response, key)
            return parse(response if key is None else masked(response, key), datetime.now(UTC))
        except Exception as error:  # a bug of this package: the log must not show the key
            text = "".join(traceback.format_exception(error))
            logger.error("%s failed:\n%s", about, key.mask(text) if key else without_keys(text))
            return _failed(request, f"{about} failed: {type(error).__name__}; the log has the traceback")

    def close(self) -> None:
        """Close the connections and stop the background thread within a second; later calls restart it."""
        self._background.close()


def _failed(request: Request, message: str) -> FAQError:
    """Return the error for a request without a usable response. A write may have been done."""
    return FAQUnavailable(message) if request.method == "GET" else OutcomeUnknown(message)


def _masked(error: FAQError, key: APIKey | None) -> FAQError:
    """Return an error of the HTTP client with the key masked in its message."""
    copied = error.without_traceback()
    if key is not None:
        copied.args = (key.mask(str(error)),)
    return copied
