"""Reads from a streaming replica of PostgreSQL, behind nginx with the configuration of the documentation."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import psycopg
import pytest

from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import open_storage
from tests.operations.commands import documented, run_in_shell
from tests.support.postgres import PROGRAMS, Postgres
from tests.support.proxies import Front, nginx
from tests.support.running import running
from tests.support.waiting import wait_until

pytestmark = pytest.mark.system

PATH = f"{API_PATH}/pricing"


@dataclass
class Site:
    """Two services, one on the primary and one on its replica, and nginx in front of both."""

    front: Front
    key: str
    primary: Postgres
    replica: Postgres
    database: str
    """The URL of the primary."""
    replica_url: str
    """Of the service on the replica."""

    def read(self) -> str:
        """Return the answer that the public reads."""
        return _answer(self.front.request("GET", PATH))

    def read_replica(self) -> str:
        """Return the answer that the service on the replica gives."""
        return _answer(httpx2.get(f"{self.replica_url}{PATH}", trust_env=False, timeout=60))

    def edit(self, method: str, path: str, **headers: str) -> httpx2.Response:
        """Send a request with the key."""
        return self.front.request(method, path, headers={KEY_HEADER: self.key, **headers})

    def write(self, answer: str, etag: str | None = None) -> httpx2.Response:
        items = [{"question": "What does it cost?", "answer": answer}]
        body: dict[str, Any] = {"websiteUrl": "https://tea.example", "websiteName": "Tea", "items": items}
        headers = {KEY_HEADER: self.key} | ({} if etag is None else {"If-Match": etag})
        return self.front.request("PUT", PATH, json=body, headers=headers)


def _answer(response: httpx2.Response) -> str:
    return str(response.json()["items"][0]["answer"] if response.is_success else response.status_code)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    place = Path(f"/tmp/faqsvc-replica-{os.getpid()}")
    place.mkdir()
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        primary = stack.enter_context(Postgres.running())
        url = primary.new_database()
        storage = open_storage(url)
        key = storage.keys.create()
        storage.close()
        replica = stack.enter_context(primary.replica())
        hosts = [quote(server.host, safe="") for server in (primary, replica)]
        both = url.replace(hosts[0], ",".join(hosts)) + "&target_session_attrs=read-write"
        addresses = [
            stack.enter_context(running(create_app(database))).removeprefix("http://")
            for database in (both, url.replace(hosts[0], hosts[1]))
        ]
        front = stack.enter_context(nginx(place, *addresses))
        yield Site(front, key, primary, replica, url, f"http://{addresses[1]}")


def test_reads_come_from_the_replica_and_editors_lose_nothing_by_its_delay(site: Site) -> None:
    first = site.write("Five euros.")
    wait_until(lambda: site.read() == "Five euros.")
    site.replica.execute("SELECT pg_wal_replay_pause()")
    second = site.write("Six euros.", first.headers["etag"])
    assert second.is_success
    assert site.read() == "Five euros."  # for the public, until the replica follows
    assert site.edit("GET", PATH).json()["items"][0]["answer"] == "Six euros."
    revisions = site.edit("GET", f"{PATH}/revisions").json()["items"]
    assert [one["revision"] for one in revisions] == [2, 1]
    token = site.edit("POST", f"{PATH}/preview").json()["token"]
    assert "Six euros." in site.front.request("GET", f"/faq/pricing?faq_preview={token}").text
    old = site.front.request("GET", PATH).headers["etag"]
    assert site.write("Four euros.", old).status_code == 412
    assert site.write("Seven euros.", second.headers["etag"]).is_success
    site.replica.execute("SELECT pg_wal_replay_resume()")
    wait_until(lambda: site.read() == "Seven euros.")


def test_the_service_on_the_replica_is_ready_and_refuses_writes(site: Site) -> None:
    with httpx2.Client(
        base_url=site.replica_url, headers={KEY_HEADER: site.key}, trust_env=False, timeout=60
    ) as client:
        assert client.get("/readyz").status_code == 200
        assert client.get("/api/v1/faqs").status_code == 200
        assert client.delete(PATH).status_code == 503
        assert client.get("/livez").status_code == 200


def test_without_the_replica_the_primary_serves_reads(site: Site) -> None:
    site.write("Five euros.")
    wait_until(lambda: site.read_replica() == "Five euros.")
    with site.replica.stopped():
        assert site.read() == "Five euros."


def test_a_dump_is_restored_while_the_services_run(site: Site, tmp_path: Path) -> None:
    dump, restore = documented("its own programs", "\nPractise a restore").splitlines(keepends=True)
    variables = {"FAQSVC_DATABASE_URL": site.database, "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
    site.write("Five euros.")
    run_in_shell(dump, tmp_path, **variables)
    site.write("Six euros.")
    run_in_shell(restore, tmp_path, **variables)
    wait_until(lambda: site.read() == "Five euros.")
    assert site.write("Seven euros.").is_success


def test_after_a_failover_the_service_finds_the_new_primary(site: Site) -> None:
    """The last test of this module: the primary stays away."""
    etag = site.write("Five euros.").headers["etag"]
    wait_until(lambda: site.read_replica() == "Five euros.")  # what it has not received is lost
    site.primary.crash()
    wait_until(lambda: site.read() == "Five euros.")  # nginx tries the replica again after two seconds
    assert site.write("Six euros.", etag).status_code == 503
    site.replica.execute("SELECT pg_promote()")
    hosts = [quote(server.host, safe="") for server in (site.primary, site.replica)]
    with psycopg.connect(site.database.replace(hosts[0], hosts[1])) as connection:
        connection.execute("UPDATE last_event SET epoch = gen_random_uuid()")
    assert site.write("Six euros.", etag).is_success
    assert site.read() == "Six euros."
