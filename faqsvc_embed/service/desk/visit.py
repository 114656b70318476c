"""One request of an editor."""

from dataclasses import dataclass, field, replace
from typing import Final

from starlette.requests import Request

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.service.desk.forms import Form
from faqsvc_embed.service.desk.session import Session, Sessions
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.urls import PublicURLs
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.people import Person
from faqsvc_embed.service.storage.values import Access, storable
from faqsvc_embed.text import normalized

MAX_ONCE: Final = 40
"""Characters of the id of a form that makes something new."""


@dataclass(frozen=True, kw_only=True)
class Visit:
    """A request; `session` is None before an editor signs in.

    `desk` is the path of the desk, and `root` begins the addresses of its pages: they name the site if the
    browser has sessions of several, so that tabs of two sites do not mix.
    """

    request: Request
    storage: Storage
    sessions: Sessions
    urls: PublicURLs
    desk: str
    root: str
    session: Session | None
    form: Form = field(default_factory=Form)

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
    def is_secure(self) -> bool:
        """Whether the service is reached over TLS."""
        return self.urls.base.startswith("https://")

    @property
    def is_write(self) -> bool:
        """Whether the request may change the database: forms do, unless they ask for a preview."""
        return self.request.method == "POST" and self.form.get("part") != "preview"

    @property
    def once(self) -> str:
        """The id by which a form is known again that was sent twice, empty if it has none."""
        return f"desk {once}" if (once := self.form.get("once")[:MAX_ONCE]) else ""

    def is_sent_again(self) -> bool:
        """Return whether this form was sent before; from now on, it was."""
        return bool(self.once) and not self.storage.writer.is_first(self.access, self.once)

    def may(self, scope: Scope) -> bool:
        """Return whether the person has a scope."""
        return self.access.may(scope)

    @property
    def may_administer(self) -> bool:
        """Whether the person is an admin."""
        return self.access.may_administer

    def require(self, scope: Scope) -> None:
        """Raise Problem (403) unless the person has a scope."""
        if not self.may(scope):
            raise self._forbidden("a publisher" if scope == "publish" else "an editor")

    def require_admin(self) -> None:
        """Raise Problem (403) unless the person is an admin."""
        if not self.may_administer:
            raise self._forbidden("an admin")

    def _forbidden(self, who: str) -> Problem:
        detail = f"Your role is {self.person.role}; only {who} may do this. Ask an admin"
        return Problem(403, "missing-scope", detail)

    def query(self, name: str) -> str:
        """Return a parameter of the query, or an empty text."""
        return storable(self.request.query_params.get(name, ""))

    def part(self, name: str) -> str:
        """Return a part of the path."""
        return storable(str(self.request.path_params[name]))

    @property
    def slug(self) -> str:
        """The slug in the path."""
        return normalized("NFC", self.part("slug"))
