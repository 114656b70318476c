"""What is PostgreSQL's own: addresses, outages, many servers over one database."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.models import FAQ
from faqsvc_embed.service import postgresql
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.database import StorageUnavailable
from faqsvc_embed.service.postgresql import PostgreSQL
from faqsvc_embed.service.storage import Storage, open_storage
from tests.service.bodies import publication
from tests.support import samples
from tests.support.postgres import Postgres

ROOT = Path(__file__).parents[2]
PRICING = FAQ.from_dict(samples.pricing())


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.new_database()


@pytest.fixture
def storage(url: str) -> Iterator[Storage]:
    storage = open_storage(url)
    yield storage
    storage.close()


def test_a_database_that_is_not_there_is_named_in_one_line(postgres: Postgres) -> None:
    with pytest.raises(StorageUnavailable) as caught:
        open_storage(postgres.url("nothing"))

    assert re.match("PostgreSQL 'nothing' at /.*: .* database \"nothing\" does not exist$", str(caught.value))


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(StorageUnavailable) as caught:
        open_storage("postgresql://me:secret@127.0.0.1:1/faqs")

    message = str(caught.value)
    assert message.startswith("PostgreSQL 'faqs' at 127.0.0.1: ")
    assert "refused" in message
    assert "secret" not in message
    assert "\n" not in message


@pytest.mark.parametrize("bad", ["postgresql://me:secret@[::1/faqs", "postgresql://h/faqs?secret=1"])
def test_an_address_that_libpq_cannot_read_is_refused_without_being_shown(bad: str) -> None:
    with pytest.raises(ConfigurationError, match="postgresql://USER:PASSWORD@HOST:PORT/NAME") as caught:
        open_storage(bad)

    assert "secret" not in str(caught.value)


def test_an_encoding_that_cannot_hold_every_text_is_refused(postgres: Postgres) -> None:
    postgres.execute("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")

    with pytest.raises(StorageUnavailable, match="has the encoding LATIN1, and UTF8 is needed"):
        open_storage(postgres.url("latin"))


def test_without_its_driver_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "faqsvc_embed.service.postgresql", raising=False)

    with pytest.raises(ConfigurationError, match=r"pip install 'faqsvc-embed\[postgresql\]'"):
        open_storage("postgresql:///faqs")


def test_a_reader_does_not_notice_that_the_server_ended_its_connections(storage: Storage, url: str) -> None:
    storage.put(PRICING)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'faqsvc'"
        )

    assert storage.edition("pricing") is not None


def test_an_outage_is_told_and_ends_by_itself(
    postgres: Postgres, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "WAIT", 0.2)
    with TestClient(create_app(url, reads_per_minute=None)) as client:
        before = client.get("/healthz")
        with postgres.stopped():
            during = client.get("/healthz")
        deadline = time.monotonic() + 30
        while (after := client.get("/healthz")).status_code != 200 and time.monotonic() < deadline:
            time.sleep(0.1)

    assert (before.status_code, during.status_code, after.status_code) == (200, 503, 200)
    assert during.headers["retry-after"] == "1"
    assert during.json()["detail"] == "the storage does not answer; try again"


def test_what_a_transaction_waits_for_is_not_waited_for_by_readers(storage: Storage, url: str) -> None:
    storage.put(PRICING)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE editions SET record = ''")

        assert storage.edition("pricing") is not None


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No statement takes longer than a moment."""
    monkeypatch.setattr(postgresql, "STATEMENT_TIMEOUT", 0.2)
    monkeypatch.setattr(postgresql, "GRACE", 0.2)


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Let another session have the FAQs for itself."""
    with psycopg.connect(url) as connection:
        connection.execute("LOCK TABLE faqs, editions IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


def asked(client: TestClient, key: str) -> list[httpx2.Response]:
    """Return the answers to a reader, to another one, and to a publisher."""
    reads = [client.get(path) for path in ("/api/v1/faq/pricing", "/faq/pricing")]
    return [*reads, client.post("/api/v1/faq", json=publication(), headers={"X-Plugin-Key": key})]


@pytest.mark.usefixtures("impatient")
def test_who_meets_the_lock_of_another_is_told_soon(storage: Storage, url: str) -> None:  # V3
    storage.put(PRICING)
    with TestClient(create_app(storage)) as client:
        key = storage.keys.create()
        with locked(url):
            during = asked(client, key)
        after = asked(client, key)

    assert {(answer.status_code, answer.headers["retry-after"]) for answer in during} == {(503, "1")}
    assert [answer.json()["detail"] for answer in during] == ["the storage does not answer; try again"] * 3
    assert [answer.status_code for answer in after] == [200, 200, 201]


@contextmanager
def frozen(url: str) -> Iterator[None]:
    """Let the server's side of the service's connections say nothing, like a network that loses all."""
    with psycopg.connect(url) as connection:
        sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'faqsvc'"
        processes = [pid for (pid,) in connection.execute(sql)]
    assert processes
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


@pytest.mark.usefixtures("impatient", "storage")
def test_a_server_that_says_nothing_is_not_waited_for_twice(url: str) -> None:
    database = PostgreSQL(url)
    with TestClient(create_app(Storage(database))) as client:
        with database.reading(), database.reading(), database.reading():
            pass  # now there are three connections
        with frozen(url):
            answers = [client.get("/healthz") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [503, 200, 200]
    assert answers[0].headers["retry-after"] == "1"


@pytest.mark.usefixtures("impatient")
def test_a_transaction_that_is_not_answered_is_given_up(url: str) -> None:
    database = PostgreSQL(url)
    with pytest.raises(StorageUnavailable, match=r"no answer in 0\.4 s"):
        write_to_nobody(database, url)
    database.close()


def write_to_nobody(database: PostgreSQL, url: str) -> None:
    with database.writing() as connection, frozen(url):
        connection.execute("SELECT 1")


@pytest.mark.parametrize(("stated", "limit"), [("700", "700ms"), ("0", "0"), (None, "5s")])
def test_a_statement_may_take_as_long_as_the_address_says(url: str, stated: str | None, limit: str) -> None:
    database = PostgreSQL(url if stated is None else f"{url}%20-cstatement_timeout%3D{stated}")
    with database.reading() as connection:
        (found,) = connection.execute("SHOW statement_timeout").fetchone()
    database.close()

    assert found == limit


@pytest.mark.usefixtures("impatient", "storage")
def test_a_start_does_not_wait_behind_a_lock_for_ever(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("LOCK TABLE schema_version")
        with pytest.raises(StorageUnavailable, match="lock timeout"):
            open_storage(url)


SERVICE = """
import sys
from functools import partial
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import address, listen, serve_many

