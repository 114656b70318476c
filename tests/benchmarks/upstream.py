"""A fast FAQ service in a process of its own, which can be slow, can hang, and counts its requests."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.benchmarks.hostpage import record
from tests.support.running import running

HOW: Final[dict[str, Any]] = {"count": 20, "latency": 0.0, "hangs": False, "max_age": 3600}
"""How many questions an FAQ has, how many seconds an answer takes and is fresh, and whether it hangs."""
OPEN: Final = {"now": 0, "most_open": 0}


@dataclass(frozen=True)
class Upstream:
    """Where the service is, and how to tell it what to do."""

    base_url: str

    def behave(self, **how: Any) -> dict[str, int]:
        """Behave differently from now on, and return how many requests were open since the last call."""
        asked = urllib.request.Request(f"{self.base_url}/behave", json.dumps(how).encode(), method="POST")
        with urllib.request.urlopen(asked, timeout=10) as answer:
            counted: dict[str, int] = json.load(answer)
            return counted


@contextmanager
def upstream(**how: Any) -> Iterator[Upstream]:
    """Run the service in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.upstream"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        service = Upstream(process.stdout.readline().strip())
        service.behave(**how)
        yield service
        process.terminate()


@cache
def body(slug: str, count: int) -> bytes:
    return json.dumps(record(count, slug)).encode()


async def behave(request: Request) -> Response:
    counted = dict(OPEN)
    HOW.update(await request.json())
    OPEN["most_open"] = OPEN["now"]
    return JSONResponse(counted)


async def read(request: Request) -> Response:
    OPEN["now"] += 1
    OPEN["most_open"] = max(OPEN["most_open"], OPEN["now"])
    try:
        if HOW["hangs"]:
            while not await request.is_disconnected():
                await asyncio.sleep(0.05)
        elif HOW["latency"]:
            await asyncio.sleep(HOW["latency"])
    finally:
        OPEN["now"] -= 1
    headers = {"Cache-Control": f"public, max-age={HOW['max_age']}"}
    return Response(body(request.path_params["slug"], HOW["count"]), 200, headers, "application/json")


if __name__ == "__main__":
    app = Starlette(routes=[Route("/behave", behave, methods=["POST"]), Route("/api/v1/faq/{slug}", read)])
    with running(app) as url:
        print(url, flush=True)
        sys.stdin.read()
