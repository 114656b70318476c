"""A FAQ service on a real socket that can fail in many ways.

    with FaultyServer() as server:
        server.serve(record, {"Cache-Control": "max-age=60"})
        ...                                # requests to server.base_url get good responses
        server.behave(hang)                # from now on, every request hangs
        server.then(status(500), healthy)  # or: the next one fails, the one after it succeeds
        assert len(server.log) == 3

No wait here is longer than `MAX_WAIT`. All waits end when the server stops, and `close()` joins every thread.
"""

import socket
import socketserver
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, Self

from tests.support.faults.behaviours import healthy, refuse, status
from tests.support.faults.exchange import MAX_WAIT, Behaviour, Exchange, ReceivedRequest, Records

HOST: Final = "127.0.0.1"
_JOIN_TIMEOUT: Final = 60.0
_FEED: Final = "/api/v1/events"


class FaultyServer:
    """A threaded HTTP/1.1 server on a free port of 127.0.0.1, with keep-alive.

    `log` has every request in order of arrival, `connections` counts the connections so far. `base_url`
    stays the same through `refuse()` and `accept()`.

    Args:
        behaviour: the initial behaviour for every request.
        any_slug: whether slugs without a record get a sample record instead of a 404.
    """

    _scheme = "http"

    def __init__(self, behaviour: Behaviour = healthy, *, any_slug: bool = False) -> None:
        self.records: Records = Records(any_slug=any_slug)
        self.log: list[ReceivedRequest] = []
        self.connections: int = 0
        self.feed: Behaviour = status(404)
        """The behaviour for requests of the change feed, which are not in `log`."""
        self.feed_requests: int = 0
        self._behaviour = behaviour
        self._next = deque[Behaviour]()
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._open: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._errors: list[BaseException] = []
        self._listener = _Listener(0, self._start)
        self.host = HOST
        self.port: int = self._listener.server_address[1]
        self.accept()

    @property
    def base_url(self) -> str:
        """Scheme, host and port: the `base_url` of the settings under test."""
        return f"{self._scheme}://{self.host}:{self.port}"

    # Behaviour

    def serve(
        self, record: Mapping[str, Any], headers: Mapping[str, str] | None = None, *, lang: str | None = None
    ) -> None:
        """Add a record for its slug, in one language or in any.

        `headers`, if given, replace those of all later good responses, which are `Cache-Control: public,
        max-age=3600` at first. An ETag of the body is added if they have none; `{"ETag": ""}` sends none.
        """
        self.records.put(record, lang)
        if headers is not None:
            self.records.headers = dict(headers)

    def behave(self, behaviour: Behaviour) -> None:
        """Use this behaviour for all later requests; `refuse` closes the port, any other opens it."""
        with self._changed:
            self._behaviour = behaviour
            self._next.clear()
        if behaviour is refuse:
            self.refuse()
        else:
            self.accept()

    def then(self, *behaviours: Behaviour) -> None:
        """Use these behaviours for the next requests, one each, and then the one of `behave` again."""
        with self._changed:
            self._next.extend(behaviours)

    # Requests and connections so far

    def wait_for_requests(self, count: int, timeout: float = 60.0) -> None:
        """Wait until the log has `count` requests.

        Raises:
            AssertionError: they did not arrive within `timeout` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.log) >= count, timeout):
                raise AssertionError(f"{len(self.log)} of {count} requests arrived in {timeout} s")

    def wait_for_disconnects(self, timeout: float = 60.0) -> bool:
        """Wait until no client is connected; False if some still are after `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._open, timeout)

    @property
    def open_connections(self) -> int:
        """The number of connections that are open now."""
        return len(self._open)

    def forget_log(self) -> None:
        """Empty the log."""
        with self._changed:
            self.log.clear()

    # The port and the open connections

    def refuse(self) -> None:
        """Close the port and every connection, as a crash does; the port stays reserved."""
        self._listener.close()
        self.drop_connections()
        self._listener = _Listener(self.port, self._start)

    def accept(self) -> None:
        """Open the port, if it is closed."""
        self._listener.open()

    def drop_connections(self) -> None:
        """Close every connection."""
        with self._changed:
            connections = list(self._open)
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the port and every connection, and join every thread.

        Raises:
            AssertionError: a behaviour raised an exception other than an OSError, or does not end.
        """
        self._stopping.set()
        self._listener.close()
        self.drop_connections()
        with self._changed:
            threads = list(self._threads)
        deadline = time.monotonic() + _JOIN_TIMEOUT
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            raise AssertionError("a behaviour of the faulty service does not end")
        if self._errors:
            raise AssertionError("a behaviour of the faulty service raised an exception") from self._errors[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, connection: socket.socket) -> None:
        """Handle a new connection in a thread of its own."""
        with self._changed:
            self.connections += 1
            thread = threading.Thread(
                target=self._handle, args=(connection, self.connections), name="faulty-server", daemon=True
            )
            self._open.add(connection)
            self._threads.add(thread)
        thread.start()

    def _handle(self, connection: socket.socket, number: int) -> None:
        try:
            connection.settimeout(MAX_WAIT)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = self._begin(connection)
            while (request := ReceivedRequest.read(connection, number)) is not None:
                exchange = Exchange(request, connection, self.records, self._stopping)
                self._log(request)(exchange)
                if not exchange.keep_alive:
                    break
        except OSError:
            pass  # the client or the server closed the connection
        except BaseException as error:
            self._errors.append(error)
        finally:
            connection.close()
            with self._changed:
                self._open.discard(connection)
                self._threads.discard(threading.current_thread())
                self._changed.notify_all()

    def _log(self, request: ReceivedRequest) -> Behaviour:
        """Log a request, and return the behaviour for it."""
        with self._changed:
            if request.target.startswith(_FEED):
                self.feed_requests += 1
                return self.feed
            self.log.append(request)
            self._changed.notify_all()
            return self._next.popleft() if self._next else self._behaviour

    def _begin(self, connection: socket.socket) -> socket.socket:
        """Return the connection from which requests are read; tests of this package begin TLS here."""
        return connection


class _Listener(socketserver.TCPServer):
    """A port of 127.0.0.1, which is reserved at creation and accepts connections after `open()`."""

    allow_reuse_address = True
    request_queue_size = 1024

    def __init__(self, port: int, start: Callable[[socket.socket], None]) -> None:
        super().__init__((HOST, port), socketserver.BaseRequestHandler, bind_and_activate=False)
        self._start = start
        self._thread: threading.Thread | None = None
        try:
            self.server_bind()
        except BaseException:
            self.server_close()
            raise

    def open(self) -> None:
        """Accept connections from now on."""
        if self._thread is None:
            self.server_activate()
            self._thread = threading.Thread(
                target=self.serve_forever, args=(0.01,), name="faulty-server-listener", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Accept no more connections, and release the port."""
        if self._thread is not None:
            self.shutdown()
            self._thread.join()
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hand a connection over (called by socketserver)."""
        self._start(request)
