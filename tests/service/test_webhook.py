"""The webhook of the service, against a real receiver that verifies as the specification says."""

import copy
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from sqlalchemy import delete
from standardwebhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from faqsvc_embed import FAQ, ConfigurationError
from faqsvc_embed.service import create_app, webhook
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.deliveries import Deliveries
from faqsvc_embed.service.storage.schema import events
from faqsvc_embed.service.telemetry.outages import OutageLog
from tests.support import samples
from tests.support.clock import Clock
from tests.support.running import running
from tests.support.waiting import wait_until

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class Receiver:
    """Refuses the next `failures` messages, and accepts the others."""

    def __init__(self) -> None:
        self.failures = 0
        self.refused_answers = set[int]()
        """Revisions that are refused each time."""
        self.refused = list[str]()
        self.accepted = list[tuple[str, dict[str, Any]]]()
        self.requests = list[tuple[dict[str, str], str]]()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.send_response(receiver.receive(dict(self.headers.items()), body))
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?token=t"

    def receive(self, headers: dict[str, str], body: str) -> int:
        self.requests.append((headers, body))
        message: dict[str, Any] = Verifier(SECRET).verify(body, headers)
        message_id = {name.lower(): value for name, value in headers.items()}["webhook-id"]
        if self.failures:
            self.failures -= 1
            self.refused.append(message_id)
            return 503
        if message["data"].get("revision") in self.refused_answers:
            return 400
        self.accepted.append((message_id, message))
        return 204

    @property
    def data(self) -> list[dict[str, Any]]:
        return [message["data"] for _, message in self.accepted]


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(webhook, "POLL", 0.01)
    monkeypatch.setattr(webhook, "BACKOFF_BASE", 0.01)
    monkeypatch.setattr(webhook, "webhook_outages", OutageLog("the webhook"))
    receiver = Receiver()
    thread = threading.Thread(target=receiver.server.serve_forever, args=(0.01,))
    thread.start()
    yield receiver
    receiver.server.shutdown()
    thread.join()
    receiver.server.server_close()


@contextmanager
def delivering(storage: Storage, receiver: Receiver, processes: int = 1) -> Iterator[None]:
    """Run the service, in several applications that share a database, as processes do."""
    if processes == 0:
        yield
        return
    app = create_app(storage, webhook=receiver.url, webhook_secret=SECRET)
    with running(app), delivering(storage, receiver, processes - 1):
        yield


def publish(storage: Storage, answer: str) -> None:
    record = samples.pricing()
    record["items"][0]["answer"] = answer
    storage.put(FAQ.from_dict(record))


def started(storage: Storage, receiver: Receiver) -> None:
    """Wait until deliveries have begun: what was before is nobody's news."""
    publish(storage, "Before.")
    with delivering(storage, receiver):
        wait_until(lambda: _has_begun(storage))


def _has_begun(storage: Storage) -> bool:
    with storage.database.reading() as connection:
        return bool(connection.exec_driver_sql("SELECT count(*) FROM webhooks").scalar())


def test_a_receiver_that_fails_twice_gets_the_message_a_third_time(
    storage: Storage, receiver: Receiver
) -> None:
    started(storage, receiver)
    receiver.failures = 2
    with delivering(storage, receiver):
        publish(storage, "After.")
        wait_until(lambda: len(receiver.accepted) == 1)
    ((message_id, message),) = receiver.accepted
    assert receiver.refused == [message_id] * 2
    assert message["type"] == "faq.published"
    assert message["data"] == {"slug": "pricing", "lang": "en", "revision": 2, "tag": "faq-pricing"}


def test_a_restart_neither_loses_nor_repeats_a_message(storage: Storage, receiver: Receiver) -> None:
    started(storage, receiver)
    publish(storage, "While it was down.")
    for number in range(3):
        with delivering(storage, receiver):
            publish(storage, f"Edit {number}.")
            wait_until(lambda: len(receiver.accepted) == number + 2)  # noqa: B023  # it is called here
    assert [data["revision"] for data in receiver.data] == [2, 3, 4, 5]
    assert not receiver.refused


