"""What the sites of one service notice of each other: 100,000 FAQs of 1,000 sites, against 100 FAQs of two.

The service runs under granian, and is asked over HTTP, as programs, editors and readers ask it.
"""

import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

import httpx2

from faqsvc_embed.service.storage import Storage, open_storage
from faqsvc_embed.service.storage.site_removal import delete_site
from tests.benchmarks.large import COMMON, RARE, fill, key_id, site_id
from tests.benchmarks.service import serving
from tests.benchmarks.tables import Table
from tests.support.postgres import Postgres

ROUNDS: Final = 20
WEBSITE: Final = {"websiteUrl": "https://www.heron.example", "websiteName": "Heron"}
Call = Callable[[], object]
Work = Callable[[httpx2.Client], object]


def scale() -> Iterator[Table]:
    """Measure SQLite and PostgreSQL."""
    with tempfile.TemporaryDirectory() as folder, Postgres.running() as server:
        for name, urls in {
            "SQLite": [f"sqlite:///{Path(folder)}/{size}.db" for size in ("small", "large")],
            "PostgreSQL": [server.new_database() for _ in range(2)],
        }.items():
            for url, size in zip(urls, ((100, 2), (100_000, 1_000)), strict=True):
                storage = open_storage(url)
                fill(storage, *size)
                storage.close()
            yield from measure(name, *urls)


def measure(name: str, small: str, large: str) -> Iterator[Table]:
    """Measure a small and a large database, which `fill` has filled."""
    with ExitStack() as stack:
        few, some, many, other = (
            Site(stack.enter_context(served(url)), number)
            for url, number in ((small, 1), (large, 7), (large, 0), (large, 9))
        )
        yield compare(name, few, some, many)
        yield beside(name, some, many, other)


class Site:
    """What a site's programs, its editor and its readers request of a running service."""

    def __init__(self, service: tuple[str, Storage], number: int) -> None:
        self.url, self.storage = service
        self.id, self.number = site_id(number), number
        self.key = self.storage.keys.create("benchmark", site=self.id)
        person = self.storage.people.list(self.id)[0].id
        self._api = {"X-Plugin-Key": self.key}
        self.client = self.connect()
        link = self.storage.sign_ins.create_link(person)
        signed_in = self.client.post("/desk/sign-in", data={"link": link})
        self._cookie = {"Cookie": signed_in.headers["set-cookie"].split(";")[0]}
        self.slug = self.storage.overview.faqs(self.id, limit=1)[0].slug
        page = self.get("/desk/new", self._cookie)
        self.token = re.findall(r'name="token" value="([0-9a-f]+)"', page.text)[0]

    def connect(self) -> httpx2.Client:
        """Return a client with a connection of its own."""
        return httpx2.Client(base_url=self.url, timeout=60, trust_env=False, headers={"Origin": self.url})

    def get(
        self, path: str, headers: dict[str, str] | None = None, client: httpx2.Client | None = None
    ) -> httpx2.Response:
        """Return a response that is no error."""
        return (client or self.client).get(path, headers=headers).raise_for_status()

    def put(self, text: str, *, draft: bool = False, client: httpx2.Client | None = None) -> object:
        """Write an FAQ of the site."""
        body = WEBSITE | {"items": [{"question": "Q?", "answer": text}], "draft": draft}
        path = f"/api/v1/faq/written-{self.number}-{draft}"
        return (client or self.client).put(path, json=body, headers=self._api).raise_for_status()

    def preview(self, questions: int, client: httpx2.Client) -> object:
        """Ask for the live preview of what an editor has typed."""
        answer = "An **answer** with a [link](https://a.example) and words. " * 4
        form: dict[str, Any] = {
            "token": self.token,
            "website_url": "https://a.example",
            "website_name": "A",
            "answer_format": "markdown",
            "lang": "en",
            "action": "preview",
            "part": "preview",
            "question": [f"Question {number}?" for number in range(questions)],
            "answer": [answer] * questions,
            "section": [""] * questions,
            "item_id": [""] * questions,
        }
        return client.post("/desk/new", data=form, headers=self._cookie).raise_for_status()

    def editor(self, client: httpx2.Client) -> object:
        """Open the editor."""
        return self.get(f"/desk/faqs/{self.slug}", self._cookie, client)

    def search(self, word: str, client: httpx2.Client | None = None) -> object:
        """Search at the desk."""
        return self.get(f"/desk?q={word}", self._cookie, client)

    def read(self) -> object:
        """Read the record as the public does, past the cache."""
        return self.get(f"/api/v1/faq/{self.slug}?faq_preview=x")

    def reads(self) -> dict[str, Call]:
        """Return the requests to compare."""
        desk, api = self._cookie, self._api
        paths = {
            "list": ("/api/v1/faqs?limit=50", api),
            "list of drafts": ("/api/v1/faqs?limit=50&state=draft", api),
            "list in German": ("/api/v1/faqs?limit=50&lang=de", api),
            "search, a word of many FAQs": (f"/api/v1/faqs?limit=50&q={COMMON}", api),
            "search, one found": (f"/api/v1/faqs?limit=50&q={self.slug}", api),
            "search, nothing found": (f"/api/v1/faqs?limit=50&q={RARE}", api),
            "desk: list": ("/desk", desk),
            "desk: list of drafts": ("/desk?state=draft", desk),
            "desk: list in German": ("/desk?lang=de", desk),
            "desk: search, a word of many FAQs": (f"/desk?q={COMMON}", desk),
            "desk: search, one found": (f"/desk?q={self.slug}", desk),
            "desk: search, nothing found": (f"/desk?q={RARE}", desk),
            "desk: editor": (f"/desk/faqs/{self.slug}", desk),
            "desk: history": (f"/desk/faqs/{self.slug}/history", desk),
            "desk: keys": ("/desk/keys", desk),
            "desk: a key": (f"/desk/keys/{key_id(self.number, 2)}", desk),
            "desk: log": ("/desk/log", desk),
            "desk: log of a key": (f"/desk/log?key={key_id(self.number, 2)}", desk),
            "desk: bin": ("/desk/bin", desk),
            "history": (f"/api/v1/faq/{self.slug}/revisions", api),
            "a revision": (f"/api/v1/faq/{self.slug}/revisions/1", api),
        }
        calls: dict[str, Call] = {
            name: (lambda path=path, headers=headers: self.get(path, headers))  # type: ignore[misc]
            for name, (path, headers) in paths.items()
        }
        calls["record, past the cache"] = self.read
        calls["publication"] = lambda: self.put(f"At {time.perf_counter()}")
        return calls


