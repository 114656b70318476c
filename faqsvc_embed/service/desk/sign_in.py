"""Who is signed in: sessions from a cookie, people whom a proxy names, and links that work once.

People of several sites choose one of them.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.desk.visit import COOKIE, Session, Visit, redirect, render
from faqsvc_embed.service.http.requests import is_from_proxy
from faqsvc_embed.service.http.responses import Problem

MAX_SESSIONS: Final = 8
"""Sessions in one browser, at most one for each site; the cookie has their secrets, joined by full stops."""
KEPT: Final = "kept:"
"""Prefix of the names of fields that were typed before a session ended."""
CHOOSE: Final = "/choose"
_WRITING: Final = re.compile("/new|/import|/faqs/[^/]+")
_AFTER_TOKEN: Final = re.compile(r"[^\w-]")
NOT_KEPT: Final = frozenset({"token", "action", "link"})


class SeveralSites(Exception):
    """A browser has sessions of several sites, and the address names none of them."""


def session_of(service: ServiceContext, request: Request, token: str) -> Session | None:
    """Return the session of a request for the site that its address names, or None.

    Without a site, it is the one whose form sent `token`, or the last one. Raises what `sessions_of` raises,
    and SeveralSites if a proxy signs a person in to several sites: the person must choose one, because an
    admin of another site may have added the address.
    """
    found, site = sessions_of(service, request), request.path_params.get("site")
    if site is not None:
        return next((session for session in found if session.person.site == site), None)
    if len(found) > 1 and found[0].by_proxy:
        raise SeveralSites
    return next((session for session in found if session.token == token), found[0] if found else None)


def sessions_of(service: ServiceContext, request: Request) -> list[Session]:
    """Return the sessions of a browser, at most one for each site.

    Raises Problem (403) if a proxy names nobody of the service, or two people.
    """
    cookie, storage = _cookie_of(request), service.storage
    if email := _email_of(service, request):
        people = storage.people.with_email(email)
        if not people:
            detail = f"{email} is not known here. Ask an admin of the desk to add this email address"
            raise Problem(403, "missing-scope", detail)
        is_new = cookie is None
        cookie = cookie or secrets.token_urlsafe(24)
        return [Session(person, cookie, True, is_new, len(people) > 1) for person in people]
    found = dict[str, Session]()
    for secret in _secrets_of(cookie):
        if person := storage.sign_ins.person(secret):
            found.setdefault(person.site, Session(person, secret))
    return [replace(session, has_other_sites=len(found) > 1) for session in found.values()]


def is_known(service: ServiceContext, request: Request) -> bool:
    """Return whether a request has a session, or had one, so that a large form is read."""
    if email := _email_of(service, request):
        return bool(service.storage.people.with_email(email))
    return any(map(service.storage.sign_ins.is_known, _secrets_of(_cookie_of(request))))


def _email_of(service: ServiceContext, request: Request) -> str:
    """Return the address in the header of a trusted proxy, or an empty text."""
    header = service.sign_in_header
    if header is None or not is_from_proxy(request.scope):
        return ""
    emails = request.headers.getlist(header)
    if len(emails) > 1:  # one of them is from the client
        raise Problem(403, "bad-request", f"The proxy must overwrite the header {header}")
    # Proxies send UTF-8, which ASGI servers and Starlette pass on as Latin-1.
    return "".join(emails).encode("latin-1", "replace").decode("utf-8", "replace").strip()


def _secrets_of(cookie: str | None) -> list[str]:
    """Return the secrets of the sessions in a cookie, the last one first."""
    return [secret for secret in (cookie or "").split(".")[:MAX_SESSIONS] if secret]


def _cookie_of(request: Request) -> str | None:
    """Return the cookie of the desk.

    `http.cookies` would take seconds for some headers of 60 kB; the value of this cookie has no quotes.
    """
    for pair in request.headers.get("cookie", "").split(";"):
        name, _, value = pair.partition("=")
        if name.strip() == COOKIE:
            return value.strip()
    return None


def show(visit: Visit) -> Response:
    """GET: the form. Its script takes the token of a link from the fragment, which is in no log.

    A person who is signed in is redirected, unless the script adds `again` for a new link.
    """
    if visit.session is not None and "again" not in visit.request.query_params:
        return redirect(visit, local_path(visit.query("next")))
    return _page(visit, 200, visit.query("next"))


def submit(visit: Visit) -> Response:
    """POST: start a session. Text that was typed before the last session ended comes back."""
    form = visit.form
    # The token; where no script runs, the whole link, perhaps with the words of a mail around it.
    token = _AFTER_TOKEN.split(form.get("link").rpartition("#link=")[2].strip(), maxsplit=1)[0]
    kept = [(name, value) for name, value in form.fields if name.startswith(KEPT)]
    sign_ins = visit.storage.sign_ins
    secret = sign_ins.redeem_link(token)
    person = sign_ins.person(secret) if secret else None
    if secret is None or person is None:
        problem = "This link was used before, is more than an hour old, or was not copied completely."
        return _page(visit, 403, form.get("next"), kept=kept, problem=problem)
    path = local_path(form.get("next"))
    others = [one.cookie for one in _others(visit, person.site)]
    signed_in = replace(visit, session=Session(person, secret), root=visit.desk)
    signed_in = signed_in.at(person.site) if others else signed_in
    response = _resume(signed_in, path, kept) if kept else redirect(signed_in, path)
    cookie = ".".join([secret, *others][:MAX_SESSIONS])
    visit.set_cookie(response, cookie)
    return response


def _others(visit: Visit, site: str) -> list[Session]:
    """Return the sessions of the browser with other sites; those of a proxy are not in the cookie."""
    found = sessions_of(visit.service, visit.request)
    return [session for session in found if session.person.site != site and not session.by_proxy]


def ask_again(visit: Visit) -> Response:
    """Return the page to sign in again, which keeps the fields of a form that was sent without its session.

    If the browser already has another session, perhaps from another tab, the page only asks to continue.
    """
    path = visit.address
    kept = [(f"{KEPT}{name}", value) for name, value in kept_fields(visit)]
    if visit.session is not None:
        if kept:
            return _resume(visit, path, kept)
        detail = "You opened this page before you last signed in, so nothing was done. Open it again"
        raise Problem(403, "bad-request", detail)
    problem = "Your session has ended. Sign in again."
    if kept:
        problem += " Your text is still here."
    return _page(visit, 403, path, kept=kept, problem=problem)


def kept_fields(visit: Visit) -> list[tuple[str, str]]:
    """Return the fields of the form of an FAQ; empty for other forms, and for what the script sends."""
    if _WRITING.fullmatch(visit.path) is None or visit.form.get("part"):
        return []
    return [(name, value) for name, value in visit.form.fields if name not in NOT_KEPT]


def _resume(visit: Visit, path: str, kept: list[tuple[str, str]]) -> Response:
    """Return the page that leads back to the typed text."""
    fields = [(name.removeprefix(KEPT), value) for name, value in kept]
    return render(visit, "resume.html", path=path, kept=fields)


def sign_out(visit: Visit) -> Response:
    """POST: end the session. Only the proxy can sign out a person whom it has signed in.

    The browser keeps the cookie of the ended session. With it, the desk accepts a long text from another tab,
    and shows it again after the next sign-in.
    """
    session = visit.session
    assert session is not None  # noqa: S101 - the routes require it
    visit.storage.sign_ins.end(session.cookie)
    others = [one.cookie for one in _others(visit, session.person.site)]
    response = redirect(replace(visit, root=visit.desk), "")  # shows another site, or asks to sign in
    visit.set_cookie(response, ".".join([*others, session.cookie]))
    return response


def _page(
    visit: Visit, status: int, next_: str, *, kept: Sequence[tuple[str, str]] = (), problem: str = ""
) -> Response:
    return render(visit, "sign_in.html", status, next=next_, kept=kept, problem=problem)


def choose_first(visit: Visit) -> Response:
    """Redirect to the page on which a person of several sites chooses one; a form is refused (409)."""
    if visit.request.method == "POST":
        detail = "You have access to several sites. Choose one in another tab, then send this again"
        raise Problem(409, "bad-request", detail)
    return redirect(visit, f"{CHOOSE}?next={quote(visit.address, safe='')}")


def choose(visit: Visit) -> Response:
    """GET and POST /desk/choose: the sites of the person; POST leads to a page of the chosen site."""
    people = [session.person for session in sessions_of(visit.service, visit.request)]
    if visit.request.method == "POST":
        if (site := visit.form.get("site")) not in {person.site for person in people}:
            raise Problem(404, "not-found", "You have no access to this site")
        return redirect(visit.at(site), local_path(visit.form.get("next")))
    sites = [(visit.storage.sites.get(person.site), person.role) for person in people]
    return render(visit, "choose.html", sites=sites, next=visit.query("next"))


def local_path(path: str) -> str:
    """Return a path below the desk, or "" for its first page. It never leads to another website."""
    is_local = path.startswith("/") and path.isascii() and path.isprintable()
    return path if is_local and not path.startswith(("/sign-", "/website", "/choose", "/at/")) else ""
