"""How much the sites of a service slow each other: 100,000 FAQs of 1,000 sites, against 100 FAQs of two.

The service runs under granian, and gets the requests of programs, editors and readers over HTTP.
"""

import multiprocessing
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

import httpx2

from faqsvc_embed.service.storage import Storage, open_storage
from tests.benchmarks.large import COMMON, RARE, fill, key_id, site_id
from tests.benchmarks.tables import Table
from tests.support.postgres import Postgres
from tests.support.service import service_process

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

DOOMED: Final = 12
"""The number of a site to delete."""
WEBSITE: Final = {"websiteUrl": "https://www.heron.example", "websiteName": "Heron"}
Call = Callable[[], object]
Work = Callable[[httpx2.Client], object]


def scale(is_short: bool) -> Iterator[Table]:
    """Measure SQLite and PostgreSQL; SQLite alone, if it is short."""
    sizes = ((100, 2), (200, 20)) if is_short else ((100, 2), (100_000, 1_000))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        databases = {"SQLite": [f"sqlite:///{Path(folder)}/{size}.db" for size in ("small", "large")]}
        if not is_short:
            server = stack.enter_context(Postgres.running())
            databases["PostgreSQL"] = [server.new_database() for _ in range(2)]
        for name, (small, large) in databases.items():
            for url, size in zip((small, large), sizes, strict=True):
                storage = open_storage(url)
                fill(storage, *size)
                storage.close()
            yield from measure(name, small, large, is_short)


def measure(name: str, small: str, large: str, is_short: bool) -> Iterator[Table]:
    """Measure a small and a large database, which `fill` has filled."""
    with ExitStack() as stack:
        of_few, of_many = (stack.enter_context(served(url)) for url in (small, large))
        few, some, many, other = Site(of_few, 1), *(Site(of_many, number) for number in (7, 0, 9))
        rounds = 2 if is_short else 20
        yield compare(name, rounds, few, some, many)
        yield beside(name, rounds, some, many, other)


class Site:
    """What a site's programs, its editor and its readers request of a running service."""

    def __init__(self, service: tuple[str, Storage], number: int) -> None:
        self.url, self.storage = service
        self.id, self.number = site_id(number), number
        self.key = self.storage.keys.create("benchmark", site=self.id)
        person = self.storage.people.list(self.id)[0]
        self._api = {"X-Plugin-Key": self.key}
        self.client = self.connect()
        link = self.storage.sign_ins.create_link(person)
        signed_in = self.client.post("/desk/sign-in", data={"link": link})
        self.desk = httpx2.URL(signed_in.headers["location"]).path.rstrip("/")
        self._cookie = {"Cookie": signed_in.headers["set-cookie"].split(";")[0]}
        self.slug = self.storage.overview.page(self.id, limit=1)[0][0].slug
        page = self.get(f"{self.desk}/new", self._cookie)
        self.token = re.findall(r'name="token" value="([0-9a-f]+)"', page.text)[0]

    def connect(self) -> httpx2.Client:
        """Return a client with a connection of its own."""
        return httpx2.Client(
            base_url=self.url, timeout=60, verify=False, trust_env=False, headers={"Origin": self.url}
        )

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
        return client.post(f"{self.desk}/new", data=form, headers=self._cookie).raise_for_status()

    def editor(self, client: httpx2.Client) -> object:
        """Open the editor."""
        return self.get(f"{self.desk}/faqs/{self.slug}", self._cookie, client)

    def search(self, word: str, client: httpx2.Client | None = None) -> object:
        """Search at the desk."""
        return self.get(f"{self.desk}?q={word}", self._cookie, client)

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
            "desk: list": (self.desk, desk),
            "desk: list of drafts": (f"{self.desk}?state=draft", desk),
            "desk: list in German": (f"{self.desk}?lang=de", desk),
            "desk: search, a word of many FAQs": (f"{self.desk}?q={COMMON}", desk),
            "desk: search, one found": (f"{self.desk}?q={self.slug}", desk),
            "desk: search, nothing found": (f"{self.desk}?q={RARE}", desk),
            "desk: editor": (f"{self.desk}/faqs/{self.slug}", desk),
            "desk: history": (f"{self.desk}/faqs/{self.slug}/history", desk),
            "desk: keys": (f"{self.desk}/keys", desk),
            "desk: a key": (f"{self.desk}/keys/{key_id(self.number, 2)}", desk),
            "desk: log": (f"{self.desk}/log", desk),
            "desk: log of a key": (f"{self.desk}/log?key={key_id(self.number, 2)}", desk),
            "desk: bin": (f"{self.desk}/bin", desk),
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


