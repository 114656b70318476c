"""A cold FAQ, fetched, checked and rendered, against a kept-alive get and `json.loads`."""

import json
import time
from collections.abc import Iterator

import httpx2

from faqsvc_embed import FAQEmbed
from tests.benchmarks.hostpage import COUNTS, SLUG
from tests.benchmarks.sidebyside import calling, compare
from tests.benchmarks.tables import Table
from tests.benchmarks.upstream import upstream


def cold(is_short: bool) -> Iterator[Table]:
    """Measure with a service that takes no time, which is the hardest, and with one that takes 5 ms."""
    measured = [(0.005, 20), *((0.0, count) for count in COUNTS)]
    for latency, count in measured[: 1 if is_short else None]:
        yield _cold(latency, count, 2 if is_short else 60)


def _cold(latency: float, count: int, rounds: int) -> Table:
    with upstream(count=count, latency=latency) as service, FAQEmbed(service.base_url) as embed:
        address = f"{service.base_url}/api/v1/faq/{SLUG}"
        with httpx2.Client() as client:

            def by_hand() -> None:
                json.loads(client.get(address).content)

            def fetched() -> None:
                embed.forget()
                embed.get_faq(SLUG)

            def shown() -> None:
                embed.forget()
                assert embed.render(SLUG)

            return compare(
                f"A cold FAQ of {count} questions, from a service that takes {latency * 1e3:g} ms",
                {
                    "httpx2.Client.get + json.loads": calling(by_hand, time.perf_counter),
                    "get_faq: fetched and checked": calling(fetched, time.perf_counter),
                    "render: and shown": calling(shown, time.perf_counter),
                },
                rounds=rounds,
                turn=0.01,
                notes=("goal: at most 1.3",),
            )
