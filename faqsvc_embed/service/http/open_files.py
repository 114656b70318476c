"""How many files, which includes connections, this process may have open."""

import sys
from typing import Final

MAX_OPEN_FILES: Final = 8192
"""Open files that are reckoned with where the system allows more."""


def open_file_limit() -> int:
    """Return how many files, including sockets, this process may have open."""
    if sys.platform == "win32":  # which has no such limit
        return MAX_OPEN_FILES
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MAX_OPEN_FILES if limit == resource.RLIM_INFINITY else min(limit, MAX_OPEN_FILES)
