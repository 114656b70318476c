"""Waits as long as Retry-After of a 429 or 503 says."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

from faqsvc_embed.cli.output import note
from faqsvc_embed.errors import FAQUnavailable

T = TypeVar("T")

MAX_WAIT: Final = 120.0
"""Maximum seconds of one wait."""
MAX_WAITS: Final = 20
"""Maximum number of waits for one request."""


def send_patiently(request: Callable[[], T]) -> T:
    """Send a request, and retry it after the wait the service asks for. Print each wait on standard error.

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
            reason = "limits requests" if error.status == 429 else "is not available"
            note(f"Waiting {seconds:g} s: the service {reason} ({error.status})")
            time.sleep(seconds)
    return request()
