"""The plain REST client: against our own service, and against one that fails in every way."""

import asyncio
import gc
import json
import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import pytest

from faqsvc_embed import (
    FAQ,
    AuthenticationError,
    ConfigurationError,
    FAQClient,
    FAQError,
    FAQNotFound,
    FAQUnavailable,
    InvalidFAQ,
    Item,
    Publication,
    PublishRejected,
    RateLimited,
    Settings,
)
from faqsvc_embed.errors import Unanswered
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FAULTS, Behaviour, Exchange, Fault, FaultyServer
from tests.support.service import Service, service

SECRET: Final = "fs_live_" + "s3cretABC_-" * 4
TEA: Final[dict[str, Any]] = {
    "website_url": "https://www.tea.example",
    "website_name": "Tea & Sons",
    "items": [("What does it cost?", "Nothing."), ("May I cancel?", "Any time.")],
}
CREATED: Final = {
    "slug": "tea",
    "faqUrl": "https://faq.example/faq/tea",
    "install": {"npm": "npm install @faqsvc/react", "component": '<FAQ slug="tea" />'},
}
SLACK: Final = 0.5
"""Seconds that a busy machine may add to any wait."""

Clients = Callable[..., FAQClient]


@pytest.fixture
def clients(faulty: FaultyServer) -> Iterator[Clients]:
    """Makes clients of the faulty server; closes them in the end."""
    made = list[FAQClient]()

    def make(api_key: str | None = SECRET, **settings: Any) -> FAQClient:
        client = FAQClient(faulty.base_url, api_key, **settings)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()
    assert [thread for thread in threading.enumerate() if thread.name == "faqsvc-embed"] == []


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Service]:
    with service(tmp_path) as running:
        yield running


def created(exchange: Exchange) -> None:
    exchange.reply(201, json.dumps(CREATED).encode())


WRITES: Final[list[Callable[[FAQClient], object]]] = [
    lambda client: client.publish_faq(**TEA),
    lambda client: client.generate_faq("https://www.tea.example"),
    lambda client: asyncio.run(client.apublish_faq(**TEA)),
    lambda client: asyncio.run(client.agenerate_faq("https://www.tea.example")),
]
WRITE_IDS: Final = ["publish", "generate", "apublish", "agenerate"]


def failure(work: Callable[[], object]) -> FAQError:
    with pytest.raises(FAQError) as caught:
        work()
    return caught.value


# With our own service


def test_what_is_published_is_read(ours: Service) -> None:  # W4, W7
    with FAQClient(ours.base_url, ours.key) as client:
        publication = client.publish_faq(**TEA, lang="en", title="Prices")
        faq = client.get_faq(publication.slug)
    assert publication.faq_url == f"{ours.base_url}/faq/{publication.slug}"
    assert publication.install == {
        "npm": "npm install @faqsvc/react",
        "component": f'<FAQ slug="{publication.slug}" />',
    }
    assert faq == FAQ(
        publication.slug,
        "Prices",
        "Tea & Sons",
        "en",
        (Item(0, "What does it cost?", "Nothing."), Item(1, "May I cancel?", "Any time.")),
    )


def test_the_asynchronous_twins_do_the_same(ours: Service) -> None:
    async def publish_twice_and_read() -> tuple[Publication, Publication, FAQ]:
        async with FAQClient(ours.base_url, ours.key) as client:
            first = await client.apublish_faq(**TEA)
            second = await client.apublish_faq(**TEA, slug=first.slug, lang="fr")
            return first, second, await client.aget_faq(first.slug, lang="fr-CH")

    first, second, faq = asyncio.run(publish_twice_and_read())
    assert first == second
    assert (faq.slug, faq.lang) == (first.slug, "fr")


def test_the_next_read_is_never_older_than_a_write(ours: Service) -> None:  # W7
    with FAQClient(ours.base_url, ours.key) as client:
        slug = client.publish_faq(**TEA).slug
        for answer in ("one", "two", "three"):
            client.publish_faq(**{**TEA, "items": [("Open?", answer)]}, slug=slug)
            assert client.get_faq(slug).items == (Item(0, "Open?", answer),)


