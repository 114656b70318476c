"""Sign-in links and sessions of people. Only digests are stored, so a backup lets nobody sign in."""

import secrets
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import delete, insert, select, update

from faqsvc_embed.service.storage.database import Part, StorageUnavailable
from faqsvc_embed.service.storage.logs import log
from faqsvc_embed.service.storage.people import Person
from faqsvc_embed.service.storage.schema import people, sessions, sign_in_links
from faqsvc_embed.service.storage.values import Access, secret_digest

LINK_LIFETIME: Final = timedelta(hours=1)
"""How long a sign-in link can be used."""
LIFETIME: Final = timedelta(days=30)
"""How long a session lasts after its last use."""
EXTENSION: Final = timedelta(days=1)
"""The shortest time between two extensions of a session."""


class SignIns(Part):
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
        with self._database.reading() as connection:  # guesses do not take the lock of writers
            if connection.scalar(select(sign_in_links.c.person).where(*valid)) is None:
                return None
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
        with self._database.reading() as connection:
            row: Any = connection.execute(self._session(cookie).where(sessions.c.expires_at > now)).first()
        if row is None:
            return None
        *fields, expires_at = row
        if expires_at <= now + LIFETIME - EXTENSION:
            of_cookie = sessions.c.digest == secret_digest(cookie)
            extended = update(sessions).where(of_cookie, sessions.c.expires_at > now)
            with suppress(StorageUnavailable), self._database.writing() as connection:
                connection.execute(extended.values(expires_at=now + LIFETIME))
        return Person(*fields)

    def is_known(self, cookie: str) -> bool:
        """Return whether a cookie has a session, or had one that ended within the last 30 days."""
        with self._database.reading() as connection:
            return connection.execute(self._session(cookie)).first() is not None

    def end(self, cookie: str) -> None:
        """End the session of a cookie. The cookie stays known: another tab may send a long form with it."""
        ended = update(sessions).where(sessions.c.digest == secret_digest(cookie))
        with self._database.writing() as connection:
            # A time in the past, so that `person()` does not extend the session in the same moment.
            connection.execute(ended.values(expires_at=self._clock() - EXTENSION))

    def _session(self, cookie: str) -> Any:
        columns = (people.c[name] for name in Person.__slots__)
        query = select(*columns, sessions.c.expires_at).join(people, people.c.id == sessions.c.person)
        return query.where(sessions.c.digest == secret_digest(cookie), people.c.removed_at.is_(None))
