"""A publication, the methods that write, and what an error shows."""

import asyncio
import json
import traceback
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Final

import pytest

from faqsvc_embed import FAQClient, FAQError
from tests.support.faulty import Exchange

SECRET: Final = "fs_live_" + "s3cretABC_-" * 4
TEA: Final[dict[str, Any]] = {
    "website_url": "https://www.tea.example",
    "website_name": "Tea & Sons",
    "items": [("What does it cost?", "Nothing."), ("May I cancel?", "Any time.")],
}
CREATED: Final = {
    "slug": "tea",
    "faqUrl": "https://faq.example/faq/tea",
    "install": {"npm": "npm install @faqsvc/react", "component": '<FAQ slug="tea" />'},
}
Clients = Callable[..., FAQClient]
"""Makes a client of the faulty server, with an API key and settings."""

WRITES: Final[list[Callable[[FAQClient], object]]] = [
    lambda client: client.publish_faq(**TEA),
    lambda client: asyncio.run(client.agenerate_faq("https://www.tea.example")),
]
WRITE_IDS: Final = ["publish", "agenerate"]


def created(exchange: Exchange) -> None:
    """Respond as a service does that has published."""
    exchange.respond(201, json.dumps(CREATED).encode())


def failure(work: Callable[[], object]) -> FAQError:
    """Return the error that `work` raises."""
    with pytest.raises(FAQError) as caught:
        work()
    return caught.value


def spoken(error: BaseException) -> str:
    """Return everything that an error shows: itself, its causes, and the local variables of our frames."""
    said, seen, waiting = list[str](), set[int](), [error]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        said += [str(one), repr(one), repr(vars(one)), *traceback.format_exception(one)]
        said += _locals(one.__traceback__)
        waiting += [other for other in (one.__cause__, one.__context__) if other is not None]
    return "\n".join(said)


def _locals(trace: TracebackType | None) -> Iterator[str]:
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        if "faqsvc_embed" in frame.f_code.co_filename and "tests" not in frame.f_code.co_filename:
            for value in frame.f_locals.values():
                yield repr(value)
                yield str(value)
