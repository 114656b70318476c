"""What a host may want to count: how each fetch ended."""

import logging
from collections.abc import Callable
from typing import Literal

import msgspec

from faqsvc_embed.errors import FAQError

logger = logging.getLogger("faqsvc_embed")

What = Literal["fetched", "not_modified", "missing", "failed", "recovered"]


class FAQEvent(msgspec.Struct, frozen=True):
    """The end of one fetch of an FAQ, or of its being failing.

    `fetched`: the service sent it; `not_modified`: it said that the copy is good (304); `missing`: it knows
    no such FAQ; `failed`: see `error`. `recovered`: it was fetched, or found good, after it had failed
    before; a copy that another process fetched counts as well. There is one event a fetch.
    """

    slug: str
    lang: str | None
    """The language that was asked for."""
    what: What
    seconds: float
    """How long it took, a wait for a connection or for another process included."""
    error: FAQError | None = None


Listener = Callable[[FAQEvent], object]


class Listeners:
    """Those who want to hear; what they do wrong is their affair, and is logged once each."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()
        self._failed: tuple[Listener, ...] = ()

    def add(self, listener: Listener) -> None:
        """Let somebody hear of each event from now on."""
        self._listeners += (listener,)

    def tell(self, event: FAQEvent) -> None:
        """Tell all of them."""
        for listener in self._listeners:
            try:
                listener(event)
            except Exception as error:
                if listener not in self._failed:
                    self._failed += (listener,)
                    logger.error("a listener to FAQ events fails: %r", error, exc_info=error)
