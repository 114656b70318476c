"""Events: how each fetch of an FAQ ended, for a host's metrics."""

from collections.abc import Callable
from typing import Literal

import msgspec

from faqsvc_embed.errors import FAQError

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
