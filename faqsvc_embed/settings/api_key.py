"""The API key, wrapped so that it shows itself to nobody: not in a repr, a log, a pickle or a traceback."""

import hmac
import html
import json
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from faqsvc_embed.errors import MASKED, AuthenticationError, without_keys

PREFIX: Final = "FAQSVC_"
"""What the names of our settings begin with outside: in a host's configuration and in the environment."""

BEGINNING: Final = "fs_live_"
LONG_SECRET: Final = 12
"""Characters that come together in no text by chance."""
_KEY: Final = r"fs_live_[!-~]+"
_MALFORMED: Final = object()
"""Stands for an API key that is none, so that a check can refuse it without having it."""


class APIKey:
    """An API key that shows itself to nobody but `reveal()`: not in repr, str, format or pickles."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        """Check the form `fs_live_…` (specification, Authentication); an error never quotes the key."""
        if not isinstance(secret, str) or re.fullmatch(_KEY, secret) is None:
            del secret  # it may be a key for all that, and tracebacks show local variables
            raise malformed_key()
        self._secret = secret

    def reveal(self) -> str:
        """Return the secret itself, for the X-Plugin-Key header and nothing else."""
        return self._secret

    def mask(self, text: str) -> str:
        """Return `text` with every occurrence of the key replaced, as it is or as JSON, HTML or a URL has it.

        What only begins like a key is replaced too, for a text may have been cut; and a long secret without
        its `fs_live_`.
        """
        secret = self._secret.removeprefix(BEGINNING)
        masks = {self._secret: MASKED, **({secret: "***"} if len(secret) >= LONG_SECRET else {})}
        for key, mask in masks.items():
            for written in (lambda key: key, lambda key: json.dumps(key)[1:-1], html.escape, _in_url):
                text = text.replace(written(key), mask)
        return without_keys(text)

    def __repr__(self) -> str:
        return f"APIKey('{MASKED}')"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, APIKey):
            return NotImplemented
        return hmac.compare_digest(self._secret, other._secret)

    def __hash__(self) -> int:
        return hash(self._secret)

    def __deepcopy__(self, memo: object) -> "APIKey":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("an APIKey cannot be pickled: read it from the environment where it is needed")


def _in_url(key: str) -> str:
    return quote(key, safe="")


def malformed_key() -> AuthenticationError:
    """Return the error for what is no API key, without a word of it."""
    return AuthenticationError(
        "the API key has not the form fs_live_ and a secret; "
        "keys are made in the service's dashboard, or by `faqsvc keys create`"
    )


def sealed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy in which the API key is wrapped, so that no local variable shows it from here on."""
    copy = dict(values)
    for name in ("api_key", f"{PREFIX}API_KEY"):
        key = copy.get(name)
        if isinstance(key, str | bytes | bytearray):
            good = isinstance(key, str) and re.fullmatch(_KEY, key) is not None
            copy[name] = APIKey(str(key)) if good else _MALFORMED
    return copy
