"""Reads the large pages of a crawl in another process, which does not block the event loop and can be killed.

`python -m faqsvc_embed.generation.crawl.page_process` reads responses on standard input and writes their
pages to standard output. Each message is in MessagePack, after its length in four bytes.
"""

import os
import subprocess
import sys
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import BinaryIO, Final

import anyio
import anyio.abc
import msgspec
from anyio.streams.buffered import BufferedByteReceiveStream

from faqsvc_embed.errors import quoted
from faqsvc_embed.generation.crawl.fetcher import FetchError, Response
from faqsvc_embed.generation.crawl.page import Page, read_page
from faqsvc_embed.generation.threads import parsing_limiter, run_in_thread

LARGE_MARKUP: Final = 1_000
"""Start tags and end tags of a page; with more, reading it in a thread would slow down the event loop."""
LARGE_SIZE: Final = 100_000
"""Bytes of a page; a page with more is large, however few tags it has."""
MAX_MEMORY: Final = 1_073_741_824
"""Bytes of address space of the process."""
MAX_SECONDS: Final = 60
"""Seconds of processor time of the process."""
LENGTH: Final = 4
"""Bytes of the length before each message."""


class PageReader:
    """Reads the pages of a crawl. Close it, for example with `contextlib.aclosing()`."""

    def __init__(self) -> None:
        self._process: anyio.abc.Process | None = None
        self._turn = anyio.Lock()

    async def read(self, response: Response) -> Page:
        """Return the page in a response. If this is cancelled, reading a large page ends at once.

        Raises:
            FetchError: reading it takes too much memory or time.
        """
        is_large = len(response.body) > LARGE_SIZE or response.body.count(b"<") > LARGE_MARKUP
        if is_large and sys.executable:
            async with self._turn, parsing_limiter():
                if (process := await self._get_process()) is not None:
                    return await self._read_in_process(process, response)
        return await run_in_thread(partial(read_page, response))

    async def _get_process(self) -> anyio.abc.Process | None:
        """Return the process, which is started if necessary, or None if none can be started."""
        if self._process is None:
            # Cancelling the start would leave a process that nobody ends.
            with suppress(OSError, NotImplementedError), anyio.CancelScope(shield=True):
                self._process = await _start()
        return self._process

    async def _read_in_process(self, process: anyio.abc.Process, response: Response) -> Page:
        async with AsyncExitStack() as unless_read:
            unless_read.push_async_callback(self.aclose)
            try:
                page = await _exchange(process, response)
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError):
                raise FetchError(f"{quoted(response.url)} is too complex to be read") from None
            unless_read.pop_all()
            return page

    async def aclose(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):  # it has ended
                process.kill()  # `aclose` alone would wait until it has read its page
            await process.aclose()


async def _start() -> anyio.abc.Process:
    environ = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LANG") if name in os.environ}
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-m", __name__]
    return await anyio.open_process(command, stderr=subprocess.DEVNULL, env=environ)


async def _exchange(process: anyio.abc.Process, response: Response) -> Page:
    if process.stdin is None or process.stdout is None:  # only for the type checker: both are pipes
        raise anyio.BrokenResourceError
    await process.stdin.send(_framed(msgspec.msgpack.encode(response)))
    stream = BufferedByteReceiveStream(process.stdout)
    length = int.from_bytes(await stream.receive_exactly(LENGTH), "big")
    return msgspec.msgpack.decode(await stream.receive_exactly(length), type=Page)


def _framed(message: bytes) -> bytes:
    return len(message).to_bytes(LENGTH, "big") + message


def main(requests: BinaryIO = sys.stdin.buffer, pages: BinaryIO = sys.stdout.buffer) -> None:
    """Read pages until standard input ends, within limits of memory and processor time."""
    try:
        import resource
    except ImportError:  # Windows
        pass
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    while length := requests.read(LENGTH):
        message = requests.read(int.from_bytes(length, "big"))
        page = read_page(msgspec.msgpack.decode(message, type=Response))
        pages.write(_framed(msgspec.msgpack.encode(page)))
        pages.flush()


if __name__ == "__main__":
    main()