def test_several_processes_send_each_message_once_and_in_order(storage: Storage, receiver: Receiver) -> None:
    started(storage, receiver)
    with delivering(storage, receiver, processes=3):
        for number in range(20):
            publish(storage, f"Edit {number}.")
        wait_until(lambda: len(receiver.accepted) >= 20, timeout=20)
    assert [data["revision"] for data in receiver.data] == list(range(2, 22))


def test_of_processes_that_were_forked_from_one_application_only_one_delivers(storage: Storage) -> None:
    made = Deliveries(storage.database, storage.clock, "https://www.example.com/hook")
    forked, other = copy.copy(made), copy.copy(made)
    forked.begin()
    other.begin()
    assert forked.claim(30) == 0
    assert other.claim(30) is None
    forked.release()
    assert other.claim(30) == 0


def test_the_url_is_in_no_log(storage: Storage, receiver: Receiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    started(storage, receiver)
    receiver.failures = 1
    with delivering(storage, receiver):
        publish(storage, "After.")
        wait_until(lambda: len(receiver.accepted) == 1)
    assert "503" in caplog.text
    assert "token=t" not in caplog.text


def test_a_receiver_that_missed_too_many_changes_gets_a_reset(storage: Storage, receiver: Receiver) -> None:
    started(storage, receiver)
    for number in range(5):
        publish(storage, f"Edit {number}.")
    with storage.database.writing() as connection:
        connection.execute(delete(events).where(events.c.number <= 4))
    with delivering(storage, receiver):
        wait_until(lambda: len(receiver.accepted) == 3)
    assert [message["type"] for _, message in receiver.accepted] == [
        "faqs.reset",
        "faq.published",
        "faq.published",
    ]


def test_a_message_that_was_changed_is_old_or_of_another_secret_is_refused(
    storage: Storage, receiver: Receiver
) -> None:
    started(storage, receiver)
    with delivering(storage, receiver):
        publish(storage, "After.")
        wait_until(lambda: len(receiver.accepted) == 1)
    headers, body = receiver.requests[-1]
    other = {**headers, "webhook-timestamp": "1700000000"}
    for secret, sent, text in (
        (SECRET, headers, body + " "),
        ("whsec_c2VjcmV0", headers, body),
        (SECRET, other, body),
    ):
        with pytest.raises(WebhookVerificationError):
            Verifier(secret).verify(text, sent)
    assert SECRET not in json.dumps(headers)


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("ftp://host/", SECRET),
        ("https://", SECRET),
        ("https://host/a b", SECRET),
        ("https://host/", None),
        ("https://host/", "c2VjcmV0"),
        ("https://host/", "whsec_"),
        ("https://host/", "whsec_%%%"),
    ],
)
def test_a_webhook_that_cannot_work_is_an_error_without_the_secret(
    url: str, secret: str | None, storage: Storage
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        create_app(storage, webhook=url, webhook_secret=secret)
    assert secret is None or secret == "whsec_" or secret not in str(caught.value)


def test_a_message_that_is_refused_for_good_does_not_hold_back_the_others(
    storage: Storage, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    started(storage, receiver)
    receiver.refused_answers.add(3)
    with delivering(storage, receiver):
        for number in range(3):
            publish(storage, f"Edit {number}.")
        wait_until(lambda: len(receiver.accepted) == 2)
    assert [data["revision"] for data in receiver.data] == [2, 4]
    assert "for good" in caplog.text


def test_a_claim_of_a_clock_that_was_ahead_is_ignored(storage: Storage, clock: Clock) -> None:
    ahead, behind = (Deliveries(storage.database, clock.wall, "https://cdn.example/") for _ in range(2))
    ahead.begin()
    behind.begin()
    clock.advance(86_400)
    assert ahead.claim(30) is not None
    clock.set_wall(clock.wall() - timedelta(days=1))
    assert behind.claim(30) is not None
    assert ahead.claim(30) is None
