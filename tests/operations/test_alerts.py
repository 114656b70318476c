"""An outage, followed from metrics alone: the documented alerts, as Prometheus itself evaluates them."""

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import REGISTRY, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http.threads import database_outages, write_outages
from faqsvc_embed.service.storage import StorageUnavailable, open_storage
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import MakeEmbed
from tests.support.faulty import FaultyServer, healthy, refuse
from tests.support.waiting import settle

pytestmark = pytest.mark.system

ALERTS: Final = Path(__file__).parents[2] / "docs/examples/operations/alerts.yml"
FULL, BEGIN, END, LAST = 4, 10, 270, 300
"""Minutes: the disk is full, the service is down, both respond again, the day ends."""
QUESTION: Final = {"question": "How much?", "answer": "Five euros."}
FIRING: Final[dict[int, set[str]]] = {
    FULL - 1: set(),
    FULL + 4: {"FAQServiceRefusesWrites"},
    BEGIN + 8: {"FAQServiceDown", "FAQServiceFails", "FAQServiceRefusesWrites"},
    BEGIN + 25: {"FAQServiceDown", "FAQServiceFails", "FAQServiceRefusesWrites", "PagesLackFAQs"},
    END - 1: {"FAQServiceDown", "FAQServiceFails", "FAQServiceRefusesWrites", "PagesLackFAQs", "FAQsAreOld"},
    LAST - 1: set(),
}


def promtool(*arguments: str) -> None:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("no promtool on this machine")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class Series:
    """What Prometheus would have scraped, a value a minute."""

    def __init__(self) -> None:
        self._values = defaultdict[str, list[str]](list)
        self.minutes = 0

    def scrape(self, *expositions: str) -> None:
        for exposition in expositions:
            for family in text_string_to_metric_families(exposition):
                for sample in family.samples:
                    labels = ",".join(f'{name}="{value}"' for name, value in sample.labels.items())
                    if sample.name.startswith(("faqsvc", "up")) and "_bucket" not in sample.name:
                        values = self._values[f"{sample.name}{{{labels}}}"]
                        values += ["_"] * (self.minutes - len(values))
                        values.append(f"{sample.value:g}")
        self.minutes += 1

    def pass_minute(self) -> None:
        self.minutes += 1

    def to_list(self) -> list[dict[str, str]]:
        return [{"series": name, "values": " ".join(values)} for name, values in self._values.items()]


@pytest.fixture
def provider() -> Iterator[MeterProvider]:
    provider = MeterProvider([PrometheusMetricReader()])
    yield provider
    provider.shutdown()


def test_prometheus_accepts_its_configuration_and_the_alerts() -> None:
    promtool("check", "config", str(ALERTS.with_name("prometheus.yml")))


def test_each_alert_fires_in_an_outage_and_ends_after_it(
    tmp_path: Path,
    make_embed: MakeEmbed,
    faulty: FaultyServer,
    clock: Clock,
    provider: MeterProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embed, series = make_embed(fresh_for=3600), Series()
    embed.instrument(provider)
    storage = open_storage(f"sqlite:///{tmp_path}/faqs.db")
    key = storage.keys.create("website")
    for outages in (database_outages, write_outages):
        monkeypatch.setattr(outages, "_clock", clock.now)
        monkeypatch.setattr(outages, "_since", None)  # another test may have stopped its database

    body = {"websiteUrl": "https://heron.example", "websiteName": "Heron", "items": [QUESTION]}

    def fail(*_: object) -> None:
        raise StorageUnavailable("PostgreSQL 'faqs' at db: connection refused")

    with TestClient(create_app(storage, metrics=True)) as client:
        for minute in range(LAST):
            clock.advance(60)
            if BEGIN + 30 < minute < END - 25 and minute % 4:
                series.pass_minute()  # a scrape every four minutes will do
                continue
            if minute == FULL:
                monkeypatch.setattr(storage.database, "writing", fail)
            if minute == BEGIN:
                monkeypatch.setattr(storage.database, "reading", fail)
                faulty.behave(refuse)
            if minute == END:
                monkeypatch.delattr(storage.database, "reading")
                monkeypatch.delattr(storage.database, "writing")
                faulty.serve(samples.record("new"))
                faulty.behave(healthy)
            client.get(f"{API_PATH}/pricing")
            if minute in (FULL, END + 1):
                client.put(f"{API_PATH}/pricing", json=body, headers={KEY_HEADER: key})
            embed.use_faq("pricing", wait=5)
            settle(embed)
            for _ in range(10 if minute >= BEGIN else 0):
                embed.use_faq("new", wait=5)  # a page that was published during the outage
            metrics = client.get("/metrics").text
            series.scrape('up{job="faqsvc"} 1\n', metrics, generate_latest(REGISTRY).decode())

    checks = [
        {
            "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(names)],
        }
        for minute, names in FIRING.items()
    ]
    test = {"interval": "1m", "input_series": series.to_list(), "promql_expr_test": checks}
    (tmp_path / "drill.yml").write_text(
        yaml.safe_dump({"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": [test]})
    )
    promtool("test", "rules", str(tmp_path / "drill.yml"))
