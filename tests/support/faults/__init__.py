"""A FAQ service that fails, and its faults, one module for each kind. `EVERY_FAULT` has all of them.

`ODDITIES` are unusual responses that are valid all the same. `FEEDS` are the faults of the change feed.
"""

from typing import Final

from tests.support.faults.connections import CONNECTIONS
from tests.support.faults.contents import CONTENTS
from tests.support.faults.encodings import ENCODINGS
from tests.support.faults.feeds import FEEDS
from tests.support.faults.framing import FRAMING
from tests.support.faults.kinds import FAULTS
from tests.support.faults.oddities import ODDITIES
from tests.support.faults.redirects import REDIRECTS
from tests.support.faults.sizes import SIZES
from tests.support.faults.statuses import STATUSES

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
