"""Waits as long as Retry-After of a 429 or 503 says."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

import click

from faqsvc_embed.cli.output import waiting
from faqsvc_embed.errors import FAQUnavailable

T = TypeVar("T")

MAX_WAIT: Final = 120.0
"""Maximum seconds of one wait."""
MAX_WAITS: Final = 20
"""Maximum number of waits for one request."""


class Waits:
    """The waits of one command. Only the first is reported, on standard error."""

    def __init__(self) -> None:
        self._is_reported = False

    def send(self, request: Callable[[], T]) -> T:
        """Send a request, and send it again if the service says when to retry; return its result.

        Raises:
            FAQUnavailable: the service asks for too long a wait, or for too many.
        """
        for _ in range(MAX_WAITS):
            try:
                return request()
            except FAQUnavailable as error:
                seconds = error.retry_after
                if error.status not in (429, 503) or seconds is None or seconds > MAX_WAIT:
                    raise
                self._wait(seconds, error.status)
        return request()

    def _wait(self, seconds: float, status: int) -> None:
        reason = "limits requests" if status == 429 else "is not available"
        message = f"Waiting: the service {reason} ({status})"
        if not self._is_reported:
            self._is_reported = True
            click.echo(message, err=True)
        with waiting(message):
            time.sleep(seconds)
