"""A day of load: `python -m tests.benchmarks.day [--phase 60] [--subscribers 1000]`.

Two service processes share PostgreSQL. Three host processes, which share a store of files, show FAQs;
publishers, an editor at the desk, a generator, readers of hosted pages and subscribers of the change feed are
busy. One after the other, a service in a burst of 200 writes, the other service, a host and PostgreSQL are
killed with SIGKILL, and started again; `--phase` is the seconds between two of these. It prints what was
lost, how long edits took, and the memory of each process.
"""

import argparse
import dataclasses
import json
import logging
import os
import platform
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import psycopg

from faqsvc_embed import FAQEmbed
from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.errors import FAQNotFound
from faqsvc_embed.service.storage import open_storage
from tests.benchmarks.day_roles import (
    HERALD,
    Editor,
    Generator,
    Herald,
    Ledger,
    Publisher,
    Reader,
    Role,
    Subscribers,
    publication,
)
from tests.benchmarks.loading import free_port
from tests.benchmarks.tables import Table
from tests.generation.websites import html, website
from tests.support.crowd import memory
from tests.support.faulty import FaultyServer
from tests.support.postgres import Postgres

HOSTS: Final = 3
SHOWN: Final = 20
"""FAQs that the hosts show."""
LOOKUPS: Final = 200
"""Look-ups a second in each host."""
BURST: Final = 200
"""Writes that run when a service is killed."""
PAGE: Final = html("<h1>FAQ</h1><details><summary>Do you ship to Peru?</summary><p>We do.</p></details>")
SETTLING: Final = 3.0
"""Seconds after a restart in which an edit may take longer, because subscribers connect again; at most."""


def host(base_url: str, store: str) -> None:
    """Show FAQs until standard input ends, and print how many look-ups there were, and without an FAQ.

    Standard input has the newest answers, which the host then waits for.
    """
    logging.getLogger("faqsvc_embed").setLevel(logging.CRITICAL)
    ended, newest = threading.Event(), list[str]()

    def wait_for_end() -> None:
        newest.extend(json.loads(sys.stdin.read() or "[]"))
        ended.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    missing = lookups = 0
    with FAQEmbed(base_url, store=store, wait=2, timeout=5) as embed:
        embed.prefetch(*(f"shown-{number}" for number in range(SHOWN)))
        print("ready", flush=True)
        while not ended.wait(1 / LOOKUPS):
            state = embed.use_faq(f"shown-{random.randrange(SHOWN)}")
            lookups += 1
            missing += state.data is None
        shown, deadline = None, time.monotonic() + 60
        while shown not in newest and time.monotonic() < deadline:
            state = embed.use_faq(HERALD)
            shown = state.data.items[0].answer if state.data else None
            time.sleep(0.1)
        print(json.dumps([lookups, missing, shown]))


class Processes:
    """The services and hosts, which can be killed and started again."""

    def __init__(self, stack: ExitStack, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self._environment = {**os.environ, **environment, "NO_PROXY": "*"}
        self._ports = [free_port(), free_port()]
        self.urls = [f"http://127.0.0.1:{port}" for port in self._ports]
        self.running: dict[str, subprocess.Popen[str]] = {}
        self.early: dict[str, float] = {}
        stack.callback(self.stop)

    def start(self, *names: str) -> None:
        """Start processes together, and wait until they are ready."""
        for name in names:
            kind, number = name.split()
            command = [sys.executable, "-m"]
            if kind == "service":
                port = str(self._ports[int(number)])
                command += ["faqsvc_embed", "serve", "--port", port, "--writes-per-minute", "100000"]
            else:
                store = f"file:{self._folder}"
                command += ["tests.benchmarks.day", "--host", self.urls[int(number) % 2], "--store", store]
            self.running[name] = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=self._environment,
            )
        for name in names:
            output = self.running[name].stdout
            assert output is not None
            assert output.readline(), f"{name} did not start"

    def kill(self, name: str) -> None:
        """End a process with SIGKILL."""
        self.running[name].kill()
        self.running[name].communicate()

    def note_memory(self) -> None:
        """Note the memory that the processes have now, unless it was noted since they started."""
        for name, process in self.running.items():
            self.early[f"{name}, process {process.pid}"] = memory(process.pid)

    def end_hosts(self, newest: list[str]) -> dict[str, tuple[int, int, str | None]]:
        """End the hosts as soon as they show one of the newest answers, and return what they print."""
        hosts = {name: process for name, process in self.running.items() if name.startswith("host")}
        known = json.dumps(newest)
        return {name: json.loads(process.communicate(known)[0]) for name, process in hosts.items()}

    def stop(self) -> None:
        for process in self.running.values():
            if process.poll() is None:
                process.terminate()
        for process in self.running.values():
            process.communicate(timeout=30)


