"""An outage of the database is a few lines in the log, and not one for each request."""

import logging
from collections import deque
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http import threads
from faqsvc_embed.service.http.threads import OutageLog
from faqsvc_embed.service.storage import Storage, StorageUnavailable
from tests.support.clock import Clock

ERROR = StorageUnavailable("PostgreSQL 'faqs' at db: connection refused")


@pytest.fixture
def log(clock: Clock) -> OutageLog:
    return OutageLog("the database", clock.now)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the lines since the last call."""
    found = [record.getMessage() for record in caplog.records if record.name == "faqsvc_embed.service"]
    caplog.clear()
    return found


def test_an_outage_is_logged_when_it_begins_each_minute_and_when_it_ends(
    log: OutageLog, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    reports = deque[bool](maxlen=1)
    log.report = reports.append
    log.succeeded()
    for _ in range(1000):
        log.failed(ERROR)
    (line,) = lines(caplog)
    assert ("connection refused" in line, *reports) == (True, False)
    for _ in range(121):
        clock.advance(1)
        log.failed(ERROR)
    assert [("60 s" in line, "120 s" in line) for line in lines(caplog)] == [(True, False), (False, True)]
    clock.advance(5)
    log.succeeded()
    log.succeeded()
    (line,) = lines(caplog)
    assert ("1121" in line, *reports) == (True, True)


def test_a_busy_database_that_fails_now_and_then_is_one_outage(
    log: OutageLog, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(20):
        log.failed(ERROR)
        clock.advance(0.5)
        log.succeeded()
    assert len(lines(caplog)) == 1


@pytest.fixture
def client(storage: Storage, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Iterator[TestClient]:
    monkeypatch.setattr(threads.database_outages, "_clock", clock.now)
    app, _ = (create_app(storage, metrics=True) for _ in range(2))  # a process may have several
    with TestClient(app) as client:
        yield client


def test_many_requests_during_an_outage_are_one_line(
    client: TestClient,
    storage: Storage,
    monkeypatch: pytest.MonkeyPatch,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)

    def fail(*_: object) -> None:
        raise ERROR

    with monkeypatch.context() as broken:
        broken.setattr(storage.publications, "get", fail)
        broken.setattr(storage, "ping", fail)
        statuses = {client.get(f"{API_PATH}/slug-{number}").status_code for number in range(20)}
        assert statuses == {503}
        assert [client.get(path).status_code for path in ("/readyz", "/livez")] == [503, 200]
        assert len(lines(caplog)) == 1
        assert "faqsvc_database_up 0.0" in client.get("/metrics").text
    clock.advance(5)
    assert client.get("/favicon.ico").status_code == 200  # which needs no database
    assert not lines(caplog)
    assert client.get("/readyz").status_code == 200
    assert len(lines(caplog)) == 1
    assert "faqsvc_database_up 1.0" in client.get("/metrics").text


def test_a_process_whose_database_needs_an_upgrade_is_not_ready(client: TestClient, storage: Storage) -> None:
    with storage.database.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0007'")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert "upgrade" in response.json()["detail"]
