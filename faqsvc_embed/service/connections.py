"""Connections that ask nothing: they end after a while, and sooner if there are too many of them."""

import asyncio
import sys
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from faqsvc_embed.service.problems import Problem

HEAD_TIMEOUT: Final = 10.0
"""Seconds for the head of a request to come, from the connection's first moment or its last answer."""
MOST_FILES: Final = 8192
"""Open files to reckon with where the system has no limit, or a higher one."""


def open_files() -> int:
    """Return how many files, sockets among them, this process may have open."""
    if sys.platform == "win32":  # which has no such limit
        return MOST_FILES
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST_FILES if limit == resource.RLIM_INFINITY else min(limit, MOST_FILES)


class ImpatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, to clients who get to the point.

    uvicorn waits for ever for a head that began, or for the first one. Here a connection ends if it does not
    come in `HEAD_TIMEOUT`. Where connections take half of the files that the process may open, the one that
    has waited longest for a head ends for each one that comes.
    """

    _deadline: asyncio.TimerHandle | None = None
    """Set while a head is waited for."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Give a new connection its time, and make room for it if need be."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > open_files() // 2:
            self._end_the_oldest()

    def data_received(self, data: bytes) -> None:
        """Take what came; a head that is complete is not waited for."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_no_more()

    def on_response_complete(self) -> None:
        """Wait for the next head, unless it came already."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._wait_no_more()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP in the shape of all other errors."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # no answer is on its way already
            response = Problem(400, msg).response()
            headers = [*response.raw_headers, (b"connection", b"close")]
            head = h11.Response(status_code=response.status_code, headers=headers, reason=b"Bad Request")
            for event in (head, h11.Data(data=bytes(response.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait(self) -> None:
        if not self.transport.is_closing():
            self._deadline = self.loop.call_later(HEAD_TIMEOUT, self.transport.close)

    def _wait_no_more(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end_the_oldest(self) -> None:
        waiting = [
            (other._deadline.when(), other)
            for other in self.connections
            if isinstance(other, ImpatientProtocol) and other._deadline is not None
        ]
        _, oldest = min(waiting, key=lambda pair: pair[0])  # this one waits, if no other does
        oldest._wait_no_more()
        oldest.transport.close()
