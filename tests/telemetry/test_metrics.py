"""An operator can follow an outage from the metrics of the embed alone."""

import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from faqsvc_embed import FAQEmbed
from tests.sources.backends import Shop
from tests.support.clock import Clock
from tests.support.embeds import LONG, MakeEmbed, refreshed
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer
from tests.support.waiting import settle

Metrics = dict[str, Any]
"""Values by the name of the instrument and of the attribute that tells its series apart."""


class Collector:
    """An OpenTelemetry SDK in memory."""

    def __init__(self) -> None:
        self._reader = InMemoryMetricReader()
        self.provider = MeterProvider([self._reader])

    def points(self) -> Iterator[tuple[str, Any]]:
        data = self._reader.get_metrics_data()
        for resource in data.resource_metrics if data is not None else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.data.data_points:
                        yield metric.name.removeprefix("faqsvc.embed."), point

    def collect(self) -> Metrics:
        """Return what differs from 0, with the attribute that tells a series apart after a slash."""
        found: Metrics = {}
        for name, point in self.points():
            kinds = [str(value) for key, value in point.attributes.items() if key != "server.address"]
            value = getattr(point, "value", None) or getattr(point, "count", 0)
            if value:
                found["/".join([name, *kinds])] = value
        return found


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.provider.shutdown()


def test_an_outage_can_be_followed_from_metrics_alone(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, collector: Collector
) -> None:
    embed = make_embed(fresh_for=600)
    embed.instrument(collector.provider)
    refreshed(embed)
    before = collector.collect()
    assert before == {"lookups/fetched": 1}

    for behaviour in (behaviours.status(503), behaviours.refuse, behaviours.body(b"<html>")):
        faulty.behave(behaviour)
        clock.advance(LONG)
        refreshed(embed)
        embed.use_faq("pricing")
    during = collector.collect()
    assert during["oldest_age"] == 3 * LONG
    assert during["fetch.errors/503"] == during["fetch.errors/connection"] == 1
    assert during["fetch.errors/invalid"] == 1
    assert during["lookups/stale"] == 1  # the look-up that started the first refresh
    assert during["lookups/degraded"] == 8  # those after it had failed
    assert "expired_waits" not in during

    faulty.behave(behaviours.healthy)
    clock.advance(LONG)
    refreshed(embed)
    after = collector.collect()
    assert "oldest_age" not in after
    assert {name: count for name, count in after.items() if "errors" in name} == {
        name: count for name, count in during.items() if "errors" in name
    }


def test_a_service_that_hangs_shows_as_expired_waits(
    make_embed: MakeEmbed, faulty: FaultyServer, collector: Collector
) -> None:
    embed, release = make_embed(timeout=60, wait=0.02), threading.Event()
    embed.instrument(collector.provider)
    faulty.behave(behaviours.held_until(release))
    for slug in ("a", "b", "c"):
        embed.use_faq(slug)
    release.set()
    assert collector.collect()["expired_waits"] == 3


def test_a_service_that_hangs_shows_as_timeouts(
    make_embed: MakeEmbed, faulty: FaultyServer, collector: Collector
) -> None:
    embed, release = make_embed(timeout=0.05, wait=30), threading.Event()
    embed.instrument(collector.provider)
    faulty.behave(behaviours.held_until(release))
    for slug in ("a", "b", "c"):
        embed.use_faq(slug)
        settle(embed)
    embed.use_faq("d")  # it is not asked any more
    settle(embed)
    release.set()
    assert collector.collect()["fetch.errors/timeout"] == 3


def test_a_fresh_look_up_is_not_counted(make_embed: MakeEmbed, collector: Collector) -> None:
    embed = make_embed()
    embed.instrument(collector.provider)
    for _ in range(4):
        embed.get_faq("pricing")
    assert collector.collect() == {"lookups/fetched": 1}


def test_the_age_is_that_of_records_in_use(make_embed: MakeEmbed, clock: Clock, collector: Collector) -> None:
    embed = make_embed(fresh_for=60)
    embed.instrument(collector.provider)
    embed.get_faq("pricing")
    clock.advance(250)
    assert collector.collect()["oldest_age"] == 250
    clock.advance(100)  # nobody visits that page
    assert "oldest_age" not in collector.collect()


def test_embeds_of_one_service_are_added_up_and_those_that_are_gone_left_out(
    make_embed: MakeEmbed, faulty: FaultyServer, collector: Collector
) -> None:
    first, second = make_embed(), make_embed()
    for embed in (first, second):
        embed.instrument(collector.provider)
        embed.instrument(collector.provider)  # once more changes nothing
        embed.get_faq("pricing")
    assert collector.collect()["lookups/fetched"] == 2
    assert {point.attributes["server.address"] for _, point in collector.points()} == {"127.0.0.1"}

    third, fourth = FAQEmbed("https://other.example"), FAQEmbed(source=Shop())
    for embed in (third, fourth):
        embed.instrument(collector.provider)
    addresses = {point.attributes["server.address"] for _, point in collector.points()}
    assert addresses == {"127.0.0.1", "other.example", "shop"}
    del third, fourth, embed
    gc.collect()
    gauges = {p.attributes["server.address"] for name, p in collector.points() if name == "expired_waits"}
    assert gauges == {"127.0.0.1"}


def test_no_series_names_a_slug(make_embed: MakeEmbed, faulty: FaultyServer, collector: Collector) -> None:
    embed = make_embed()
    embed.instrument(collector.provider)
    for number in range(30):
        embed.use_faq(f"unknown-{number}")
    points = list(collector.points())
    assert "unknown" not in str([point.attributes for _, point in points])
    assert len(points) < 30
