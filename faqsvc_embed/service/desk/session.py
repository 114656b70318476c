"""The session of a request: from its cookie, or of the person whom a trusted proxy has signed in."""

import hashlib
import secrets
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.trusted_proxy import is_from_proxy
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.people import Person

COOKIE: Final = "faqsvc_desk"
SITE_COOKIE: Final = "faqsvc_desk_site"
"""The site that somebody has chosen who is a person of several sites."""
COOKIE_LIFETIME: Final = 400 * 86_400
"""Seconds that a browser keeps the cookie, which is the maximum; the database has the end of the session."""


@dataclass(frozen=True, slots=True)
class Session:
    """The session of a person. With `by_proxy`, a proxy has signed the person in, so there is no sign-out.

    `new_cookie`, if any, is sent with the response.
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
    """The proxy names a person of several sites, who has not chosen one yet."""


class Sessions:
    """Finds the sessions of requests. A trusted proxy may name a person in `header`."""

    def __init__(self, storage: Storage, header: str | None = None) -> None:
        self._storage = storage
        self._header = header

    def find(self, request: Request) -> Session | None:
        """Return the session of a request, or None.

        A person of several sites is signed in to the one that the person has chosen, and to no other: an
        admin of another site may add any address.

        Raises:
            Problem: the proxy names nobody of the service, or two people (403).
            SeveralSites: the person must choose a site first.
        """
        cookie = cookie_of(request)
        if email := self._email(request):
            found = self.people(request)
            if not found:
                detail = f"{email} is not known here. Ask an admin of the desk to add this email address"
                raise Problem(403, "missing-scope", detail)
            site = cookie_of(request, SITE_COOKIE)
            chosen = [person for person in found if len(found) == 1 or person.site == site]
            if not chosen:
                raise SeveralSites
            return Session(
                chosen[0], cookie or secrets.token_urlsafe(24), True, cookie is None, len(found) > 1
            )
        person = self._storage.sign_ins.person(cookie) if cookie else None
        return Session(person, cookie) if cookie and person else None

    def people(self, request: Request) -> list[Person]:
        """Return the people with the address in the proxy's header, one for each site."""
        email = self._email(request)
        return self._storage.people.with_email(email) if email else []

    def is_known(self, request: Request) -> bool:
        """Return whether a request has a session, or had one, so that a large form is read."""
        cookie = cookie_of(request)
        if self._email(request):
            return bool(self.people(request))
        return bool(cookie) and self._storage.sign_ins.is_known(cookie or "")

    def _email(self, request: Request) -> str:
        """Return the address in the proxy's header, or an empty text."""
        if self._header is None or not is_from_proxy(request.scope):
            return ""
        emails = request.headers.getlist(self._header)
        if len(emails) > 1:  # one of them is from the client
            raise Problem(403, "bad-request", f"The proxy must overwrite the header {self._header}")
        # Proxies send UTF-8, which ASGI servers and Starlette pass on as Latin-1.
        return "".join(emails).encode("latin-1", "replace").decode("utf-8", "replace").strip()


def cookie_of(request: Request, wanted: str = COOKIE) -> str | None:
    """Return the cookie of a session, or of the chosen site.

    `http.cookies` would take seconds for some headers of 60 kB; the value of this cookie has no quotes.
    """
    for pair in request.headers.get("cookie", "").split(";"):
        name, _, value = pair.partition("=")
        if name.strip() == wanted:
            return value.strip()
    return None


def set_cookie(response: Response, cookie: str, *, path: str, secure: bool, name: str = COOKIE) -> None:
    """Send the cookie of a session, or of the chosen site."""
    response.set_cookie(
        name,
        cookie,
        max_age=COOKIE_LIFETIME,
        path=path,
        secure=secure,
        httponly=True,
        samesite="lax",  # a link from a mail leads to its page; every form has a token,
    )
