"""Requests to websites on real sockets: limited in time, bytes and redirects, and guarded."""

import asyncio
import gzip
import ssl
import tracemalloc
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any

import httpcore2
import pytest
import trustme

from faqsvc_embed import __version__
from faqsvc_embed.generation.crawl.fetcher import MAX_BYTES, FetchError, PageFetcher, Response
from faqsvc_embed.generation.crawl.ssrf import BlockedURL, SSRFGuard
from tests.generation.websites import endpoint, website
from tests.support import faulty as faults
from tests.support.faulty import Behaviour, FaultyServer

PUBLIC = "93.184.215.14"


async def _fetch(url: str, fetcher: PageFetcher) -> Response:
    async with aclosing(fetcher):
        return await fetcher.fetch(url)


def fetch(server: FaultyServer, path: str = "/", *, timeout: float = 5.0) -> Response:
    url = f"http://127.0.0.1:{server.port}{path}"
    return asyncio.run(_fetch(url, PageFetcher(endpoint(server), timeout=timeout)))


def test_a_page_is_read_with_its_media_type_and_charset(faulty: FaultyServer) -> None:
    faulty.behave(faults.body(b"<p>Tee</p>", {"Content-Type": 'Text/HTML; Charset="ISO-8859-1"'}))

    assert fetch(faulty, "/faq?a=b#c") == Response(
        f"http://127.0.0.1:{faulty.port}/faq?a=b", 200, "text/html", "ISO-8859-1", b"<p>Tee</p>"
    )


def test_a_request_names_the_crawler_and_uses_no_proxy(
    faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    faulty.behave(faults.body(b"", {"Set-Cookie": "a=b"}))

    fetch(faulty)

    (received,) = faulty.log
    assert dict(received.headers) == {
        "host": f"127.0.0.1:{faulty.port}",
        "user-agent": f"Mozilla/5.0 (compatible; faqsvc-embed/{__version__}; FAQ generation)",
        "accept": "text/html",
        "accept-encoding": "gzip",
    }


@pytest.mark.parametrize(("coding", "compress"), [("GZIP", gzip.compress), ("deflate", zlib.compress)])
def test_a_compressed_response_is_decompressed(
    faulty: FaultyServer, coding: str, compress: Callable[[bytes], bytes]
) -> None:
    faulty.behave(faults.body(compress(b"<p>Tee</p>"), {"Content-Encoding": coding}))

    assert fetch(faulty).body == b"<p>Tee</p>"


def test_redirects_are_followed(faulty: FaultyServer) -> None:
    faulty.behave(
        website({"/": faults.redirect("/a", 301), "/a": faults.redirect("b?c=d#e", 307), "/b": "<p>here</p>"})
    )

    response = fetch(faulty)

    assert (response.url, response.body) == (f"http://127.0.0.1:{faulty.port}/b?c=d", b"<p>here</p>")


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{other}/",
        "http://localhost/",
        "http://[::ffff:127.0.0.1]/",
        "//169.254.169.254/",
        "http://127.1/",
        "http://user:secret@127.0.0.1:{port}/",
        "file:///etc/passwd",
    ],
)
def test_the_target_of_a_redirect_is_guarded(faulty: FaultyServer, location: str) -> None:
    with FaultyServer() as other:
        faulty.behave(website({"/": faults.redirect(location.format(port=faulty.port, other=other.port))}))

        with pytest.raises(BlockedURL):
            fetch(faulty)

        assert (len(faulty.log), len(other.log)) == (1, 0)


@pytest.mark.parametrize("location", ["http://[::1/", "http://a\tb/", "http://x:y/"])
def test_a_redirect_to_an_invalid_url_is_an_error(faulty: FaultyServer, location: str) -> None:
    faulty.behave(faults.redirect(location))

    with pytest.raises((FetchError, BlockedURL)):
        fetch(faulty)


def ask_for_a_cookie(exchange: faults.Exchange) -> None:
    """Redirect to the same address until a cookie comes back."""
    if exchange.request.headers.get("cookie") == "seen=1":
        exchange.respond(200, b"<p>Tee</p>")
    else:
        cookies = {"Set-Cookie": "seen=1", "set-cookie": "name=Jörg"}  # no header may have the second
        exchange.respond(302, b"", {"Location": exchange.request.target, **cookies})


def test_a_site_gets_its_cookies_back(faulty: FaultyServer) -> None:
    faulty.behave(ask_for_a_cookie)
    assert fetch(faulty).body == b"<p>Tee</p>"


@pytest.mark.parametrize(("wait", "statuses"), [("0", [429, 200]), ("60", [429]), (None, [429])])
def test_a_site_that_asks_for_a_short_wait_is_asked_once_more(
    faulty: FaultyServer, wait: str | None, statuses: list[int]
) -> None:
    headers = {} if wait is None else {"Retry-After": wait}
    faulty.behave(lambda exchange: exchange.respond(200 if len(faulty.log) > 1 else 429, b"", headers))

    assert fetch(faulty).status == statuses[-1]
    assert len(faulty.log) == len(statuses)


