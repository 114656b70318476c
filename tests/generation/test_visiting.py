"""Reading a website on real sockets: bounded in time, bytes and redirects, and never past the guard."""

import asyncio
import gzip
import ssl
import time
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import httpcore2
import pytest
import trustme

from faqsvc_embed.generation.guard import Guard, Refused
from faqsvc_embed.generation.visiting import MAX_BYTES, Reply, Unreachable, Visitor
from tests.generation.websites import endpoint, website
from tests.support import faulty as faults
from tests.support.faulty import Behaviour, FaultyServer

PUBLIC = "93.184.215.14"


async def _visit(url: str, visitor: Visitor) -> Reply:
    async with visitor:
        return await visitor.get(url)


def visit(server: FaultyServer, path: str = "/", *, patience: float = 5.0) -> Reply:
    url = f"http://127.0.0.1:{server.port}{path}"
    return asyncio.run(_visit(url, Visitor(endpoint(server), patience=patience)))


def test_a_page_is_read_with_what_its_header_says(faulty: FaultyServer) -> None:
    faulty.behave(faults.body(b"<p>Tee</p>", {"Content-Type": 'Text/HTML; Charset="ISO-8859-1"'}))

    assert visit(faulty, "/faq?a=b#c") == Reply(
        f"http://127.0.0.1:{faulty.port}/faq?a=b", 200, "text/html", "ISO-8859-1", b"<p>Tee</p>"
    )


def test_a_visit_says_who_it_is_and_brings_nothing_along(
    faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    faulty.behave(faults.body(b"", {"Set-Cookie": "a=b"}))

    visit(faulty)

    (received,) = faulty.log
    assert dict(received.headers) == {
        "host": f"127.0.0.1:{faulty.port}",
        "user-agent": "Mozilla/5.0 (compatible; faqsvc-embed; FAQ generation)",
        "accept": "text/html",
        "accept-encoding": "gzip",
    }


def test_gzip_is_unpacked(faulty: FaultyServer) -> None:
    faulty.behave(faults.body(gzip.compress(b"<p>Tee</p>"), {"Content-Encoding": "GZIP"}))

    assert visit(faulty).body == b"<p>Tee</p>"


def test_redirects_are_followed_to_where_they_end(faulty: FaultyServer) -> None:
    faulty.behave(
        website({"/": faults.redirect("/a", 301), "/a": faults.redirect("b?c=d#e", 307), "/b": "<p>here</p>"})
    )

    reply = visit(faulty)

    assert (reply.url, reply.body) == (f"http://127.0.0.1:{faulty.port}/b?c=d", b"<p>here</p>")


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{other}/",
        "http://127.0.0.1/",
        "http://localhost:{port}/",
        "http://localhost/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "//169.254.169.254/",
        "http://0/",
        "http://2130706433/",
        "http://127.1/",
        "http://0x7f000001/",
        "http://user:secret@127.0.0.1:{port}/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/",
    ],
)
def test_a_redirect_is_checked_as_the_first_address_was(faulty: FaultyServer, location: str) -> None:  # D11
    with FaultyServer() as other:
        target = location.format(port=faulty.port, other=other.port)
        faulty.behave(website({"/": faults.redirect(target)}))

        with pytest.raises(Refused):
            visit(faulty)

        assert (len(faulty.log), len(other.log)) == (1, 0)


def test_a_redirect_that_is_refused_is_named_as_an_address(faulty: FaultyServer) -> None:
    faulty.behave(faults.redirect("ftp://files.example/"))

    with pytest.raises(Refused) as refused:
        visit(faulty)

    assert str(refused.value) == "'ftp://files.example/' is not visited: an http or https address is accepted"


@pytest.mark.parametrize("location", ["http://[::1/", "http://a\tb/", "http://x:y/"])
def test_a_redirect_to_nowhere_is_no_answer(faulty: FaultyServer, location: str) -> None:
    faulty.behave(faults.redirect(location))

    with pytest.raises((Unreachable, Refused)):
        visit(faulty)


def test_redirects_end(faulty: FaultyServer) -> None:
    faulty.behave(faults.redirect_loop)

    with pytest.raises(Unreachable, match="redirects more than 5 times"):
        visit(faulty)

    assert len(faulty.log) == 6


