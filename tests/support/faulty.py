"""A FAQ service on a real socket that can be told to fail in every way that a service fails.

    with FaultyServer() as server:
        server.serve(samples.pricing(), {"Cache-Control": "max-age=60"})
        ...                                # requests to server.base_url are answered well
        server.behave(hang)                # from now on, every request hangs
        server.then(status(500), healthy)  # or: the next one fails, the one after it is answered well
        assert len(server.log) == 3

A behaviour is a function of one `Exchange`: it reads the request and writes bytes. `FAULTS` is the table of
the bad ones, `ODDITIES` of the good ones that look bad; parametrise over them. Nothing here waits longer
than `LONGEST`, a wait ends at once when the server stops, and `close()` joins every thread.
"""

import gzip
import json
import socket
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Literal, Self
from urllib.parse import parse_qs, unquote, urlsplit

LONGEST: Final = 60.0
"""Seconds after which any wait of this server ends by itself."""

BOMB_BYTES: Final = 512 * 1024 * 1024
"""What the gzip bomb unpacks to."""

_PREFIX: Final = "/api/v1/faq/"
_MAX_HEAD: Final = 65_536
_MAX_BODY: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    """When its head was complete, on the clock of `time.monotonic`."""
    connection: int
    """Which connection of the server it came by, counted from 1."""

    @property
    def slug(self) -> str:
        return unquote(urlsplit(self.target).path.removeprefix("/moved").removeprefix(_PREFIX))

    @property
    def lang(self) -> str | None:
        return parse_qs(urlsplit(self.target).query).get("lang", [None])[0]


class Gone(Exception):
    """The client closed the connection, or the server is stopping."""


class Exchange:
    """One request and the connection that it came by."""

    def __init__(self, server: "FaultyServer", connection: socket.socket, request: Received) -> None:
        self.server = server
        self.request = request
        self.keep_alive = request.headers.get("connection", "").lower() != "close"
        self._connection = connection

    def send(self, data: bytes) -> None:
        """Write bytes as they are."""
        try:
            self._connection.sendall(data)
        except OSError:
            raise Gone from None

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        """Write a status line and these headers, and nothing else."""
        try:
            reason = HTTPStatus(status).phrase
        except ValueError:
            reason = "Unknown"
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
        self.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def reply(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """Write a whole, correct reply."""
        framing = {} if status in (204, 304) else {"Content-Length": str(len(body))}
        self.head(status, {"Content-Type": "application/json", **(headers or {}), **framing})
        if self.request.method != "HEAD" and status not in (204, 304):
            self.send(body)

    def pause(self, seconds: float) -> None:
        """Wait, but not when the server stops."""
        if self.server.stopping.wait(min(seconds, LONGEST)):
            raise Gone

    def hang(self) -> None:
        """Say nothing more until the client goes or the server stops."""
        try:
            while self._connection.recv(4096):
                pass
        except OSError:
            pass
        raise Gone

    def cut(self) -> None:
        """End the connection after this exchange."""
        self.keep_alive = False

    def record(self) -> dict[str, Any] | None:
        """Return the record of this server that was asked for."""
        return self.server.find(self.request.slug, self.request.lang)

    def record_body(self) -> bytes:
        """Return that record as JSON; a server without it makes up a good one."""
        return _json(self.record() or _made_up(self.request.slug))


Behaviour = Callable[[Exchange], None]


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def _made_up(slug: str) -> dict[str, Any]:
    item = {"position": 0, "question": "Made up?", "answer": "By a faulty server."}
    return {
        "slug": slug,
        "title": "Made up",
        "websiteName": "",
        "lang": "en",
        "items": [item],
        "cta": None,
    }


class FaultyServer:
    """A threaded HTTP/1.1 server on 127.0.0.1, at a free port, with keep-alive.

    `log` holds every request in order of arrival. `base_url` stays the same through `refuse()` and
    `accept()`. An exception inside a behaviour, other than `Gone`, is raised by `close()`.
    """

    def __init__(self, behaviour: "Behaviour | None" = None) -> None:
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
        return f"http://{self.host}:{self.port}"

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
            return self._records.get((slug, lang)) or self._records.get((slug, None))

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


# Behaviours: good ones


def healthy(exchange: Exchange) -> None:
    """Answer with the record, and with 304 where its ETag is known already; 404 if there is no record."""
    record = exchange.record()
    if record is None:
        exchange.reply(404, _json({"title": "Not Found", "status": 404}), {"Cache-Control": "no-store"})
        return
    body = _json(record)
    headers = {"ETag": f'"{sha256(body).hexdigest()[:16]}"', **exchange.server.headers}
    headers = {name: value for name, value in headers.items() if value}
    if "ETag" in headers and exchange.request.headers.get("if-none-match") == headers["ETag"]:
        exchange.reply(304, b"", headers)
    else:
        exchange.reply(200, body, headers)


def slow_head(seconds: float) -> Behaviour:
    """Answer well, but only after a while."""

    def behaviour(exchange: Exchange) -> None:
        exchange.pause(seconds)
        healthy(exchange)

    return behaviour


def held_until(release: threading.Event) -> Behaviour:
    """Answer well once a test says so: a slow service without a clock."""

    def behaviour(exchange: Exchange) -> None:
        deadline = time.monotonic() + LONGEST
        while not release.wait(0.005):
            if exchange.server.stopping.is_set() or time.monotonic() > deadline:
                raise Gone
        healthy(exchange)

    return behaviour


def gzipped(exchange: Exchange) -> None:
    """Answer well, in gzip."""
    exchange.reply(200, gzip.compress(exchange.record_body()), {"Content-Encoding": "gzip"})


def chunked(exchange: Exchange) -> None:
    """Answer well, in chunks of seven bytes, with a trailer."""
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    body = exchange.record_body()
    chunks = (body[start : start + 7] for start in range(0, len(body), 7))
    exchange.send(b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks))
    exchange.send(b"0\r\nX-Trailer: yes\r\n\r\n")


