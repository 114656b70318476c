"""One request of an editor."""

import re
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.desk.forms import Form
from faqsvc_embed.service.desk.session import COOKIE, COOKIE_LIFETIME, Session, Sessions
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.urls import PublicURLs
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.people import Person
from faqsvc_embed.service.storage.values import Access, Revision, storable
from faqsvc_embed.text import normalized

DESK: Final = "/desk"
MAX_ONCE: Final = 40
"""Characters of the id of a form that makes something new."""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """A request; `session` is None before an editor signs in.

    `desk` is the path of the desk, and `root` begins the addresses of its pages: they name the site if the
    browser has sessions of several, so that tabs of two sites do not mix.
    """

    request: Request
    service: ServiceContext
    sessions: Sessions
    urls: PublicURLs
    desk: str
    root: str
    session: Session | None
    form: Form = field(default_factory=Form)

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

    def set_cookie(self, response: Response, cookie: str) -> None:
        """Send the cookie of the desk; an empty one is deleted."""
        response.set_cookie(
            COOKIE,
            cookie,
            max_age=COOKIE_LIFETIME if cookie else 0,
            path=self.desk,
            secure=self.urls.base.startswith("https://"),
            httponly=True,
            samesite="lax",  # a link from a mail leads to its page; every form has a token
        )

    @property
    def is_write(self) -> bool:
        """Whether the request may change the database: forms do, unless they ask for a preview."""
        return self.request.method == "POST" and self.form.get("part") != "preview"

    @property
    def once(self) -> str:
        """The id by which a form that is sent twice is recognised; empty if it has none."""
        return f"desk {once}" if (once := self.form.get("once")[:MAX_ONCE]) else ""

    def is_sent_again(self) -> bool:
        """Return whether this form was sent before, and remember that it was sent."""
        return bool(self.once) and not self.storage.writer.is_first(self.access, self.once)

    def may(self, scope: Scope) -> bool:
        """Return whether the person has a scope."""
        return self.access.may(scope)

    @property
    def may_administer(self) -> bool:
        """Whether the person is an admin."""
        return self.access.may_administer

    def require(self, what: Scope | Literal["admin"]) -> None:
        """Raise Problem (403) unless the person has a scope, or is an admin."""
        if not (self.may_administer if what == "admin" else self.may(what)):
            who = {"admin": "an admin", "publish": "a publisher"}.get(what, "an editor")
            detail = f"Your role is {self.person.role}; only {who} may do this. Ask an admin"
            raise Problem(403, "missing-scope", detail)

    @property
    def path(self) -> str:
        """The path of the request, relative to the desk or to the site that it names."""
        return re.sub(r"\A/at/[^/]+", "", self.request.url.path.partition(DESK)[2])

    @property
    def address(self) -> str:
        """The path and query of the request."""
        query = self.request.url.query
        return f"{self.path}?{query}" if query else self.path

    def query(self, name: str) -> str:
        """Return a parameter of the query, or an empty text."""
        return storable(self.request.query_params.get(name, ""))

    def revision(self, slug: str, lang: str, number: int | None = None) -> Revision:
        """Return a revision of a translation, by default the newest.

        Raises:
            FAQNotFound: there is none.
        """
        return self.storage.history.revision(self.access, slug, lang, number)

    def part(self, name: str) -> str:
        """Return a part of the path."""
        return storable(str(self.request.path_params[name]))

    @property
    def slug(self) -> str:
        """The slug in the path."""
        return normalized("NFC", self.part("slug"))
