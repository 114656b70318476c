"""Worker threads for blocking calls, such as those to the database, and the limit of open files."""

import sys
from collections.abc import Callable
from typing import Final, TypeVar, TypeVarTuple

import anyio
import anyio.to_thread

from faqsvc_embed.service.storage import StorageUnavailable
from faqsvc_embed.service.telemetry.outages import OutageLog, database_outages, write_outages

WRITER_THREADS: Final = 4
"""Maximum number of threads that write at once, so that readers always find a free one."""
CALL_TIMEOUT: Final = 10.0
"""Maximum seconds of a call, including its wait for a thread; the time-outs of databases are shorter."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def run_blocking(
    function: Callable[[*Ts], T],
    *args: *Ts,
    limiter: anyio.CapacityLimiter | None = None,
    outages: OutageLog | None = None,
) -> T:
    """Call a function in a worker thread and return its result.

    `limiter` bounds the threads of calls that write, and of editors; other reads use the one that anyio
    shares between all calls. `outages` gets the failures, by default that of writes or of reads.

    Raises:
        StorageUnavailable: the call did not end in time; its thread continues in the background.
    """
    outages = outages or (database_outages if limiter is None else write_outages)
    try:
        with anyio.move_on_after(CALL_TIMEOUT):
            result = await anyio.to_thread.run_sync(function, *args, limiter=limiter, abandon_on_cancel=True)
            outages.succeeded()
            return result
        raise StorageUnavailable(f"a call did not end within {CALL_TIMEOUT:g} s")
    except StorageUnavailable as error:
        outages.failed(error)
        raise


MAX_OPEN_FILES: Final = 8192
"""The maximum, even if the system allows more."""


def open_file_limit() -> int:
    """Return how many files this process may have open, at most `MAX_OPEN_FILES`."""
    if sys.platform == "win32":  # Windows has no such limit
        return MAX_OPEN_FILES
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MAX_OPEN_FILES if limit == resource.RLIM_INFINITY else min(limit, MAX_OPEN_FILES)
