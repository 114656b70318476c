"""Metrics of embeds through OpenTelemetry, for the operators of their hosts.

`FAQEmbed` imports this module if the process uses OpenTelemetry.
"""

import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from faqsvc_embed.cache.reader import Reader
from faqsvc_embed.cache.report import Statistics, error_kind
from faqsvc_embed.events import FAQEvent
from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("telemetry"):
    from opentelemetry import metrics
    from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider, Observation

NAME: Final = "faqsvc_embed"
BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds; the default boundaries of OpenTelemetry are meant for milliseconds."""


Values = Iterable[tuple[dict[str, str], float | None]]
Measure = Callable[[Statistics], Values]


@lru_cache(maxsize=8)
def instruments_of(provider: MeterProvider | None) -> "Instruments":
    """Return the instruments of a provider; by default of the process, whose provider may be set later."""
    return Instruments(metrics.get_meter(NAME) if provider is None else provider.get_meter(NAME))


class Instruments:
    """The instruments of one meter. No attribute is a slug, because a host may have thousands."""

    def __init__(self, meter: Meter) -> None:
        self._readers: weakref.WeakSet[Reader] = weakref.WeakSet()
        self._duration = meter.create_histogram(
            "faqsvc.embed.fetch.duration",
            "s",
            "Duration of fetches from the FAQ service",
            explicit_bucket_boundaries_advisory=BUCKETS,
        )
        counter, gauge = meter.create_observable_counter, meter.create_observable_gauge
        counter(
            "faqsvc.embed.lookups",
            [self._observations(lambda now: _by("faqsvc.result", now.lookups))],
            "{lookup}",
            "Look-ups that did not find a fresh record, by result",
        )
        counter(
            "faqsvc.embed.expired_waits",
            [self._observations(lambda now: [({}, now.expired_waits)])],
            "{wait}",
            "Waits for an FAQ that ended before it arrived",
        )
        counter(
            "faqsvc.embed.fetch.errors",
            [self._observations(lambda now: _by("error.type", now.fetch_errors))],
            "{error}",
            "Failed fetches by kind",
        )
        counter(
            "faqsvc.embed.fetch.unsent",
            [self._observations(lambda now: [({}, now.unsent)])],
            "{fetch}",
            "Fetches that failed without a request, because the service did not respond to the last ones",
        )
        gauge(
            "faqsvc.embed.records",
            [self._observations(lambda now: _by("faqsvc.freshness", now.records))],
            "{record}",
            "Cached FAQs by freshness",
        )
        gauge(
            "faqsvc.embed.oldest_age",
            [self._observations(lambda now: [({}, now.oldest_age)], max)],
            "s",
            "Time since the service confirmed the oldest record in use",
        )
        gauge(
            "faqsvc.embed.feed.lag",
            [self._observations(lambda now: [({}, now.feed_lag)], max)],
            "s",
            "Time since the oldest announced change whose record has not arrived",
        )
        gauge(
            "faqsvc.embed.feed.connected",
            [self._observations(lambda now: [({}, now.feed_lag is not None)])],
            "{connection}",
            "Connections to the change feed",
        )
        gauge(
            "faqsvc.embed.not_waiting",
            [self._observations(lambda now: [({}, not now.is_waiting)], max)],
            "1",
            "1 while pages do not wait for uncached FAQs, because the service does not respond",
        )

    def observe(self, reader: Reader) -> None:
        """Report the reader of an embed for as long as it lives."""
        self._readers.add(reader)

    def record(self, reader: Reader, event: FAQEvent) -> None:
        """Record a fetch."""
        attributes = {"server.address": _address(reader), "faqsvc.result": event.result}
        if event.error is not None:
            attributes["error.type"] = error_kind(event.error)
        if event.was_sent:
            self._duration.record(event.seconds, attributes)

    def _observations(
        self, measure: Measure, combine: Callable[[Iterable[float]], float] = sum
    ) -> Callable[[CallbackOptions], Iterator[Observation]]:
        """Return a callback that observes all embeds; those of one service are combined."""

        def observe(_: CallbackOptions) -> Iterator[Observation]:
            found: dict[tuple[tuple[str, str], ...], list[float]] = {}
            for reader in list(self._readers):
                for attributes, value in measure(reader.statistics()):
                    if value is not None:
                        named = {"server.address": _address(reader), **attributes}
                        found.setdefault(tuple(named.items()), []).append(value)
            for key, values in found.items():
                yield Observation(combine(values), dict(key))

        return observe


def _by(name: str, counts: dict[str, int]) -> Values:
    return [({name: key}, count) for key, count in counts.items()]


def _address(reader: Reader) -> str:
    return urlsplit(reader.source.name).hostname or reader.source.name
