"""Metrics of embeds through OpenTelemetry, for the operators of their hosts."""

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from faqsvc_embed.cache.reader import Reader
from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("telemetry"):
    from opentelemetry import metrics
    from opentelemetry.metrics import CallbackOptions, Meter, MeterProvider, Observation

NAME: Final = "faqsvc_embed"
IN_USE: Final = 300.0
"""Seconds since its last look-up for which an FAQ counts as in use. The age of other FAQs is ignored."""

Values = Iterable[tuple[dict[str, str], float | None]]
Measure = Callable[[Reader], Values]


@lru_cache(maxsize=8)
def instruments_of(provider: MeterProvider | None) -> "Instruments":
    """Return the instruments of a provider; by default of the process, whose provider may be set later."""
    return Instruments(metrics.get_meter(NAME) if provider is None else provider.get_meter(NAME))


class Instruments:
    """The instruments of one meter. No attribute is a slug, because a host may have thousands."""

    def __init__(self, meter: Meter) -> None:
        self._readers: weakref.WeakSet[Reader] = weakref.WeakSet()
        counter, gauge = meter.create_observable_counter, meter.create_observable_gauge
        counter(
            "faqsvc.embed.lookups",
            [self._observations(lambda reader: _by("faqsvc.result", reader.reporter.lookups))],
            "{lookup}",
            "Look-ups that did not find a fresh record, by result",
        )
        counter(
            "faqsvc.embed.expired_waits",
            [self._observations(lambda reader: [({}, reader.reporter.expired_waits)])],
            "{wait}",
            "Waits for an FAQ that ended before it arrived",
        )
        counter(
            "faqsvc.embed.fetch.errors",
            [self._observations(lambda reader: _by("error.type", reader.reporter.fetch_errors))],
            "{error}",
            "Failed fetches by kind",
        )
        gauge(
            "faqsvc.embed.oldest_age",
            [self._observations(lambda reader: [({}, _oldest_age(reader))], max)],
            "s",
            "Time since the service confirmed the oldest record in use",
        )
        gauge(
            "faqsvc.embed.feed.lag",
            [self._observations(lambda reader: [({}, reader.fetcher.feed_lag)], max)],
            "s",
            "Time since the oldest announced change whose record has not arrived",
        )

    def observe(self, reader: Reader) -> None:
        """Report the reader of an embed for as long as it lives."""
        self._readers.add(reader)

    def _observations(
        self, measure: Measure, combine: Callable[[Iterable[float]], float] = sum
    ) -> Callable[[CallbackOptions], Iterator[Observation]]:
        """Return a callback that observes all embeds; those of one service are combined."""

        def observe(_: CallbackOptions) -> Iterator[Observation]:
            found: dict[tuple[tuple[str, str], ...], list[float]] = {}
            for reader in list(self._readers):
                address = urlsplit(reader.source.name).hostname or reader.source.name
                for attributes, value in measure(reader):
                    if value is not None:
                        named = {"server.address": address, **attributes}
                        found.setdefault(tuple(named.items()), []).append(value)
            for key, values in found.items():
                yield Observation(combine(values), dict(key))

        return observe


def _by(name: str, counts: Mapping[str, int]) -> Values:
    return [({name: key}, count) for key, count in list(counts.items())]


def _oldest_age(reader: Reader) -> float | None:
    at = reader.cache.moment()
    ages = [one.age(at.wall) for one in reader.cache.entries() if at.now - one.used_at <= IN_USE]
    return max((age for age in ages if age is not None), default=None)
