"""Many subscribers of the change feed, and what they cost the service."""

import asyncio
import os
import time
from pathlib import Path

from faqsvc_embed import FAQClient


def publish(client: FAQClient, answer: str) -> int | None:
    """Publish the FAQ `pricing`, and return its revision."""
    return client.publish_faq(
        slug="pricing",
        lang="en",
        website_url="https://heron.example",
        website_name="Heron",
        items=[("How much?", answer)],
    ).revision


class Crowd:
    """Many connections to the feed."""

    def __init__(self, url: str, count: int) -> None:
        self._host, _, port = url.removeprefix("http://").partition(":")
        self._port, self._count = int(port), count
        self._connections: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def __aenter__(self) -> "Crowd":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._disconnect()

    async def _disconnect(self) -> None:
        for _, writer in self._connections:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for _, writer in self._connections))

    async def connect(self, last_id: str | None = None) -> float:
        """Connect all at once, and return the seconds until each has received something of the feed."""
        await self._disconnect()
        started = time.monotonic()
        self._connections = await asyncio.gather(*(self._open(last_id) for _ in range(self._count)))
        return time.monotonic() - started

    async def _open(self, last_id: str | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        resume = f"Last-Event-ID: {last_id}\r\n" if last_id is not None else ""
        writer.write(f"GET /api/v1/events?slug=pricing HTTP/1.1\r\nHost: a\r\n{resume}\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        await reader.readuntil(b"retry: 2000\n")
        return reader, writer

    async def seconds_to_all(self, client: FAQClient, answer: str) -> float:
        """Edit the FAQ, and return the seconds until the last subscriber has its event."""
        started = time.monotonic()
        revision = await asyncio.to_thread(publish, client, answer)
        wanted = f'"revision":{revision},'.encode()
        await asyncio.gather(*(reader.readuntil(wanted) for reader, _ in self._connections))
        return time.monotonic() - started


def memory(pid: int) -> float:
    """Return how much memory of a process is resident, in MiB."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    (line,) = [line for line in text.splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def processor_time(pid: int) -> float:
    """Return how many seconds a process has computed."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
