"""The session of a request: from its cookie, or of the person whom a trusted proxy has signed in."""

import hashlib
import secrets
from dataclasses import dataclass, replace
from typing import Final

from starlette.requests import Request

from faqsvc_embed.service.http.limits import RateLimiter
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.urls import is_from_proxy
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.people import Person

COOKIE: Final = "faqsvc_desk"
ATTEMPTS_PER_MINUTE: Final = 10
"""Maximum number of failed attempts of one client network to sign in."""
MAX_SESSIONS: Final = 8
"""Sessions in one browser, at most one for each site; the cookie has their secrets, joined by full stops."""
COOKIE_LIFETIME: Final = 400 * 86_400
"""Seconds that a browser keeps the cookie, which is the maximum; the database has the end of the session."""


@dataclass(frozen=True, slots=True)
class Session:
    """The session of a person, with its secret. With `by_proxy`, a proxy has signed the person in.

    A `new_cookie` is sent with the response.
    """

    person: Person
    cookie: str
    by_proxy: bool = False
    new_cookie: bool = False
    has_other_sites: bool = False

    @property
    def token(self) -> str:
        """The token that every form of the session must send (against CSRF)."""
        return hashlib.sha256(f"faqsvc desk form {self.cookie}".encode("utf-8", "surrogatepass")).hexdigest()


class SeveralSites(Exception):
    """A browser has sessions of several sites, and the address names none of them."""


class Sessions:
    """Finds the sessions of requests. A trusted proxy may name a person in `header`."""

    def __init__(self, storage: Storage, header: str | None = None) -> None:
        self._storage = storage
        self._header = header
        self.failures: RateLimiter = RateLimiter(ATTEMPTS_PER_MINUTE)
        """Counts the wrong links of each client network."""

    def find(self, request: Request, site: str | None, token: str = "") -> Session | None:
        """Return the session of a request for a site, or None.

        Without `site`, it is the one whose form sent `token`, or the last one. A person whom a proxy signs in
        to several sites must choose one, because an admin of another site may have added the address.

        Raises:
            Problem: the proxy names nobody of the service, or two people (403).
            SeveralSites: the person must choose a site first.
        """
        found = self.all(request)
        if site is not None:
            return next((session for session in found if session.person.site == site), None)
        if len(found) > 1 and found[0].by_proxy:
            raise SeveralSites
        return next((session for session in found if session.token == token), found[0] if found else None)

    def all(self, request: Request) -> list[Session]:
        """Return the sessions of a browser, at most one for each site.

        Raises:
            Problem: the proxy names nobody of the service, or two people (403).
        """
        cookie = cookie_of(request)
        if email := self._email(request):
            people = self._storage.people.with_email(email)
            if not people:
                detail = f"{email} is not known here. Ask an admin of the desk to add this email address"
                raise Problem(403, "missing-scope", detail)
            is_new = cookie is None
            cookie = cookie or secrets.token_urlsafe(24)
            return [Session(person, cookie, True, is_new, len(people) > 1) for person in people]
        found = dict[str, Session]()
        for secret in secrets_of(cookie):
            if person := self._storage.sign_ins.person(secret):
                found.setdefault(person.site, Session(person, secret))
        return [replace(session, has_other_sites=len(found) > 1) for session in found.values()]

    def is_known(self, request: Request) -> bool:
        """Return whether a request has a session, or had one, so that a large form is read."""
        cookie = cookie_of(request)
        if email := self._email(request):
            return bool(self._storage.people.with_email(email))
        return any(map(self._storage.sign_ins.is_known, secrets_of(cookie)))

    def _email(self, request: Request) -> str:
        """Return the address in the proxy's header, or an empty text."""
        if self._header is None or not is_from_proxy(request.scope):
            return ""
        emails = request.headers.getlist(self._header)
        if len(emails) > 1:  # one of them is from the client
            raise Problem(403, "bad-request", f"The proxy must overwrite the header {self._header}")
        # Proxies send UTF-8, which ASGI servers and Starlette pass on as Latin-1.
        return "".join(emails).encode("latin-1", "replace").decode("utf-8", "replace").strip()


def secrets_of(cookie: str | None) -> list[str]:
    """Return the secrets of the sessions in a cookie, the last one first."""
    return [secret for secret in (cookie or "").split(".")[:MAX_SESSIONS] if secret]


def cookie_of(request: Request) -> str | None:
    """Return the cookie of the desk.

    `http.cookies` would take seconds for some headers of 60 kB; the value of this cookie has no quotes.
    """
    for pair in request.headers.get("cookie", "").split(";"):
        name, _, value = pair.partition("=")
        if name.strip() == COOKIE:
            return value.strip()
    return None
