"""The only module of the kit that uses more of the package than its public API."""

import time
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Final, Self

from faqsvc_embed.embed import FAQEmbed

SCOPE_NAME: Final = "faqsvc"
"""The key of the embed in the extensions of a Flask application, and in an ASGI scope."""
ENVIRON_NAME: Final = "faqsvc.embed"
"""The key of the embed in the environment of WSGI."""
THREAD_PREFIX: Final = "faqsvc-embed"
"""The prefix of the names of the package's threads."""
PLACEHOLDER_PREFIX: Final = "<!--faqsvc "
"""The prefix of the placeholder of an FAQ, which is filled in before the response is sent."""


class EmbedClock:
    """A context manager that can move the time of an embed forward, and restores the real time.

    While it is active, each backoff has its full length instead of a random one.
    """

    def __init__(self, embed: FAQEmbed) -> None:
        self._cache = embed.cache
        self._real = self._cache.clock, self._cache.wall_clock, self._cache.random
        self._ahead = 0.0

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        self._ahead += seconds

    def __enter__(self) -> Self:
        self._cache.clock = lambda: time.monotonic() + self._ahead
        self._cache.wall_clock = lambda: datetime.now(UTC) + timedelta(seconds=self._ahead)
        self._cache.random = lambda: 1.0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cache.clock, self._cache.wall_clock, self._cache.random = self._real
