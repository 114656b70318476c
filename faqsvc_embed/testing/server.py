"""A FAQ service on a real socket that can be told to fail in every way that a service fails.

    with FaultyServer() as server:
        server.serve(record, {"Cache-Control": "max-age=60"})
        ...                                # requests to server.base_url are answered well
        server.behave(hang)                # from now on, every request hangs
        server.then(status(500), healthy)  # or: the next one fails, the one after it is answered well
        assert len(server.log) == 3

A behaviour is a function of one `Exchange`: it reads the request and writes bytes; `faults` has a table of
them. Nothing here waits longer than `LONGEST`, a wait ends at once when the server stops, and `close()` joins
every thread.
"""

import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from types import TracebackType
from typing import Any, Final, Self

from faqsvc_embed.testing.exchange import LONGEST, Behaviour, Exchange, Gone, Received, as_json, made_up

_MAX_HEAD: Final = 65_536
_MAX_BODY: Final = 8 * 1024 * 1024


def healthy(exchange: Exchange) -> None:
    """Answer with the record, and with 304 where its ETag is known already; 404 if there is no record."""
    record = exchange.record()
    if record is None:
        exchange.reply(404, as_json({"title": "Not Found", "status": 404}), {"Cache-Control": "no-store"})
        return
    body = as_json(record)
    headers = {"ETag": f'"{sha256(body).hexdigest()[:16]}"', **exchange.server.headers}
    headers = {name: value for name, value in headers.items() if value}
    if "ETag" in headers and exchange.request.headers.get("if-none-match") == headers["ETag"]:
        exchange.reply(304, b"", headers)
    else:
        exchange.reply(200, body, headers)


def refuse(exchange: Exchange) -> None:
    """Close the port, by `behave(refuse)`; for one request of `then()`, the connection."""
    exchange.cut()


