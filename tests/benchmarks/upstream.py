"""A fast FAQ service in a process of its own, which can be slow, can hang, and counts its requests."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, Final

from tests.benchmarks.hostpage import record

HOW: Final = {"count": 20, "latency": 0.0, "hangs": False, "max_age": 3600}
"""How many questions an FAQ has, how many seconds an answer takes and is fresh, and whether it hangs."""


@dataclass(frozen=True)
class Upstream:
    """Where the service is, and how to tell it what to do."""

    base_url: str

    def behave(self, **how: Any) -> dict[str, int]:
        """Behave differently from now on, and return how many requests came since the last call of this."""
        asked = urllib.request.Request(f"{self.base_url}/behave", json.dumps(how).encode(), method="POST")
        with urllib.request.urlopen(asked, timeout=10) as answer:
            counted: dict[str, int] = json.load(answer)
            return counted


@contextmanager
def upstream(**how: Any) -> Iterator[Upstream]:
    """Run the service in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.upstream"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            service = Upstream(process.stdout.readline().strip())
            service.behave(**how)
            yield service
        finally:
            process.terminate()


class _Connection(asyncio.Protocol):
    """One kept-alive connection."""

    how: Final = dict(HOW)
    counted: Final = {"requests": 0, "open": 0, "most_open": 0}
    bodies: Final[dict[tuple[str, int], bytes]] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._came = b""
        self._waits = False

    def data_received(self, data: bytes) -> None:
        self._came += data
        head, end, body = self._came.partition(b"\r\n\r\n")
        length = int((head.lower().partition(b"content-length:")[2] or b"0").split(b"\r\n")[0])
        if not end or len(body) < length:
            return
        self._came = b""
        target = head.split(b" ", 2)[1].decode()
        if target == "/behave":
            answer = json.dumps(self.counted).encode()
            self.how.update(json.loads(body))
            self.counted.update(requests=0, most_open=self.counted["open"])
            self._answer(answer)
            return
        self._waits = True
        self.counted["requests"] += 1
        self.counted["open"] += 1
        self.counted["most_open"] = max(self.counted["most_open"], self.counted["open"])
        if self.how["hangs"]:
            return
        slug = target.partition("?")[0].rpartition("/")[2]
        asyncio.get_running_loop().call_later(self.how["latency"], self._answer_record, slug)

    def connection_lost(self, error: Exception | None) -> None:
        if self._waits:
            self.counted["open"] -= 1
            self._waits = False

    def _answer_record(self, slug: str) -> None:
        if not self._waits:  # nobody is there any more
            return
        self.counted["open"] -= 1
        self._waits = False
        key = slug, int(self.how["count"])
        if key not in self.bodies:
            self.bodies[key] = json.dumps(record(key[1], slug)).encode()
        self._answer(self.bodies[key])

    def _answer(self, body: bytes) -> None:
        head = (
            f"HTTP/1.1 200 OK\r\nDate: {formatdate(usegmt=True)}\r\nContent-Type: application/json\r\n"
            f"Cache-Control: public, max-age={self.how['max_age']}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._transport.write(head.encode() + body)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", 0, backlog=2048)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
