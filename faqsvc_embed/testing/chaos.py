"""The promise to the page, held against an application of yours: never blank, never broken, never late.

Register the plugin in a `conftest.py`, and take its fixture: a test runs once for each fault.

    pytest_plugins = ["faqsvc_embed.testing.plugin"]

    def test_the_price_page_survives(faq_chaos):
        app = create_app(**faq_chaos.settings)
        faq_chaos.check(app, "/prices")

`app` is a WSGI or an ASGI application; how it gets the settings is its own affair: they are also in the
environment as `FAQSVC_…` while the test runs.
"""

import html
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Final, Self

from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.testing.connections import bomb
from faqsvc_embed.testing.exchange import made_up
from faqsvc_embed.testing.fault import Fault
from faqsvc_embed.testing.hosts import Host, Shown, opened
from faqsvc_embed.testing.server import FaultyServer, healthy

WAIT: Final = 0.1
TIMEOUT: Final = 0.3
MARGIN: Final = 0.05
"""Seconds that a page may take beyond its own time and its budget."""
TRIES: Final = 4
"""How often a page may be asked for until one is in time: machines that run tests are busy."""
MOST_MEMORY: Final = 16 * 1024 * 1024
PATIENCE = 10.0
"""Seconds in which what was started has to end."""
LONG: Final = 4000.0
"""Seconds; longer than any lifetime or Retry-After that is honoured here."""


