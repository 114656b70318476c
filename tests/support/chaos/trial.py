"""The trial of a page under one fault: without a cached record, with one, and as the service recovers."""

import html
import time
from collections.abc import Callable
from typing import Final, Literal, NoReturn

import httpx2

from faqsvc_embed.embed import FAQEmbed
from tests.support.chaos.clients import Client
from tests.support.chaos.embed_access import PLACEHOLDER_PREFIX, EmbedClock
from tests.support.faults.behaviours import healthy
from tests.support.faults.exchange import sample_record
from tests.support.faults.kinds import Fault
from tests.support.faults.server import FaultyServer

MARGIN: Final = 0.05
"""Seconds that a page may take beyond its usual time and its budget."""
TRIES: Final = 10
"""How often a page may be tried until it is in time, because machines that run tests are busy."""
PAUSE: Final = 0.02
"""Seconds between two tries, which grow by as much with each: together about one second."""
REFRESHES: Final = 3
"""How many refreshes a page may need until it shows the record of the service."""
EXPIRY: Final = 8000.0
"""Seconds; longer than every lifetime, `not_found_for` and Retry-After in the trial."""
FETCH_TIMEOUT: Final = 10.0
"""Seconds after which a fetch counts as endless."""

Phase = Literal[
    "healthy",
    "uncached",
    "backing off",
    "stale",
    "refresh failed",
    "missing",
    "recovery",
    "closed",
]
Problem = Literal[
    "no request",
    "wrong status",
    "placeholder left",
    "FAQ missing",
    "FAQ unexpected",
    "late",
    "fetch running",
    "connections left",
    "threads left",
]


class PageCheckFailed(AssertionError):
    """A page has failed its check: it has a `problem` under `fault`, in one `phase` of the trial."""

    def __init__(self, fault: Fault, phase: Phase, problem: Problem, detail: str) -> None:
        super().__init__(f"{fault} ({phase}): {problem}: {detail}")
        self.fault = fault
        self.phase = phase
        self.problem = problem


class HostPage:
    """A page of an application, and the cache behind it."""

    def __init__(self, client: Client, path: str, embed: FAQEmbed, clock: EmbedClock) -> None:
        self.path = path
        self.wait: float = embed.settings.wait
        self._client = client
        self._embed = embed
        self._clock = clock

    def load(self) -> httpx2.Response:
        """Request the page."""
        return self._client.get(self.path)

    def forget(self) -> None:
        """Empty the cache."""
        self._embed.forget()

    def expire(self) -> None:
        """Let time pass until every cached record is stale and every back-off is over."""
        self._clock.advance(EXPIRY)

    def settle(self) -> bool:
        """Wait until no fetch is running; False if one does not end."""
        deadline = time.monotonic() + FETCH_TIMEOUT
        while self._embed.is_fetching and time.monotonic() < deadline:
            time.sleep(0.001)
        return not self._embed.is_fetching


