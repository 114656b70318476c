"""The people of a site, who sign in at the desk."""

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args

from sqlalchemy import Connection, delete, insert, or_, select, tuple_, update

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.errors import ConfigurationError, FAQError, quoted
from faqsvc_embed.service.storage.api_keys import made_by, revoke_all
from faqsvc_embed.service.storage.database import Part
from faqsvc_embed.service.storage.logs import NAME, OPERATOR, Action, log
from faqsvc_embed.service.storage.paging import paged, place_of
from faqsvc_embed.service.storage.schema import api_keys, people, sessions, sign_in_links, sites
from faqsvc_embed.service.storage.sites import check_name, find_site, resolve_site
from faqsvc_embed.service.storage.values import Access

Role = Literal["editor", "publisher", "admin"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)
"""An editor writes drafts, a publisher publishes and unpublishes, and an admin manages the site as well."""
FIRST_NAME: Final = "Admin"
"""The default name of the first person of a site."""

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


class People(Part):
    """The people in a database. Removed people are not found."""

    def add(
        self,
        name: str,
        *,
        role: Role,
        email: str | None = None,
        site: str | None = None,
        by: Access = OPERATOR,
    ) -> Person:
        """Add a person to a site, by default to the only site.

        A removed person who is added again with the same address is the same person in the history.

        Raises:
            ConfigurationError: the name, the address or the role is not valid.
            PersonExists: the site has a person with this address.
            UnknownSite: there is no such site, or there are several and none is named.
        """
        values = {
            "name": _name(name),
            "email": None if email is None else checked_email(email),
            "role": _role(role),
        }
        with self._database.writing() as connection:
            site = resolve_site(connection, site, self._clock())
            return self._insert(connection, site, values, by)

    def admin(self, name: str | None = None, *, site: str | None = None) -> Person:
        """Return the person with a name, or add an admin with that name.

        Without `name`, return the only person of the site, or add the first one.

        Raises:
            ConfigurationError: the name is not valid.
            UnknownPerson: several people have this name, or none is given and there are several people.
            UnknownSite: there is no such site, or there are several and none is named.
        """
        with self._database.writing() as connection:
            site = resolve_site(connection, site, self._clock())
            query = _present().where(people.c.site == site)
            found = _sole(connection.execute(query if name is None else query.where(people.c.name == name)))
            if found is not None:
                return found
            values = {"name": _name(FIRST_NAME if name is None else name), "email": None, "role": "admin"}
            return self._insert(connection, site, values, OPERATOR)

    def find(self, which: str, *, site: str | None = None) -> Person:
        """Return a person by the email address or the id.

        Raises:
            UnknownPerson: there is no such person, or one on several sites and none is named.
        """
        query = _present().where(or_(people.c.email == which.strip().lower(), people.c.id == which))
        with self._database.reading() as connection:
            rows = connection.execute(query if site is None else query.where(people.c.site == site)).all()
        if len(rows) > 1:
            raise UnknownPerson(f"{which} is on several sites: name one with --site")
        if not rows:
            raise UnknownPerson(
                f"nobody has the email address or id {quoted(which)}; `faqsvc people list` prints all"
            )
        return Person(*rows[0])

    def with_email(self, email: str) -> list[Person]:
        """Return the person with an email address on each site that has one."""
        query = _present().where(people.c.email == email.strip().lower())
        with self._database.reading() as connection:
            return [Person(*row) for row in connection.execute(query)]

    def list(self, site: str | None = None) -> list[Person]:
        """Return the people of a site, or of all sites, ordered by their names.

        Raises:
            UnknownSite: there is no such site.
        """
        query = _present() if site is None else _present().where(people.c.site == site)
        with self._database.reading() as connection:
            if site is not None:
                find_site(connection, site)
            return [Person(*row) for row in connection.execute(query)]

    def page(self, site: str, *, limit: int, after: str | None = None) -> tuple[Sequence[Person], str | None]:
        """Return people of a site by name, and the cursor of the next page; None at the end."""
        query = _present().where(people.c.site == site)
        if after is not None:
            order = (people.c.name, people.c.id)
            query = query.where(tuple_(*order) > place_of(after, *order))
        with self._database.browsing() as connection:
            found = [Person(*row) for row in connection.execute(query.limit(limit + 1))]
        return paged(found, limit, lambda person: person.id)

    def names(self, site: str) -> dict[str, str]:
        """Return the names of all people of a site, also of removed ones, by their names in the audit log."""
        query = select(NAME, people.c.name).where(people.c.site == site)
        with self._database.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def change(
        self,
        person_id: str,
        *,
        name: str | None = None,
        email: str | None = None,
        role: Role | None = None,
        by: Access = OPERATOR,
    ) -> Person:
        """Change the given values.

        Raises:
            ConfigurationError: the name, the address or the role is not valid.
            LastAdmin: the person is the only admin, and would have another role.
            PersonExists: the site has another person with this address.
            UnknownPerson: there is nobody with this id.
        """
        given: dict[str, Any] = {"name": name, "email": email, "role": role}
        values = {name: _CHECKS[name](value) for name, value in given.items() if value is not None}
        with self._database.writing() as connection:
            person = self._locked(connection, person_id)
            if role not in (None, "admin"):
                _check_not_last(connection, person)
            if email is not None:
                _free_email(connection, person.site, values["email"], person.id)
            if values:
                connection.execute(update(people).where(people.c.id == person_id).values(values))
                self._log(connection, by, "person-set", person_id)
            return self._locked(connection, person_id)

    def remove(self, person_id: str, *, with_keys: bool = False, by: Access = OPERATOR) -> None:
        """Remove a person, whose sessions and sign-in links end. The history keeps the name.

        `with_keys` also revokes the API keys that the person created, and the keys that those created.

        Raises:
            LastAdmin: the person is the only admin.
            UnknownPerson: there is nobody with this id.
        """
        with self._database.writing() as connection:
            _check_not_last(connection, self._locked(connection, person_id))
            for table in (sessions, sign_in_links):
                connection.execute(delete(table).where(table.c.person == person_id))
            removed = {"removed_at": self._clock()}
            connection.execute(update(people).where(people.c.id == person_id).values(removed))
            if with_keys:
                made = made_by(connection, api_keys.c.created_by_person == person_id)
                revoke_all(connection, made, self._clock(), by)
            self._log(connection, by, "person-remove", person_id)

    def _log(self, connection: Connection, by: Access, action: Action, person_id: str) -> None:
        who = select(people.c.site, NAME).where(people.c.id == person_id)
        site, name = connection.execute(who).one()
        log(connection, by, action, self._clock(), site=site, subject=name)

    def _insert(self, connection: Connection, site: str, values: dict[str, Any], by: Access) -> Person:
        email, known = values["email"], None
        if email is not None:
            same = select(people).where(people.c.site == site, people.c.email == email)
            known = connection.execute(same).first()
        if known is not None and known.removed_at is None:
            raise PersonExists(f"this site already has a person with {email}: {known.name}, {known.role}")
        if known is None:
            person_id = secrets.token_hex(4)
            row = {"id": person_id, "site": site, **values, "created_at": self._clock()}
            connection.execute(insert(people), row)
        else:
            person_id = known.id
            again = update(people).where(people.c.id == person_id)
            connection.execute(again.values({**values, "removed_at": None}))
        self._log(connection, by, "person-create", person_id)
        return Person(*connection.execute(_present().where(people.c.id == person_id)).one())

    def _locked(self, connection: Connection, person_id: str) -> Person:
        """Return a person whose site is locked, so that two admins cannot remove each other."""
        site = connection.scalar(select(people.c.site).where(people.c.id == person_id))
        connection.execute(select(sites.c.id).where(sites.c.id == site).with_for_update())
        row = connection.execute(_present().where(people.c.id == person_id)).first()
        if row is None:
            raise UnknownPerson(f"nobody has the id {quoted(person_id)}")
        return Person(*row)


