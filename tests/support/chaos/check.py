"""Checks pages of an application while the FAQ service fails."""

import threading
import time
from types import TracebackType
from typing import Any, Final, Self

from faqsvc_embed.embed import FAQEmbed
from tests.support.chaos.clients import open_client
from tests.support.chaos.embed_access import THREAD_PREFIX, EmbedClock
from tests.support.chaos.trial import HostPage, PageCheckFailed, Trial
from tests.support.faults.behaviours import healthy
from tests.support.faults.kinds import Fault
from tests.support.faults.server import FaultyServer

WAIT: Final = 0.1
TIMEOUT: Final = 0.3
"""Seconds; the settings `wait` and `timeout` of the application."""


class Chaos:
    """One fault of the FAQ service, and a check of pages under it.

    As a context manager, it closes the service at the end of the block.

    `service` is the faulty service. It has a sample record for every slug; `service.serve(record)` adds one
    of yours. The application under test must have the `settings`.
    """

    cleanup_timeout: float = 10.0
    """Seconds in which connections and threads must end after the embed is closed."""

    def __init__(self, fault: Fault, service: FaultyServer | None = None) -> None:
        self.fault = fault
        self.service: FaultyServer = service or FaultyServer(any_slug=True)
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
        """Request a page of `app` with and without a cached record, while the service fails and recovers.

        Args:
            app: a WSGI or an ASGI application, made with `settings`.
            path: the path of a page with FAQs; it may have a query.
            embed: the application's embed, which is closed at the end. Default: the embed of the Flask
                extension or of the middleware.

        Raises:
            PageCheckFailed: the page is late or not as usual, lacks the cached record or shows another,
                does not recover, or leaves connections or threads behind.
            LookupError: the embed is not found.
        """
        threads = set(threading.enumerate())
        self.service.behave(healthy)
        with open_client(app) as client:
            client.get(path)
            embed = embed or client.embed
            if embed is None:
                raise LookupError(
                    "the application's FAQEmbed is not found: pass it, as in check(app, path, embed=embed)"
                )
            try:
                with EmbedClock(embed) as clock:
                    Trial(self.fault, self.service, HostPage(client, path, embed, clock)).run()
            finally:
                embed.close()
        self._check_leftovers(threads)

    def _check_leftovers(self, threads: set[threading.Thread]) -> None:
        if not self.service.wait_for_disconnects(self.cleanup_timeout):
            raise PageCheckFailed(self.fault, "closed", "connections left", "to the service")
        deadline = time.monotonic() + self.cleanup_timeout
        for thread in set(threading.enumerate()) - threads:
            if thread.name.startswith(THREAD_PREFIX):
                thread.join(max(0.0, deadline - time.monotonic()))
                if thread.is_alive():
                    raise PageCheckFailed(self.fault, "closed", "threads left", thread.name)
