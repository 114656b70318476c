"""How often somebody may ask: the generic cell rate algorithm, one number for each who asks."""

import math
import time
from collections.abc import Callable
from ipaddress import IPv6Address
from typing import Final

from starlette.requests import Request

from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.service.problems import Problem

WRITES_PER_MINUTE: Final = 600
"""A key; an import of some hundred FAQs is no abuse."""
READS_PER_MINUTE: Final = 120_000
"""An address; behind it may be a whole content delivery network, or everybody of a university."""
MOST_KNOWN: Final = 50_000
"""Keys or addresses that are remembered; who has not asked for longest is forgotten first."""

_MINUTE: Final = 60.0


class RateLimit:
    """Lets everyone do something `per_minute` times a minute: all at once, or evenly, as they like.

    It counts within one process; `clock` is in seconds and never goes back.
    """

    def __init__(self, per_minute: int, *, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`what` names in the refusal what there is too much of.

        Raises:
            ConfigurationError: `per_minute` is no positive whole number.
        """
        if isinstance(per_minute, bool) or not isinstance(per_minute, int) or per_minute < 1:
            raise ConfigurationError(
                f"{what} per minute is {quoted(per_minute)}: a whole number from 1 is accepted, or None"
                " for no limit"
            )
        self._per_minute = per_minute
        self._interval = _MINUTE / per_minute
        self._what = what
        self._clock = clock
        # For each who asked, the moment at which all that was asked would have been even. It lies at most
        # a minute ahead; who is in the past has everything to spend, like one who never asked.
        self._even_at: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._even_at)

    def wait(self, who: str) -> float:
        """Count one request of `who` and return 0, or return the seconds until there may be one."""
        now = self._clock()
        even_at = max(self._even_at.pop(who, now), now)  # put back behind all the others
        too_early = even_at + self._interval - _MINUTE - now
        allowed = too_early < self._interval * 1e-6  # not to be decided by a sum of rounding errors
        self._even_at[who] = even_at + self._interval if allowed else even_at
        if len(self._even_at) > MOST_KNOWN:
            del self._even_at[next(iter(self._even_at))]
        return 0.0 if allowed else too_early

    def count(self, who: str) -> None:
        """Count one request of `who`.

        Raises:
            Problem: there were too many (429), with the seconds after which to try again.
        """
        if (wait := self.wait(who)) > 0:
            seconds = max(1, math.ceil(wait))
            raise Problem(
                429,
                f"more than {self._per_minute} {self._what} in a minute: try again in {seconds} s",
                headers={"retry-after": str(seconds)},
            )


def address_of(request: Request) -> str | None:
    """Return who asks, as far as an address tells: of IPv6 the network, for a house has 2^64 of them."""
    if request.client is None:  # a Unix socket
        return None
    host = request.client.host
    if ":" not in host:
        return host
    try:
        network = int(IPv6Address(host.partition("%")[0])) >> 64
    except ValueError:
        return host
    return f"{network:x}::/64"
