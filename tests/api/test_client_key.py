"""The API key is never shown: in no error, traceback, local variable, log or repr."""

import json
import logging
from collections.abc import Callable

import pytest

from faqsvc_embed import (
    FAQClient,
    FAQUnavailable,
    Settings,
)
from faqsvc_embed.api.transport import Transport
from tests.api.support import SECRET, TEA, WRITE_IDS, WRITES, Clients, created, failure, spoken
from tests.support import faulty as behaviours
from tests.support.faulty import Behaviour, Exchange, FaultyServer


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
    assert "test_client_key.py" in record.getMessage()
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
        lambda: FAQClient("https://faq.example", apikey=SECRET),  # type: ignore[call-arg]
        lambda: FAQClient("https://faq.example", key=SECRET.encode()),  # type: ignore[call-arg]
        lambda: FAQClient(SECRET, "https://faq.example"),
        lambda: FAQClient("https://faq.example", lang=SECRET),
        lambda: Settings(token=SECRET),  # type: ignore[call-arg]
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
