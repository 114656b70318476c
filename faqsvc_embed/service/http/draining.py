"""Lingering close: read the rest of a refused request body, so that the client can read the response."""

from typing import Final

import anyio
from starlette.types import Message, Receive, Scope, Send

SMALL_BODY: Final = 65_536
"""Up to this number of bytes, the server reads the rest, and can then reuse the connection."""
MAX_DRAINED: Final = 8_000_000
"""Bytes of a body that are read and discarded before the connection is closed."""
DRAIN_TIMEOUT: Final = 2.0
"""Seconds for reading them."""


class BodyTracker:
    """A `receive` that records whether the whole request body has arrived."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        self._is_large = b"transfer-encoding" in headers or not length.isdigit() or int(length) > SMALL_BODY
        self._receive = receive
        self._is_complete = False

    async def __call__(self) -> Message:
        message = await self._receive()
        self._is_complete = not message.get("more_body", False)
        return message

    @property
    def must_be_drained(self) -> bool:
        """Whether the rest of the body may be too large for the server to discard."""
        return self._is_large and not self._is_complete

    async def drain(self) -> None:
        """Read and discard the rest, within the limits above."""
        size = 0
        with anyio.move_on_after(DRAIN_TIMEOUT):
            while size < MAX_DRAINED and not self._is_complete:
                size += len((await self()).get("body", b""))


def drain_before_close(body: BodyTracker, send: Send) -> Send:
    """Return a `send` that delivers the whole response, then drains the request, then ends the response.

    A client that is still sending when the connection is closed may never read the response.
    """

    async def send_and_drain(message: Message) -> None:
        is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
        if not is_last:
            await send(message)
            return
        await send({**message, "more_body": True})
        await body.drain()
        await send({"type": "http.response.body"})

    return send_and_drain
