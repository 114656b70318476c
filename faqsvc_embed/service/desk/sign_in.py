"""Signs people in with a link that works once, and out."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from starlette.responses import Response

from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.session import MAX_SESSIONS, Session, set_cookie
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.limits import RateLimiter, client_network

ATTEMPTS_PER_MINUTE: Final = 10
"""Maximum number of failed attempts of one client network."""
KEPT: Final = "kept:"
"""Prefix of the names of fields that were typed before a session ended."""
DESK: Final = "/desk"
_WRITING: Final = re.compile("/new|/import|/faqs/[^/]+")
NOT_KEPT: Final = frozenset({"token", "action", "link"})


class SignIn:
    """The page to sign in; `failures` counts the wrong links of each client network."""

    def __init__(self) -> None:
        self.failures: RateLimiter = RateLimiter(ATTEMPTS_PER_MINUTE)

    def show(self, visit: Visit) -> Response:
        """GET: the form. Its script takes the token of a link from the fragment, which is in no log.

        Who is signed in is led on, but for `?again`, by which the script comes back with another link.
        """
        if visit.session is not None and "again" not in visit.request.query_params:
            return redirect(visit, local_path(visit.query("next")))
        return _page(visit, 200, visit.query("next"))

    def submit(self, visit: Visit) -> Response:
        """POST: start a session. Text that was typed before the last session ended comes back."""
        form = visit.form
        network = client_network(visit.request.scope.get("client")) or ""
        if wait := self.failures.wait(network):
            raise self.failures.problem(wait)
        link = form.get("link").strip()  # the token, or the whole link where no script runs
        kept = [(name, value) for name, value in form.fields if name.startswith(KEPT)]
        sign_ins = visit.storage.sign_ins
        secret = sign_ins.redeem_link(link.rpartition("#link=")[2])
        person = sign_ins.person(secret) if secret else None
        if secret is None or person is None:
            self.failures.hit(network)
            problem = "This link was used before, is more than an hour old, or was not copied completely."
            return _page(visit, 403, form.get("next"), kept=kept, problem=problem)
        path = local_path(form.get("next"))
        others = [one.cookie for one in _others(visit, person.site)]
        signed_in = replace(visit, session=Session(person, secret), root=visit.desk)
        signed_in = signed_in.at(person.site) if others else signed_in
        response = _resume(signed_in, path, kept) if kept else redirect(signed_in, path)
        cookie = ".".join([secret, *others][:MAX_SESSIONS])
        set_cookie(response, cookie, path=visit.desk, secure=visit.is_secure)
        return response


def _others(visit: Visit, site: str) -> list[Session]:
    """Return the sessions of the browser with other sites; those of a proxy are not in the cookie."""
    found = visit.sessions.all(visit.request)
    return [session for session in found if session.person.site != site and not session.by_proxy]


def ask_again(visit: Visit) -> Response:
    """Return the page to sign in again, which keeps the fields of a form that was sent without its session.

    If the browser already has another session, perhaps from another tab, the page only asks to continue.
    """
    path = path_of(visit)
    kept = [(f"{KEPT}{name}", value) for name, value in kept_fields(visit)]
    if kept and visit.session is not None:
        return _resume(visit, path, kept)
    problem = "Your session has ended. Sign in again."
    if kept:
        problem += " Your text is still here."
    return _page(visit, 403, path, kept=kept, problem=problem)


def kept_fields(visit: Visit) -> list[tuple[str, str]]:
    """Return the fields that somebody typed into the form of an FAQ; empty for other forms."""
    if _WRITING.fullmatch(path_of(visit).partition("?")[0]) is None:
        return []
    return [(name, value) for name, value in visit.form.fields if name not in NOT_KEPT]


def _resume(visit: Visit, path: str, kept: list[tuple[str, str]]) -> Response:
    """Return the page that leads back to the typed text."""
    fields = [(name.removeprefix(KEPT), value) for name, value in kept]
    return render(visit, "resume.html", path=path, kept=fields)


def path_of(visit: Visit) -> str:
    """Return the path and query of a request, relative to the desk."""
    url = visit.request.url
    path = re.sub(r"\A/at/[^/]+", "", url.path.partition(DESK)[2])
    return f"{path}?{url.query}" if url.query else path


def sign_out(visit: Visit) -> Response:
    """POST: end the session. Only the proxy can sign out a person whom it has signed in."""
    session = visit.session
    assert session is not None  # noqa: S101 - the routes require it
    visit.storage.sign_ins.end(session.cookie)
    others = ".".join(one.cookie for one in _others(visit, session.person.site))
    response = redirect(replace(visit, root=visit.desk), "/" if others else "/sign-in")
    set_cookie(response, others, path=visit.desk, secure=visit.is_secure)
    return response


def _page(
    visit: Visit, status: int, next_: str, *, kept: Sequence[tuple[str, str]] = (), problem: str = ""
) -> Response:
    return render(visit, "sign_in.html", status, next=next_, kept=kept, problem=problem)


def local_path(path: str) -> str:
    """Return a path below the desk, or "" for its first page. It never leads to another website."""
    is_local = path.startswith("/") and path.isascii() and path.isprintable()
    return path if is_local and not path.startswith(("/sign-", "/website", "/choose", "/at/")) else ""