class Trial:
    """One page under one fault."""

    def __init__(self, fault: Fault, service: FaultyServer, page: HostPage) -> None:
        self._fault = fault
        self._service = service
        self._page = page
        self._requested: set[tuple[str, str | None]] = set()
        self._status = 200
        self._usual_seconds = 0.0

    def run(self) -> None:
        """Check the page without a cached record, then with one.

        Raises:
            PageCheckFailed: see `Chaos.check`.
        """
        self._learn()
        self._check_uncached()
        self._check_cached()

    def _learn(self) -> None:
        """Record the status, the time and the FAQs of the page while the service is healthy.

        The first fetch of a process imports modules and may be late, so a few tries are allowed.
        """
        for _ in range(TRIES):
            self._page.expire()
            self._page.forget()
            self._page.load()
            self._settle("healthy")
            page = self._page.load()
            self._requested = {(request.slug, request.lang) for request in self._service.log}
            if self._requested and self._lacks(page) is None:
                break
        if not self._requested:
            self._fail(
                "healthy",
                "no request",
                f"{self._service.base_url} got no request for an FAQ (status {page.status_code}): "
                "make the application with chaos.settings",
            )
        self._expect_faqs(page, "healthy")
        self._status = page.status_code
        self._usual_seconds = max(self._page.load().elapsed.total_seconds() for _ in range(3))

    def _check_uncached(self) -> None:
        self._in_time(self._load_uncached, self._page.wait, "uncached")
        self._settle("uncached")
        self._in_time(self._load_backing_off, 0, "backing off")
        self._recover()

    def _load_uncached(self) -> httpx2.Response:
        self._recover()  # closes the circuit breaker: behind an open one, no page waits
        self._service.behave(self._fault.behaviour)
        self._page.forget()
        return self._expect_no_faqs(self._load("uncached"), "uncached")

    def _load_backing_off(self) -> httpx2.Response:
        return self._expect_no_faqs(self._load("backing off"), "backing off")

    def _check_cached(self) -> None:
        self._service.behave(self._fault.behaviour)
        if self._fault.means == "failed":
            self._in_time(self._load_stale, 0, "stale")
        else:
            self._load_stale()  # once, as every refresh counts
        self._settle("stale")
        if self._fault.means != "gone":
            self._expect_faqs(self._load("refresh failed"), "refresh failed")
        if self._fault.means == "failed":
            self._expect_faqs(self._refresh("refresh failed"), "refresh failed")  # a second time
        else:
            self._wait_until_missing()
        self._edit_records()
        self._recover()

    def _load_stale(self) -> httpx2.Response:
        self._page.expire()
        return self._expect_faqs(self._load("stale"), "stale")

    def _wait_until_missing(self) -> None:
        page = self._load("missing")
        for _ in range(REFRESHES):
            if self._shown(page) is None:
                break
            page = self._refresh("missing")
        self._expect_no_faqs(page, "missing")

    def _recover(self) -> None:
        self._service.behave(healthy)
        for _ in range(REFRESHES):
            page = self._refresh("recovery")
            if self._lacks(page) is None:
                break
        self._expect_faqs(page, "recovery")

    def _edit_records(self) -> None:
        for slug, lang in self._requested:
            record = self._service.records.find(slug, lang) or sample_record(slug)
            items = [{**item, "question": f"{item['question']} (edited)"} for item in record["items"]]
            self._service.serve({**record, "items": items}, lang=lang)

    # Pages

    def _load(self, phase: Phase) -> httpx2.Response:
        page = self._page.load()
        if page.status_code != self._status:
            self._fail(phase, "wrong status", f"{page.status_code} instead of {self._status}")
        if PLACEHOLDER_PREFIX in page.text:
            self._fail(phase, "placeholder left", "the placeholder of an FAQ was not filled in")
        return page

    def _refresh(self, phase: Phase) -> httpx2.Response:
        """Let the cached records expire, refresh them, and return the page."""
        self._page.expire()
        self._load(phase)
        self._settle(phase)
        return self._load(phase)

    def _settle(self, phase: Phase) -> None:
        if not self._page.settle():
            self._fail(phase, "fetch running", "a fetch does not end")

    def _in_time(self, load: Callable[[], httpx2.Response], wait: float, phase: Phase) -> None:
        limit = self._usual_seconds + wait + MARGIN
        times: list[float] = []
        while len(times) < TRIES:
            times.append(load().elapsed.total_seconds())
            if times[-1] <= limit:
                return
            time.sleep(PAUSE * len(times))
        self._fail(phase, "late", f"{min(times):.3f} s at best instead of {limit:.3f} s")

    # Questions on a page

    def _questions(self) -> list[str]:
        records = (self._service.records.find(*requested) or {} for requested in self._requested)
        return [item["question"] for record in records for item in record.get("items", [])]

    def _lacks(self, page: httpx2.Response) -> str | None:
        """Return a question that is missing on the page, or None."""
        text = html.unescape(page.text)
        return next((question for question in self._questions() if question not in text), None)

    def _shown(self, page: httpx2.Response) -> str | None:
        """Return a question that is on the page, or None."""
        text = html.unescape(page.text)
        return next((question for question in self._questions() if question in text), None)

    def _expect_faqs(self, page: httpx2.Response, phase: Phase) -> httpx2.Response:
        if (question := self._lacks(page)) is not None:
            self._fail(phase, "FAQ missing", f"the page lacks the question {question!r}")
        return page

    def _expect_no_faqs(self, page: httpx2.Response, phase: Phase) -> httpx2.Response:
        if (question := self._shown(page)) is not None:
            self._fail(phase, "FAQ unexpected", f"the page shows the question {question!r}")
        return page

    def _fail(self, phase: Phase, problem: Problem, detail: str) -> NoReturn:
        raise PageCheckFailed(self._fault, phase, problem, f"{self._page.path}: {detail}")
