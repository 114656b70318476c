"""Fixtures that every test may ask for: a fake clock, a faulty server, a real browser."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import hypothesis
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.clock import Clock
from tests.support.faulty import FaultyServer

pytest_plugins = ["faqsvc_embed.testing.plugin", "pytester"]

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=2_000)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default")
)

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the FAQSVC_ variables of whoever runs the tests out of them."""
    for name in [name for name in os.environ if name.startswith("FAQSVC_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still until it is told otherwise."""
    return Clock()


@pytest.fixture
def faulty() -> Iterator[FaultyServer]:
    """A FAQ service on a real socket that answers well until it is told otherwise."""
    with FaultyServer() as server:
        yield server


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
def _browser_and_loop() -> Iterator[tuple[Browser, _Loop]]:
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if path is None:
        reason = f"no Chromium on the PATH: one of {', '.join(CHROMIUM_NAMES)} is needed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    loop = _Loop()
    with loop.current():
        playwright = sync_playwright().start()
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
    yield browser, loop
    with loop.current():
        browser.close()
        playwright.stop()


@pytest.fixture
def chromium(_browser_and_loop: tuple[Browser, _Loop]) -> Iterator[Browser]:
    """The installed Chromium, one for all tests; skipped where there is none, unless CI is set.

    A test that uses it cannot run an event loop in its own thread meanwhile.
    """
    browser, loop = _browser_and_loop
    with loop.current():
        yield browser


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A new page in a context of its own."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()
