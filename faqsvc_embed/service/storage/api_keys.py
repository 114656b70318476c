"""API keys. Only their digests are stored, so a key cannot be shown again after its creation."""

import hmac
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.errors import FAQError
from faqsvc_embed.service.storage.database import Database, StoragePart, paged, place_of
from faqsvc_embed.service.storage.logs import NAME, OPERATOR, log
from faqsvc_embed.service.storage.schema import api_keys, audit_log, faqs, people, previews
from faqsvc_embed.service.storage.sites import check_name, resolve_site
from faqsvc_embed.service.storage.values import Access, secret_digest
from faqsvc_embed.settings.api_key import PREFIX

SECRET_BYTES: Final = 32


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
    maker: str | None
    """The person or the key that created it; None for the operator."""

    def has_ended(self, now: datetime) -> bool:
        """Return whether it was revoked or has expired."""
        return self.revoked_at is not None or (self.expires_at is not None and self.expires_at <= now)


_INFO: Final[Select[Any]] = select(
    *(api_keys.c[name] for name in APIKeyInfo.__slots__ if name != "maker"),
    func.coalesce(NAME, api_keys.c.created_by_key),
).outerjoin(people, people.c.id == api_keys.c.created_by_person)
"""Selects the fields of `APIKeyInfo`."""
_AGE: Final = (api_keys.c.created_at, api_keys.c.id)


