"""A FAQ service that fails, and its faults, a module for each group. `EVERY_FAULT` has all of them.

`ODDITIES` are unusual responses that are valid all the same. `FEEDS` are the faults of the change feed.
"""

from typing import Final

from tests.support.faults.bodies import CONTENTS, ENCODINGS, SIZES
from tests.support.faults.kinds import FAULTS
from tests.support.faults.responses import ODDITIES, REDIRECTS, STATUSES
from tests.support.faults.transfers import CONNECTIONS, FEEDS, FRAMING

EVERY_FAULT: Final = [
    *FAULTS,
    *CONNECTIONS,
    *SIZES,
    *FRAMING,
    *ENCODINGS,
    *CONTENTS,
    *STATUSES,
    *REDIRECTS,
]

__all__ = ["EVERY_FAULT", "FEEDS", "ODDITIES"]
