"""Sessions and sign-in links, signed with the digest of an API key.

A session is a cookie with the id of a key, signed with the digest of the key in the database. So a session
needs no other secret, is valid in every process of the service, and ends when the key is revoked.
"""

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from itsdangerous import BadSignature, Signer, TimestampSigner

from faqsvc_embed.service.storage import APIKeys
from faqsvc_embed.service.storage.api_keys import SigningKey
from faqsvc_embed.service.storage.values import Access

LIFETIME: Final = timedelta(hours=12)
"""How long a session lasts at most."""
COOKIE_LIFETIME: Final = timedelta(days=30)
"""How long a browser keeps the cookie, so that the text of a form is read even if its session has ended."""
CLOCK_SKEW: Final = timedelta(minutes=5)
"""How far the clocks of two machines of the service may be apart."""
LINK_LIFETIME: Final = timedelta(hours=1)
"""How long a sign-in link can be used."""
COOKIE: Final = "faqsvc_desk"

_SEPARATOR: Final = "."


@dataclass(frozen=True, slots=True)
class Session:
    """The session of an editor. Every form of the session must send its `token` (against CSRF)."""

    access: Access
    key_name: str
    token: str


class Sessions:
    """Creates and checks sessions and sign-in links."""

    def __init__(self, keys: APIKeys, clock: Callable[[], datetime]) -> None:
        self._keys = keys
        self._clock = clock

    def create(self, key_id: str) -> str | None:
        """Return the cookie of a new session, or None if the key is not valid."""
        return self._sign("session", key_id)

    def find(self, cookie: str | None) -> Session | None:
        """Return the session of a cookie; None if its signature or its key is not valid, or it has ended."""
        found = self._unsign("session", cookie, LIFETIME)
        if found is None:
            return None
        key, value = found
        return Session(key.access, key.name, _form_signer(key).get_signature(value).decode())

    def create_link(self, key_id: str) -> str | None:
        """Return the token of a link that signs in once, or None if the key is not valid."""
        return self._sign("link", key_id)

    def redeem_link(self, token: str) -> str | None:
        """Use a link and return the id of its key; None if the link is not valid or was used before."""
        found = self._unsign("link", token, LINK_LIFETIME)
        if found is None or found[0].access.key_id is None or not self._keys.claim(found[0].access.key_id):
            return None
        return found[0].access.key_id

    def is_own(self, cookie: str | None) -> bool:
        """Return whether a cookie is or was one of a session, for as long as its key is valid."""
        return self._unsign("session", cookie, COOKIE_LIFETIME) is not None

    def _sign(self, purpose: str, key_id: str) -> str | None:
        key = self._keys.signing_key(key_id)
        if key is None:
            return None
        value = f"{key_id}{_SEPARATOR}{secrets.token_urlsafe(12)}"
        return self._signer(key, purpose).sign(value).decode()

    def _unsign(self, purpose: str, text: str | None, lifetime: timedelta) -> tuple[SigningKey, str] | None:
        key_id, separator, _ = (text or "").partition(_SEPARATOR)
        key = self._keys.signing_key(key_id) if separator and key_id.isalnum() else None
        if key is None:
            return None
        try:
            value, signed_at = self._signer(key, purpose).unsign(text or "", return_timestamp=True)
        except (BadSignature, ValueError):  # forged, or not ASCII
            return None
        is_valid = -CLOCK_SKEW <= self._clock() - signed_at <= lifetime
        return (key, value.decode()) if is_valid else None

    def _signer(self, key: SigningKey, purpose: str) -> TimestampSigner:
        clock = self._clock

        class ClockSigner(TimestampSigner):
            def get_timestamp(self) -> int:
                return int(clock().timestamp())

        return ClockSigner(key.digest, salt=f"faqsvc desk {purpose}", digest_method=hashlib.sha256)


def _form_signer(key: SigningKey) -> Signer:
    return Signer(key.digest, salt="faqsvc desk form", digest_method=hashlib.sha256)
