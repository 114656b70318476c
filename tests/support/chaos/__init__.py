"""Checks that pages are never blank, broken or late while the FAQ service fails. Start with `check`."""

from tests.support.chaos.check import Chaos
from tests.support.chaos.trial import PageCheckFailed

__all__ = ["Chaos", "PageCheckFailed"]
