"""API keys: who may write. The service knows them again, but could not tell them to anybody."""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from faqsvc_embed.errors import ConfigurationError, FAQError
from faqsvc_embed.service.database import Database, timestamp

PREFIX: Final = "fs_live_"
SECRET_BYTES: Final = 32
ENDING: Final = 4
MAX_NAME: Final = 100
USE_NOTED_EVERY: Final = timedelta(minutes=1)


class NoSuchKey(FAQError, LookupError):
    """No key of this service has this id."""


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """What is known of a key; `ending` is its last four characters, times are in UTC."""

    id: str
    name: str
    ending: str
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


class Keys:
    """The keys of a service, kept in its database."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def create(self, name: str = "") -> str:
        """Return a new key, in clear this once.

        Raises:
            ConfigurationError: the name has more than 100 characters, or some that do not print.
        """
        if len(name) > MAX_NAME or not name.isprintable():
            raise ConfigurationError(
                f"name is {name[:MAX_NAME]!r}: up to {MAX_NAME} printable characters are accepted"
            )
        key = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        with self._database.writing() as connection:
            connection.execute(
                "INSERT INTO api_keys (id, name, digest, ending, created_at)"
                " VALUES (:id, :name, :digest, :ending, :now)",
                {
                    "id": secrets.token_hex(4),
                    "name": name,
                    "digest": _digest(key),
                    "ending": key[-ENDING:],
                    "now": timestamp(self._clock()),
                },
            )
        return key

    def owner(self, key: str) -> str | None:
        """Return the id of a key, or None if it is no key of this service, or was revoked."""
        digest = _digest(key)
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT id, digest FROM api_keys WHERE digest = :digest AND revoked_at IS NULL",
                {"digest": digest},
            ).fetchone()
        # How long the index takes tells something of a digest, which leads to no key. That the rows are
        # equal is all the same decided here, in constant time.
        if row is None or not hmac.compare_digest(row[1], digest):
            return None
        return str(row[0])

    def list(self) -> list[KeyInfo]:
        """Return all keys, revoked ones too, in the order of their creation."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT id, name, ending, created_at, last_used_at, revoked_at"
                " FROM api_keys ORDER BY created_at, id"
            ).fetchall()
        return [
            KeyInfo(key_id, name, ending, datetime.fromisoformat(created), _time(used), _time(revoked))
            for key_id, name, ending, created, used, revoked in rows
        ]

    def revoke(self, key_id: str) -> None:
        """Refuse a key from now on. What it published stays.

        Raises:
            NoSuchKey: none has this id.
        """
        with self._database.writing() as connection:
            changed = connection.execute(
                "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, :now) WHERE id = :id",
                {"id": key_id, "now": timestamp(self._clock())},
            ).rowcount
        if not changed:
            raise NoSuchKey(f"there is no API key {key_id!r}; `faqsvc keys list` shows their ids")

    def note_use(self, key_id: str) -> None:
        """Remember that a key is used, to the minute: a busy one is not written down each time.

        Raises:
            StorageUnavailable: the database cannot be asked, or not be written.
        """
        now = self._clock()
        values = {"id": key_id, "now": timestamp(now), "before": timestamp(now - USE_NOTED_EVERY)}
        with self._database.reading() as connection:  # which waits for nobody who writes
            row = connection.execute(
                "SELECT 1 FROM api_keys WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :before)",
                values,
            ).fetchone()
        if row is not None:
            with self._database.writing() as connection:
                connection.execute("UPDATE api_keys SET last_used_at = :now WHERE id = :id", values)


def _digest(key: str) -> str:
    # Fast, and without salt: 256 random bits need neither.
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
