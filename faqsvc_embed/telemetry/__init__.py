"""Reports metrics of an embed through OpenTelemetry, for the operators of its host.

`metrics.py` has the instruments. It is imported by `start()`, which the first fetch calls if the process has
imported `opentelemetry.metrics`.
"""

import sys
import weakref
from typing import TYPE_CHECKING, Protocol

from faqsvc_embed.cache.report import Statistics
from faqsvc_embed.events import FAQEvent
from faqsvc_embed.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider

    from faqsvc_embed.telemetry.metrics import Instruments


class Measured(Protocol):
    """The part of an embed that is measured."""

    settings: Settings

    def statistics(self) -> Statistics: ...


class Telemetry:
    """Reports one embed, from its first fetch on, if the process uses OpenTelemetry by then."""

    def __init__(self, embed: Measured) -> None:
        self._embed = weakref.ref(embed)
        self._instruments: Instruments | None = None

    def start(self, meter_provider: "MeterProvider | None" = None) -> None:
        """Report from now on, once; by default to the provider of the process.

        Raises:
            ModuleNotFoundError: `opentelemetry-api` is not installed.
        """
        embed = self._embed()
        if self._instruments is None and embed is not None:
            from faqsvc_embed.telemetry.metrics import instruments_of

            self._instruments = instruments_of(meter_provider)
            self._instruments.observe(embed)

    def __call__(self, event: FAQEvent) -> None:
        """Record a fetch."""
        if self._instruments is None and "opentelemetry.metrics" in sys.modules:
            self.start()
        embed = self._embed()
        if self._instruments is not None and embed is not None:
            self._instruments.record(embed, event)
