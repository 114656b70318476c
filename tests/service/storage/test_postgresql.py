"""PostgreSQL: URLs, outages, time-outs, and several servers on one database."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import psycopg
import pytest
from sqlalchemy import func, insert, select, text, true, update
from starlette.testclient import TestClient

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.models import FAQ
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http import threads
from faqsvc_embed.service.storage import Storage, StorageUnavailable, engines, open_storage, schema
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.values import Access
from tests.service.bodies import publication
from tests.service.storage.writes import access, put, title, write
from tests.support import samples
from tests.support.postgres import Postgres
from tests.support.service import service_process
from tests.support.waiting import wait_until

pytestmark = pytest.mark.system

ROOT = Path(__file__).parents[3]
PRICING = FAQ.from_dict(samples.pricing())


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.new_database()


@pytest.fixture
def storage(url: str) -> Iterator[Storage]:
    storage = open_storage(url)
    yield storage
    storage.close()


def test_a_missing_database_is_named(postgres: Postgres) -> None:
    with pytest.raises(StorageUnavailable) as caught:
        open_storage(postgres.url("nothing"))

    assert "'nothing'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_site_is_deleted_after_the_writes_that_are_under_way(storage: Storage) -> None:
    site = storage.sites.create("Heron")
    row = {"slug": "late", "site": site, "lang": "en", "state": "draft", "sealed": False}
    waiting = text(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )

    def is_waiting() -> bool:
        with storage.database.reading() as connection:
            return connection.execute(waiting).first() is not None

    with ThreadPoolExecutor() as threads:
        with storage.database.writing() as connection:
            connection.execute(insert(schema.faqs), row | {"created_at": storage.clock()})
            deleted = threads.submit(storage.removal.delete_site, site)
            wait_until(is_waiting)
        assert deleted.result() == 1
    assert storage.sites.list() == []


def test_an_unreachable_server_is_named_without_the_password() -> None:
    with pytest.raises(StorageUnavailable) as caught:
        open_storage("postgresql://me:secret@127.0.0.1:1/faqs\n")

    message = str(caught.value)
    assert "'faqs' at 127.0.0.1" in message
    assert "secret" not in message
    assert "\n" not in message


@pytest.mark.parametrize("bad", ["postgresql://me:secret@[::1/faqs", "postgresql://h/faqs?secret=1"])
def test_an_invalid_url_is_refused_and_not_shown(bad: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_storage(bad)

    assert "secret" not in str(caught.value)


def test_another_encoding_than_utf_8_is_refused(postgres: Postgres) -> None:
    postgres.execute("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")

    with pytest.raises(StorageUnavailable, match="LATIN1"):
        open_storage(postgres.url("latin"))


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(ConfigurationError, match=r"pip install 'faqsvc-embed\[postgresql\]'"):
        open_storage("postgresql:///faqs")


def test_connections_that_the_server_closed_are_replaced(storage: Storage, url: str) -> None:
    put(storage, PRICING)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'faqsvc'"
        )

    assert title(storage, "pricing") is not None


def test_writes_succeed_again_after_they_reached_a_server_that_only_reads(storage: Storage, url: str) -> None:
    setting = "ALTER ROLE CURRENT_USER {} default_transaction_read_only"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"{setting.format('SET')} = on".encode())
        try:
            with pytest.raises(StorageUnavailable, match="read-only"):
                storage.sites.create("tea")
        finally:
            connection.execute(setting.format("RESET").encode())

    assert storage.sites.create("tea")


def test_writes_wait_for_each_other_whatever_the_database_prefers(url: str) -> None:
    storage = open_storage(f"{url}{quote(' -cdefault_transaction_isolation=serializable')}")
    who = access(storage)
    with ThreadPoolExecutor(8) as pool:
        titles = list(pool.map(lambda number: write(storage, who, title=f"Title {number}").title, range(40)))
    storage.close()
    assert len(set(titles)) == 40


def test_connections_in_use_are_closed_when_a_closed_storage_gets_them_back(
    storage: Storage, url: str
) -> None:
    count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"
    with psycopg.connect(url, autocommit=True) as observer:

        def connections() -> int:
            [found] = observer.execute(count, [observer.info.backend_pid]).fetchone() or (0,)
            return int(found)

        with storage.database.reading() as reader, storage.database.writing() as writer:
            reader.execute(text("SELECT 1"))
            writer.execute(text("SELECT 1"))
            storage.close()
            wait_until(lambda: connections() == 2)
        wait_until(lambda: connections() == 0)


def test_an_outage_is_a_503_until_the_server_is_back(
    postgres: Postgres, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "POOL_TIMEOUT", 0.2)
    with TestClient(create_app(url, reads_per_minute=None)) as client:
        before = client.get("/readyz")
        with postgres.stopped():
            during = client.get("/readyz")
        wait_until(lambda: client.get("/readyz").status_code == 200)

    assert (before.status_code, during.status_code) == (200, 503)
    assert during.headers["retry-after"] == "1"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short time-outs."""
    monkeypatch.setattr(engines, "STATEMENT_TIMEOUT", 0.5)
    monkeypatch.setattr(threads, "CALL_TIMEOUT", 1.0)


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Lock the tables of FAQs in another session."""
    with psycopg.connect(url) as connection:
        connection.execute("LOCK TABLE faqs, revisions IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


def responses_of(client: TestClient, key: str) -> list[httpx2.Response]:
    """Return the responses to two reads and a write."""
    reads = [client.get(path) for path in ("/api/v1/faq/pricing", "/faq/pricing")]
    return [*reads, client.post("/api/v1/faq", json=publication(), headers={"X-Plugin-Key": key})]


def test_the_faqs_of_a_site_that_is_no_longer_listed_are_named_nowhere(storage: Storage) -> None:
    site = storage.sites.create("tea", listed=True)
    put(storage, PRICING, site=site)
    with TestClient(create_app(storage)) as client:
        for is_listed in (True, False):
            storage.sites.update(Access(None, site), listed=is_listed)
            for path in ("/", "/llms.txt", "/sitemap.xml"):
                assert ("/faq/pricing" in client.get(path).text) is is_listed


def copy_faqs(storage: Storage, count: int, *, site: str) -> None:
    """Add many copies of the only FAQ to a site."""
    with storage.database.writing() as connection:
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")  # no request writes so many at once
        for table in (schema.faqs, schema.translations, schema.revisions):
            numbers = func.generate_series(1, count).table_valued("number").render_derived()
            values = [func.concat("f", numbers.c.number) if c is table.c.slug else c for c in table.c]
            rows = select(*values).select_from(table.join(numbers, true()))
            connection.execute(insert(table).from_select(table.c.keys(), rows))
        connection.execute(update(schema.faqs).where(schema.faqs.c.slug != "pricing").values(site=site))


def rows_read(storage: Storage, lists: list[Callable[[], object]]) -> int:
    """Return the rows that PostgreSQL has read for all reads until now, after each list was read 15 times."""
    for _ in range(15):
        for list_ in lists:
            list_()
    with storage.database.reading() as connection:
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
    with storage.database.reading() as connection:
        query = "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables"
        return int(connection.scalar(text(query)) or 0)


def analyze(storage: Storage) -> None:
    """Count the rows of all tables, as the server does some time after many changes."""
    with storage.database.reading() as connection:
        connection.execute(text("ANALYZE"))


def test_lists_read_few_of_many_faqs(storage: Storage) -> None:
    site = storage.sites.create("tea", listed=True)
    put(storage, PRICING, site=site)
    copy_faqs(storage, 20_000, site=site)
    lists: list[Callable[[], object]] = [
        partial(storage.overview.page, site, limit=50),
        partial(storage.publications.listed, limit=50),
        partial(storage.publications.translations, first="f5", limit=50),
    ]
    before = rows_read(storage, lists)
    analyze(storage)

    assert rows_read(storage, lists) - before < 15 * len(lists) * 1_000


@pytest.mark.parametrize("is_listed", [False, True], ids=["none", "a small one"])
def test_the_faqs_of_sites_that_are_not_listed_are_not_read(storage: Storage, is_listed: bool) -> None:
    put(storage, PRICING, site=storage.sites.create("small", listed=is_listed))
    copy_faqs(storage, 6_000, site=storage.sites.create("huge"))
    lists: list[Callable[[], object]] = [
        partial(storage.publications.listed, limit=50),
        partial(storage.publications.starts, 50),
    ]
    analyze(storage)
    before = rows_read(storage, [])

    assert rows_read(storage, lists) - before < 15 * len(lists) * 10


@pytest.mark.usefixtures("impatient")
def test_a_locked_table_is_a_503(storage: Storage, url: str) -> None:
    put(storage, PRICING)
    with TestClient(create_app(storage)) as client:
        key = storage.keys.create()
        with locked(url):
            during = responses_of(client, key)
        assert {(response.status_code, response.headers["retry-after"]) for response in during} == {
            (503, "1")
        }
        # Not at once, if a busy machine needs longer than the time-out.
        wait_until(
            lambda: [response.status_code for response in responses_of(client, key)] == [200, 200, 201]
        )


@contextmanager
def frozen(url: str) -> Iterator[None]:
    """Stop the server processes of the open connections, as if the network lost all packets."""
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


@pytest.mark.usefixtures("impatient")
def test_a_silent_server_is_a_503_in_time(storage: Storage, url: str) -> None:
    with TestClient(create_app(storage)) as client:
        wait_until(lambda: client.get("/readyz").status_code == 200)
        with frozen(url):
            during = client.get("/readyz")
        assert (during.status_code, during.headers["retry-after"]) == (503, "1")
        wait_until(lambda: client.get("/readyz").status_code == 200)


@pytest.mark.parametrize(("stated", "limit"), [("700", "700ms"), ("0", "0"), (None, "5s")])
def test_the_url_may_set_the_statement_time_out(
    url: str, stated: str | None, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the tests have a longer one
    opened = Database(url if stated is None else f"{url}%20-cstatement_timeout%3D{stated}")
    with opened.reading() as connection:
        found = connection.scalar(text("SHOW statement_timeout"))
    opened.close()

    assert found == limit


@pytest.mark.usefixtures("impatient")
def test_an_upgrade_does_not_wait_forever_for_a_lock(storage: Storage, url: str) -> None:
    with storage.database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0003'"))
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE alembic_version")
        with pytest.raises(StorageUnavailable):
            open_storage(url)


def test_several_servers_share_a_database(url: str) -> None:
    with (
        service_process(url) as (one, key, _),
        service_process(url) as (other, *_),
        httpx2.Client(base_url=one, trust_env=False, timeout=60) as client,
        httpx2.Client(base_url=other, trust_env=False, timeout=60) as client_of_other,
    ):
        clients = (client, client_of_other)
        headers = {"X-Plugin-Key": key, "Idempotency-Key": "once"}

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
