"""Edits and deletions reach every worker within seconds, although records are fresh for an hour."""

import asyncio
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from faqsvc_embed import FAQClient
from tests.processes.servers import Server, running
from tests.support.crowd import Crowd, memory, publish
from tests.support.service import Service, service, service_process

GUNICORN: Final = "gunicorn -w 4 -b 127.0.0.1:{port} tests.processes.site:wsgi"
UVICORN: Final = "uvicorn --workers 2 --port {port} --log-level warning tests.processes.site:asgi"
EDITS: Final = 20
DELETIONS: Final = 3
LIMIT: Final = 2.0
SUBSCRIBERS: Final = 1000

pytestmark = pytest.mark.system


@contextmanager
def site(faqs: Service, command: str, log: Path) -> Iterator[Server]:
    with running(command, log, FAQSVC_BASE_URL=faqs.base_url, FAQSVC_WAIT="2", FAQSVC_PUSH="true") as server:
        yield server


@pytest.mark.parametrize(("command", "count"), [(GUNICORN, 4), (UVICORN, 2)], ids=["gunicorn", "uvicorn"])
def test_an_edit_reaches_every_worker_within_two_seconds(command: str, count: int, tmp_path: Path) -> None:
    with service(tmp_path) as faqs, FAQClient(faqs.base_url, faqs.key) as client:
        publish(client, "Answer 0.")
        with site(faqs, command, tmp_path / "log") as server:
            workers = set[str]()
            while len(workers) < count:
                workers.add(server.page()[0])
            time.sleep(1)  # each follows the feed
            took = list[float]()
            for number in range(1, EDITS + 1):
                publish(client, f"Answer {number}.")
                took.append(server.seconds_to_all(workers, f"Answer {number}."))
            for number in range(DELETIONS):
                client.unpublish_faq("pricing")
                took.append(server.seconds_to_all(workers, None))
                publish(client, f"Back {number}.")
                took.append(server.seconds_to_all(workers, f"Back {number}."))
    assert statistics.quantiles(took, n=20)[-1] < LIMIT, sorted(took)


def test_an_edit_reaches_a_thousand_subscribers_within_two_seconds(tmp_path: Path) -> None:
    async def subscribe(client: FAQClient, pid: int) -> tuple[list[float], float]:
        before = memory(pid)
        async with Crowd(client.settings.base_url, SUBSCRIBERS) as crowd:
            await crowd.connect()
            took = [await crowd.seconds_to_all(client, f"Edit {number}.") for number in range(5)]
            await crowd.connect(last_id="0")  # all at once, as after a restart of the proxy
            took += [await crowd.seconds_to_all(client, f"Again {number}.") for number in range(5)]
            return took, memory(pid) - before

    database = f"sqlite:///{tmp_path}/faqsvc.db"
    with service_process(database) as (url, key, pid), FAQClient(url, key) as client:
        publish(client, "Answer 0.")
        took, more = asyncio.run(subscribe(client, pid))
    assert statistics.median(took) < LIMIT, sorted(took)
    assert more < 50