if __name__ == "__main__":  # which its processes import anew
    listening = listen()
    print(address(listening), flush=True)
    serve_many(partial(create_app, sys.argv[1]), listening, 2)
"""


@contextmanager
def workers(url: str) -> Iterator["subprocess.Popen[str]"]:
    """Run the service in two processes, which print its address."""
    command = [sys.executable, "-W", "error", "-c", SERVICE, url]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.terminate()
            assert process.wait(20) == 0


def client_of(process: "subprocess.Popen[str]") -> httpx2.Client:
    assert process.stdout is not None
    return httpx2.Client(base_url=process.stdout.readline().strip(), trust_env=False, timeout=30)


def test_many_workers_serve_one_database(url: str) -> None:
    with ExitStack() as stack:
        services = [stack.enter_context(workers(url)) for _ in range(2)]  # which both create the schema
        clients = [stack.enter_context(client_of(process)) for process in services]
        storage = open_storage(url)
        headers = {"X-Plugin-Key": storage.keys.create(), "Idempotency-Key": "once"}
        storage.close()

        def send(number: int) -> Any:
            client = clients[number % 2]
            again = client.post("/api/v1/faq", json=publication(), headers=headers)
            own = {**headers, "Idempotency-Key": str(number)}
            slug = client.post("/api/v1/faq", json=publication(), headers=own).json()["slug"]
            return again.json()["slug"], slug

        with ThreadPoolExecutor(8) as threads:
            sent = list(threads.map(send, range(40)))
        read = {client.get(f"/api/v1/faq/{slug}").status_code for _, slug in sent for client in clients}

    assert len({again for again, _ in sent}) == 1
    assert len({slug for _, slug in sent}) == 40
    assert read == {200}