class FaultyServer:
    """A threaded HTTP/1.1 server on 127.0.0.1, at a free port, with keep-alive.

    `log` holds every request in order of arrival. `base_url` stays the same through `refuse()` and
    `accept()`. An exception inside a behaviour, other than `Gone`, is raised by `close()`. With
    `answers_all` it makes up a record for every slug that it was given none for. `secure` wraps each
    connection before anything is read of it, as TLS does; the address then has https.
    """

    def __init__(
        self,
        behaviour: Behaviour | None = None,
        *,
        answers_all: bool = False,
        secure: Callable[[socket.socket], socket.socket] | None = None,
    ) -> None:
        self.secure = secure
        self._scheme = "http" if secure is None else "https"
        self._answers_all = answers_all
        self.log: list[Received] = []
        self.connections = 0
        self.stopping = threading.Event()
        self._behaviour: Behaviour = behaviour or healthy
        self._next = deque[Behaviour]()
        self._records: dict[tuple[str, str | None], dict[str, Any]] = {}
        self._headers: dict[str, str] = {"Cache-Control": "public, max-age=3600"}
        self._changed = threading.Condition()
        self._open: set[socket.socket] = set()
        self._threads: set[threading.Thread] = set()
        self._errors: list[BaseException] = []
        self._listener = self._bind(("127.0.0.1", 0))
        self.host, self.port = self._listener.getsockname()[:2]
        self._acceptor: threading.Thread | None = None
        self._accepting = threading.Event()
        self.accept()

    @property
    def base_url(self) -> str:
        """The address to give to the package: scheme, host and port."""
        return f"{self._scheme}://{self.host}:{self.port}"

    # What it does

    def serve(
        self, record: Mapping[str, Any], headers: Mapping[str, str] | None = None, *, lang: str | None = None
    ) -> None:
        """Let `healthy` answer with this record for its slug, in one language or in any.

        `headers` are those of all healthy answers from now on; by default `Cache-Control: public,
        max-age=3600`. An ETag of the body is added, if `headers` names none; name it "" for none.
        """
        with self._changed:
            self._records[str(record["slug"]), lang] = dict(record)
            if headers is not None:
                self._headers = dict(headers)

    def find(self, slug: str, lang: str | None) -> dict[str, Any] | None:
        """Return the record of a slug in a language, else in any."""
        with self._changed:
            found = self._records.get((slug, lang)) or self._records.get((slug, None))
        return found or (made_up(slug) if self._answers_all else None)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of healthy answers."""
        with self._changed:
            return dict(self._headers)

    def behave(self, behaviour: Behaviour) -> None:
        """Meet every later request with this behaviour; `refuse` closes the port, any other opens it."""
        with self._changed:
            self._behaviour = behaviour
            self._next.clear()
        if behaviour is refuse:
            self.refuse()
        else:
            self.accept()

    def then(self, *behaviours: Behaviour) -> None:
        """Meet the next requests with these behaviours, one each, before the lasting one comes back."""
        with self._changed:
            self._next.extend(behaviours)

    # What it saw

    def wait_for_requests(self, count: int, timeout: float = 5.0) -> None:
        """Wait until `count` requests have arrived in all; AssertionError if they do not in time."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.log) >= count, timeout):
                raise AssertionError(f"{len(self.log)} of {count} requests arrived in {timeout} s")

    @property
    def has_connections(self) -> bool:
        """Somebody is connected."""
        with self._changed:
            return bool(self._open)

    def forget_log(self) -> None:
        """Count from zero again."""
        with self._changed:
            self.log.clear()

    # How it lives

    def refuse(self) -> None:
        """Close the port and every connection, as a process that died; the port stays reserved."""
        self._stop_accepting()
        self._hang_up()
        self._listener = self._bind((self.host, self.port))  # bound and not listening: nobody else takes it

    def accept(self) -> None:
        """Open the port again, if it is closed."""
        if self._acceptor is not None:
            return
        self._listener.listen(1024)
        self._accepting.set()
        self._acceptor = threading.Thread(target=self._accept, name="faulty-accept", daemon=True)
        self._acceptor.start()

    def close(self) -> None:
        """End every wait, close every socket, join every thread; raise what a behaviour raised."""
        self.stopping.set()
        self._stop_accepting()
        self._listener.close()
        self._hang_up()
        with self._changed:
            threads = list(self._threads)
        deadline = time.monotonic() + 10
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        alive = [thread.name for thread in threads if thread.is_alive()]
        if alive:
            raise AssertionError(f"the faulty server's threads do not end: {alive}")
        if self._errors:
            raise AssertionError("a behaviour failed") from self._errors[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def _bind(address: tuple[str, int]) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
        except BaseException:
            listener.close()
            raise
        return listener

    def _stop_accepting(self) -> None:
        acceptor, self._acceptor = self._acceptor, None
        if acceptor is None:
            return
        self._accepting.clear()
        with suppress(OSError):  # one connection of our own wakes accept() on every system
            socket.create_connection((self.host, self.port), timeout=1).close()
        acceptor.join(5)
        if acceptor.is_alive():
            raise AssertionError("the faulty server's accept() does not end")
        self._listener.close()

    def _hang_up(self) -> None:
        with self._changed:
            connections = list(self._open)
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if not self._accepting.is_set():
                connection.close()
                return
            with self._changed:
                self.connections += 1
                number = self.connections
                self._open.add(connection)
                thread = threading.Thread(
                    target=self._talk, args=(connection, number), name=f"faulty-{number}", daemon=True
                )
                self._threads.add(thread)
            thread.start()

    def _talk(self, connection: socket.socket, number: int) -> None:
        try:
            connection.settimeout(LONGEST)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.secure is not None:
                connection = self._secured(connection, self.secure)
            while (request := self._read(connection, number)) is not None:
                with self._changed:
                    behaviour = self._next.popleft() if self._next else self._behaviour
                    self.log.append(request)
                    self._changed.notify_all()
                exchange = Exchange(self, connection, request)
                behaviour(exchange)
                if not exchange.keep_alive:
                    break
        except (Gone, OSError):
            pass
        except BaseException as error:
            self._errors.append(error)
        finally:
            connection.close()
            with self._changed:
                self._open.discard(connection)
                self._threads.discard(threading.current_thread())

    def _secured(
        self, connection: socket.socket, secure: Callable[[socket.socket], socket.socket]
    ) -> socket.socket:
        secured = secure(connection)
        with self._changed:  # so that hanging up finds what is open now
            self._open.discard(connection)
            self._open.add(secured)
        return secured

    @staticmethod
    def _read(connection: socket.socket, number: int) -> Received | None:
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65_536)
            if not more or len(data) > _MAX_HEAD:
                return None
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, _, rest = first.partition(" ")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        length = min(int(headers.get("content-length", "0")), _MAX_BODY)
        while len(body) < length:
            more = connection.recv(65_536)
            if not more:
                return None
            body += more
        return Received(method, rest.rpartition(" ")[0], headers, body, time.monotonic(), number)
