"""The number of files, including sockets, that this process may have open."""

import sys
from typing import Final

MAX_OPEN_FILES: Final = 8192
"""The maximum, even if the system allows more."""


def open_file_limit() -> int:
    """Return how many files this process may have open, at most `MAX_OPEN_FILES`."""
    if sys.platform == "win32":  # Windows has no such limit
        return MAX_OPEN_FILES
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MAX_OPEN_FILES if limit == resource.RLIM_INFINITY else min(limit, MAX_OPEN_FILES)
