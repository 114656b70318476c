"""Whether a request comes from a trusted proxy, which `faqsvc serve` knows and other servers do not say."""

from collections.abc import MutableMapping
from typing import Any, Final

_KEY: Final = "faqsvc.trusted_proxy"


def mark(scope: MutableMapping[str, Any]) -> None:
    """Say in the ASGI scope of a request that it comes from a trusted proxy."""
    scope[_KEY] = True


def is_from_proxy(scope: MutableMapping[str, Any]) -> bool:
    """Return whether a request comes from a trusted proxy, so that its headers are those of the proxy."""
    return scope.get(_KEY) is True
