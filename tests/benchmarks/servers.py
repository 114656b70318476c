"""Requests a second under real servers, with the FAQ and with the same text typed into the template."""

import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Final

from tests.benchmarks.hostpage import COUNTS, NAMES
from tests.benchmarks.hosts import COUNT
from tests.benchmarks.loading import flood, free_port, serving
from tests.benchmarks.tables import Table

SECONDS: Final = 1
ROUNDS: Final = 6
PAGES: Final = ("typed.html", "tag.html", "expression.html")

SERVERS: Final[dict[str, tuple[str, list[str]]]] = {
    "gunicorn, Flask": (
        "gunicorn",
        ["-m", "gunicorn", "-k", "gthread", "--threads", "4", "-b", "127.0.0.1:{port}", "{hosts}:flask()"],
    ),
    "waitress, Flask": (
        "waitress",
        ["-m", "waitress", "--host", "127.0.0.1", "--port", "{port}", "--call", "{hosts}:flask"],
    ),
    "uvicorn, Starlette": (
        "uvicorn",
        ["-m", "uvicorn", "--port", "{port}", "--log-level", "error", "--factory", "{hosts}:starlette"],
    ),
}
"""For each server, its module and its command."""


def servers() -> Iterator[Table]:
    """Measure each server, the pages in turns of a second."""
    for count in COUNTS:
        table = Table(
            f"Requests a second under a server with one process, {count} questions; load by wrk",
            {"a second": ".0f", "ratio": ".3f", "median ms": ".2f", "99 % ms": ".2f"},
            notes=("goal: within the noise of the text typed in",),
        )
        for server, (module, command) in SERVERS.items():
            if find_spec(module) is None:
                table.note(f"{server}: skipped, no {module}: pip install 'faqsvc-embed[benchmarks]'")
                continue
            try:
                _measure(table, server, command, count)
            except FileNotFoundError as missing:
                table.note(f"{server}: skipped, {missing}")
        yield table


def _measure(table: Table, server: str, command: list[str], count: int) -> None:
    port = free_port()
    filled = [part.format(port=port, hosts="tests.benchmarks.hosts") for part in command]
    with ExitStack() as stack:
        stack.enter_context(serving(filled, port, "/typed.html", {COUNT: str(count)}))
        loads = {page: [flood(port, f"/{page}", SECONDS)] for page in PAGES}  # which warms them
        for round_ in range(ROUNDS):
            start = round_ % len(PAGES)
            for page in PAGES[start:] + PAGES[:start]:
                loads[page].append(flood(port, f"/{page}", SECONDS))
    for page in PAGES:
        both = list(zip(loads[page], loads[PAGES[0]], strict=True))[1:]
        pairs = [(own, typed) for own, typed in both if own.rate and typed.rate]
        if len(pairs) < len(both):
            table.note(f"{server}: {len(both) - len(pairs)} rounds without any answer are left out")
        if not pairs:
            continue
        table.add(
            f"{server}: {NAMES[page]}",
            statistics.median(own.rate for own, _ in pairs),
            statistics.median(own.rate / typed.rate for own, typed in pairs),
            statistics.median(own.median for own, _ in pairs),
            statistics.median(own.late for own, _ in pairs),
        )
