"""Events: how each fetch of an FAQ ended, for a host's metrics."""

from collections.abc import Callable
from typing import Literal

import msgspec

from faqsvc_embed.errors import FAQError
from faqsvc_embed.runtime.bounded_log import logger

Result = Literal["fetched", "not_modified", "not_found", "gone", "failed", "recovered"]


class FAQEvent(msgspec.Struct, frozen=True):
    """The end of one fetch of an FAQ.

    `fetched`: the service sent a record. `not_modified`: it confirmed the cached one (304). `not_found`
    (404) and `gone` (410): there is no such FAQ. `failed`: see `error`. `recovered`: a fetch succeeded after
    a failed one, or another process has fetched the record.
    """

    slug: str
    lang: str | None
    """The requested language."""
    result: Result
    seconds: float
    """The duration of the fetch, including the wait for a connection or for another process."""
    error: FAQError | None = None
    was_sent: bool = True
    """False if no request was sent, because the service did not respond to the last ones."""


Listener = Callable[[FAQEvent], object]


class Listeners:
    """The functions that receive events."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._failed: tuple[Listener, ...] = ()

    def add(self, listener: Listener) -> None:
        """Call `listener` with every event from now on."""
        self._listeners += (listener,)

    def notify(self, event: FAQEvent) -> None:
        """Call all listeners; an exception in one is logged once per listener and otherwise ignored."""
        for listener in self._listeners:
            try:
                listener(event)
            except Exception as error:
                if listener not in self._failed:
                    self._failed += (listener,)
                    logger.error("a listener for FAQ events raised %r", error, exc_info=error)
