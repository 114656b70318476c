"""How fast an edit is on every page, what many subscribers cost, and what following costs a page.

Records are fresh for an hour, so that whatever is on a page earlier has come by the change feed.
"""

import asyncio
import itertools
import statistics
import tempfile
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from faqsvc_embed import FAQClient, FAQEmbed
from tests.benchmarks.hostpage import record
from tests.benchmarks.hosts import flask_app, respond
from tests.benchmarks.sidebyside import calling, compare
from tests.benchmarks.tables import Table
from tests.processes.servers import running
from tests.support.crowd import Crowd, memory, processor_time, publish
from tests.support.postgres import Postgres
from tests.support.service import service_process
from tests.support.waiting import wait_until

CHANGES: Final = 240
SUBSCRIBERS: Final = 1000
SUBSCRIBED_EDITS: Final = 20
SERVERS: Final = {
    "gunicorn, 4 processes": (4, "gunicorn -w 4 -b 127.0.0.1:{port} tests.processes.site:wsgi"),
    "uvicorn, 2 processes": (
        2,
        "uvicorn --workers 2 --port {port} --log-level warning tests.processes.site:asgi",
    ),
}


def feed(is_short: bool) -> Iterator[Table]:
    """Measure edits that reach workers and subscribers, and a page while its FAQ is followed.

    The page alone, if it is short: `tests/processes/test_fleet.py` runs the others.
    """
    with tempfile.TemporaryDirectory() as directory:
        if not is_short:
            yield _workers(Path(directory))
            with Postgres.running() as postgres:
                yield _subscribers(
                    {"SQLite": f"sqlite:///{directory}/faqs.db", "PostgreSQL": postgres.new_database()}
                )
        yield _page(f"sqlite:///{directory}/page.db", 2 if is_short else 1000)


# Workers


def _workers(directory: Path) -> Table:
    table = Table(
        f"From a change to the last worker: {CHANGES} changes, one after the other",
        {"median ms": ".0f", "99 % ms": ".0f", "slowest ms": ".0f"},
        notes=("goal: at most 2 s for 99 %; the pages are fetched without a pause, on the same machine",),
    )
    for name, (count, command) in SERVERS.items():
        with (
            service_process(f"sqlite:///{directory}/{count}.db") as (url, key, _),
            FAQClient(url, key) as client,
        ):
            changes = seconds_of_changes(client, command, count, directory / "log")
            took = list(itertools.islice(changes, 10, 10 + CHANGES))  # at first, workers begin to follow
            changes.close()
        late = statistics.quantiles(took, n=100)[98]
        table.add(name, statistics.median(took) * 1e3, late * 1e3, max(took) * 1e3)
    return table


def seconds_of_changes(
    client: FAQClient, command: str, count: int, log: Path
) -> Generator[float, None, None]:
    """Yield the seconds that each change takes to the last of `count` workers; every sixth is a deletion."""
    publish(client, "Answer 0.")
    environment = {"FAQSVC_BASE_URL": client.settings.base_url, "FAQSVC_WAIT": "2", "FAQSVC_PUSH": "true"}
    with running(command, log, **environment) as server:
        workers = set[str]()
        while len(workers) < count:
            workers.add(server.page()[0])
        for number in itertools.count(1):
            publish(client, f"Answer {number}.")
            yield server.seconds_to_all(workers, f"Answer {number}.")
            if number % 5 == 0:
                client.unpublish_faq("pricing")
                yield server.seconds_to_all(workers, None)


# Subscribers


def _subscribers(databases: dict[str, str]) -> Table:
    table = Table(
        f"An edit to {SUBSCRIBERS:,} subscribers of one process, {SUBSCRIBED_EDITS} edits",
        {
            "median ms": ".0f",
            "slowest ms": ".0f",
            "of them processor": ".0f",
            "connected s": ".1f",
            "again s": ".1f",
            "MiB": ".1f",
        },
        notes=(
            "goal: at most 2 s, and at most 50 MiB more in the process of the service",
            "again: all connections break at once, and all subscribers resume with Last-Event-ID",
        ),
    )
    for name, database in databases.items():
        with service_process(database) as (url, key, pid), FAQClient(url, key) as client:
            publish(client, "Answer 0.")
            table.add(name, *asyncio.run(subscribe(client, pid, SUBSCRIBED_EDITS)))
    return table


async def subscribe(client: FAQClient, pid: int, edits: int) -> tuple[float, ...]:
    """Return what many subscribers cost: the columns of the table."""
    before = memory(pid)
    async with Crowd(client.settings.base_url, SUBSCRIBERS) as crowd:
        connected = await crowd.connect()
        busy = processor_time(pid)
        took = [await crowd.seconds_to_all(client, f"Edit {n}.") for n in range(edits)]
        busy = (processor_time(pid) - busy) / edits
        again = await crowd.connect(last_id="0")
        took += [await crowd.seconds_to_all(client, f"Again {n}.") for n in range(edits)]
        more = memory(pid) - before
    return statistics.median(took) * 1e3, max(took) * 1e3, busy * 1e3, connected, again, more


# A page


def _page(database: str, rounds: int) -> Table:
    """Compare a page whose FAQ is followed with one whose FAQ is not; the time of all threads counts."""
    with (
        service_process(database) as (url, key, _),
        FAQClient(url, key) as client,
        FAQEmbed(url, push=False) as without,
        FAQEmbed(url) as following,
    ):
        items = [(item["question"], item["answer"]) for item in record(20)["items"]]
        client.publish_faq(
            slug="pricing", website_url="https://heron.example", website_name="Heron", items=items, lang="en"
        )
        for embed in (without, following):
            embed.get_faq("pricing")
        wait_until(lambda: following.reader.fetcher.feed_lag is not None)
        apps = {"push=False": flask_app(without), "following the feed": flask_app(following)}
        return compare(
            "Flask: a whole request with a cached FAQ of 20 questions, in seconds of the processor",
            {name: calling(partial(respond, app, "faq")) for name, app in apps.items()},
            rounds=rounds,
            notes=("goal: the same",),
        )