def test_a_redirect_loop_ends_after_five_redirects(faulty: FaultyServer) -> None:
    faulty.behave(faults.redirect_loop)

    with pytest.raises(FetchError):
        fetch(faulty)

    assert len(faulty.log) == 6


@pytest.mark.parametrize(
    "fault",
    [faults.hang, faults.hang_after_head, faults.hang_in_body, faults.drip(0.02), faults.drip_head(0.02)],
    ids=["hang", "head", "body", "slow body", "slow head"],
)
def test_the_timeout_covers_the_whole_response(faulty: FaultyServer, fault: Behaviour) -> None:
    faulty.behave(fault)

    with pytest.raises(FetchError):
        fetch(faulty, timeout=0.05)


@pytest.mark.parametrize(
    "fault",
    [
        faults.reset,
        faults.truncated_chunks,
        faults.garbage,
        faults.header_flood,
        faults.unknown_coding,
        faults.no_gzip,
    ],
    ids=lambda fault: fault.__name__,
)
def test_an_invalid_response_is_an_error(faulty: FaultyServer, fault: Behaviour) -> None:
    faulty.behave(fault)

    with pytest.raises(FetchError):
        fetch(faulty)


def test_a_huge_page_is_read_up_to_the_limit(faulty: FaultyServer) -> None:
    faulty.behave(faults.oversize_chunked)

    assert len(fetch(faulty).body) == MAX_BYTES


def test_a_gzip_bomb_costs_little_memory(faulty: FaultyServer) -> None:
    faults.bomb()
    faulty.behave(faults.gzip_bomb)
    tracemalloc.start()

    response = fetch(faulty)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(response.body) == MAX_BYTES
    assert peak < 16 * 1024 * 1024


class LocalNetwork(httpcore2.AnyIOBackend):
    """A network in which every address is a local server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connected: list[tuple[str, int]] = []

    async def connect_tcp(
        self, host: str, port: int, *options: Any, **named: Any
    ) -> httpcore2.AsyncNetworkStream:
        self.connected.append((host, port))
        return await super().connect_tcp("127.0.0.1", self.port, *options, **named)


async def _public(host: str, port: int) -> Sequence[str]:
    return [PUBLIC]


def test_the_site_gets_its_own_name_at_the_checked_address(faulty: FaultyServer) -> None:
    faulty.behave(faults.body(b"here"))
    network = LocalNetwork(faulty.port)
    fetcher = PageFetcher(guard=SSRFGuard(resolve=_public, network=network))

    asyncio.run(_fetch("http://bücher.example/", fetcher))

    assert network.connected == [(PUBLIC, 80)]
    assert faulty.log[0].headers["host"] == "xn--bcher-kva.example"


def test_a_redirect_of_a_public_site_to_a_private_address_is_blocked(faulty: FaultyServer) -> None:
    addresses = {"shop.example": PUBLIC, "inside.example": "10.0.0.5"}

    async def resolve(host: str, port: int) -> Sequence[str]:
        return [addresses[host]]

    faulty.behave(faults.redirect("http://inside.example/secret"))
    network = LocalNetwork(faulty.port)
    fetcher = PageFetcher(guard=SSRFGuard(resolve=resolve, network=network))

    with pytest.raises(BlockedURL):
        asyncio.run(_fetch("http://shop.example/", fetcher))

    assert network.connected == [(PUBLIC, 80)]


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls_names(authority: trustme.CA) -> Iterator[tuple[int, list[str | None]]]:
    """The port of a server with a certificate for shop.example, and the names that clients ask for."""
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("shop.example").configure_cert(context)
    context.sni_callback = lambda connection, name, _: names.append(name)

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nhere")
        await writer.drain()
        writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(respond, "127.0.0.1", 0, ssl=context))
    with ThreadPoolExecutor(1) as thread:
        thread.submit(loop.run_forever)
        yield server.sockets[0].getsockname()[1], names
        loop.call_soon_threadsafe(loop.stop)
    server.close()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


@pytest.mark.parametrize(("host", "is_certified"), [("shop.example", True), ("other.example", False)])
def test_the_certificate_is_checked_against_the_name(
    tls_names: tuple[int, list[str | None]], authority: trustme.CA, host: str, is_certified: bool
) -> None:
    port, names = tls_names
    context = ssl.create_default_context()
    authority.configure_trust(context)
    guard = SSRFGuard(resolve=_public, network=LocalNetwork(port))
    fetching = _fetch(f"https://{host}/", PageFetcher(guard=guard, ssl_context=context))

    if is_certified:
        assert asyncio.run(fetching).body == b"here"
    else:
        with pytest.raises(FetchError, match="certificate"):
            asyncio.run(fetching)
    assert names == [host]
