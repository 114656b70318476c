"""Reads a large page in a process of its own, which cannot hold up other requests, and can be ended.

`python -m faqsvc_embed.generation.crawl.page_process` reads a response on standard input and writes the page
to standard output, both in MessagePack.
"""

import os
import subprocess
import sys
from functools import partial
from typing import Final

import anyio
import msgspec

from faqsvc_embed.errors import quoted
from faqsvc_embed.generation.crawl.fetcher import FetchError, Response
from faqsvc_embed.generation.crawl.page import Page, read_page
from faqsvc_embed.generation.threads import parsing_limiter, run_in_thread

LARGE_MARKUP: Final = 4_000
"""Tags of a page that is large, start tags and end tags."""
LARGE_SIZE: Final = 400_000
"""Bytes of a page that is large, however few tags it has."""
MAX_MEMORY: Final = 1_073_741_824
"""Bytes of address space of the process."""
MAX_SECONDS: Final = 60
"""Seconds of processor time of the process."""


async def read_page_bounded(response: Response) -> Page:
    """Return the page in a response. If this is cancelled, reading a large page ends at once.

    Raises:
        FetchError: reading it takes too much memory or time.
    """
    is_large = len(response.body) > LARGE_SIZE or response.body.count(b"<") > LARGE_MARKUP
    if is_large and sys.executable:
        try:
            async with parsing_limiter():
                return await _read_in_process(response)
        except OSError:  # no process can be started here
            pass
    return await run_in_thread(partial(read_page, response))


async def _read_in_process(response: Response) -> Page:
    environ = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    result = await anyio.run_process(
        [sys.executable, "-m", __name__],
        input=msgspec.msgpack.encode(response),
        stderr=subprocess.DEVNULL,
        check=False,
        env=environ,
    )
    if result.returncode != 0:
        raise FetchError(f"{quoted(response.url)} is too complex to be read")
    return msgspec.msgpack.decode(result.stdout, type=Page)


def main() -> None:
    """Read the page on standard input, within limits of memory and processor time."""
    try:
        import resource
    except ImportError:  # Windows
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    response = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Response)
    sys.stdout.buffer.write(msgspec.msgpack.encode(read_page(response)))


if __name__ == "__main__":
    main()
