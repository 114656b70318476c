"""Marks requests from a trusted proxy. `faqsvc serve` sets the mark; other servers do not."""

from collections.abc import MutableMapping
from typing import Any, Final

_KEY: Final = "faqsvc.trusted_proxy"


def mark(scope: MutableMapping[str, Any]) -> None:
    """Mark the ASGI scope of a request from a trusted proxy."""
    scope[_KEY] = True


def is_from_proxy(scope: MutableMapping[str, Any]) -> bool:
    """Return whether a request comes from a trusted proxy, so that its headers can be trusted."""
    return scope.get(_KEY) is True
