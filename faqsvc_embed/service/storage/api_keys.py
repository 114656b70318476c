"""API keys. Only their digests are stored, so a key cannot be shown again after its creation."""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, func, insert, or_, select, update

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.errors import FAQError
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.schema import api_keys
from faqsvc_embed.service.storage.sites import Sites, check_name
from faqsvc_embed.service.storage.values import Access

PREFIX: Final = "fs_live_"
SECRET_BYTES: Final = 32
USE_INTERVAL: Final = timedelta(minutes=1)
"""The shortest time between two records of the last use of a key."""


class UnknownAPIKey(FAQError, LookupError):
    """There is no API key with this id."""


@dataclass(frozen=True, slots=True)
class APIKeyInfo:
    """A key without its secret; `ending` is its last four characters, times are in UTC."""

    id: str
    site: str
    name: str
    scope: Scope
    ending: str
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


class SigningKey(NamedTuple):
    """A valid key, whose digest signs sessions and links that end with the key."""

    access: Access
    name: str
    digest: str
    is_used: bool


class APIKeys:
    """The API keys in a database."""

    def __init__(self, database: Database, sites: Sites, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._sites = sites
        self._clock = clock

    def create(self, name: str = "", *, site: str | None = None, scope: Scope = "publish") -> str:
        """Create a key for a site and return it. Without `site`, it is for the only site.

        Raises:
            ConfigurationError: the name has more than 100 characters, or unprintable ones.
            UnknownSite: there is no such site, or there are several and none is named.
        """
        check_name(name)
        with self._database.writing() as connection:
            return self._insert(connection, name, self._sites.resolve(connection, site), scope)

    def rotate(self, key_id: str, *, overlap: timedelta = timedelta(0)) -> str:
        """Create a key that replaces another and return it; the old key stays valid during `overlap`.

        Raises:
            UnknownAPIKey: there is no key with this id, or it is no longer valid.
        """
        now = self._clock()
        with self._database.writing() as connection:
            key = connection.execute(select(api_keys).where(api_keys.c.id == key_id, _valid(now))).first()
            if key is None:
                raise UnknownAPIKey(
                    f"no valid API key has the id {key_id!r}; `faqsvc keys list` prints all ids"
                )
            expires_at = now + overlap
            if key.expires_at is not None:  # it was rotated before
                expires_at = min(expires_at, key.expires_at)
            end = {"expires_at": expires_at} if overlap else {"revoked_at": now}
            connection.execute(update(api_keys).where(api_keys.c.id == key_id).values(end))
            return self._insert(connection, key.name, key.site, key.scope)

    def verify(self, key: str) -> Access | None:
        """Return what a key gives access to, or None if it is unknown, expired or revoked."""
        digest = _digest(key)
        columns = api_keys.c
        query = select(columns.id, columns.site, columns.scope, columns.digest)
        with self._database.reading() as connection:
            row = connection.execute(query.where(columns.digest == digest, _valid(self._clock()))).first()
        # The time of the index look-up may reveal digests, but not keys. The comparison takes constant time.
        if row is None or not hmac.compare_digest(row.digest, digest):
            return None
        return Access(row.id, row.site, row.scope)

    def signing_key(self, key_id: str) -> SigningKey | None:
        """Return a key by its id, or None if it is unknown, expired or revoked."""
        query = select(api_keys).where(api_keys.c.id == key_id, _valid(self._clock()))
        with self._database.reading() as connection:
            row = connection.execute(query).first()
        if row is None:
            return None
        return SigningKey(
            Access(row.id, row.site, row.scope), row.name, row.digest, row.last_used_at is not None
        )

    def claim(self, key_id: str) -> bool:
        """Record the first use of a key; return False if it was used before, or is not valid."""
        now = self._clock()
        unused = (api_keys.c.id == key_id, api_keys.c.last_used_at.is_(None), _valid(now))
        with self._database.writing() as connection:
            return connection.execute(update(api_keys).where(*unused).values(last_used_at=now)).rowcount == 1

    def list(self) -> list[APIKeyInfo]:
        """Return all keys, including revoked ones, ordered by their creation."""
        columns = [api_keys.c[name] for name in APIKeyInfo.__slots__]
        query = select(*columns).order_by(api_keys.c.created_at, api_keys.c.id)
        with self._database.reading() as connection:
            return [APIKeyInfo(*row) for row in connection.execute(query)]

    def revoke(self, key_id: str) -> None:
        """Revoke a key. FAQs that were published with it stay, as they belong to its site.

        Raises:
            UnknownAPIKey: there is no key with this id.
        """
        revoked = func.coalesce(api_keys.c.revoked_at, self._clock().isoformat(timespec="microseconds"))
        with self._database.writing() as connection:
            query = update(api_keys).where(api_keys.c.id == key_id).values(revoked_at=revoked)
            changed = connection.execute(query).rowcount
        if not changed:
            raise UnknownAPIKey(f"no API key has the id {key_id!r}; `faqsvc keys list` prints all ids")

    def record_use(self, key_id: str) -> None:
        """Record that a key is used now, at most once a minute."""
        now = self._clock()
        used = api_keys.c.last_used_at
        due = (api_keys.c.id == key_id, or_(used.is_(None), used < now - USE_INTERVAL))
        with self._database.reading() as connection:  # because a read never waits for a writer
            is_due = connection.execute(select(api_keys.c.id).where(*due)).first() is not None
        if is_due:
            with self._database.writing() as connection:
                connection.execute(update(api_keys).where(*due).values(last_used_at=now))

    def _insert(self, connection: Connection, name: str, site: str, scope: Scope) -> str:
        key = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        row: dict[str, Any] = {"id": secrets.token_hex(4), "site": site, "name": name, "scope": scope}
        row |= {"digest": _digest(key), "ending": key[-4:], "created_at": self._clock()}
        connection.execute(insert(api_keys), row)
        return key


def _valid(now: datetime) -> Any:
    expires = api_keys.c.expires_at
    return api_keys.c.revoked_at.is_(None) & or_(expires.is_(None), expires > now)


def _digest(key: str) -> str:
    # A fast digest without salt is enough for 256 random bits.
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
