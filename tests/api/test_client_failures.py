"""The REST client with a service that fails in every way, and errors that never show the API key."""

import asyncio
import errno
import json
import logging
import os
import selectors
import threading
import time
from collections.abc import Callable

import pytest

from faqsvc_embed import (
    FAQ,
    ConfigurationError,
    FAQClient,
    FAQError,
    FAQNotFound,
    FAQUnavailable,
    InvalidFAQ,
    Settings,
)
from faqsvc_embed.api.transport import Transport
from faqsvc_embed.errors import OutcomeUnknown
from tests.api.support import CREATED, SECRET, TEA, WRITE_IDS, WRITES, Clients, created, failure, spoken
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import EVERY_FAULT, Behaviour, Exchange, Fault, FaultyServer


@pytest.mark.matrix
@pytest.mark.parametrize("fault", EVERY_FAULT, ids=lambda fault: fault.name)
def test_every_fault_of_the_service_is_an_faq_error(
    clients: Clients, faulty: FaultyServer, fault: Fault
) -> None:
    client = clients(timeout=0.3)
    faulty.behave(fault.behaviour)
    assert isinstance(failure(lambda: client.publish_faq(**TEA)), FAQError)
    assert isinstance(failure(lambda: client.get_faq("pricing")), FAQNotFound | FAQUnavailable | InvalidFAQ)


def test_a_client_without_free_file_descriptors_raises_an_faq_error(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(selectors, "DefaultSelector", refuse)
    assert isinstance(failure(lambda: clients().get_faq("pricing")), FAQUnavailable)


@pytest.mark.parametrize("status", [301, 307])
@pytest.mark.parametrize("write", WRITES, ids=WRITE_IDS)
def test_a_write_follows_no_redirect(
    clients: Clients, faulty: FaultyServer, write: Callable[[FAQClient], object], status: int
) -> None:
    faulty.behave(behaviours.redirect("/elsewhere", status))
    error = failure(lambda: write(clients()))
    assert (type(error), error.status, len(faulty.log)) == (FAQUnavailable, status, 1)


@pytest.mark.parametrize("write", WRITES, ids=WRITE_IDS)
@pytest.mark.parametrize(
    "behaviour",
    [behaviours.hang, behaviours.drip(0.02)],
    ids=["hang", "drip"],
)
def test_one_deadline_covers_a_write(
    clients: Clients, faulty: FaultyServer, write: Callable[[FAQClient], object], behaviour: Behaviour
) -> None:
    faulty.behave(behaviour)
    client, start = clients(timeout=0.05, generation_timeout=0.05), time.monotonic()
    error = failure(lambda: write(client))
    assert 0.04 < time.monotonic() - start < 20
    assert (type(error), error.status) == (OutcomeUnknown, None)


@pytest.mark.parametrize(
    "behaviour",
    [
        behaviours.reset,
        behaviours.truncated,
        behaviours.status(504),
        behaviours.status(503, {"Retry-After": "0"}),
    ],
)
def test_a_publication_without_a_response_has_an_unknown_outcome_and_is_not_sent_again(
    clients: Clients, faulty: FaultyServer, behaviour: Behaviour
) -> None:
    faulty.behave(behaviour)
    without = failure(lambda: clients().publish_faq(**TEA))
    assert len(faulty.log) == 1
    with_key = failure(lambda: clients().publish_faq(**TEA, idempotency_key="a"))
    assert (type(without), type(with_key)) == (OutcomeUnknown, OutcomeUnknown)
    assert str(without) != str(with_key)  # the advice depends on the key


def test_a_publication_that_was_not_sent_is_not_published(clients: Clients, faulty: FaultyServer) -> None:
    faulty.refuse()
    error = failure(lambda: clients().publish_faq(**TEA))
    assert (type(error), error.status) == (FAQUnavailable, None)
    assert faulty.base_url in str(error)


def test_generation_has_a_timeout_of_its_own(clients: Clients, faulty: FaultyServer) -> None:
    def slowly(exchange: Exchange) -> None:
        released.wait(60)
        behaviours.body(b'{"items": []}')(exchange)

    released = threading.Event()
    faulty.behave(slowly)
    threading.Timer(0.15, released.set).start()
    assert clients(timeout=0.05).generate_faq("https://www.tea.example") == []
    released.clear()
    client = clients(timeout=5.0, generation_timeout=0.05)  # also if timeout is what it is by default
    assert type(failure(lambda: client.generate_faq("https://www.tea.example"))) is OutcomeUnknown
    released.set()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e10])
def test_a_generation_timeout_must_be_a_time(seconds: float) -> None:
    error = failure(lambda: FAQClient("https://faq.example", generation_timeout=seconds))
    assert type(error) is ConfigurationError


def test_an_faq_that_is_not_there_is_reported_with_the_address_of_the_request(
    clients: Clients, faulty: FaultyServer
) -> None:
    error = failure(lambda: clients().get_faq("pricing", lang="ko"))
    assert (type(error), error.status) == (FAQNotFound, 404)
    assert f"{faulty.base_url}/api/v1/faq/pricing?lang=ko" in str(error)


def test_a_response_to_an_earlier_request_is_not_taken_for_that_of_a_write(
    clients: Clients, faulty: FaultyServer
) -> None:
    faulty.behave(behaviours.body(b'{"slug": "coffee"}'))
    error = failure(lambda: clients().publish_faq(**TEA, slug="tea"))
    assert type(error) is OutcomeUnknown
    assert "'coffee'" in str(error)


