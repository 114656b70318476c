"""The service hangs at the moment when the copy expires: what visitors notice."""

import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2
from flask import Flask, render_template
from jinja2 import DictLoader
from starlette.applications import Starlette

from faqsvc_embed import FAQEmbed
from tests.benchmarks.hostpage import HEAD, SLUG, TAIL, VALUES
from tests.benchmarks.hosts import flask_app, starlette_app
from tests.benchmarks.loading import steadily
from tests.benchmarks.tables import Table
from tests.benchmarks.upstream import Upstream, upstream
from tests.processes.servers import running

BASE_URL: Final = "BENCHMARK_SERVICE"
"""The variable of the environment that tells the hosts below where the service is."""
RATE: Final = 60.0
"""Requests a second, far below what the servers can do."""
PATIENCE: Final = 8.0
"""Seconds after which a visitor leaves."""
GUNICORN: Final = "gunicorn -k gthread --threads 4 --graceful-timeout 1 -b 127.0.0.1:{port}"
UVICORN: Final = "uvicorn --log-level error --port {port} --factory"
COMMANDS: Final = {
    "{% faq %}, Flask under gunicorn": f"{GUNICORN} {__name__}:flask()",
    "{% faq %}, Starlette under uvicorn": f"{UVICORN} {__name__}:starlette",
    "a cache by hand, Flask under gunicorn": f"{GUNICORN} {__name__}:by_hand()",
}


def outage(is_short: bool) -> Iterator[Table]:
    """Measure the same host with the service well, and hanging; with an FAQ, and written by hand."""
    well, hanging = (0.2, 0.2) if is_short else (4.0, 10.0)
    table = Table(
        f"A service that hangs for {hanging:g} s once its copies expire, {RATE:g} requests a second",
        {
            "responses %": ".1f",
            "with the FAQ %": ".1f",
            "p50 ms": ".1f",
            "p99 ms": ".1f",
            "most fetches at once": ".0f",
        },
        notes=("goal: p99 as without the outage, every page with its FAQ, at most one fetch at once",),
    )
    for host, command in list(COMMANDS.items())[: 1 if is_short else None]:
        with (
            TemporaryDirectory() as folder,
            upstream(max_age=1) as service,
            running(command, Path(folder) / "log", **{BASE_URL: service.base_url}) as server,
        ):
            server.get("/faq")
            _measure(table, f"{host}: well", service, server.port, well, hangs=False)
            _measure(table, f"{host}: hanging", service, server.port, hanging, hangs=True)
    yield table


def _measure(table: Table, name: str, service: Upstream, port: int, seconds: float, *, hangs: bool) -> None:
    service.behave(hangs=hangs)
    visits = list(steadily(port, "/faq", seconds, RATE, PATIENCE))
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


def flask() -> Flask:
    """Return the page in every way, in Flask."""
    return flask_app(FAQEmbed(os.environ[BASE_URL]))


def starlette() -> Starlette:
    """Return the page in every way, in Starlette."""
    return starlette_app(FAQEmbed(os.environ[BASE_URL]))


COMPONENT: Final = """
<section class="faqsvc" id="faq-{{ faq.slug }}" lang="{{ faq.lang }}"><h2>{{ faq.title }}</h2>
{% for item in faq["items"] %}<details class="faqsvc-item"><summary><h3>{{ item.question }}</h3></summary>
<div id="faq-{{ faq.slug }}-{{ loop.index }}">
{% for text in item.answer.split("\n\n") %}<p>{{ text }}</p>{% endfor %}</div></details>{% endfor %}</section>
<script type="application/ld+json">{{ json_ld | tojson }}</script>
"""
"""What one writes by hand: no styles, one theme, one FAQ a page."""


def by_hand() -> Flask:
    """Return the page as it is written by hand: a dictionary with a lifetime, and a client with a time-out.

    When a request fails, the old FAQ is shown for another lifetime.
    """
    app = Flask("by_hand")
    app.jinja_loader = DictLoader({"data.html": HEAD + COMPONENT + TAIL})
    client = httpx2.Client(timeout=5.0)
    kept: dict[str, tuple[Any, float]] = {}

    def fetched() -> Any:
        faq, fresh_until = kept.get(SLUG, (None, 0.0))
        if time.monotonic() >= fresh_until:
            try:
                faq = client.get(f"{os.environ[BASE_URL]}/api/v1/faq/{SLUG}").json()
            except httpx2.HTTPError:
                if faq is None:
                    raise
            kept[SLUG] = faq, time.monotonic() + 1.0
        return faq

    def page() -> str:
        faq = fetched()
        questions = [
            {
                "@type": "Question",
                "name": item["question"],
                "acceptedAnswer": {"@type": "Answer", "text": item["answer"]},
            }
            for item in faq["items"]
        ]
        json_ld = {"@context": "https://schema.org", "@type": "FAQPage", "mainEntity": questions}
        return render_template("data.html", faq=faq, json_ld=json_ld, **VALUES)

    app.add_url_rule("/faq", "page", page)
    app.add_url_rule("/loop", "loop", lambda: "ran")
    return app
