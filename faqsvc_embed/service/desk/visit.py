"""One request of an editor, and its session: from a cookie, or for a person whom a proxy signs in."""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.desk.draft import Draft
from faqsvc_embed.service.desk.forms import Form
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.requests import PublicURLs, is_from_proxy, require_single_parameters
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.overview import FAQInfo
from faqsvc_embed.service.storage.people import Person
from faqsvc_embed.service.storage.sites import Site
from faqsvc_embed.service.storage.values import Access, Revision, storable
from faqsvc_embed.text import normalized

DESK: Final = "/desk"
MAX_ONCE: Final = 40
"""Characters of the id of a form that makes something new."""
COOKIE: Final = "faqsvc_desk"
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

    def find(self, request: Request, site: str | None, token: str = "") -> Session | None:
        """Return the session of a request for a site, or None.

        Without `site`, it is the one whose form sent `token`, or the last one. Raises what `all` raises, and
        SeveralSites if a proxy signs a person in to several sites: the person must choose one, because an
        admin of another site may have added the address.
        """
        found = self.all(request)
        if site is not None:
            return next((session for session in found if session.person.site == site), None)
        if len(found) > 1 and found[0].by_proxy:
            raise SeveralSites
        return next((session for session in found if session.token == token), found[0] if found else None)

    def all(self, request: Request) -> list[Session]:
        """Return the sessions of a browser, at most one for each site.

        Raises Problem (403) if a proxy names nobody of the service, or two people.
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


class Refused(Exception):
    """A form was refused. Its page is shown again, with what is wrong with its fields, or with a note."""

    def __init__(self, status: int, problems: Mapping[str, str] | None = None, **shown: Any) -> None:
        super().__init__(status)
        self.status = status
        self.shown: dict[str, Any] = {"problems": problems or {}, **shown}


@dataclass(frozen=True, kw_only=True)
class Visit:
    """A request; `session` is None before an editor signs in.

    `desk` is the path of the desk, and `root` begins the addresses of its pages: they name the site if the
    browser has sessions of several, so that tabs of two sites do not mix. After a form, `status` and
    `shown` are those of its page: `shown` is what the form made, or why it was refused.
    """

    request: Request
    service: ServiceContext
    sessions: Sessions
    urls: PublicURLs
    desk: str
    root: str
    session: Session | None
    form: Form = field(default_factory=Form)
    status: int = 200
    shown: Mapping[str, Any] = field(default_factory=dict)

    @property
    def storage(self) -> Storage:
        """The storage of the service."""
        return self.service.storage

    def at(self, site: str) -> "Visit":
        """Return the request with addresses that name a site."""
        return replace(self, root=f"{self.desk}/at/{site}")

    @property
    def person(self) -> Person:
        """The person who is signed in."""
        assert self.session is not None  # noqa: S101 - the routes require it
        return self.session.person

    @property
    def access(self) -> Access:
        """The rights of the person who is signed in."""
        return self.person.access

    @property
    def site(self) -> Site:
        """The site of the person who is signed in."""
        return self.storage.sites.get(self.access.site)

    @property
    def faq(self) -> FAQInfo:
        """The FAQ in the path. Raises FAQNotFound, NotYourSite or Gone if there is none."""
        return self.storage.overview.faq(self.access, self.slug)

    def showing(self, **shown: Any) -> "Visit":
        """Return the request, for a page that shows what its form made."""
        return replace(self, shown=shown)

    def set_cookie(self, response: Response, cookie: str) -> None:
        """Send the cookie of the desk."""
        response.set_cookie(
            COOKIE,
            cookie,
            max_age=COOKIE_LIFETIME,
            path=self.desk,
            secure=self.urls.base.startswith("https://"),
            httponly=True,
            samesite="lax",  # a link from a mail leads to its page; every form has a token
        )

    @property
    def is_write(self) -> bool:
        """Whether the request may change the database: forms do, unless the script asks for a part."""
        return self.request.method == "POST" and self.form.get("part") not in ("preview", "pasted")

    @property
    def once(self) -> str:
        """The id by which a form that is sent twice is recognised; empty if it has none."""
        return f"desk {once}" if (once := self.form.get("once")[:MAX_ONCE]) else ""

    def is_sent_again(self) -> bool:
        """Return whether this form was sent before, and remember that it was sent."""
        return bool(self.once) and not self.storage.writer.is_first(self.access, self.once)

    def require(self, what: Scope | Literal["admin"]) -> None:
        """Raise Problem (403) unless the person has a scope, or is an admin."""
        if not (self.access.is_admin if what == "admin" else self.access.may(what)):
            who = {"admin": "an admin", "publish": "a publisher"}.get(what, "an editor")
            detail = f"Your role is {self.person.role}; only {who} may do this. Ask an admin"
            raise Problem(403, "missing-scope", detail)

    @property
    def path(self) -> str:
        """The path of the request, relative to the desk or to the site that it names, as in an address."""
        scope = self.request.scope
        path = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix(DESK)
        return quote(re.sub(r"\A/at/[^/]+", "", path))

    @property
    def address(self) -> str:
        """The path and query of the request."""
        query = self.request.url.query
        return f"{self.path}?{query}" if query else self.path

    def query(self, name: str) -> str:
        """Return a parameter of the query, or an empty text. Raises Problem (400) if there are several."""
        require_single_parameters(self.request, [name])
        return storable(self.request.query_params.get(name, ""))

    @property
    def after(self) -> str | None:
        """The cursor of a page of a list; None for the first page."""
        return self.query("after") or None

    def page(self, after: str | None = None) -> str:
        """Return the query of another page of this list, by default of the first one."""
        query = {**self.request.query_params, "after": after or "", "done": ""}
        return f"?{urlencode({name: value for name, value in query.items() if value})}"

    def form_version(self, version: str) -> str:
        """Return the version that the writer of a form saw: that in the address, else the current `version`.

        The script puts it into the address when text is typed. After Back, browsers restore that text on a
        new page, and saving it must not silently overwrite what somebody else has saved meanwhile.
        """
        is_restored = self.request.method == "GET" and "version" in self.request.query_params
        return self.query("version") if is_restored and self.path != "/new" else version

    def revision(self, slug: str, lang: str, number: int | None = None) -> Revision:
        """Return a revision of a translation, by default the newest. Raises FAQNotFound if there is none."""
        return self.storage.history.revision(self.access, slug, lang, number)

    def draft(self, slug: str, lang: str, number: int | None = None) -> Draft:
        """Return the content of a revision, by default of the newest. Raises FAQNotFound if there is none."""
        return Draft.of_revision(self.revision(slug, lang, number))

    def part(self, name: str) -> str:
        """Return a part of the path."""
        return storable(str(self.request.path_params[name]))

    @property
    def slug(self) -> str:
        """The slug in the path."""
        return normalized("NFC", self.part("slug"))


def path_of(slug: str) -> str:
    """Return the path of the page on which an FAQ is written."""
    return f"/faqs/{quote(slug, safe='')}"
