"""uvicorn's HTTP/1.1 protocol with a time-out for request heads and a limit of idle connections."""

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from faqsvc_embed.api.event_stream import FEED_PATH
from faqsvc_embed.service.http.open_files import open_file_limit
from faqsvc_embed.service.http.problems import Problem

HEAD_TIMEOUT: Final = 10.0
"""Seconds for the head of a request to arrive, from the start of the connection or the last response."""


class TimeoutH11Protocol(H11Protocol):
    """Closes connections that send no complete request head.

    uvicorn waits forever for the first head, and for the rest of a head. This closes the connection after
    `HEAD_TIMEOUT`. While connections use half of the files that this process may open, each new connection
    closes the one that has waited longest.
    """

    _deadline: asyncio.TimerHandle | None = None
    """Set while the connection waits for a head."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()
        if len(self.connections) > open_file_limit() // 2:
            self._close_oldest_idle()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:  # otherwise a pipelined request has begun
            self._start_timer()

    def shutdown(self) -> None:
        """Let the request finish, then close the connection. A stream of events never ends: close it now."""
        if self.cycle is not None and self.cycle.scope["path"] == FEED_PATH:
            self.transport.close()
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Respond to malformed HTTP with a problem document."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # no response has been started
            response = Problem(400, "bad-request", msg).response()
            headers = [*response.raw_headers, (b"connection", b"close")]
            head = h11.Response(status_code=response.status_code, headers=headers, reason=b"Bad Request")
            for event in (head, h11.Data(data=bytes(response.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _start_timer(self) -> None:
        if not self.transport.is_closing():
            self._deadline = self.loop.call_later(HEAD_TIMEOUT, self.transport.close)

    def _stop_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_oldest_idle(self) -> None:
        idle = [
            (other._deadline.when(), other)
            for other in self.connections
            if isinstance(other, TimeoutH11Protocol) and other._deadline is not None
        ]
        _, oldest = min(idle, key=lambda pair: pair[0])  # never empty: this connection is idle, too
        oldest._stop_timer()
        oldest.transport.close()
