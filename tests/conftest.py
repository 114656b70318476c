"""Fixtures for every test: a fake clock, a faulty service, embeds of it, a real browser."""

import asyncio
import gc
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from faqsvc_embed import FAQEmbed
from faqsvc_embed.api import transport
from faqsvc_embed.cache import backend, reader, sqlite
from faqsvc_embed.page import border
from faqsvc_embed.runtime import background_loop
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import MakeEmbed, ignore_running_threads, own_threads, use_clock
from tests.support.faulty import FaultyServer
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ANY_PACE: dict[str, Any] = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("default", **ANY_PACE, max_examples=10)
hypothesis.settings.register_profile("ci", **ANY_PACE, derandomize=True, print_blob=True, max_examples=25)
hypothesis.settings.register_profile("thorough", **ANY_PACE, max_examples=2_000)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)

# A shell makes what it runs in the background ignore Ctrl-C, and the processes of tests would inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)

SERVICES = frozenset({"database", "sqlite_file", "ours", "running", "place", "desk"})
"""The fixtures that open a database, in a service or alone."""

# What has a limit of seconds or less gets a minute, unless a test wants less: the machines of tests are busy.
PATIENCE = {"FAQSVC_WAIT": "60", "FAQSVC_TIMEOUT": "60"}
os.environ.update(PATIENCE)
for module, name in (
    (backend, "CALL_TIMEOUT"),
    (sqlite, "BUSY_TIMEOUT"),
    (reader, "FORGET_TIMEOUT"),
    (background_loop, "CLOSE_TIMEOUT"),
    (transport, "ERROR_BODY_TIMEOUT"),
):
    setattr(module, name, 60.0)

CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first is the same engine without the browser's own windows, and takes half of the processor time."""
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]


def pytest_xdist_auto_num_workers() -> int:
    """Run one process more than there are processors, because many tests wait for a server."""
    return (os.cpu_count() or 1) + 1


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests of a service with a database as system tests: together they take a minute."""
    if SERVICES.intersection(getattr(item, "fixturenames", ())):
        item.add_marker("system")


def pytest_collection() -> None:
    """Collect no garbage while tests are collected: there is none."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Exclude modules and collected tests, which live to the end, from garbage collection."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the variables of the environment, and what embeds of other tests left running or failing."""
    for name in [name for name in os.environ if name.startswith("FAQSVC_") and name not in PATIENCE]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(border, "_failing", {})
    ignore_running_threads()


@pytest.fixture
def clock() -> Clock:
    """A clock that moves only by `advance()`."""
    return Clock()


@pytest.fixture
def faq_service() -> Iterator[FaultyServer]:
    """A faulty service with a sample record for every slug."""
    with FaultyServer(any_slug=True) as service:
        yield service


@pytest.fixture
def faulty() -> Iterator[FaultyServer]:
    """A FAQ service on a real socket that is healthy until a test calls `behave()`."""
    with FaultyServer() as server:
        yield server


@pytest.fixture(scope="session")
def _imported() -> None:
    """Import what the first fetch of a process imports, which takes longer than some deadlines in tests."""
    with FaultyServer() as server, FAQEmbed(server.base_url, timeout=30) as embed:
        server.serve(samples.pricing())
        embed.get_faq("pricing")


@pytest.fixture
def make_embed(_imported: None, faulty: FaultyServer, clock: Clock) -> Iterator[MakeEmbed]:
    """Make embeds of `faulty`, which has the record `pricing`, and close them in the end.

    All live on `clock`. None may leave a thread behind.
    """
    faulty.serve(samples.pricing())
    with ExitStack() as stack:

        def make(**settings: Any) -> FAQEmbed:
            embed = stack.enter_context(FAQEmbed(**{"base_url": faulty.base_url, "push": False, **settings}))
            use_clock(embed, clock)
            return embed

        yield make
    wait_until(lambda: not own_threads())


class _Loop:
    """The event loop of Playwright's synchronous interface, marked as running only while it is used.

    Between its calls Playwright leaves its loop marked as the running one of this thread, so that every
    later test's `asyncio.run` would be refused.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def current(self) -> Iterator[None]:
        if self._loop is not None:
            asyncio._set_running_loop(self._loop)
        try:
            yield
        finally:
            self._loop = asyncio._get_running_loop()
            asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def _browser_and_loop() -> "Iterator[tuple[Browser, _Loop]]":
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        reason = f"no Chromium on the PATH: one of {', '.join(CHROMIUM_NAMES)} is needed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import expect, sync_playwright  # most runs need none of it

    expect.set_options(timeout=60_000)  # as long as a busy machine needs
    loop = _Loop()
    with loop.current():
        playwright = sync_playwright().start()
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
    yield browser, loop
    with loop.current():
        browser.close()
        playwright.stop()


@pytest.fixture
def chromium(_browser_and_loop: "tuple[Browser, _Loop]") -> "Iterator[Browser]":
    """The installed Chromium, one for all tests; skipped where there is none, unless CI is set.

    A test that uses it cannot run an event loop in its own thread meanwhile.
    """
    browser, loop = _browser_and_loop
    with loop.current():
        yield browser


@pytest.fixture
def page(chromium: "Browser") -> "Iterator[Page]":
    """A new page in a context of its own."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()