def until_closed(exchange: Exchange) -> None:
    """Answer well, with the end of the connection as the end of the body (HTTP/1.0 style)."""
    exchange.head(200, {"Content-Type": "application/json", "Connection": "close"})
    exchange.send(exchange.record_body())
    exchange.cut()


def byte_order_mark(exchange: Exchange) -> None:
    """Answer well, behind a byte order mark."""
    exchange.reply(200, b"\xef\xbb\xbf" + exchange.record_body())


def redirect_same_origin(exchange: Exchange) -> None:
    """Send the client to another path of this origin, and answer well there."""
    if exchange.request.target.startswith("/moved/"):
        healthy(exchange)
    else:
        exchange.reply(307, b"", {"Location": f"/moved{exchange.request.target}"})


# Behaviours: bad ones


def refuse(exchange: Exchange) -> None:
    """Close the port, by `behave(refuse)`; for one request of `then()`, the connection."""
    exchange.cut()


def reset(exchange: Exchange) -> None:
    """Close the connection without a word."""
    exchange.cut()


def hang(exchange: Exchange) -> None:
    """Read the request, and never answer."""
    exchange.hang()


def hang_after_head(exchange: Exchange) -> None:
    """Promise a body, and never send it."""
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": "5000"})
    exchange.hang()


def hang_in_body(exchange: Exchange) -> None:
    """Send half of the body, and then nothing."""
    body = exchange.record_body()
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
    exchange.send(body[: len(body) // 2])
    exchange.hang()


def drip(interval: float) -> Behaviour:
    """Send the good body one byte an interval: no single read is ever slow (rule D1)."""

    def behaviour(exchange: Exchange) -> None:
        body = exchange.record_body()
        exchange.head(200, {"Content-Type": "application/json", "Content-Length": str(len(body))})
        for index in range(len(body)):
            exchange.pause(interval)
            exchange.send(body[index : index + 1])

    return behaviour


def drip_head(interval: float) -> Behaviour:
    """Send the head one byte an interval."""

    def behaviour(exchange: Exchange) -> None:
        body = exchange.record_body()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        for byte in head.encode():
            exchange.pause(interval)
            exchange.send(bytes([byte]))
        exchange.send(body)

    return behaviour


def truncated(exchange: Exchange) -> None:
    """Close the connection before as many bytes came as were promised."""
    body = exchange.record_body()
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": str(len(body) + 10)})
    exchange.send(body)
    exchange.cut()


def truncated_chunks(exchange: Exchange) -> None:
    """Close the connection before the last chunk."""
    body = exchange.record_body()
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    exchange.send(b"%x\r\n%b\r\n" % (len(body), body))
    exchange.cut()


def too_long(exchange: Exchange) -> None:
    """Send more bytes than were promised: a stray second response on a kept connection."""
    exchange.head(200, {"Content-Type": "application/json", "Content-Length": "2"})
    exchange.send(b"{}" + exchange.record_body())


def garbage(exchange: Exchange) -> None:
    """Speak no HTTP."""
    exchange.send(b"\x00\xff\x16\x03\x01 this is not the protocol \r\n\r\n" * 4)
    exchange.cut()


def header_flood(exchange: Exchange) -> None:
    """Send headers without end; 16 MiB at most."""
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    for index in range(16):
        exchange.send((b"X-Flood-%d: " % index + b"a" * 1000 + b"\r\n") * 1000)
    exchange.cut()


def body(content: bytes, headers: Mapping[str, str] | None = None, *, status: int = 200) -> Behaviour:
    """Answer with exactly this body."""

    def behaviour(exchange: Exchange) -> None:
        exchange.reply(status, content, headers)

    return behaviour


def altered(**changes: object) -> Behaviour:
    """Answer with the good record, with some fields replaced."""

    def behaviour(exchange: Exchange) -> None:
        good = exchange.record() or _made_up(exchange.request.slug)
        exchange.reply(200, _json({**good, **changes}))

    return behaviour


def oversize(exchange: Exchange) -> None:
    """Answer with a valid record of 4 MiB, whose size the head tells."""
    good = exchange.record() or _made_up(exchange.request.slug)
    exchange.reply(200, _json({**good, "title": "a" * 4 * 1024 * 1024}))
    exchange.cut()


def oversize_chunked(exchange: Exchange) -> None:
    """Answer with chunks that never end; 64 MiB at most."""
    exchange.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    for _ in range(1024):
        exchange.send(chunk)
    exchange.cut()


def gzip_bomb(exchange: Exchange) -> None:
    """Answer with a small body that unpacks to `BOMB_BYTES` (rule D2)."""
    exchange.reply(200, bomb(), {"Content-Encoding": "gzip"})


def broken_gzip(exchange: Exchange) -> None:
    """Answer with a gzip body that ends in its middle."""
    packed = gzip.compress(exchange.record_body())
    exchange.reply(200, packed[: len(packed) // 2], {"Content-Encoding": "gzip"})


def no_gzip(exchange: Exchange) -> None:
    """Answer with plain text that is said to be gzip."""
    exchange.reply(200, exchange.record_body(), {"Content-Encoding": "gzip"})


def unknown_coding(exchange: Exchange) -> None:
    """Answer in a content coding that was not asked for."""
    exchange.reply(200, b"\x0b\x02\x80{}\x03", {"Content-Encoding": "br"})


def status(code: int, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Answer with this status and a small problem document."""
    return body(
        _json({"status": code, "title": "says the faulty server"}),
        {"Content-Type": "application/problem+json", **(headers or {})},
        status=code,
    )


def redirect(location: str, code: int = 302) -> Behaviour:
    """Send the client somewhere else."""
    return body(b"", {"Location": location}, status=code)


def redirect_other_origin(exchange: Exchange) -> None:
    """Send the client to another host name, where a good answer waits for who follows (rule K19)."""
    if exchange.request.headers.get("host", "").startswith("localhost"):
        healthy(exchange)
    else:
        location = f"http://localhost:{exchange.server.port}{exchange.request.target}"
        exchange.reply(302, b"", {"Location": location})


def redirect_loop(exchange: Exchange) -> None:
    """Send the client around this origin for ever."""
    target = exchange.request.target
    exchange.reply(302, b"", {"Location": f"/again{target}" if len(target) < 1000 else "/again"})


@lru_cache(maxsize=1)
def bomb() -> bytes:
    """Return half a megabyte of gzip that unpacks to `BOMB_BYTES` of a JSON string."""
    unit = b"a" * 1024 * 1024
    start = b'{"slug":"pricing","items":[],"title":"'
    end = b'"}'
    count = BOMB_BYTES // len(unit)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    # After a full flush a block refers to nothing before it, so that one packed megabyte can be repeated.
    packed_start = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    packed_unit = packer.compress(unit) + packer.flush(zlib.Z_FULL_FLUSH)
    packed_end = packer.compress(end) + packer.flush()
    check = zlib.crc32(start)
    for _ in range(count):
        check = zlib.crc32(unit, check)
    check = zlib.crc32(end, check)
    size = len(start) + count * len(unit) + len(end)
    trailer = check.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little")
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return head + packed_start + packed_unit * count + packed_end + trailer


@dataclass(frozen=True, slots=True)
class Fault:
    """A way to answer, and what a reader may make of it."""

    name: str
    behaviour: Behaviour = field(repr=False)
    means: Literal["failed", "missing", "found"]
    """`failed`: no usable answer, the good copy stays. `missing`: an answer, there is no such FAQ. `found`:
    a good answer after all. A 304 fails only where nothing conditional was asked."""
    holds: bool = False
    """It ends only when the client gives up, or long after."""

    def __str__(self) -> str:
        return self.name


def _failed(name: str, behaviour: Behaviour, *, holds: bool = False) -> Fault:
    return Fault(name, behaviour, "failed", holds)


FAULTS: Final = [
    _failed("refuse", refuse),
    _failed("reset", reset),
    _failed("hang before the head", hang, holds=True),
    _failed("hang after the head", hang_after_head, holds=True),
    _failed("hang in the body", hang_in_body, holds=True),
    _failed("drip the body", drip(0.05), holds=True),
    _failed("drip the head", drip_head(0.1), holds=True),
    _failed("truncated body", truncated),
    _failed("truncated chunks", truncated_chunks),
    _failed("garbage instead of HTTP", garbage),
    _failed("header flood", header_flood),
    _failed("longer than promised", too_long),
    _failed("an HTML page with 200", body(b"<!doctype html><h1>Sign in</h1>", {"Content-Type": "text/html"})),
    _failed("an empty body with 200", body(b"")),
    _failed("a JSON array", body(b"[]")),
    _failed("JSON null", body(b"null")),
    _failed("no UTF-8", body(b'{"slug": "pricing", "items": [], "title": "\xff\xfe"}')),
    _failed("deep nesting", body(b'{"cta":' + b"[" * 100_000)),
    _failed("NaN", body(b'{"slug": "pricing", "items": [], "cta": NaN}')),
    _failed("wrong slug", altered(slug="another")),
    _failed("items missing", altered(items=None)),
    _failed("items of a wrong shape", altered(items=[{"question": 1, "answer": ["x"]}])),
    _failed("oversize body", oversize),
    _failed("chunks without end", oversize_chunked),
    _failed("gzip bomb", gzip_bomb),
    _failed("broken gzip", broken_gzip),
    _failed("not gzip at all", no_gzip),
    _failed("unknown content coding", unknown_coding),
    _failed("500", status(500)),
    _failed("502", status(502)),
    _failed("503", status(503, {"Retry-After": "120"})),
    _failed("504", status(504)),
    _failed("429", status(429, {"Retry-After": "7"})),
    _failed("400", status(400)),
    _failed("401", status(401, {"WWW-Authenticate": "Key"})),
    _failed("403", status(403)),
    _failed("451", status(451)),
    _failed("204", status(204)),
    _failed("206", status(206)),
    _failed("304 when nothing was asked", status(304)),
    _failed("a status out of range", status(799)),
    _failed("redirect to another origin", redirect_other_origin),
    _failed("redirect to a file", redirect("file:///etc/passwd")),
    _failed("redirect without Location", body(b"", status=302)),
    _failed("redirect to a broken address", redirect("http://[::1/")),
    _failed("redirect loop", redirect_loop),
    Fault("404", status(404), "missing"),
    Fault("410", status(410), "missing"),
]
"""Every way to answer badly. A page's promise holds for each, cold and warm."""

ODDITIES: Final = [
    Fault("gzip", gzipped, "found"),
    Fault("chunked", chunked, "found"),
    Fault("until closed", until_closed, "found"),
    Fault("byte order mark", byte_order_mark, "found"),
    Fault("slow head", slow_head(0.05), "found"),
    Fault("redirect on the same origin", redirect_same_origin, "found"),
    Fault("unknown fields", altered(unknown={"a": [1]}, cta={"label": "Buy", "url": "/buy"}), "found"),
    Fault("title and language null", altered(title=None, lang=None, websiteName=None), "found"),
]
"""Unusual answers that are good all the same."""