def test_a_response_is_read_up_to_max_bytes(clients: Clients, faulty: FaultyServer) -> None:
    def much(exchange: Exchange) -> None:
        exchange.respond(201, b" " * 5000 + json.dumps(CREATED).encode())

    faulty.behave(much)
    error = failure(lambda: clients(max_bytes=4096).publish_faq(**TEA))
    assert (type(error), error.status) == (OutcomeUnknown, 201)
    assert "4096" in str(error)


def test_cancelling_a_task_ends_its_request(clients: Clients, faulty: FaultyServer) -> None:
    gone = threading.Event()

    def hang(exchange: Exchange) -> None:
        try:
            exchange.hang()
        finally:
            gone.set()

    async def give_up() -> None:
        task = asyncio.create_task(clients(timeout=30).apublish_faq(**TEA))
        await asyncio.to_thread(faulty.wait_for_requests, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    faulty.behave(hang)
    asyncio.run(give_up())
    assert gone.wait(60)


@pytest.mark.parametrize("write", WRITES, ids=WRITE_IDS)
def test_closing_ends_a_write_with_an_error(
    clients: Clients, faulty: FaultyServer, write: Callable[[FAQClient], object]
) -> None:
    faulty.behave(behaviours.hang)
    client, errors = clients(timeout=30), list[FAQError]()
    thread = threading.Thread(target=lambda: errors.append(failure(lambda: write(client))))
    thread.start()
    faulty.wait_for_requests(1)
    client.close()
    thread.join(60)
    assert [type(error) for error in errors] == [OutcomeUnknown]


def test_a_client_may_be_used_inside_an_event_loop_and_after_closing(
    clients: Clients, faulty: FaultyServer
) -> None:
    faulty.serve(samples.pricing())
    client = clients()

    async def inside() -> FAQ:
        return client.get_faq("pricing")

    assert asyncio.run(inside()).slug == "pricing"
    client.close()
    assert client.get_faq("pricing").slug == "pricing"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_sends_on_its_own(clients: Clients, faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    client = clients()
    client.get_faq("pricing")
    child = os.fork()
    if child == 0:
        os._exit(0 if client.get_faq("pricing").slug == "pricing" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert {request.connection for request in faulty.log} == {1, 2}


@pytest.mark.parametrize(
    "write", [*WRITES, lambda client: client.get_faq("pricing")], ids=[*WRITE_IDS, "get"]
)
def test_a_bug_is_logged_with_its_traceback_and_without_the_key(
    clients: Clients,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    write: Callable[[FAQClient], object],
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise KeyError(f"a bug, with {SECRET}")

    monkeypatch.setattr(Transport, "send", broken)
    error = failure(lambda: write(clients()))
    assert isinstance(error, FAQUnavailable)
    assert "KeyError" in str(error)
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("faqsvc_embed", "ERROR")
    assert "Traceback" in record.getMessage()
    assert "test_client_failures.py" in record.getMessage()
    assert "s3cret" not in caplog.text + spoken(error)


def echo(status: int) -> Behaviour:
    """Respond with the key that was sent, in every place."""

    def behaviour(exchange: Exchange) -> None:
        key = exchange.request.headers.get("x-plugin-key", "")
        body = json.dumps({"title": key, "detail": f"bad {key}", "problems": [key, f"{key}!"], key: key})
        exchange.respond(status, body.encode(), {"Location": f"/{key}", "Retry-After": key})

    return behaviour


def echo_in_head(exchange: Exchange) -> None:
    exchange.send(f"HTTP/1.1 {exchange.request.headers['x-plugin-key']}\r\n\r\n".encode())
    exchange.cut()


@pytest.mark.parametrize("write", WRITES, ids=WRITE_IDS)
@pytest.mark.parametrize(
    "behaviour",
    [*map(echo, (200, 201, 302, 400, 401, 403, 404, 413, 422, 429, 500)), echo_in_head, behaviours.reset],
)
def test_no_error_leads_to_the_key(
    clients: Clients,
    faulty: FaultyServer,
    caplog: pytest.LogCaptureFixture,
    write: Callable[[FAQClient], object],
    behaviour: Behaviour,
) -> None:
    faulty.behave(behaviour)
    caplog.set_level(logging.INFO)
    client = clients()
    error = failure(lambda: write(client))
    assert "s3cret" not in spoken(error) + caplog.text + repr(client) + str(vars(client))
    assert len(error.body) <= 500


def test_no_local_mistake_leads_to_the_key(clients: Clients) -> None:
    client = clients()
    mistakes: list[Callable[[], object]] = [
        lambda: client.publish_faq(website_url="tea", website_name="", items=[]),
        lambda: client.get_faq("a/b"),
        lambda: FAQClient("ftp://faq.example", SECRET),
        lambda: FAQClient("https://faq.example", SECRET, timeout=-1),
        lambda: FAQClient("https://faq.example", SECRET, no_setting=1),  # type: ignore[call-arg]
        lambda: FAQClient("http://faq.example", SECRET),
        lambda: FAQClient("https://faq.example", settings=Settings(), api_key=SECRET, wait="x"),  # type: ignore[call-arg]
    ]
    for mistake in mistakes:
        assert "s3cret" not in spoken(failure(mistake))


def test_closing_a_client_closes_its_connection(clients: Clients, faulty: FaultyServer) -> None:
    faulty.behave(created)
    client = clients()
    client.publish_faq(**TEA)
    assert faulty.open_connections
    client.close()
    assert faulty.wait_for_disconnects()
    assert faulty.connections == 1
