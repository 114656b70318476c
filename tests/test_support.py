"""The harness itself: a test is worth what its tools are worth."""

import asyncio
import gzip
import http.client
import io
import json
import socket
import threading
from contextlib import closing, suppress
from datetime import timedelta

import pytest
from playwright.sync_api import Page

from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.clock import EPOCH, Clock
from tests.support.faulty import FAULTS, ODDITIES, Fault, FaultyServer


def ask(
    server: FaultyServer,
    slug: str = "pricing",
    headers: dict[str, str] | None = None,
    *,
    path: str = "/api/v1/faq/",
) -> tuple[int, dict[str, str], bytes]:
    with closing(http.client.HTTPConnection(server.host, server.port, timeout=5)) as connection:
        connection.request("GET", path + slug, headers=headers or {})
        with connection.getresponse() as reply:
            return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()


def test_a_clock_moves_only_when_told_and_its_wall_clock_can_be_set(clock: Clock) -> None:
    before = clock.now()
    clock.advance(90)
    assert clock.now() == before + 90
    assert clock.wall() == EPOCH + timedelta(seconds=90)
    clock.set_wall(EPOCH - timedelta(days=1))
    assert clock.now() == before + 90
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(-1)


def test_a_healthy_server_answers_and_revalidates_and_keeps_a_log(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60", "Age": "5"})
    code, headers, body = ask(faulty)
    assert (code, headers["cache-control"], headers["age"]) == (200, "max-age=60", "5")
    assert json.loads(body) == samples.pricing()
    assert ask(faulty, headers={"If-None-Match": headers["etag"]})[0] == 304
    assert ask(faulty, "unknown")[0] == 404
    assert [request.slug for request in faulty.log] == ["pricing", "pricing", "unknown"]
    assert faulty.log[1].headers["if-none-match"] == headers["etag"]
    faulty.forget_log()
    assert faulty.log == []


def test_a_server_answers_in_the_language_asked_for(faulty: FaultyServer) -> None:
    for lang, record in samples.multilingual().items():
        faulty.serve(record, lang=lang)
    assert json.loads(ask(faulty, "pricing?lang=ko")[2])["lang"] == "ko"
    assert faulty.log[0].lang == "ko"


def test_behaviours_are_switched_for_good_or_for_one_request(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    faulty.behave(behaviours.status(500))
    faulty.then(behaviours.status(503, {"Retry-After": "9"}), behaviours.healthy)
    assert [ask(faulty)[0] for _ in range(4)] == [503, 200, 500, 500]


def test_a_server_that_refuses_keeps_its_address_and_comes_back(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    for _ in range(3):
        faulty.behave(behaviours.refuse)
        with pytest.raises(ConnectionRefusedError):
            ask(faulty)
        faulty.behave(behaviours.healthy)
        assert ask(faulty)[0] == 200


def test_a_refusing_server_drops_the_connections_that_it_has(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    with closing(http.client.HTTPConnection(faulty.host, faulty.port, timeout=5)) as connection:
        for _ in range(2):
            connection.request("GET", "/api/v1/faq/pricing")
            connection.getresponse().read()
        assert faulty.connections == 1  # kept alive
        faulty.behave(behaviours.refuse)
        assert connection.sock is not None
        assert connection.sock.recv(1) == b""


@pytest.mark.parametrize("fault", ODDITIES, ids=str)
def test_odd_but_good_answers_hold_the_record(faulty: FaultyServer, fault: Fault) -> None:
    faulty.serve(samples.pricing())
    faulty.behave(fault.behaviour)
    code, headers, body = ask(faulty)
    if code == 307:
        code, headers, body = ask(faulty, headers["location"], path="")
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    assert code == 200
    assert json.loads(body.decode("utf-8-sig"))["slug"] == "pricing"


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_no_fault_leaves_a_thread_or_a_socket_behind(fault: Fault) -> None:
    before = threading.active_count()
    with FaultyServer(fault.behaviour) as server:
        server.serve(samples.pricing())
        server.behave(fault.behaviour)
        if fault.behaviour is behaviours.refuse:
            with pytest.raises(ConnectionRefusedError):
                ask(server)
        else:
            with socket.create_connection((server.host, server.port), timeout=5) as connection:
                connection.sendall(b"GET /api/v1/faq/pricing HTTP/1.1\r\nHost: here\r\n\r\n")
                server.wait_for_requests(1)
                with suppress(ConnectionResetError):
                    assert fault.holds or connection.recv(1) or fault.name == "reset"
    assert threading.active_count() == before


def test_a_redirect_to_another_origin_shows_who_followed_it(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    faulty.behave(behaviours.redirect_other_origin)
    code, headers, _ = ask(faulty)
    assert (code, headers["location"]) == (302, f"http://localhost:{faulty.port}/api/v1/faq/pricing")
    assert ask(faulty, headers={"Host": f"localhost:{faulty.port}"})[0] == 200


def test_the_bomb_is_small_and_unpacks_to_what_it_says() -> None:
    packed = behaviours.bomb()
    assert len(packed) < 1024 * 1024
    size = 0
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as unpacked:
        while chunk := unpacked.read(4 * 1024 * 1024):
            size += len(chunk)
    assert size > behaviours.BOMB_BYTES  # and its checksum is right, or reading had raised


def test_what_a_behaviour_raises_is_not_lost() -> None:
    def mistaken(exchange: behaviours.Exchange) -> None:
        raise KeyError("a mistake in a test")

    server = FaultyServer(mistaken)
    with pytest.raises((OSError, http.client.HTTPException)):
        ask(server)
    with pytest.raises(AssertionError, match="behaviour failed"):
        server.close()


def test_a_browser_opens_a_page_without_a_network(page: Page) -> None:
    page.set_content(f"<h1>{samples.multilingual()['ko']['title']}</h1>")
    assert page.inner_text("h1") == "요금"


@pytest.mark.usefixtures("_browser_and_loop")
def test_an_event_loop_runs_after_a_browser_was_used() -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    assert asyncio.run(answer()) == 42
