"""The service hangs at the moment when the copy expires: what visitors notice."""

import statistics
from collections.abc import Iterator
from typing import Final

from tests.benchmarks.hosts import BASE_URL
from tests.benchmarks.loading import free_port, serving, steadily
from tests.benchmarks.tables import Table
from tests.benchmarks.upstream import Upstream, upstream

RATE: Final = 60.0
"""Requests a second, far below what the servers can do."""
WELL: Final = 4.0
HANGING: Final = 10.0
PATIENCE: Final = 8.0
"""Seconds after which a visitor leaves."""
FLASK: Final = ["-m", "gunicorn", "-k", "gthread", "--threads", "4", "--graceful-timeout", "1", "-b"]


def outage() -> Iterator[Table]:
    """Measure the same host with the service well, and hanging; with an FAQ, and written by hand."""
    table = Table(
        f"A service that hangs for {HANGING:g} s once its copies expire, {RATE:g} requests a second",
        {
            "responses %": ".1f",
            "with the FAQ %": ".1f",
            "p50 ms": ".1f",
            "p99 ms": ".1f",
            "most fetches at once": ".0f",
        },
        notes=("goal: p99 as without the outage, every page with its FAQ, at most one fetch at once",),
    )
    for host, command in (
        ("{% faq %}, Flask under gunicorn", [*FLASK, "127.0.0.1:{port}", "{hosts}:flask()"]),
        (
            "{% faq %}, Starlette under uvicorn",
            ["-m", "uvicorn", "--log-level", "error", "--port", "{port}", "--factory", "{hosts}:starlette"],
        ),
        (
            "a cache by hand, Flask under gunicorn",
            [*FLASK, "127.0.0.1:{port}", "{hosts}:by_hand()"],
        ),
    ):
        with upstream(max_age=1) as service:
            port = free_port()
            filled = [part.format(port=port, hosts="tests.benchmarks.hosts") for part in command]
            with serving(filled, port, "/tag.html", {BASE_URL: service.base_url}):
                _measure(table, f"{host}: well", service, port, WELL, hangs=False)
                _measure(table, f"{host}: hanging", service, port, HANGING, hangs=True)
    yield table


def _measure(table: Table, name: str, service: Upstream, port: int, seconds: float, *, hangs: bool) -> None:
    service.behave(hangs=hangs)
    visits = list(steadily(port, "/tag.html", seconds, RATE, PATIENCE))
    most = service.behave()["most_open"]
    times = [took for _, took, _ in visits]
    responses = [response for *_, response in visits if response.startswith(b"HTTP/1.1 200")]
    whole = [response for response in responses if b"What about question number" in response]
    table.add(
        name,
        100 * len(responses) / len(visits),
        100 * len(whole) / len(visits),
        statistics.median(times) * 1e3,
        statistics.quantiles(times, n=100)[98] * 1e3,
        most,
    )