@pytest.mark.parametrize(
    "fault",
    [faults.hang, faults.hang_after_head, faults.hang_in_body, faults.drip(0.05), faults.drip_head(0.05)],
    ids=["hang", "head", "body", "drip", "drip of the head"],
)
def test_patience_ends_whatever_a_site_does(faulty: FaultyServer, fault: Behaviour) -> None:  # D1
    faulty.behave(fault)
    started = time.monotonic()

    with pytest.raises(Unreachable, match=r"no complete answer in 0\.3 s"):
        visit(faulty, patience=0.3)

    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "fault",
    [
        faults.refuse,
        faults.reset,
        faults.truncated,
        faults.truncated_chunks,
        faults.garbage,
        faults.header_flood,
        faults.unknown_coding,
        faults.no_gzip,
    ],
    ids=lambda fault: fault.__name__,
)
def test_what_is_no_answer_is_told_as_that(faulty: FaultyServer, fault: Behaviour) -> None:
    faulty.behave(fault)

    with pytest.raises(Unreachable, match=r"127\.0\.0\.1|coding|gzip"):
        visit(faulty)


def test_a_closed_port_is_told_as_that(faulty: FaultyServer) -> None:
    faulty.refuse()

    with pytest.raises(Unreachable, match="cannot be reached"):
        visit(faulty)


def test_a_huge_page_is_read_to_the_cap(faulty: FaultyServer) -> None:
    faulty.behave(faults.oversize_chunked)

    assert len(visit(faulty).body) == MAX_BYTES


def test_a_gzip_bomb_costs_no_more_than_the_cap(faulty: FaultyServer) -> None:  # D2
    faults.bomb()
    faulty.behave(faults.gzip_bomb)
    tracemalloc.start()

    reply = visit(faulty)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(reply.body) == MAX_BYTES
    assert peak < 16 * 1024 * 1024


def test_a_visit_ends_when_the_whole_of_it_was_too_much(faulty: FaultyServer) -> None:
    faulty.behave(faults.oversize_chunked)

    async def read_on() -> None:
        async with Visitor(endpoint(faulty)) as visitor:
            for count in range(100):
                await visitor.get(f"http://127.0.0.1:{faulty.port}/{count}")

    with pytest.raises(Unreachable, match="bytes that are read of one"):
        asyncio.run(read_on())

    assert len(faulty.log) == 20


class Detour(httpcore2.AnyIOBackend):
    """A network in which one public address is a local server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[tuple[str, int]] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.asked.append((host, port))
        return await super().connect_tcp("127.0.0.1", self.port, timeout, local_address, socket_options)


async def _public(host: str, port: int) -> Sequence[str]:
    return [PUBLIC]


def test_the_site_sees_its_own_name_behind_a_checked_address(faulty: FaultyServer) -> None:  # D11
    faulty.behave(faults.body(b"here"))
    network = Detour(faulty.port)
    visitor = Visitor(guard=Guard(resolve=_public, network=network))

    asyncio.run(_visit("http://bücher.example/", visitor))

    assert network.asked == [(PUBLIC, 80)]
    assert faulty.log[0].headers["host"] == "xn--bcher-kva.example"


def test_a_public_site_that_redirects_inside_is_refused(faulty: FaultyServer) -> None:  # D11
    names = {"shop.example": PUBLIC, "inside.example": "10.0.0.5"}

    async def resolve(host: str, port: int) -> Sequence[str]:
        return [names[host]]

    faulty.behave(faults.redirect("http://inside.example/secret"))
    network = Detour(faulty.port)

    with pytest.raises(Refused, match=r"inside\.example is not visited: an address of it is private"):
        asyncio.run(_visit("http://shop.example/", Visitor(guard=Guard(resolve=resolve, network=network))))

    assert network.asked == [(PUBLIC, 80)]


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls_names(authority: trustme.CA) -> Iterator[tuple[int, list[str | None]]]:
    """A server with a certificate for shop.example, and the names that it was asked for."""
    names: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("shop.example").configure_cert(context)
    context.sni_callback = lambda connection, name, _: names.append(name)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nhere")
        await writer.drain()
        writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(answer, "127.0.0.1", 0, ssl=context))
    with ThreadPoolExecutor(1) as thread:
        thread.submit(loop.run_forever)
        yield server.sockets[0].getsockname()[1], names
        loop.call_soon_threadsafe(loop.stop)
    server.close()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


@pytest.mark.parametrize(("host", "is_its_own"), [("shop.example", True), ("other.example", False)])
def test_a_certificate_is_checked_against_the_name_and_not_the_address(
    tls_names: tuple[int, list[str | None]], authority: trustme.CA, host: str, is_its_own: bool
) -> None:  # D11
    port, names = tls_names
    context = ssl.create_default_context()
    authority.configure_trust(context)
    guard = Guard(resolve=_public, network=Detour(port))
    visiting = _visit(f"https://{host}/", Visitor(guard=guard, ssl_context=context))

    if is_its_own:
        assert asyncio.run(visiting).body == b"here"
    else:
        with pytest.raises(Unreachable, match="certificate"):
            asyncio.run(visiting)
    assert names == [host]
