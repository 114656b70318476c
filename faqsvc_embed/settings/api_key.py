"""The API key, in a wrapper that no repr, log, pickle or traceback shows in clear."""

import hmac
import html
import json
import re
from typing import Any, Final
from urllib.parse import quote

from faqsvc_embed.errors import MASK, AuthenticationError, without_keys

PREFIX: Final = "fs_live_"
MIN_UNIQUE_SECRET: Final = 12
"""Number of characters from which a secret does not occur in other text by chance."""
_KEY: Final = r"fs_live_[!-~]+"
NOT_A_KEY: Final = (
    f"the API key does not have the form {MASK}, without quotation marks, where *** is the secret;"
    " `faqsvc keys create` makes one"
)


class APIKey:
    """An API key, which only `reveal()` shows in clear."""

    __slots__ = ("_secret",)

    def __init__(self, secret: object) -> None:
        """Check that the key begins with `fs_live_`, as every key of the service does.

        Raises:
            AuthenticationError: it does not; the message does not quote it.
        """
        if not isinstance(secret, str) or re.fullmatch(_KEY, secret) is None:
            del secret  # tracebacks show local variables
            raise AuthenticationError(NOT_A_KEY)
        self._secret = secret

    def reveal(self) -> str:
        """Return the key in clear, for the X-Plugin-Key header and nothing else."""
        return self._secret

    def mask(self, text: str) -> str:
        """Return `text` with the key masked, whether it is written plainly, in JSON, in HTML or in a URL.

        Other text that begins with `fs_live_` is masked too, because it may be a part of the key. So is a
        long secret without its prefix.
        """
        secret = self._secret.removeprefix(PREFIX)
        masks = {self._secret: MASK, **({secret: "***"} if len(secret) >= MIN_UNIQUE_SECRET else {})}
        for clear, mask in masks.items():
            for written in (clear, json.dumps(clear)[1:-1], html.escape(clear), quote(clear, safe="")):
                text = text.replace(written, mask)
        return without_keys(text)

    def __repr__(self) -> str:
        return f"APIKey('{MASK}')"

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


MALFORMED: Final = APIKey(MASK)
"""Stands for a malformed key in settings, which a site that only reads ignores."""
