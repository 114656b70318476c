"""Checks that a page is never blank, broken or late while the FAQ service fails, nor afterwards."""

import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from werkzeug.test import Client

from faqsvc_embed import FAQEmbed
from tests.support import asgi
from tests.support.clock import Clock
from tests.support.embeds import LONG, own_threads, use_clock
from tests.support.faults.behaviours import healthy
from tests.support.faults.exchange import sample_record
from tests.support.faults.kinds import Fault
from tests.support.faults.server import FaultyServer
from tests.support.waiting import settle, wait_until

TEMPLATE: Final = "<title>Prices</title>{{ faq('pricing') }}{{ faq('delivery') }}"
"""The page under test."""
WAIT: Final = 0.1
TIMEOUT: Final = 0.3
"""Seconds; the settings `wait` and `timeout` of its embed."""
MARGIN: Final = 0.05
"""Seconds that a page may take beyond its usual time and its budget."""
TRIES: Final = 10
"""How often a page is loaded until it is in time or shows what it must: machines that run tests are busy."""

SAMPLE: Final = "Is this a sample?"
EDITED: Final = "Is this edited?"


class Page(NamedTuple):
    """A response of a host."""

    status: int
    text: str
    headers: Mapping[str, str]


def visitor(app: Any) -> Callable[[], Page]:
    """Return a function that requests the page at / of a WSGI or ASGI application."""
    if inspect.iscoroutinefunction(app.__call__):

        def visit() -> Page:
            sent = asgi.get(app)
            return Page(sent.status, sent.text, {name.lower(): value for name, value in sent.headers})

        return visit
    client = Client(app)

    def visit_wsgi() -> Page:
        response = client.get("/")
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Page(response.status_code, response.text, headers)

    return visit_wsgi


def impatient_embed(service: FaultyServer) -> FAQEmbed:
    """Return an embed of a service that waits for no response for long."""
    return FAQEmbed(service.base_url, wait=WAIT, timeout=TIMEOUT)


def check_page(fault: Fault, service: FaultyServer, make_app: Callable[[FAQEmbed], Any]) -> None:
    """Load `TEMPLATE` with and without cached records, while the service fails and when it works again."""
    with impatient_embed(service) as embed:
        trial = Trial(fault, service, embed, visitor(make_app(embed)))
        trial.check_uncached()
        trial.check_cached()
    assert service.wait_for_disconnects(), "connections are left"
    wait_until(lambda: not own_threads())


class Trial:
    """A page under one fault."""

    def __init__(
        self, fault: Fault, service: FaultyServer, embed: FAQEmbed, visit: Callable[[], Page]
    ) -> None:
        self.fault = fault
        self.service = service
        self.embed = embed
        self.visit = visit
        self.clock = Clock()
        use_clock(embed, self.clock)
        self.recover(SAMPLE)
        self.usual = max(self.load(SAMPLE) for _ in range(3))

    def check_uncached(self) -> None:
        """Nothing is cached: the page waits as long as it may, and later not at all."""

        def load_uncached() -> float:
            self.recover(SAMPLE)  # closes the circuit breaker: behind an open one, no page waits
            self.service.behave(self.fault.behaviour)
            self.embed.forget()
            return self.load(None)

        self.in_time(load_uncached, WAIT)
        settle(self.embed)
        self.in_time(lambda: self.load(None))
        self.recover(SAMPLE)

    def check_cached(self) -> None:
        """A cached record is shown until the service says that there is none; then, an edited one is."""
        self.service.behave(self.fault.behaviour)
        if self.fault.means == "failed":
            self.in_time(lambda: self.load(SAMPLE, LONG))
            for _ in range(2):
                settle(self.embed)
                self.load(SAMPLE, LONG)
        else:
            self.load(SAMPLE, LONG)
            settle(self.embed)
            if self.fault.means == "missing":  # only a second such response is believed
                self.load(SAMPLE)
            self.refresh_until(None)
        for slug in ("pricing", "delivery"):
            record = sample_record(slug)
            self.service.serve({**record, "items": [{**record["items"][0], "question": EDITED}]})
        self.recover(EDITED)

    def recover(self, question: str) -> None:
        """Let the service work; the page shows its records again."""
        self.service.behave(healthy)
        self.refresh_until(question)

    def refresh_until(self, question: str | None) -> None:
        """Refresh what is cached until the page shows FAQs with this question, or none."""
        for _ in range(TRIES):
            self.clock.advance(LONG)
            self.visit()
            settle(self.embed)
            if questions_on(self.visit()) == shown(question):
                return
        self.load(question)

    def load(self, question: str | None, later: float = 0.0) -> float:
        """Check a page, on which all FAQs have this question or none is shown; return the seconds it took."""
        self.clock.advance(later)
        began = time.monotonic()
        page = self.visit()
        took = time.monotonic() - began
        assert page.status == 200, f"{self.fault}: status {page.status}"
        assert "<title>Prices</title>" in page.text
        assert "<!--faqsvc " not in page.text, f"{self.fault}: a placeholder is left"
        assert questions_on(page) == shown(question), str(self.fault)
        return took

    def in_time(self, load: Callable[[], float], wait: float = 0.0) -> None:
        """Load the page until it takes no longer than usual and `wait`."""
        limit = self.usual + wait + MARGIN
        times = list[float]()
        while len(times) < TRIES:
            times.append(load())
            if times[-1] <= limit:
                return
            time.sleep(0.02 * len(times))
        raise AssertionError(f"{self.fault}: {min(times):.3f} s at best instead of {limit:.3f} s")


def questions_on(page: Page) -> list[str]:
    """Return the questions that a page shows."""
    parts = page.text.split("<summary")[1:]
    return [
        next((q for q in (SAMPLE, EDITED) if q in part.partition("</summary>")[0]), part) for part in parts
    ]


def shown(question: str | None) -> list[str]:
    """Return the questions of a page on which both FAQs are shown with this question, or none."""
    return [] if question is None else [question] * 2
