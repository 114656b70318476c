"""A day of load in a minute: `python -m tests.benchmarks.day [--seconds 60]`.

Two service processes share PostgreSQL. Three host processes show FAQs, publishers and editors write, and in
the middle one service is killed with SIGKILL and started again. It prints what was lost, and how memory grew.
"""

import argparse
import logging
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

import httpx2

from faqsvc_embed import FAQEmbed
from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.service.storage import open_storage
from tests.benchmarks.loading import free_port
from tests.support.postgres import Postgres

HOSTS: Final = 3
SHOWN: Final = 20
"""FAQs that the hosts show."""
LOOKUPS: Final = 500
"""Look-ups a second in each host."""


def host(base_url: str, seconds: float) -> None:
    """Show FAQs, and print look-ups, pages that lacked one, and memory after a third and in the end."""
    missing, lookups, early = 0, 0, 0.0
    with FAQEmbed(base_url, max_fresh=1, wait=0.5) as embed:
        started = time.monotonic()
        while (elapsed := time.monotonic() - started) < seconds:
            state = embed.use_faq(f"shown-{random.randrange(SHOWN)}")
            lookups += 1
            missing += state.data is None
            if elapsed > seconds / 3 and not early:
                early = memory(os.getpid())
            time.sleep(1 / LOOKUPS)
    print(lookups, missing, f"{early:.1f} {memory(os.getpid()):.1f}")


def memory(pid: int) -> float:
    """Return the resident memory of a process in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


class Writer(threading.Thread):
    """Publishes FAQs, or edits the ones that hosts show; remembers the last acknowledged answer of each."""

    def __init__(self, number: int, urls: list[str], key: str) -> None:
        super().__init__()
        self.acknowledged: dict[str, int] = {}
        self.sent: dict[str, int] = {}
        self.refused = 0
        self.has_ended = threading.Event()
        self._number, self._urls, self._key = number, urls, key

    def run(self) -> None:
        with httpx2.Client(trust_env=False, timeout=10, headers={KEY_HEADER: self._key}) as client:
            version = 0
            while not self.has_ended.wait(0.05):
                version += 1
                # Writers have slugs of their own, so that the last acknowledged version is known.
                slug = (
                    f"shown-{version % SHOWN}" if self._number == 0 else f"own-{self._number}-{version % 50}"
                )
                try:
                    self.sent[slug] = version
                    response = client.put(
                        f"{self._urls[version % 2]}{API_PATH}/{slug}", json=publication(version)
                    )
                except httpx2.HTTPError:
                    self.refused += 1
                    continue
                if response.is_success:
                    self.acknowledged[slug] = version
                else:
                    self.refused += 1


def publication(version: int) -> dict[str, Any]:
    """Return the body of a publication."""
    items = [{"question": "Which version?", "answer": f"Version {version}"}]
    return {"websiteUrl": "https://tea.example", "websiteName": "Tea", "items": items, "lang": "en"}


def serve(port: int) -> "subprocess.Popen[bytes]":
    """Start a service process, and wait until it is ready."""
    command = [
        sys.executable,
        "-m",
        "faqsvc_embed",
        "serve",
        "--port",
        str(port),
        "--writes-per-minute",
        "100000",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if httpx2.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).status_code == 200:
                return process
        except httpx2.HTTPError:
            time.sleep(0.1)
    raise RuntimeError("the service did not start")


def day(seconds: float) -> bool:
    """Run a day of load; print what was seen, and return whether nothing acknowledged was lost."""
    with Postgres.running() as server:
        url = server.new_database()
        os.environ["FAQSVC_DATABASE_URL"] = url
        storage = open_storage(url)
        key = storage.keys.create()
        storage.close()
        ports = [free_port(), free_port()]
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        services = [serve(port) for port in ports]
        for number in range(SHOWN):
            httpx2.put(
                f"{urls[0]}{API_PATH}/shown-{number}",
                json=publication(0),
                headers={KEY_HEADER: key},
                trust_env=False,
            ).raise_for_status()
        command = [sys.executable, "-m", "tests.benchmarks.day", "--seconds", str(seconds), "--host"]
        hosts = [
            subprocess.Popen([*command, urls[number % 2]], stdout=subprocess.PIPE, text=True)
            for number in range(HOSTS)
        ]
        writers = [Writer(number, urls, key) for number in range(3)]
        for writer in writers:
            writer.start()
        time.sleep(seconds / 3)
        early = [memory(service.pid) for service in services]
        time.sleep(seconds / 6)
        services[0].kill()
        services[0].wait()
        time.sleep(1)
        services[0] = serve(ports[0])
        time.sleep(max(0.0, seconds / 2 - 1))
        for writer in writers:
            writer.has_ended.set()
        for writer in writers:
            writer.join()
        for number, process in enumerate(hosts):
            lookups, missing, before, after = process.communicate()[0].split()
            print(f"host {number}: {lookups} look-ups, {missing} without FAQ, {before} MiB, then {after} MiB")
        print(
            f"services: {early} MiB after a third, {[memory(service.pid) for service in services]} in the end"
        )
        lost = 0
        storage = open_storage(url)
        for writer in writers:
            for slug, version in writer.acknowledged.items():
                found = storage.publications.get(slug, None)
                answer = 0 if found is None else int(found.record.rpartition("Version ")[2].split('"')[0])
                lost += not version <= answer <= writer.sent[slug]
        count = sum(len(writer.acknowledged) for writer in writers)
        print(f"{sum(w.refused for w in writers)} writes were refused; of {count} FAQs, {lost} lost a write")
        storage.close()
        for service in services:
            service.terminate()
            service.wait(15)
    return lost == 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.day", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--host", metavar="URL", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.host:
        logging.getLogger("faqsvc_embed").setLevel(logging.CRITICAL)
        host(arguments.host, arguments.seconds)
    else:
        sys.exit(0 if day(arguments.seconds) else 1)