def compare(name: str, few: Site, some: Site, many: Site) -> Table:
    """Compare the requests of sites in a small database and in a large one, in turns."""
    columns = {"small, ms": ".1f", "site of 80": ".2f", "site of 20,000": ".2f"}
    goal = "goals: 2 for the site of 80; for that of 20,000, 4 for a list and 8 for a search"
    table = Table(f"{name} over HTTP: milliseconds, and ratios", columns, notes=(goal,))
    sites = [site.reads() for site in (few, some, many)]
    for what in sites[0]:
        times = medians(*(calls[what] for calls in sites))
        table.add(what, times[0] * 1000, times[1] / times[0], times[2] / times[0])
    return table


def beside(name: str, some: Site, many: Site, other: Site) -> Table:
    """Measure what a site waits for while another one works."""
    table = Table(
        f"{name} over HTTP: a request alone, and while others work",
        {"alone, ms": ".1f", "meanwhile, ms": ".1f", "longest, ms": ".0f"},
    )

    def put() -> object:
        return other.put(f"At {time.perf_counter()}")

    def row(what: str, call: Call, work: Work, workers: int, pace: float) -> None:
        alone = timed(call, ROUNDS)
        with working(work, some.connect, workers, pace) as done:
            during = timed(call, ROUNDS * 2)
        middle, longest = statistics.median(during), max(during)
        table.add(f"{what} ({len(done)} done)", statistics.median(alone) * 1e3, middle * 1e3, longest * 1e3)

    row("PUT, 12 previews of 40 questions a second", put, lambda client: some.preview(40, client), 12, 1.0)
    row("PUT, 12 editor pages without a pause", put, some.editor, 12, 0)
    row("PUT, 12 previews of 150 without a pause", put, lambda client: some.preview(150, client), 12, 0)
    row("read, 6 searches of the largest site", other.read, lambda client: many.search(RARE, client), 6, 0)
    doomed = site_id(12)
    alone = timed(put, ROUNDS)
    deletion = Thread(target=delete_site, args=(other.storage, doomed))
    deletion.start()
    during = [once(put)]
    while deletion.is_alive():
        during.append(once(put))
    figures = (statistics.median(alone), statistics.median(during), max(during))
    table.add("PUT, a site of 80 is deleted", *(figure * 1e3 for figure in figures))
    return table


@contextmanager
def served(url: str) -> Iterator[tuple[str, Storage]]:
    """Run the service, and lend its URL and its storage."""
    storage = open_storage(url)
    with serving(url, 1) as port:
        yield f"http://127.0.0.1:{port}", storage
    storage.close()


@contextmanager
def working(
    work: Work, connect: Callable[[], httpx2.Client], workers: int, pace: float
) -> Iterator[Sequence[object]]:
    """Let some workers work, each on a connection of its own, with a pause of `pace` seconds."""
    stop, done = Event(), list[object]()

    def repeat() -> None:
        with connect() as client:
            while not stop.is_set():
                done.append(work(client))
                stop.wait(pace)

    threads = [Thread(target=repeat) for _ in range(workers)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    try:
        yield done
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def medians(*calls: Call) -> list[float]:
    """Return the median seconds of some calls, which take turns."""
    for call in calls:
        call()
    rounds = [[once(call) for call in calls] for _ in range(ROUNDS)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def timed(call: Call, rounds: int) -> list[float]:
    """Return the seconds of some calls, one after the other."""
    call()
    return [once(call) for _ in range(rounds)]


def once(call: Call) -> float:
    """Return the seconds of one call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
