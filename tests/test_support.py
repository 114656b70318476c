"""The faulty service does what the tests of faults expect of it."""

import gzip
import http.client
import json
import socket
import threading
from contextlib import closing, suppress

import pytest

from tests.support import samples
from tests.support.faults import ODDITIES
from tests.support.faults.behaviours import healthy, refuse
from tests.support.faulty import FAULTS, Exchange, Fault, FaultyServer


def get(
    server: FaultyServer,
    slug: str = "pricing",
    headers: dict[str, str] | None = None,
    *,
    path: str = "/api/v1/faq/",
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of the server's response."""
    with closing(http.client.HTTPConnection(server.host, server.port, timeout=5)) as connection:
        connection.request("GET", path + slug, headers=headers or {})
        with connection.getresponse() as response:
            names = {name.lower(): value for name, value in response.getheaders()}
            return response.status, names, response.read()


def test_a_healthy_server_serves_records_revalidates_them_and_keeps_a_log(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60", "Age": "5"})
    code, headers, body = get(faulty)
    assert (code, headers["cache-control"], headers["age"]) == (200, "max-age=60", "5")
    assert json.loads(body) == samples.pricing()
    assert get(faulty, headers={"If-None-Match": headers["etag"]})[0] == 304
    assert get(faulty, "unknown")[0] == 404
    assert [request.slug for request in faulty.log] == ["pricing", "pricing", "unknown"]
    assert faulty.log[1].headers["if-none-match"] == headers["etag"]
    faulty.forget_log()
    assert faulty.log == []


def test_a_server_that_refuses_keeps_its_address_and_returns(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    for _ in range(3):
        faulty.behave(refuse)
        with pytest.raises(ConnectionRefusedError):
            get(faulty)
        faulty.behave(healthy)
        assert get(faulty)[0] == 200


def test_a_server_that_refuses_closes_its_connections(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    with closing(http.client.HTTPConnection(faulty.host, faulty.port, timeout=5)) as connection:
        for _ in range(2):
            connection.request("GET", "/api/v1/faq/pricing")
            connection.getresponse().read()
        assert (faulty.connections, faulty.open_connections) == (1, 1)  # kept alive
        faulty.behave(refuse)
        assert connection.sock is not None
        assert connection.sock.recv(1) == b""
    assert faulty.wait_for_disconnects()


@pytest.mark.parametrize("oddity", ODDITIES)
def test_an_oddity_is_a_valid_response_with_the_record(faulty: FaultyServer, oddity: str) -> None:
    faulty.serve(samples.pricing())
    faulty.behave(ODDITIES[oddity])
    code, headers, body = get(faulty)
    if code == 307:
        code, headers, body = get(faulty, headers["location"], path="")
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    assert code == 200
    assert json.loads(body.decode("utf-8-sig"))["slug"] == "pricing"


def leaves_nothing(fault: Fault) -> None:
    threads = threading.active_count()
    with FaultyServer(fault.behaviour) as server:
        server.serve(samples.pricing())
        server.behave(fault.behaviour)
        if fault.behaviour is refuse:
            with pytest.raises(ConnectionRefusedError):
                get(server)
        else:
            with socket.create_connection((server.host, server.port), timeout=5) as connection:
                connection.sendall(b"GET /api/v1/faq/pricing HTTP/1.1\r\nHost: here\r\n\r\n")
                server.wait_for_requests(1)
                connection.settimeout(0.2)  # for those that hang
                with suppress(ConnectionResetError, TimeoutError):
                    assert connection.recv(1) or fault.name == "connection closed"
    assert threading.active_count() == threads


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_one_fault_of_each_kind_leaves_no_thread_and_no_socket(fault: Fault) -> None:
    leaves_nothing(fault)


def test_an_exception_in_a_behaviour_fails_the_test() -> None:
    def mistaken(exchange: Exchange) -> None:
        raise KeyError("a mistake in a test")

    server = FaultyServer(mistaken)
    with pytest.raises((OSError, http.client.HTTPException)):
        get(server)
    with pytest.raises(AssertionError) as caught:
        server.close()
    assert isinstance(caught.value.__cause__, KeyError)
