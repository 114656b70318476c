"""One request of an editor, and the page that responds to it: templates, static files and headers."""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from importlib import resources
from typing import Any, Final, Literal
from urllib.parse import quote, unquote, urlencode, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.content import digest_of
from faqsvc_embed.api.contract import Scope
from faqsvc_embed.rendering.assets import IMMUTABLE, stylesheet
from faqsvc_embed.service.context import PublicURLs, ServiceContext
from faqsvc_embed.service.desk.draft import Draft
from faqsvc_embed.service.desk.forms import Form
from faqsvc_embed.service.http.requests import require_single_parameters
from faqsvc_embed.service.http.responses import PRIVATE, Problem
from faqsvc_embed.service.pages.hosted import MESSAGES
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
COOKIE_LIFETIME: Final = 400 * 86_400
"""Seconds that a browser keeps the cookie, which is the maximum; the database has the end of the session."""
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS: Final = {
    **PRIVATE,
    "content-security-policy": _POLICY,
    # With `no-referrer`, browsers would send `Origin: null` with forms.
    "referrer-policy": "same-origin",
    "x-robots-tag": "noindex",
}

DONE: Final = {
    "saved": "Saved.",
    "removed": "The person was removed.",
    "revoked": "The key was revoked.",
    "unpublish": "Unpublished. Pages stop showing it within seconds.",
    "bin": "What you removed is in the bin for 30 days. A publisher can restore it there.",
    "purge": "The FAQ was deleted for ever, with all its texts.",
    "unblocked": "The slug can be used again.",
    "draft": "The draft is saved. Readers cannot see it before it is published.",
    "published": "Published. Pages that show this FAQ are updated within seconds.",
    "restored": "The FAQ was restored, with its history.",
    "discarded": "The draft was discarded. It stays in the history.",
    "right": "This translation is marked as up to date.",
    "same": "Nothing has changed since the last save.",
}
"""Messages after an action, by the parameter `done` in the address to which its form redirects."""
PAGE_SIZE: Final = 50
"""Rows on a page of a list."""
_MEDIA_TYPES: Final = {"desk.css": "text/css", "desk.js": "text/javascript", "editor.js": "text/javascript"}


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

    def translation(self, faq: FAQInfo) -> Revision:
        """Return the translation that the request names, by default that in the default language."""
        return faq.translation(self.form.get("lang") or self.query("lang")) or faq.translations[0]

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


def render(visit: Visit, template: str, status: int = 0, **context: Any) -> Response:
    """Return a page of the desk. It may show images of the origin `images` in its context.

    `problems` are messages by field, `done` says what a form did, and `note` why it did nothing. `link` and
    `new_key` are shown once.
    """
    done = visit.request.query_params.get("done", "") if visit.request.method == "GET" else ""
    context = {
        "problems": {},
        "done": DONE.get(done, ""),
        "note": "",
        "link": "",
        "new_key": "",
        "root": visit.root,
        "static": static_url(visit.desk),
        **context,
        **visit.shown,
    }
    text = _templates().get_template(template).render(context, visit=visit, session=visit.session)
    images = f"img-src 'self' {context.get('images', '')}".rstrip()
    policy = _POLICY.replace("img-src 'self'", images)
    headers = {**HEADERS, "content-security-policy": policy}
    # Typed text may contain lone surrogates, which UTF-8 cannot encode.
    return Response(text.encode("utf-8", "replace"), status or visit.status, headers, "text/html")


def redirect(visit: Visit, path: str) -> Response:
    """Return a redirect to a path of the desk, which the browser opens with GET."""
    return Response(status_code=303, headers={**HEADERS, "location": f"{visit.root}{path}"})


async def show_static(request: Request) -> Response:
    """GET /desk/static/{digest}/{name}: a static file.

    During an update of several servers, one may be asked for the file of another release. No cache may keep
    its response.
    """
    digest, name = (str(request.path_params[part]) for part in ("digest", "name"))
    if name not in _MEDIA_TYPES:
        return Response(status_code=404, headers=HEADERS)
    cache_control = IMMUTABLE if digest == _digest(name) else "no-store"
    headers = {"cache-control": cache_control, "x-content-type-options": "nosniff"}
    return Response(_static(name), 200, headers, _MEDIA_TYPES[name])


def static_url(root: str) -> dict[str, str]:
    """Return the URL of each static file, which changes with its content."""
    return {name.replace(".", "_"): f"{root}/static/{_digest(name)}/{name}" for name in _MEDIA_TYPES}


@cache
def _static(name: str) -> str:
    text = (resources.files(__package__) / "static" / name).read_text(encoding="utf-8")
    return text + stylesheet() if name == "desk.css" else text


@cache
def _digest(name: str) -> str:
    return digest_of(_static(name))[:12]


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("faqsvc_embed.service.desk"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["segment"] = lambda text: quote(text, safe="")
    environment.filters["place"] = _place
    environment.filters["moment"] = _moment
    # The id of a form that creates something, so that sending the form twice creates only one.
    environment.globals["new_once"] = partial(secrets.token_urlsafe, 12)
    environment.globals["languages"] = {lang: messages.language for lang, messages in MESSAGES.items()}
    return environment


def _place(url: str) -> str:
    """Return the host and the path of an address, without its query and fragment."""
    parts = urlsplit(url)
    return unquote(f"{parts.netloc}{parts.path}".removesuffix("/")) or url


def _moment(time: datetime | None) -> Markup:
    """Return a time such as 22 Nov 2026, 16:20 UTC. The script rewrites it in the editor's time zone."""
    if time is None:
        return Markup()
    text = f"{time.day}\u00a0{time:%b}\u00a0{time:%Y}, {time:%H:%M}\u00a0UTC"
    return Markup('<time datetime="{}">{}</time>').format(time.isoformat(timespec="seconds"), text)
