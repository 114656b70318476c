"""Who still sends a body reads the response that refuses it."""

import asyncio
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_TIME: Final = 1.0
"""Seconds in which the rest of a body is read."""
MAX_PAUSE: Final = 0.1
"""Seconds without a part of it, after which nobody seems to be sending."""
MAX_REST: Final = 32_000_000
"""Bytes of it."""

_WITH_BODY: Final = frozenset({b"content-length", b"transfer-encoding"})


class LingeringClose:
    """ASGI middleware that reads the rest of a request's body before the response is sent.

    granian closes the connection when a response is complete before the body of the request. A client or
    proxy that is still sending then gets a reset instead of the response (RFC 9112, 9.6). Caddy even stops
    sending, and drops the response, when it sees the head of one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a response that comes early waits for the body."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        names = {name for name, _ in scope["headers"]}
        if _WITH_BODY.isdisjoint(names) or b"expect" in names:  # nobody sends, or who does waits to be asked
            await self._app(scope, receive, send)
            return
        is_complete = False

        async def tracked_receive() -> Message:
            nonlocal is_complete
            message = await receive()
            is_complete = not message.get("more_body", False)
            return message

        async def read_rest() -> None:
            size = 0
            while not is_complete and size < MAX_REST:
                size += len((await asyncio.wait_for(tracked_receive(), MAX_PAUSE)).get("body", b""))

        async def send_later(message: Message) -> None:
            if not is_complete and message["type"] == "http.response.start":
                with suppress(TimeoutError):
                    await asyncio.wait_for(read_rest(), MAX_TIME)
            await send(message)

        await self._app(scope, tracked_receive, send_later)