class APIKeys(StoragePart):
    """The API keys in a database. Methods that get the id of a key raise `UnknownAPIKey`."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        super().__init__(database, clock)
        self._used = dict[str, datetime]()

    def create(
        self, name: str = "", *, site: str | None = None, scope: Scope = "publish", by: Access = OPERATOR
    ) -> str:
        """Create a key for a site and return it. Without `site`, it is for the only site.

        Raises:
            ConfigurationError: the name has more than 100 characters, or control characters.
            UnknownSite: there is no such site, or there are several and none is named.
        """
        check_name(name)
        with self._database.writing() as connection:
            row = {"name": name, "site": resolve_site(connection, site, self._clock()), "scope": scope}
            return self._insert(connection, row, by)

    def rotate(self, key_id: str, *, overlap: timedelta = timedelta(0), by: Access = OPERATOR) -> str:
        """Create a key that replaces a valid one, and return it; the old key stays valid during `overlap`."""
        now = self._clock()
        with self._database.writing() as connection:
            key = _key(connection, "valid API key", key_id, _valid(now))
            expires_at = now + overlap
            if key.expires_at is not None:  # it was rotated before
                expires_at = min(expires_at, key.expires_at)
            end = {"expires_at": expires_at} if overlap else {"revoked_at": now}
            connection.execute(update(api_keys).where(api_keys.c.id == key_id).values(end))
            log(connection, by, "key-rotate", now, site=key.site, subject=key_id)
            row = {"name": key.name, "site": key.site, "scope": key.scope, "created_at": now}
            return self._insert(connection, row, by)

    def verify(self, key: str) -> Access | None:
        """Return the rights of a key, or None if it is unknown, expired or revoked."""
        digest = secret_digest(key)
        columns = api_keys.c
        query = select(columns.id, columns.site, columns.scope, columns.digest)
        row = self._first(query.where(columns.digest == digest, _valid(self._clock())))
        # The time of the index look-up may reveal digests, but not keys. The comparison takes constant time.
        if row is None or not hmac.compare_digest(row.digest, digest):
            return None
        return Access(row.id, row.site, row.scope)

    def list(self, site: str | None = None) -> list[APIKeyInfo]:
        """Return the keys of a site, or of all sites, including revoked ones, ordered by their creation."""
        query = _INFO if site is None else _INFO.where(api_keys.c.site == site)
        return [APIKeyInfo(*row) for row in self._rows(query.order_by(*_AGE))]

    def page(
        self, site: str, *, limit: int, after: str | None = None
    ) -> tuple[Sequence[APIKeyInfo], str | None]:
        """Return keys of a site, the newest first, and the cursor of the next page; None at the end."""
        query = _INFO.where(api_keys.c.site == site)
        if after is not None:
            query = query.where(tuple_(*_AGE) < place_of(after, *_AGE))
        query = query.order_by(*(column.desc() for column in _AGE)).limit(limit + 1)
        return paged([APIKeyInfo(*row) for row in self._rows(query)], limit, lambda key: key.id)

    def get(self, site: str, key_id: str) -> APIKeyInfo:
        """Return a key of a site."""
        row = self._first(_INFO.where(api_keys.c.id == key_id, api_keys.c.site == site))
        if row is None:
            raise UnknownAPIKey(f"no API key has the id {key_id!r}")
        return APIKeyInfo(*row)

    def made_by_person(self, person_id: str) -> Sequence[str]:
        """Return the ids of the valid keys that a person created, and of the keys that those created."""
        with self._database.reading() as connection:
            made = made_by(connection, api_keys.c.created_by_person == person_id)
            valid = select(api_keys.c.id).where(api_keys.c.id.in_(made), _valid(self._clock()))
            return connection.scalars(valid.order_by(api_keys.c.created_at, api_keys.c.id)).all()

    def revoke(self, key_id: str, *, with_children: bool = False, by: Access = OPERATOR) -> None:
        """Revoke a key. FAQs that were published with it stay, because they belong to its site.

        `with_children` also revokes all keys that come from it, and ends all previews of its site.
        """
        now = self._clock()
        with self._database.writing() as connection:
            key = _key(connection, "API key", key_id)
            ids = {key_id}
            if with_children:
                ids |= made_by(connection, api_keys.c.created_by_key == key_id)
                mine = select(faqs.c.slug).where(faqs.c.site == key.site)
                connection.execute(delete(previews).where(previews.c.slug.in_(mine)))
            revoke_all(connection, ids, now, by)

    def note_use(self, key_id: str) -> None:
        """Note that a key is used now; `record_uses` writes it to the database."""
        self._used[key_id] = self._clock()

    def record_uses(self) -> None:
        """Write the last uses of all keys that were noted. If that fails, they stay noted."""
        used = self._used.copy()
        if not used:
            return
        with self._database.writing() as connection:
            for key_id, at in sorted(used.items()):
                mine = update(api_keys).where(api_keys.c.id == key_id)
                connection.execute(mine.values(last_used_at=at))
        for key_id, at in used.items():
            if self._used.get(key_id) == at:
                del self._used[key_id]

    def _insert(self, connection: Connection, row: dict[str, Any], by: Access) -> str:
        key, now = PREFIX + secrets.token_urlsafe(SECRET_BYTES), self._clock()
        row = {"created_at": now, "id": secrets.token_hex(4), **row}
        row |= {"digest": secret_digest(key), "ending": key[-4:]}
        row |= {"created_by_key": by.key_id, "created_by_person": by.person_id}
        connection.execute(insert(api_keys), row)
        log(connection, by, "key-create", now, site=row["site"], subject=row["id"])
        return key


def _key(connection: Connection, what: str, key_id: str, *conditions: ColumnElement[bool]) -> Row[Any]:
    """Return the row of a key, locked, so that two transactions cannot replace the same key."""
    query = select(api_keys).where(api_keys.c.id == key_id, *conditions).with_for_update()
    row = connection.execute(query).first()
    if row is None:
        raise UnknownAPIKey(f"no {what} has the id {key_id!r}; `faqsvc keys list` prints all ids")
    return row


def own_keys(key_id: str | None) -> Select[Any]:
    """Select the id of a key, and the ids of the keys with its name that it replaces.

    Those had ended, or were rotated, when it was created. Keys that were valid at the same time otherwise
    belong to different programs, even if they have the same name.
    """
    own, columns = api_keys.alias(), api_keys.c
    is_same = and_(columns.site == own.c.site, columns.name == own.c.name, columns.name != "")
    rotations = (audit_log.c.action == "key-rotate", audit_log.c.subject == columns.id)
    ends = (
        columns.expires_at,
        columns.revoked_at,
        select(func.min(audit_log.c.at)).where(*rotations).scalar_subquery(),
    )
    had_ended = or_(*(end <= own.c.created_at for end in ends))
    belongs = or_(columns.id == own.c.id, and_(is_same, had_ended))
    return select(columns.id).select_from(api_keys).join(own, belongs).where(own.c.id == key_id)


def made_by(connection: Connection, maker: ColumnElement[bool]) -> set[str]:
    """Return the ids of the keys by a creator, such as `created_by_person == id`, and of keys by those."""
    made = newest = set(connection.scalars(select(api_keys.c.id).where(maker)))
    while newest:
        children = select(api_keys.c.id).where(api_keys.c.created_by_key.in_(newest))
        newest = set(connection.scalars(children)) - made
        made = made | newest
    return made


def revoke_all(connection: Connection, ids: Collection[str], now: datetime, by: Access) -> None:
    """Revoke keys that are not revoked yet."""
    valid = (api_keys.c.id.in_(ids), api_keys.c.revoked_at.is_(None))
    ended = update(api_keys).where(*valid).values(revoked_at=now).returning(api_keys.c.id, api_keys.c.site)
    for key in list(connection.execute(ended)):
        log(connection, by, "key-revoke", now, site=key.site, subject=key.id)


def _valid(now: datetime) -> Any:
    expires = api_keys.c.expires_at
    return api_keys.c.revoked_at.is_(None) & or_(expires.is_(None), expires > now)