@dataclass
class Report:
    """What a day of load showed."""

    tables: list[Table]
    lost: list[str]
    """FAQs whose last acknowledged version is not there."""
    torn: int
    """Translations whose newest revision is not there."""
    missing: int
    """Pages that lacked an FAQ."""
    missed: int
    """Edits that a subscriber has never heard of."""
    slowest: float
    """Seconds that an edit took to the last subscriber, while nothing was restarted."""
    old_hosts: list[str]
    """Hosts that show an old version in the end."""
    idle: list[str]
    """Roles that did nothing."""

    @property
    def is_well(self) -> bool:
        lacks = self.lost or self.torn or self.missing or self.missed or self.old_hosts or self.idle
        return not lacks and self.slowest <= 2


@contextmanager
def _busy(roles: list[Role], subscribers: Subscribers) -> Iterator[None]:
    for role in roles:
        role.start()
    try:
        yield
    finally:
        for role in roles:
            role.has_ended.set()
        for role in roles:
            role.join()
        time.sleep(2)  # for the last edit to reach everybody
        subscribers.end()


def day(phase: float, count: int) -> Report:
    """Run a day of load."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(Postgres.running())
        url = server.new_database()
        storage = open_storage(url)
        keys = [
            storage.keys.create("publisher"),
            storage.sign_ins.create_link(storage.people.admin("editor")),
        ]
        storage.close()
        pages = stack.enter_context(FaultyServer())
        pages.behave(website({"/": PAGE}))
        processes = Processes(
            stack,
            folder,
            {
                "FAQSVC_DATABASE_URL": url,
                "FAQSVC_GENERATE_ALLOW": f"127.0.0.1:{pages.port}",
            },
        )
        urls, ledger = processes.urls, Ledger()
        processes.start("service 0", "service 1")
        with httpx2.Client(headers={KEY_HEADER: keys[0]}, trust_env=False, timeout=30) as client:
            for number in range(SHOWN):
                client.put(f"{urls[0]}{API_PATH}/shown-{number}", json=publication(0)).raise_for_status()
        processes.start(*(f"host {number}" for number in range(HOSTS)))
        before = _of_services(processes)
        subscribers = Subscribers(urls, count)
        subscribers.start()
        deadline = time.monotonic() + 60
        while subscribers.connected < count and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1)
        with_subscribers = _of_services(processes)
        roles: list[Role] = [
            *(Publisher(urls, keys[0], ledger) for _ in range(2)),
            Herald(urls, keys[0], ledger),
            Editor(urls, keys[1], ledger),
            Generator(urls, keys[0], ledger),
            Reader(urls, keys[0], ledger),
        ]
        Generator.website = f"http://127.0.0.1:{pages.port}/"
        restarts: list[tuple[float, float]] = []

        @contextmanager
        def restart() -> Iterator[None]:
            began = time.monotonic()
            yield
            settling = min(phase, SETTLING)
            restarts.append((began - 1, time.monotonic() + settling))
            processes.note_memory()
            time.sleep(phase + settling)

        with _busy(roles, subscribers):
            time.sleep(phase)
            processes.note_memory()
            with restart():
                burst = _burst(urls[0], keys[0], ledger, lambda: processes.kill("service 0"))
                processes.start("service 0")
            for name in ("service 1", "host 0"):
                with restart():
                    processes.kill(name)
                    processes.start(name)
            with restart():
                server.crash(signal.SIGKILL)
                time.sleep(1)
                server.start()
        table = Table("Memory in MiB, early and in the end", {"early": ".0f", "end": ".0f"})
        for name, process in processes.running.items():
            label = f"{name}, process {process.pid}"
            table.add(name, processes.early[label], memory(process.pid))
        newest = [f"Version {number}" for number in (ledger.sent[HERALD], ledger.acknowledged[HERALD])]
        hosts = processes.end_hosts(newest)
        processes.stop()
        feed, missed, slowest = _feed(ledger, subscribers, restarts)
        feed.note(f"{count} subscribers cost the services {with_subscribers - before:.1f} MiB")
        done = Table("Done, and refused while something was away", {"done": ",", "refused": ","})
        for role in roles:
            done.add(role.name, role.done, role.refused)
        done.add("burst of writes", burst, BURST - burst)
        for name, (lookups, missing, _) in hosts.items():
            done.add(f"look-ups of {name}", lookups, missing)
        lost, torn = _lost(url, ledger)
        done.note(f"{ledger.count} writes were acknowledged, {len(lost)} are lost, {torn} are half there")
        return Report(
            [done, feed, table],
            lost,
            torn,
            sum(missing for _, missing, _ in hosts.values()),
            missed,
            slowest,
            [name for name, (*_, shown) in hosts.items() if shown not in newest],
            [role.name for role in roles if not role.done],
        )


def _of_services(processes: Processes) -> float:
    return sum(memory(processes.running[f"service {number}"].pid) for number in range(2))


def _burst(url: str, key: str, ledger: Ledger, kill: Callable[[], None]) -> int:
    """Send many writes at once, kill the service among them, and return how many were acknowledged."""

    def write(number: int) -> bool:
        slug = f"burst-{number}"
        ledger.sent[slug] = 1
        response = client.put(f"{url}{API_PATH}/{slug}", json=publication(1))
        while response.status_code == 503:  # all of its connections to the database are in use
            response = client.put(f"{url}{API_PATH}/{slug}", json=publication(1))
        if response.is_success:
            ledger.acknowledged[slug] = 1
            ledger.count += 1
        return response.is_success

    # One client: each would read the certificates of the machine, which takes longer than its write.
    options: dict[str, Any] = {"headers": {KEY_HEADER: key}, "trust_env": False, "timeout": 10}
    with (
        httpx2.Client(**options, limits=httpx2.Limits(max_connections=BURST)) as client,
        ThreadPoolExecutor(BURST) as pool,
    ):
        written = [pool.submit(write, number) for number in range(BURST)]
        deadline = time.monotonic() + 10
        while sum(one.done() for one in written) < BURST // 4 and time.monotonic() < deadline:
            time.sleep(0.02)
        kill()
    return sum(one.exception() is None and one.result() for one in written)


def _feed(
    ledger: Ledger, subscribers: Subscribers, restarts: list[tuple[float, float]]
) -> tuple[Table, int, float]:
    """Return how long edits took to the subscribers, how many were missed, and the slowest."""
    seconds, missed = list[float](), 0
    for revision, (sent, acknowledged) in ledger.edits.items():
        is_calm = not any(began <= acknowledged and sent <= ended for began, ended in restarts)
        # A subscriber that was away gets the newest change; it reads the FAQ, whatever came between.
        for received in subscribers.received:
            if revision in received and is_calm:
                seconds.append(max(0.0, received[revision] - acknowledged))
            missed += not any(one >= revision for one in received)
    table = Table(
        "Seconds from the acknowledgement of an edit to a subscriber",
        {"p50": ".2f", "p99": ".2f", "max": ".2f"},
    )
    if len(seconds) > 1:
        table.add(
            f"{len(ledger.edits)} edits, {len(subscribers.received)} subscribers",
            statistics.median(seconds),
            statistics.quantiles(seconds, n=100)[-1],
            max(seconds),
        )
    return table, missed, max(seconds, default=0.0)


def _lost(url: str, ledger: Ledger) -> tuple[list[str], int]:
    """Return the FAQs that lost an acknowledged write, and how many translations lack their revision."""
    storage, lost = open_storage(url), list[str]()
    for slug, version in ledger.acknowledged.items():
        stored = -1
        with suppress(FAQNotFound):
            found = storage.publications.get(slug)
            stored = int(found.record.rpartition("Version ")[2].split('"')[0])
        if not version <= stored <= ledger.sent[slug]:
            lost.append(slug)
    storage.close()
    torn = (
        "SELECT count(*) FROM translations WHERE newest <> (SELECT count(*) FROM revisions"
        " WHERE revisions.slug = translations.slug AND revisions.lang = translations.lang)"
    )
    with psycopg.connect(url) as connection:
        row = connection.execute(torn.encode()).fetchone()
    return lost, 0 if row is None else int(row[0])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.day", description=__doc__)
    parser.add_argument("--phase", type=float, default=60.0, help="seconds between two kills")
    parser.add_argument("--subscribers", type=int, default=1000)
    parser.add_argument("--host", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.host:
        host(arguments.host, arguments.store)
        return 0
    report = day(arguments.phase, arguments.subscribers)
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()}\n")
    for table in report.tables:
        print(table, end="\n\n")
    print("well" if report.is_well else f"NOT well: {dataclasses.replace(report, tables=[])}")
    return 0 if report.is_well else 1


if __name__ == "__main__":
    sys.exit(main())
