"""Those who are busy during a day of load: publishers, an editor at the desk, subscribers of the feed."""

import asyncio
import json
import re
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from faqsvc_embed.api.requests import API_PATH, KEY_HEADER

HERALD: Final = "shown-0"
"""The FAQ whose edits every subscriber awaits."""


def publication(version: int) -> dict[str, Any]:
    """Return the body of a publication."""
    items = [{"question": "Which version?", "answer": f"Version {version}"}]
    return {"websiteUrl": "https://tea.example", "websiteName": "Tea", "items": items, "lang": "en"}


@dataclass
class Ledger:
    """The last version of each FAQ that was sent, and that was acknowledged. Each FAQ has one writer."""

    sent: dict[str, int] = field(default_factory=dict)
    acknowledged: dict[str, int] = field(default_factory=dict)
    edits: dict[int, tuple[float, float]] = field(default_factory=dict)
    """When each revision of `HERALD` was sent, and acknowledged."""
    count: int = 0


class Role(threading.Thread):
    """Does something again and again, at the two services in turn, until it is told to end."""

    pause = 0.05

    def __init__(self, urls: Sequence[str], key: str, ledger: Ledger) -> None:
        super().__init__(name=type(self).__name__)
        self.urls, self.key, self.ledger = urls, key, ledger
        self.done = self.refused = 0
        self.has_ended = threading.Event()

    def run(self) -> None:
        with httpx2.Client(
            trust_env=False, timeout=10, headers={KEY_HEADER: self.key}, follow_redirects=True
        ) as client:
            turn = 0
            while not self.has_ended.wait(self.pause):
                turn += 1
                try:
                    is_done = self.act(client, self.urls[turn % 2], turn)
                except httpx2.HTTPError:
                    is_done = False
                self.done += is_done
                self.refused += not is_done

    def act(self, client: httpx2.Client, url: str, turn: int) -> bool:
        """Do it once, and return whether the service accepted it."""
        raise NotImplementedError

    def put(self, client: httpx2.Client, url: str, slug: str, version: int) -> httpx2.Response:
        """Publish a version of an FAQ."""
        self.ledger.sent[slug] = version
        response = client.put(f"{url}{API_PATH}/{slug}", json=publication(version))
        if response.is_success:
            self.ledger.acknowledged[slug] = version
            self.ledger.count += 1
        return response


class Publisher(Role):
    """Publishes FAQs of its own."""

    def act(self, client: httpx2.Client, url: str, turn: int) -> bool:
        return self.put(client, url, f"own-{self.ident}-{turn % 50}", turn).is_success


class Herald(Role):
    """Edits what all hosts show and all subscribers await."""

    pause = 0.5

    def act(self, client: httpx2.Client, url: str, turn: int) -> bool:
        sent = time.monotonic()
        response = self.put(client, url, HERALD, turn)
        if response.is_success:
            self.ledger.edits[response.json()["revision"]] = sent, time.monotonic()
        return response.is_success


class Editor(Role):
    """Edits an FAQ at the desk, by its forms. Its `key` is the token of a sign-in link."""

    pause = 0.2
    slug = "shown-1"

    def act(self, client: httpx2.Client, url: str, turn: int) -> bool:
        client.headers.pop(KEY_HEADER, None)
        client.headers["origin"] = url
        page = client.get(f"{url}/desk/faqs/{self.slug}")
        if "/sign-in" in str(page.url):
            client.post(f"{url}/desk/sign-in", data={"link": self.key})
            page = client.get(f"{url}/desk/faqs/{self.slug}")
        fields = {name: _value(page.text, name) for name in ("token", "version")}
        written = {"slug": self.slug, "title": "Versions", "website_name": "Tea", "lang": "en"}
        written |= {"website_url": "https://tea.example", "question": "Which version?"}
        self.ledger.sent[self.slug] = turn
        response = client.post(
            f"{url}/desk/faqs/{self.slug}",
            data={**fields, **written, "answer": f"Version {turn}", "action": "publish"},
        )
        is_done = response.is_success and bool(response.history) and "/sign-in" not in str(response.url)
        if is_done:
            self.ledger.acknowledged[self.slug] = turn
            self.ledger.count += 1
        return is_done


class Generator(Role):
    """Has questions and answers read from a website."""

    pause = 1.0
    website = ""

    def act(self, client: httpx2.Client, url: str, turn: int) -> bool:
        response = client.post(f"{url}{API_PATH}/generate", json={"websiteUrl": self.website})
        return response.is_success and len(response.json()["items"]) > 0


class Reader(Role):
    """Opens hosted pages and lists, as search engines do."""

    def act(self, client: httpx2.Client, url: str, turn: int) -> bool:
        path = (f"/faq/shown-{turn % 20}", f"/faq/shown-{turn % 20}.md", "/llms.txt", "/sitemap.xml")[
            turn % 4
        ]
        return client.get(f"{url}{path}").is_success


def _value(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    return found[1] if found else ""


class Subscribers(threading.Thread):
    """Many connections to the change feed, in one event loop; each connects again when it is cut."""

    def __init__(self, urls: Sequence[str], count: int) -> None:
        super().__init__(name="Subscribers")
        self.received: list[dict[int, float]] = [{} for _ in range(count)]
        """When each subscriber got each revision of `HERALD`."""
        self.connected = 0
        self._urls = urls
        self._loop = asyncio.new_event_loop()

    def run(self) -> None:
        asyncio.set_event_loop(self._loop)
        tasks = [self._loop.create_task(self._follow(number)) for number in range(len(self.received))]
        self._loop.run_forever()
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.wait(tasks))
        self._loop.close()

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self.join()

    async def _follow(self, number: int) -> None:
        last_id = ""
        await asyncio.sleep(number / 500)  # not all in the same moment
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                address = urlsplit(self._urls[number % 2])
                reader, writer = await asyncio.open_connection(address.hostname, address.port)
                resume = f"Last-Event-ID: {last_id}\r\n" if last_id else ""
                query = f"slug={HERALD}&slug=shown-{number % 20}"
                head = f"GET /api/v1/events?{query} HTTP/1.1\r\nHost: {address.netloc}\r\n{resume}\r\n"
                writer.write(head.encode())
                is_open = False
                try:
                    while received := await reader.readline():
                        line = received.decode().strip()
                        if line.startswith("id: "):
                            last_id = line[4:]
                            self.connected += not is_open
                            is_open = True
                        elif line.startswith("data: "):
                            change = json.loads(line[6:])
                            if change.get("slug") == HERALD:
                                self.received[number].setdefault(change["revision"], time.monotonic())
                finally:
                    self.connected -= is_open
                    writer.close()
            await asyncio.sleep(0.5)
