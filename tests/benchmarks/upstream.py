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

BEHAVIOUR: Final[dict[str, Any]] = {"count": 20, "latency": 0.0, "hangs": False, "max_age": 3600}
"""Questions of an FAQ, seconds until a response, whether none comes, and seconds for which it is fresh."""
OPEN_REQUESTS: Final = {"now": 0, "most_open": 0}


@dataclass(frozen=True)
class Upstream:
    """Where the service is, and how to tell it what to do."""

    base_url: str

    def behave(self, **behaviour: Any) -> dict[str, int]:
        """Change the behaviour; return how many requests are open, and the most since the last call."""
        body = json.dumps(behaviour).encode()
        request = urllib.request.Request(f"{self.base_url}/behave", body, method="POST")
        with urllib.request.urlopen(request, timeout=10) as response:
            counted: dict[str, int] = json.load(response)
            return counted


@contextmanager
def upstream(**behaviour: Any) -> Iterator[Upstream]:
    """Run the service in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.upstream"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        service = Upstream(process.stdout.readline().strip())
        service.behave(**behaviour)
        yield service
        process.terminate()


@cache
def body(slug: str, count: int) -> bytes:
    return json.dumps(record(count, slug)).encode()


async def behave(request: Request) -> Response:
    counted = dict(OPEN_REQUESTS)
    BEHAVIOUR.update(await request.json())
    OPEN_REQUESTS["most_open"] = OPEN_REQUESTS["now"]
    return JSONResponse(counted)


async def read(request: Request) -> Response:
    OPEN_REQUESTS["now"] += 1
    OPEN_REQUESTS["most_open"] = max(OPEN_REQUESTS["most_open"], OPEN_REQUESTS["now"])
    try:
        if BEHAVIOUR["hangs"]:
            while not await request.is_disconnected():
                await asyncio.sleep(0.05)
        elif BEHAVIOUR["latency"]:
            await asyncio.sleep(BEHAVIOUR["latency"])
    finally:
        OPEN_REQUESTS["now"] -= 1
    headers = {"Cache-Control": f"public, max-age={BEHAVIOUR['max_age']}"}
    return Response(body(request.path_params["slug"], BEHAVIOUR["count"]), 200, headers, "application/json")


if __name__ == "__main__":
    app = Starlette(routes=[Route("/behave", behave, methods=["POST"]), Route("/api/v1/faq/{slug}", read)])
    with running(app) as url:
        print(url, flush=True)
        sys.stdin.read()