def checked_email(email: str) -> str:
    """Return an email address in lower case.

    Raises:
        ConfigurationError: it is not an email address.
    """
    found = email.strip().lower()
    if _EMAIL.fullmatch(found) is None or not found.isprintable():
        raise ConfigurationError(f"email is {quoted(email)}: expected an address such as mia@example.com")
    return found


def _name(name: str) -> str:
    if not name.strip():
        raise ConfigurationError("the name of a person is empty")
    return check_name(name.strip())


def _role(role: Role) -> Role:
    if role not in ROLES:
        raise ConfigurationError(f"role is {quoted(role)}: expected one of {', '.join(ROLES)}")
    return role


_CHECKS: Final[dict[str, Callable[[Any], str]]] = {"name": _name, "email": checked_email, "role": _role}


def _present() -> Any:
    columns = (people.c[name] for name in Person.__slots__)
    return select(*columns).where(people.c.removed_at.is_(None)).order_by(people.c.name, people.c.id)


def _sole(rows: Any) -> Person | None:
    found = [Person(*row) for row in rows]
    if len(found) > 1:
        names = ", ".join(f"{person.name} ({person.email or person.id})" for person in found[:10])
        raise UnknownPerson(f"there are several people: {names}; use `faqsvc people link EMAIL`, or the id")
    return found[0] if found else None


def _check_not_last(connection: Connection, person: Person) -> None:
    others = _present().where(
        people.c.site == person.site, people.c.role == "admin", people.c.id != person.id
    )
    if person.role == "admin" and connection.execute(others).first() is None:
        raise LastAdmin(f"{person.name} is the only admin of the site; make another person an admin first")


def _free_email(connection: Connection, site: str, email: str, person_id: str) -> None:
    """Raise PersonExists if another person has an address. Removed people lose their address."""
    taken = (people.c.site == site, people.c.email == email, people.c.id != person_id)
    if connection.execute(_present().where(*taken)).first() is not None:
        raise PersonExists(f"{email} is the address of another person of this site")
    connection.execute(update(people).where(*taken).values(email=None))
