"""The people of a site, who sign in at the desk, with their sign-in links and sessions.

Of links and sessions, only digests are stored, so a backup lets nobody sign in.
"""

import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, get_args

from sqlalchemy import ColumnElement, Connection, Select, delete, insert, or_, select, tuple_, update

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.errors import ConfigurationError, FAQError, quoted
from faqsvc_embed.service.storage.api_keys import made_by, revoke_all
from faqsvc_embed.service.storage.database import StoragePart, StorageUnavailable, paged, place_of
from faqsvc_embed.service.storage.logs import NAME, OPERATOR, Action, log
from faqsvc_embed.service.storage.schema import api_keys, people, sessions, sign_in_links
from faqsvc_embed.service.storage.sites import check_name, find_site, lock_site, resolve_site
from faqsvc_embed.service.storage.values import Access, secret_digest

Role = Literal["editor", "publisher", "admin"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
"""An editor writes drafts, a publisher publishes and unpublishes, and an admin manages the site as well."""
FIRST_NAME: Final = "Admin"
"""The default name of the first person of a site."""
LINK_LIFETIME: Final = timedelta(hours=1)
"""How long a sign-in link can be used."""
LIFETIME: Final = timedelta(days=30)
"""How long a session lasts after its last use."""
EXTENSION: Final = timedelta(days=1)
"""The shortest time between two extensions of a session."""

_SCOPES: Final[dict[str, Scope]] = {"editor": "draft", "publisher": "publish", "admin": "publish"}
_EMAIL: Final = re.compile(r"[^@\s]{1,64}@[^@\s]{1,189}")


class UnknownPerson(FAQError, LookupError):
    """There is no such person, or several, and none is named."""


class PersonExists(FAQError):
    """The site has a person with this email address."""


class LastAdmin(FAQError):
    """The site must have an admin, and this is the only one."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person of a site; `email` is in lower case, and None if only the name is known."""

    id: str
    site: str
    email: str | None
    name: str
    role: Role
    created_at: datetime

    @property
    def access(self) -> Access:
        """The rights of the person."""
        return Access(None, self.site, _SCOPES[self.role], self.id, self.role == "admin")


_FIELDS: Final = tuple(people.c[name] for name in Person.__slots__)
_BY_NAME: Final = (people.c.name, people.c.id)


class People(StoragePart):
    """The people in a database. Removed people are not found.

    Without `site`, `add` and `admin` mean the only site. The methods raise:
        ConfigurationError: a name, an address or a role is not valid.
        PersonExists: the site has another person with this address.
        UnknownPerson: there is no such person, or several people are meant.
        LastAdmin: the site would have no admin.
        UnknownSite: there is no such site, or there are several and none is named.
    """

    def add(
        self,
        name: str,
        *,
        role: Role,
        email: str | None = None,
        site: str | None = None,
        by: Access = OPERATOR,
    ) -> Person:
        """Add a person to a site.

        A removed person who is added again with the same address is the same person in the history.
        """
        values = _checked(name=name, email=email, role=role)
        with self._database.writing() as connection:
            return self._insert(connection, resolve_site(connection, site, self._clock()), values, by)

    def admin(self, name: str | None = None, *, site: str | None = None) -> Person:
        """Return the person with a name, or add an admin with that name.

        Without `name`, return the only person of the site, or add the first one.
        """
        values = _checked(name=FIRST_NAME if name is None else name, role="admin")
        with self._database.writing() as connection:
            site = resolve_site(connection, site, self._clock())
            query = _select(people.c.site == site)
            named = query if name is None else query.where(people.c.name == values["name"])
            found = _found(connection, named)
            if len(found) > 1:
                names = ", ".join(f"{person.name} ({person.email or person.id})" for person in found[:10])
                raise UnknownPerson(
                    f"there are several people: {names}; use `faqsvc people link EMAIL`, or the id"
                )
            return found[0] if found else self._insert(connection, site, values, OPERATOR)

    def find(self, which: str, *, site: str | None = None) -> Person:
        """Return a person by the email address or the id."""
        query = _select(or_(people.c.email == which.strip().lower(), people.c.id == which))
        found = self._people(query if site is None else query.where(people.c.site == site))
        if len(found) > 1:
            raise UnknownPerson(f"{which} is on several sites: name one with --site")
        if not found:
            raise UnknownPerson(
                f"nobody has the email address or id {quoted(which)}; `faqsvc people list` prints all"
            )
        return found[0]

    def with_email(self, email: str) -> Sequence[Person]:
        """Return the person with an email address on each site that has one."""
        return self._people(_select(people.c.email == email.strip().lower()))

    def list(self, site: str | None = None) -> list[Person]:
        """Return the people of a site, or of all sites, ordered by their names."""
        with self._database.reading() as connection:
            if site is None:
                return _found(connection, _select())
            find_site(connection, site)
            return _found(connection, _select(people.c.site == site))

    def page(self, site: str, *, limit: int, after: str | None = None) -> tuple[Sequence[Person], str | None]:
        """Return people of a site by name, and the cursor of the next page; None at the end."""
        query = _select(people.c.site == site).limit(limit + 1)
        if after is not None:
            query = query.where(tuple_(*_BY_NAME) > place_of(after, *_BY_NAME))
        return paged(self._people(query), limit, lambda person: person.id)

    def names(self, site: str) -> dict[str, str]:
        """Return the names of all people of a site, also of removed ones, by their names in the audit log."""
        query = select(NAME, people.c.name).where(people.c.site == site)
        return {row[0]: row[1] for row in self._rows(query)}

    def change(
        self,
        person_id: str,
        *,
        name: str | None = None,
        email: str | None = None,
        role: Role | None = None,
        by: Access = OPERATOR,
    ) -> Person:
        """Change the given values. If a removed person has the new address, they lose it."""
        values = _checked(name=name, email=email, role=role)
        with self._database.writing() as connection:
            person = self._locked(connection, person_id)
            if role not in (None, "admin"):
                _check_not_last(connection, person)
            if email is not None:
                taken = (people.c.site == person.site, people.c.email == values["email"])
                others = (*taken, people.c.id != person_id)
                if _found(connection, _select(*others)):
                    raise PersonExists(f"{values['email']} is the address of another person of this site")
                connection.execute(update(people).where(*others).values(email=None))
            if values:
                connection.execute(update(people).where(people.c.id == person_id).values(values))
                person = replace(person, **values)
                self._log(connection, by, "person-set", person)
            return person

    def remove(self, person_id: str, *, with_keys: bool = False, by: Access = OPERATOR) -> None:
        """Remove a person, whose sessions and sign-in links end. The history keeps the name.

        `with_keys` also revokes the API keys that the person created, and the keys that those created.
        """
        now = self._clock()
        with self._database.writing() as connection:
            person = self._locked(connection, person_id)
            _check_not_last(connection, person)
            for table in (sessions, sign_in_links):
                connection.execute(delete(table).where(table.c.person == person_id))
            connection.execute(update(people).where(people.c.id == person_id).values(removed_at=now))
            if with_keys:
                made = made_by(connection, api_keys.c.created_by_person == person_id)
                revoke_all(connection, made, now, by)
            self._log(connection, by, "person-remove", person)

    def _people(self, query: Select[Any]) -> Sequence[Person]:
        return [Person(*row) for row in self._rows(query)]

    def _insert(self, connection: Connection, site: str, values: dict[str, Any], by: Access) -> Person:
        same = select(people).where(people.c.site == site, people.c.email == values.get("email"))
        known = connection.execute(same).first() if "email" in values else None
        if known is not None and known.removed_at is None:
            raise PersonExists(
                f"this site already has a person with {known.email}: {known.name}, {known.role}"
            )
        if known is None:
            person_id = secrets.token_hex(4)
            row = {"id": person_id, "site": site, "created_at": self._clock()}
            connection.execute(insert(people), row | values)
        else:
            person_id = known.id
            again = update(people).where(people.c.id == person_id)
            connection.execute(again.values(**values, removed_at=None))
        [person] = _found(connection, _select(people.c.id == person_id))
        self._log(connection, by, "person-create", person)
        return person

    def _locked(self, connection: Connection, person_id: str) -> Person:
        """Lock the site of a person, so that two admins cannot remove each other, and return the person."""
        lock_site(connection, connection.scalar(select(people.c.site).where(people.c.id == person_id)))
        found = _found(connection, _select(people.c.id == person_id))
        if not found:
            raise UnknownPerson(f"nobody has the id {quoted(person_id)}")
        return found[0]

    def _log(self, connection: Connection, by: Access, action: Action, person: Person) -> None:
        log(connection, by, action, self._clock(), site=person.site, subject=person.email or person.name)


class SignIns(StoragePart):
    """The sign-in links and the sessions in a database."""

    def create_link(self, person: Person, by: Access | None = None) -> str:
        """Return the token of a link that signs a person in once, within an hour.

        `by` is the admin who makes the link for somebody else. The audit log names both.
        """
        token, now = secrets.token_urlsafe(24), self._clock()
        row = {"digest": secret_digest(token), "person": person.id, "expires_at": now + LINK_LIFETIME}
        with self._database.writing() as connection:
            connection.execute(delete(sign_in_links).where(sign_in_links.c.expires_at <= now))
            connection.execute(insert(sign_in_links), row)
            if by is not None:
                subject = person.email or person.name
                log(connection, by, "sign-in-link", now, site=person.site, subject=subject)
        return token

    def redeem_link(self, token: str) -> str | None:
        """Use a link and return the cookie of a new session; None if the link is not valid, or was used."""
        now = self._clock()
        valid = (sign_in_links.c.digest == secret_digest(token), sign_in_links.c.expires_at > now)
        if self._first(select(sign_in_links.c.person).where(*valid)) is None:
            return None  # before the transaction, so that wrong tokens never block writers
        with self._database.writing() as connection:
            person = connection.scalar(delete(sign_in_links).where(*valid).returning(sign_in_links.c.person))
            if person is None:
                return None
            # A session is kept after its end: it proves that the author of a form was signed in.
            connection.execute(delete(sessions).where(sessions.c.expires_at <= now - LIFETIME))
            cookie = secrets.token_urlsafe(24)
            row = {"digest": secret_digest(cookie), "person": person}
            connection.execute(insert(sessions), row | {"created_at": now, "expires_at": now + LIFETIME})
            site = connection.scalar(select(people.c.site).where(people.c.id == person))
            log(connection, Access(None, str(site), person_id=person), "sign-in", now)
        return cookie

    def person(self, cookie: str) -> Person | None:
        """Return the person of a session cookie, and extend the session; None if it has ended."""
        now = self._clock()
        of_cookie = (sessions.c.digest == secret_digest(cookie), sessions.c.expires_at > now)
        row = self._first(self._session(cookie).where(*of_cookie))
        if row is None:
            return None
        *fields, expires_at = row
        if expires_at <= now + LIFETIME - EXTENSION:
            extended = update(sessions).where(*of_cookie).values(expires_at=now + LIFETIME)
            with suppress(StorageUnavailable), self._database.writing() as connection:
                connection.execute(extended)
        return Person(*fields)

    def is_known(self, cookie: str) -> bool:
        """Return whether a cookie has a session, or had one that ended within the last 30 days."""
        return self._first(self._session(cookie)) is not None

    def end(self, cookie: str) -> None:
        """End the session of a cookie. The cookie stays known: another tab may send a long form with it."""
        ended = update(sessions).where(sessions.c.digest == secret_digest(cookie))
        with self._database.writing() as connection:
            # A time in the past, so that `person()` does not extend the session in the same moment.
            connection.execute(ended.values(expires_at=self._clock() - EXTENSION))

    def _session(self, cookie: str) -> Select[Any]:
        query = select(*_FIELDS, sessions.c.expires_at).join(people, people.c.id == sessions.c.person)
        return query.where(sessions.c.digest == secret_digest(cookie), people.c.removed_at.is_(None))


def _select(*conditions: ColumnElement[bool]) -> Select[Any]:
    """Select the people that match, by their names."""
    return select(*_FIELDS).where(people.c.removed_at.is_(None), *conditions).order_by(*_BY_NAME)


def _found(connection: Connection, query: Select[Any]) -> list[Person]:
    return [Person(*row) for row in connection.execute(query)]


def _check_not_last(connection: Connection, person: Person) -> None:
    others = (people.c.site == person.site, people.c.role == "admin", people.c.id != person.id)
    if person.role == "admin" and not _found(connection, _select(*others).limit(1)):
        raise LastAdmin(f"{person.name} is the only admin of the site; make another person an admin first")


def _checked(
    *, name: str | None = None, email: str | None = None, role: Role | None = None
) -> dict[str, Any]:
    """Return the values of a person that are given: the address in lower case, the name without blanks."""
    values = dict[str, Any]()
    if name is not None:
        if not name.strip():
            raise ConfigurationError("the name of a person is empty")
        values["name"] = check_name(name.strip())
    if email is not None:
        values["email"] = found = email.strip().lower()
        if _EMAIL.fullmatch(found) is None or not found.isprintable():
            raise ConfigurationError(f"email is {quoted(email)}: expected an address such as mia@example.com")
    if role is not None:
        if role not in ROLES:
            raise ConfigurationError(f"role is {quoted(role)}: expected one of {', '.join(ROLES)}")
        values["role"] = role
    return values