def test_an_idempotency_key_makes_a_second_attempt_safe(ours: Service) -> None:  # W5
    with FAQClient(ours.base_url, ours.key) as client:
        first, second = (client.publish_faq(**TEA, idempotency_key="attempt-1") for _ in range(2))
        third = client.publish_faq(**TEA)
    assert first == second
    assert third.slug != first.slug


def test_many_threads_publish_with_one_client(ours: Service) -> None:
    with FAQClient(ours.base_url, ours.key) as client, ThreadPoolExecutor(16) as pool:
        slugs = {publication.slug for publication in pool.map(lambda _: client.publish_faq(**TEA), range(16))}
    assert len(slugs) == 16


def test_a_key_that_the_service_does_not_know_is_an_error_of_authentication(ours: Service) -> None:  # W8
    with FAQClient(ours.base_url, SECRET) as client:
        error = failure(lambda: client.publish_faq(**TEA))
    assert (type(error), error.status) == (AuthenticationError, 403)


# What is sent


def test_a_write_is_one_request_with_the_key_in_its_header_only(
    clients: Clients, faulty: FaultyServer
) -> None:  # W1, W4
    faulty.behave(created)
    publication = clients().publish_faq(**TEA, idempotency_key="one")
    assert publication == Publication("tea", CREATED["faqUrl"], CREATED["install"])  # type: ignore[arg-type]
    (request,) = faulty.log
    headers = {name: value for name, value in request.headers.items() if SECRET in value}
    assert headers == {"x-plugin-key": SECRET}
    assert (request.method, request.target) == ("POST", "/api/v1/faq")
    assert request.headers["content-type"] == "application/json"
    assert request.headers["idempotency-key"] == "one"
    assert SECRET.encode() not in request.body
    assert json.loads(request.body) == {
        "websiteUrl": "https://www.tea.example",
        "websiteName": "Tea & Sons",
        "items": [
            {"question": "What does it cost?", "answer": "Nothing."},
            {"question": "May I cancel?", "answer": "Any time."},
        ],
    }


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_what_is_sent_to_this_machine_goes_by_no_proxy(
    clients: Clients, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:  # W1, W3
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    faulty.behave(created)
    assert clients().publish_faq(**TEA).slug == "tea"
    assert faulty.log[0].headers["host"] == f"127.0.0.1:{faulty.port}"


def test_a_read_carries_no_key_and_asks_caches_to_make_sure(
    clients: Clients, faulty: FaultyServer
) -> None:  # D5, W7
    faulty.behave(created)
    client = clients()
    client.publish_faq(**TEA)
    faulty.behave(behaviours.healthy)
    faulty.serve(samples.pricing())
    assert client.get_faq("pricing", lang="de-CH") == FAQ.from_dict(samples.pricing())
    read = faulty.log[-1]
    assert (read.method, read.target) == ("GET", "/api/v1/faq/pricing?lang=de")
    assert read.headers["cache-control"] == "no-cache"
    assert not {"x-plugin-key", "cookie", "authorization"} & set(read.headers)


def test_what_is_generated_comes_as_items(clients: Clients, faulty: FaultyServer) -> None:
    item = {"question": "Open?", "answer": "Yes.", "source": "https://www.tea.example/#open"}
    faulty.behave(behaviours.body(json.dumps({"items": [item]}).encode()))
    client = clients()
    items = client.generate_faq("https://www.tea.example", lang="ko", count=5, topic="Prices")
    assert items == [Item(0, "Open?", "Yes.")]
    assert asyncio.run(client.agenerate_faq("https://www.tea.example")) == items
    sent = [(request.method, request.target, json.loads(request.body)) for request in faulty.log]
    full = {"websiteUrl": "https://www.tea.example", "lang": "ko", "count": 5, "topic": "Prices"}
    assert sent == [
        ("POST", "/api/v1/faq/generate", full),
        ("POST", "/api/v1/faq/generate", {"websiteUrl": "https://www.tea.example"}),
    ]


# What is refused before anything is sent


@pytest.mark.parametrize("write", WRITES, ids=WRITE_IDS)
def test_without_a_key_a_write_says_which_variable_to_set_and_sends_nothing(
    clients: Clients, faulty: FaultyServer, write: Callable[[FAQClient], object]
) -> None:  # W2
    error = failure(lambda: write(clients(None)))
    assert (type(error), error.status) == (AuthenticationError, None)
    assert "FAQSVC_API_KEY" in str(error)
    assert (faulty.log, faulty.connections) == ([], 0)


def test_every_local_problem_is_told_at_once_and_nothing_is_sent(
    clients: Clients, faulty: FaultyServer
) -> None:  # W6
    with pytest.raises(PublishRejected) as caught:
        clients().publish_faq(website_url="tea", website_name="", items=[("", ""), ("a", "b"), ("a", "c")])
    assert [problem.partition(" ")[0] for problem in caught.value.problems] == [
        "websiteUrl",
        "websiteName",
        "items[0].question",
        "items[0].answer",
        "items[2].question",
    ]
    assert (caught.value.status, faulty.connections) == (None, 0)


@pytest.mark.parametrize(
    "key", ["s3cretABC", "FS_LIVE_s3cretABC", "fs_live_", "fs_live_s3cretABC\n", b"fs_live_s3cretABC"]
)
def test_a_key_of_another_form_is_refused_without_a_word_of_it(key: Any) -> None:  # W2
    error = failure(lambda: FAQClient("https://faq.example", key))
    assert type(error) is ConfigurationError
    assert "s3cret" not in spoken(error)


def test_plain_http_with_a_key_is_refused_but_for_loopback() -> None:  # W3
    assert "with an API key, https is accepted" in str(
        failure(lambda: FAQClient("http://faq.example", SECRET))
    )
    FAQClient("http://faq.example")
    FAQClient("http://127.0.0.1:1", SECRET)


def test_a_client_needs_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "FAQSVC_BASE_URL" in str(failure(FAQClient))
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://faq.example/")
    monkeypatch.setenv("FAQSVC_API_KEY", SECRET)
    client = FAQClient()
    assert client.settings == Settings(base_url="https://faq.example", api_key=SECRET)  # type: ignore[arg-type]
    assert FAQClient(settings=client.settings, timeout=1).settings.timeout == 1


@pytest.mark.parametrize("slug", ["", "..", "a/b", "a\\b", "a\nb", "x" * 201, None, 7])
def test_a_slug_that_can_be_none_is_not_asked_for(
    clients: Clients, faulty: FaultyServer, slug: Any
) -> None:  # K18
    assert type(failure(lambda: clients().get_faq(slug))) is FAQNotFound
    assert faulty.connections == 0


def test_offline_makes_no_request(clients: Clients, faulty: FaultyServer) -> None:  # R8
    client = clients(offline=True)
    for work in (lambda: client.get_faq("pricing"), lambda: client.publish_faq(**TEA)):
        assert str(failure(work)).startswith("offline")
    assert faulty.connections == 0


def test_a_language_that_is_none_is_told_in_development_and_left_out_otherwise(
    clients: Clients, faulty: FaultyServer
) -> None:  # L1
    faulty.serve(samples.pricing())
    clients(lang="fr").get_faq("pricing", lang="tlh")
    assert faulty.log[-1].target == "/api/v1/faq/pricing?lang=fr"
    assert type(failure(lambda: clients(strict=True).get_faq("pricing", lang="tlh"))) is ConfigurationError


# What a service can do


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_of_the_service_is_an_error_of_ours(
    clients: Clients, faulty: FaultyServer, fault: Fault
) -> None:  # W8
    client = clients(timeout=0.3)
    faulty.behave(fault.behaviour)
    assert isinstance(failure(lambda: client.publish_faq(**TEA)), FAQError)
    assert isinstance(failure(lambda: client.get_faq("pricing")), FAQNotFound | FAQUnavailable | InvalidFAQ)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("write", WRITES, ids=WRITE_IDS)
def test_a_write_follows_no_redirect(
    clients: Clients, faulty: FaultyServer, write: Callable[[FAQClient], object], status: int
) -> None:  # D5
    faulty.behave(behaviours.redirect("/elsewhere", status))
    error = failure(lambda: write(clients()))
    assert (type(error), error.status, len(faulty.log)) == (FAQUnavailable, status, 1)


@pytest.mark.parametrize(
    "behaviour",
    [
        behaviours.status(500),
        behaviours.status(503, {"Retry-After": "0"}),
        behaviours.reset,
        behaviours.truncated,
    ],
)
def test_a_write_that_fails_is_not_sent_again(
    clients: Clients, faulty: FaultyServer, behaviour: Behaviour
) -> None:  # W5
    faulty.behave(behaviour)
    failure(lambda: clients().publish_faq(**TEA))
    assert len(faulty.log) == 1


@pytest.mark.parametrize("write", WRITES, ids=WRITE_IDS)
@pytest.mark.parametrize(
    "behaviour",
    [behaviours.hang, behaviours.hang_in_body, behaviours.drip(0.02), behaviours.drip_head(0.02)],
    ids=["hang", "hang in body", "drip", "drip head"],
)
def test_one_deadline_covers_a_write(
    clients: Clients, faulty: FaultyServer, write: Callable[[FAQClient], object], behaviour: Behaviour
) -> None:  # D1
    faulty.behave(behaviour)
    client, start = clients(timeout=0.3), time.monotonic()
    error = failure(lambda: write(client))
    assert 0.25 < time.monotonic() - start < 0.3 + SLACK
    assert (type(error), error.status) == (Unanswered, None)
    assert " within 0.3 s: look at the service, or give it more with" in str(error)


@pytest.mark.parametrize(
    ("idempotency_key", "advice"),
    [(None, "look before publishing it again"), ("a", "another attempt with the same")],
)
@pytest.mark.parametrize("behaviour", [behaviours.reset, behaviours.truncated, behaviours.status(504)])
def test_of_a_publication_that_got_no_answer_is_said_what_is_known(
    clients: Clients, faulty: FaultyServer, behaviour: Behaviour, idempotency_key: str | None, advice: str
) -> None:  # W5
    faulty.behave(behaviour)
    error = failure(lambda: clients().publish_faq(**TEA, idempotency_key=idempotency_key))
    assert type(error) is Unanswered
    assert f"; it may have been published: {advice}" in str(error)


def test_what_was_not_even_sent_is_not_published(clients: Clients, faulty: FaultyServer) -> None:
    faulty.refuse()
    error = failure(lambda: clients().publish_faq(**TEA))
    assert (type(error), error.status) == (FAQUnavailable, None)
    place = f"the service at {faulty.base_url} cannot be reached for the publication: "
    assert str(error).startswith(place)


def test_a_write_that_is_refused_is_known_by_its_head(clients: Clients, faulty: FaultyServer) -> None:  # K8
    def hangs(exchange: Exchange) -> None:
        exchange.head(429, {"Retry-After": "7", "Content-Length": "5000"})
        exchange.hang()

    faulty.behave(hangs)
    error = failure(lambda: clients(timeout=0.3).publish_faq(**TEA))
    assert (type(error), error.status, error.retry_after) == (RateLimited, 429, 7.0)


def test_generation_may_take_a_minute_unless_a_timeout_is_set(clients: Clients) -> None:
    assert clients()._generation_timeout() == 60
    assert clients(timeout=2)._generation_timeout() == 2


def test_an_answer_is_read_up_to_its_cap(clients: Clients, faulty: FaultyServer) -> None:  # D2
    def much(exchange: Exchange) -> None:
        exchange.reply(201, b" " * 5000 + json.dumps(CREATED).encode())

    faulty.behave(much)
    error = failure(lambda: clients(max_bytes=4096).publish_faq(**TEA))
    assert (type(error), error.status) == (Unanswered, 201)
    said = "the service took it (201), so it was published, but the answer is larger than max_bytes, 4096: "
    assert str(error).startswith(said)


def test_who_stops_waiting_ends_the_request(clients: Clients, faulty: FaultyServer) -> None:  # G14
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
    assert gone.wait(2)


@pytest.mark.parametrize("write", WRITES, ids=WRITE_IDS)
def test_closing_ends_a_write_with_an_error(
    clients: Clients, faulty: FaultyServer, write: Callable[[FAQClient], object]
) -> None:  # R12
    faulty.behave(behaviours.hang)
    client, errors = clients(timeout=30), list[FAQError]()
    thread = threading.Thread(target=lambda: errors.append(failure(lambda: write(client))))
    thread.start()
    faulty.wait_for_requests(1)
    client.close()
    thread.join(2)
    assert [(type(error), str(error)) for error in errors] == [
        (FAQUnavailable, "the client was closed meanwhile")
    ]


def test_a_client_may_be_used_inside_an_event_loop_and_after_closing(
    clients: Clients, faulty: FaultyServer
) -> None:  # F5
    faulty.serve(samples.pricing())
    client = clients()

    async def inside() -> FAQ:
        return client.get_faq("pricing")

    assert asyncio.run(inside()).slug == "pricing"
    client.close()
    assert client.get_faq("pricing").slug == "pricing"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_sends_on_its_own(clients: Clients, faulty: FaultyServer) -> None:  # F1, F2
    faulty.serve(samples.pricing())
    client = clients()
    client.get_faq("pricing")
    child = os.fork()
    if child == 0:
        os._exit(0 if client.get_faq("pricing").slug == "pricing" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert {request.connection for request in faulty.log} == {1, 2}


# The key stays ours


def spoken(error: BaseException) -> str:
    """Return all that an error says: itself, its causes, and the local variables of our frames on the way."""
    said, seen, waiting = list[str](), set[int](), [error]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        said += [str(one), repr(one), repr(vars(one)), *traceback.format_exception(one)]
        said += _locals(one.__traceback__)
        waiting += [other for other in (one.__cause__, one.__context__) if other is not None]
    return "\n".join(said)


def _locals(trace: TracebackType | None) -> Iterator[str]:
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        if "faqsvc_embed" in frame.f_code.co_filename and "tests" not in frame.f_code.co_filename:
            for value in frame.f_locals.values():
                yield repr(value)
                yield str(value)


def echo(status: int) -> Behaviour:
    """Answer with the key that was sent, in every place."""

    def behaviour(exchange: Exchange) -> None:
        key = exchange.request.headers.get("x-plugin-key", "")
        body = json.dumps({"title": key, "detail": f"bad {key}", "problems": [key, f"{key}!"], key: key})
        exchange.reply(status, body.encode(), {"Location": f"/{key}", "Retry-After": key})

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
) -> None:  # W1, D6
    faulty.behave(behaviour)
    caplog.set_level(logging.INFO)
    client = clients()
    error = failure(lambda: write(client))
    assert "s3cret" not in spoken(error) + caplog.text + repr(client) + str(vars(client))
    assert len(error.body) <= 500


def test_no_local_mistake_leads_to_the_key(clients: Clients) -> None:  # W1
    client = clients()
    mistakes: list[Callable[[], object]] = [
        lambda: client.publish_faq(website_url="tea", website_name="", items=[]),
        lambda: client.get_faq("a/b"),
        lambda: FAQClient("ftp://faq.example", SECRET),
        lambda: FAQClient("https://faq.example", SECRET, timeout=-1),
        lambda: FAQClient("https://faq.example", SECRET, no_setting=1),
        lambda: FAQClient("http://faq.example", SECRET),
        lambda: FAQClient("https://faq.example", settings=Settings(), api_key=SECRET, wait="x"),
    ]
    for mistake in mistakes:
        assert "s3cret" not in spoken(failure(mistake))


def test_nothing_is_left_running_or_open(clients: Clients, faulty: FaultyServer) -> None:
    faulty.behave(created)
    client = clients()
    client.publish_faq(**TEA)
    client.close()
    gc.collect()  # a connection left open would warn, which is an error here
    assert faulty.connections == 1