def compare(name: str, rounds: int, few: Site, some: Site, many: Site) -> Table:
    """Compare the requests of sites in a small database and in a large one, in turns."""
    columns = {"small, ms": ".1f", "site of 80": ".2f", "site of 20,000": ".2f"}
    goal = "goals: 2 for the site of 80; for that of 20,000, 4 for a list and 8 for a search"
    table = Table(f"{name} over HTTP: milliseconds, and ratios", columns, notes=(goal,))
    sites = [site.reads() for site in (few, some, many)]
    for what in sites[0]:
        times = medians(rounds, *(calls[what] for calls in sites))
        table.add(what, times[0] * 1000, times[1] / times[0], times[2] / times[0])
    return table


def beside(name: str, rounds: int, some: Site, many: Site, other: Site) -> Table:
    """Measure what a site waits for while another one works."""
    table = Table(
        f"{name} over HTTP: a request alone, and while others work",
        {"alone, ms": ".1f", "meanwhile, ms": ".1f", "longest, ms": ".0f"},
    )

    def put() -> object:
        return other.put(f"At {time.perf_counter()}")

    works: list[tuple[str, Call, Work, int, float]] = [
        ("PUT, 12 previews of 40 questions a second", put, partial(some.preview, 40), 12, 1.0),
        ("PUT, 12 editor pages without a pause", put, some.editor, 12, 0),
        ("PUT, 12 previews of 150 without a pause", put, partial(some.preview, 150), 12, 0),
        ("read, 6 searches of the largest site", other.read, partial(many.search, RARE), 6, 0),
    ]
    for what, call, work, workers, pace in works[: rounds // 2]:
        alone = timed(call, rounds)
        with working(work, some.connect, workers, pace) as done:
            during = timed(call, rounds * 2)
        middle, longest = statistics.median(during), max(during)
        table.add(f"{what} ({done.value} done)", statistics.median(alone) * 1e3, middle * 1e3, longest * 1e3)
    doomed = site_id(DOOMED)
    alone = timed(put, rounds)
    deletion = Thread(target=other.storage.removal.delete_site, args=(doomed,))
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
    unlimited: dict[str, Any] = {"writes_per_minute": None, "reads_per_minute": None}
    with service_process(url, site=site_id(0), **unlimited) as (address, _, _):
        storage = open_storage(url)
        yield address, storage
        storage.close()


@contextmanager
def working(
    work: Work, connect: Callable[[], httpx2.Client], workers: int, pace: float
) -> Iterator["Synchronized[int]"]:
    """Let a process of some workers work, each on a connection, with a pause of `pace` seconds."""
    context = multiprocessing.get_context("fork")
    done = context.Value("i", 0)

    def repeat() -> None:
        with connect() as client:
            while True:
                work(client)
                with done.get_lock():
                    done.value += 1
                time.sleep(pace)

    def run() -> None:
        for thread in [Thread(target=repeat) for _ in range(workers)]:
            thread.start()

    process = context.Process(target=run)
    process.start()
    time.sleep(1)
    try:
        yield done
    finally:
        process.kill()
        process.join()
        time.sleep(4)  # the service ends what it has begun


def medians(rounds: int, *calls: Call) -> list[float]:
    """Return the median seconds of some calls, which take turns."""
    for call in calls:
        call()
    times = [[once(call) for call in calls] for _ in range(rounds)]
    return [statistics.median(of_one) for of_one in zip(*times, strict=True)]


def timed(call: Call, rounds: int) -> list[float]:
    """Return the seconds of some calls, one after the other."""
    call()
    return [once(call) for _ in range(rounds)]


def once(call: Call) -> float:
    """Return the seconds of one call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
