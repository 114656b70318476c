"""PostgreSQL behind PgBouncer, which lends a connection for one transaction only."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from starlette.testclient import TestClient

from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import open_storage
from tests.service.bodies import PATH, publication
from tests.support.postgres import Postgres
from tests.support.running import listen
from tests.support.waiting import wait_until

pytestmark = pytest.mark.system

CONFIGURATION: Final = """
[databases]
postgres = host={host} dbname=postgres user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = 3
unix_socket_dir =
"""


@pytest.fixture
def pooled(postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database behind a pooler."""
    binary = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if binary is None:
        pytest.skip("no PgBouncer on this machine")
    postgres.execute("DROP SCHEMA IF EXISTS public CASCADE")
    postgres.execute("CREATE SCHEMA public")
    user = str(conninfo_to_dict(postgres.url("postgres"))["user"])
    with listen() as probe:
        port = probe.getsockname()[1]
    file = Path(shutil.copy("/dev/null", tmp_path / "pgbouncer.ini"))
    file.write_text(CONFIGURATION.format(host=postgres.host, user=user, port=port))
    for folder in (file, *file.parents):  # it refuses to run as root
        if folder.is_relative_to(tmp_path.parents[1]):
            folder.chmod(0o755)
    as_user = ["-u", postgres.system_user] if postgres.system_user else []
    with subprocess.Popen([binary, "-q", *as_user, str(file)]) as process:
        try:
            wait_until(lambda: is_open(port))
            yield f"postgresql://{user}@127.0.0.1:{port}/postgres"
        finally:
            process.terminate()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_valid_keys_and_published_faqs_are_found_through_a_pooler(pooled: str) -> None:
    storage = open_storage(pooled)
    headers = {"X-Plugin-Key": storage.keys.create()}
    with TestClient(create_app(storage)) as client, TestClient(create_app(pooled)) as other:
        clients = (client, other)

        def work(number: int) -> set[int]:
            path = f"{PATH}/faq-{number % 20}"
            body = publication(title=str(number), lang="en")
            written = clients[number % 2].put(path, json=body, headers=headers)
            read = clients[number % 2].get(f"{path}?lang=de")
            listed = clients[number % 2].get("/api/v1/faqs", headers=headers)
            return {written.status_code, read.status_code, listed.status_code}

        with ThreadPoolExecutor(8) as threads:
            statuses = set().union(*threads.map(work, range(60)))

    assert statuses <= {200, 201}


def test_an_upgrade_through_a_pooler_leaves_no_lock(pooled: str) -> None:
    for _ in range(2):
        started = time.monotonic()
        open_storage(pooled).close()
        with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as connection:
            locks = connection.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone()
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        assert locks == (0,)
        assert time.monotonic() - started < 30
