"""Ends a connection whose request nobody wants to read to its end, in a way that lets the answer arrive."""

from typing import Final

import anyio
from starlette.types import Message, Receive, Scope, Send

SHORT: Final = 65_536
"""Bytes of a body that a server may as well read and throw away, to use the connection again."""
MOST: Final = 8_000_000
"""Bytes of a body that are read and thrown away."""
PATIENCE: Final = 2.0
"""Seconds for that."""


class Incoming:
    """What comes of a request: passes its messages on, and knows when the last one did."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        self._may_be_long = b"transfer-encoding" in headers or not length.isdigit() or int(length) > SHORT
        self._receive = receive
        self._is_complete = False

    async def __call__(self) -> Message:
        message = await self._receive()
        self._is_complete = not message.get("more_body", False)
        return message

    @property
    def is_long(self) -> bool:
        """There is more of the body to come than can be left to the server."""
        return self._may_be_long and not self._is_complete

    async def linger(self) -> None:
        """Read on for a while: who is cut off while sending may never look at the answer."""
        size = 0
        with anyio.move_on_after(PATIENCE):
            while size < MOST and not self._is_complete:
                size += len((await self()).get("body", b""))


def lingering(incoming: Incoming, send: Send) -> Send:
    """Return a `send` that sends the whole answer, and only then lets the connection end, after a while."""

    async def send_and_linger(message: Message) -> None:
        is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
        if not is_last:
            await send(message)
            return
        await send({**message, "more_body": True})
        await incoming.linger()
        await send({"type": "http.response.body"})

    return send_and_linger