class Chaos:
    """One fault of the FAQ service, and what a page must be like meanwhile.

    `service` is the faulty service. It makes up a record for every slug; `service.serve(record)` gives it
    one of yours.
    """

    def __init__(self, fault: Fault, service: FaultyServer | None = None) -> None:
        self.fault = fault
        self.service = service or FaultyServer(answers_all=True)
        self.settings: dict[str, Any] = {
            "base_url": self.service.base_url,
            "wait": WAIT,
            "timeout": TIMEOUT,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.service.close()

    def check(self, app: Any, path: str = "/", *, embed: FAQEmbed | None = None) -> None:
        """Ask `app` for a page without a copy and with one, while the service fails and when it is well.

        `embed` is the application's; where it stands behind Flask's extension or the ASGI middleware, it is
        found.

        Raises:
            AssertionError: the page was late, was not what it is in good times, did not show the last good
                copy, did not recover, or something was left behind; the message says which.
        """
        bomb()  # packed once, in nobody's time
        threads = _ours()
        with opened(app) as host:
            trial = _Trial(self, host, path, embed)
            try:
                trial.begin()
                with trial.clock(), _memory(self.fault):
                    trial.run()
            finally:
                trial.embed.close()
        self._nothing_is_left(threads)

    def _nothing_is_left(self, threads: int) -> None:
        _until(lambda: not self.service.has_connections, f"{self.fault}: connections are left open")
        _until(lambda: _ours() <= threads, f"{self.fault}: threads are left: {threading.enumerate()}")


class _Trial:
    """One application under one fault."""

    def __init__(self, chaos: Chaos, host: Host, path: str, embed: FAQEmbed | None) -> None:
        self._fault = chaos.fault
        self._service = chaos.service
        self._host = host
        self._path = path
        self._ahead = 0.0
        self._service.behave(healthy)
        self._first = host.get(path)
        self.embed: FAQEmbed = embed or host.embed
        if not isinstance(self.embed, FAQEmbed):
            raise AssertionError(
                "which FAQEmbed the application uses cannot be seen: pass check(…, embed=embed)"
            )

    def begin(self) -> None:
        """Look at the page in good times."""
        host, path = self._host, self._path
        self.embed.get_ready()
        for _ in range(TRIES):  # the first fetch may need longer than one may take: it loads what it needs
            self.embed.forget()
            host.get(path)
            self._settle()
            if self._service.log and not self._was_late():
                break
        self._asked = {(request.slug, request.lang) for request in self._service.log}
        if not self._asked:
            raise AssertionError(
                f"the page {path} ({self._first.status}) asked for no FAQ of {self._service.base_url}: "
                "make the application with chaos.settings"
            )
        self._good = host.get(path)
        self._own = max(host.get(path).seconds for _ in range(3))
        self._shows(self._good, "in good times")

    @contextmanager
    def clock(self) -> Iterator[None]:
        """Let the embed's time pass as this trial says."""
        cache = self.embed.cache
        before = cache.clock, cache.wall_clock, cache.chance
        cache.clock = lambda: time.monotonic() + self._ahead
        cache.wall_clock = lambda: datetime.now(UTC) + timedelta(seconds=self._ahead)
        cache.chance = lambda: 1.0  # so that a back-off of no time is none of the surprises
        try:
            yield
        finally:
            cache.clock, cache.wall_clock, cache.chance = before

    def run(self) -> None:
        """Try it without a copy, and with one."""
        self._service.behave(self._fault.behaviour)
        self._in_time(self._cold, self.embed.settings.wait, "without a copy")
        self._settle()
        self._in_time(self._still_cold, 0, "without a copy, after the failure")
        self._recovers("after a failure without a copy")

        self._service.behave(self._fault.behaviour)
        self._in_time(self._stale, 0, "with a copy that is no longer fresh")
        self._settle()
        if self._fault.means == "missing" and self._was_late():
            self._refresh()
        after = self._whole("with a copy, after the failure")
        if self._fault.means == "missing":
            self._shows_nothing(after, "after the service said that there is none")
        else:
            self._shows(after, "with a copy, after the failure")
        self._edit()
        self._recovers("after a failure with a copy")

    def _cold(self) -> Shown:
        self._settle()
        self.embed.forget()
        page = self._whole("without a copy")
        self._shows_nothing(page, "without a copy")
        return page

    def _still_cold(self) -> Shown:
        page = self._whole("without a copy, after the failure")
        self._shows_nothing(page, "without a copy, after the failure")
        return page

    def _stale(self) -> Shown:
        self._ahead += 2 * LONG
        page = self._whole("with a copy that is no longer fresh")
        if self._fault.means != "missing":
            self._shows(page, "with a copy that is no longer fresh")
        return page

    def _recovers(self, when: str) -> None:
        self._service.behave(healthy)
        for _ in range(2 if self._fault.stray else 1):
            self._refresh()
        if self._was_late():
            self._refresh()
        self._shows(self._whole(when), f"{when}: it does not recover")

    def _refresh(self) -> None:
        self._ahead += 2 * LONG
        self._host.get(self._path)
        self._settle()

    def _was_late(self) -> bool:
        """Tell whether an answer took longer than one may, which on a busy machine a good one does, once."""
        return any(" within " in str(known["error"] or "") for known in self.embed.health())

    def _edit(self) -> None:
        for slug, lang in self._asked:
            record = self._service.find(slug, lang) or made_up(slug)
            edited = [
                {**item, "question": f"{item['question']} (edited)"} for item in record.get("items", [])
            ]
            self._service.serve({**record, "items": edited}, lang=lang)

    # What is looked at

    def _whole(self, when: str) -> Shown:
        page = self._host.get(self._path)
        if page.status != self._good.status:
            self._fail(when, f"the status is {page.status}, and {self._good.status} in good times")
        if "<!--faqsvc " in page.html:
            self._fail(when, "a slot was not filled in")
        return page

    def _questions(self) -> list[str]:
        records = (self._service.find(*asked) or {} for asked in sorted(self._asked, key=str))
        return [item["question"] for record in records for item in record.get("items", [])]

    def _shows(self, page: Shown, when: str) -> None:
        text = html.unescape(page.html)
        for question in self._questions():
            if question not in text:
                self._fail(when, f"the page lacks the question {question!r}")

    def _shows_nothing(self, page: Shown, when: str) -> None:
        for question in self._questions():
            if question in html.unescape(page.html):
                self._fail(when, f"the page shows {question!r}, which nobody can know")

    def _in_time(self, ask: Callable[[], Shown], wait: float, when: str) -> None:
        limit = self._own + wait + MARGIN
        took = []
        for _ in range(TRIES):
            took.append(ask().seconds)
            if took[-1] <= limit:
                return
        self._fail(when, f"it took {min(took):.3f} s at best, and may take {limit:.3f} s")

    def _settle(self) -> None:
        _until(lambda: not self.embed.is_fetching, f"{self._fault}: a fetch does not end")

    def _fail(self, when: str, what: str) -> None:
        raise AssertionError(f"{self._fault}: {self._path} {when}: {what}")


@contextmanager
def _memory(fault: Fault) -> Iterator[None]:
    """See what a fault that sends much costs, the service's own part included."""
    if not fault.big:
        yield
        return
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > MOST_MEMORY:
        raise AssertionError(f"{fault}: it took {peak / 2**20:.1f} MiB of memory")


def _ours() -> int:
    return sum(thread.name.startswith("faqsvc-embed") for thread in threading.enumerate())


def _until(happened: Callable[[], bool], complaint: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > deadline:
            raise AssertionError(complaint)
        time.sleep(0.001)
