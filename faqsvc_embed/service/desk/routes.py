"""The paths of the desk."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Final, Literal, NamedTuple
from urllib.parse import quote, urlsplit

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from faqsvc_embed.errors import FAQError
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.desk import editor, faqs, importing, settings, sign_in
from faqsvc_embed.service.desk.forms import MAX_OPEN_FORM, Form, check_origin, is_same_token, read_form
from faqsvc_embed.service.desk.visit import DESK, Refused, Visit, redirect, render, show_static
from faqsvc_embed.service.http.operation import Endpoint
from faqsvc_embed.service.http.requests import RateLimiter, content_length
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import StorageUnavailable
from faqsvc_embed.service.storage.errors import RevisionConflict

FORMS: Final = 16
"""Maximum number of large forms that are read at the same time."""
_TOO_LONG: Final = (
    "You are not signed in, and this text is too long to keep. Sign in from another tab, then send it again"
)
Handler = Callable[[Visit], Response | Awaitable[Response]]
"""Runs in a worker thread and returns the response, or an awaitable of it for the event loop."""


def _not_found(visit: Visit) -> Response:
    raise Problem(404, "not-found", "Check the address, or go to the list of FAQs.")


class _Page(NamedTuple):
    """A page: its handlers of GET and POST, and who may use it. GET also shows a form that was refused."""

    get: Handler | None
    post: Handler | None = None
    needs: Literal["", "person", "publish", "admin"] = "person"
    """Who may open it: everybody if empty, a signed-in person, or one with these rights."""


_PAGES: Final = {
    "": _Page(faqs.show_list),
    "/": _Page(lambda visit: redirect(visit, ""), needs=""),
    "/sign-in": _Page(sign_in.show, sign_in.submit, ""),
    sign_in.CHOOSE: _Page(sign_in.choose, sign_in.choose, ""),
    "/sign-out": _Page(None, sign_in.sign_out),
    "/new": _Page(editor.show_new, editor.submit),
    "/import": _Page(importing.show, importing.submit),
    "/website": _Page(None, importing.read_website),
    "/faqs/{slug}": _Page(editor.show, editor.submit),
    "/faqs/{slug}/history": _Page(faqs.show_history, faqs.publish),
    "/faqs/{slug}/history/{number}": _Page(faqs.show_revision),
    "/faqs/{slug}/use": _Page(faqs.show_use, faqs.create_preview),
    "/faqs/{slug}/remove": _Page(faqs.show_removal, faqs.remove, "publish"),
    "/bin": _Page(faqs.show_bin, faqs.restore, "publish"),
    "/you": _Page(settings.show_you, settings.link_device),
    "/site": _Page(settings.show_site, settings.change_site),
    "/log": _Page(settings.show_log, None, "admin"),
    "/people": _Page(settings.show_people, settings.add_person, "admin"),
    "/people/{person}": _Page(settings.show_person, settings.change_person, "admin"),
    "/keys": _Page(settings.show_keys, settings.create_key, "admin"),
    "/keys/{key}": _Page(settings.show_key, settings.end_key, "admin"),
}
_OTHER: Final = _Page(_not_found, None, "")
CHANGED: Final = "Nothing was done, because somebody changed this FAQ since you opened the page."


class Desk:
    """The desk of one application."""

    def __init__(self, service: ServiceContext, limiter: RateLimiter) -> None:
        self._service = service
        self._limiter = limiter
        self._forms = anyio.CapacityLimiter(FORMS)

    def routes(self) -> list[Route]:
        """Return the routes of all pages."""
        pages = {path: self._endpoint(page) for path, page in _PAGES.items()}
        return [
            *(Route(f"{DESK}{path}", endpoint) for path, endpoint in pages.items()),
            *(Route(f"{DESK}/at/{{site}}{path}", endpoint) for path, endpoint in pages.items()),
            Route(f"{DESK}/static/{{digest}}/{{name}}", Endpoint({"GET": show_static}, self._limiter)),
            Route(f"{DESK}/{{path:path}}", self._endpoint(_OTHER)),
        ]

    def _endpoint(self, page: _Page) -> Endpoint:
        dispatch = partial(self._dispatch, page)
        # The handlers enforce the limit, because its response is a page.
        return Endpoint({"GET": dispatch} | ({"POST": dispatch} if page.post else {}), RateLimiter(None))

    async def _dispatch(self, page: _Page, request: Request) -> Response:
        visit = self._visit(request)
        try:
            self._limiter.enforce(request)
            if request.method == "POST":
                check_origin(request, visit.urls)
                visit = replace(visit, form=await self._read_form(request))
            if visit.is_write:
                found = await run_blocking(self._respond, page, visit, limiter=self._service.writers)
            else:
                found = await self._service.browse(request, self._respond, page, visit)
            return found if isinstance(found, Response) else await found
        except (Problem, StorageUnavailable) as error:
            return _problem_page(visit, Problem.of(error))

    async def _read_form(self, request: Request) -> Form:
        """Read a form: without a session only a small one, and few large ones at a time."""
        if 0 < content_length(request) <= MAX_OPEN_FORM:
            return await read_form(request, MAX_OPEN_FORM)
        if not await self._service.check(sign_in.is_known, self._service, request):
            try:
                return await read_form(request, MAX_OPEN_FORM)
            except Problem as problem:
                problem.detail = _TOO_LONG if problem.status == 413 else problem.detail
                raise
        async with self._forms:
            return await read_form(request)

    def _visit(self, request: Request) -> Visit:
        urls = self._service.urls(request)
        site = request.path_params.get("site")
        desk = f"{urlsplit(urls.base).path.rstrip('/')}{DESK}"
        return Visit(
            request=request,
            service=self._service,
            urls=urls,
            desk=desk,
            root=desk if site is None else f"{desk}/at/{quote(site, safe='')}",
            session=None,
        )

    def _respond(self, page: _Page, visit: Visit) -> Response | Awaitable[Response]:
        """Find the session and call the handler, in a worker thread."""
        try:
            session = sign_in.session_of(self._service, visit.request, visit.form.get("token"))
        except sign_in.SeveralSites:
            if page.get != sign_in.choose:
                return sign_in.choose_first(visit)
            session = None
        visit = replace(visit, session=session)
        if session is not None and session.has_other_sites:
            visit = visit.at(session.person.site)
        try:
            response = _handle(page, visit)
        except StorageUnavailable:
            raise  # `run_blocking` reports it
        except (Problem, FAQError) as error:
            response = _problem_page(visit, Problem.of(error))
        # No form has been sent with the token of a new cookie yet, so no handler is running in the loop.
        if session is not None and session.new_cookie and isinstance(response, Response):
            visit.set_cookie(response, session.cookie)
        return response


def _handle(page: _Page, visit: Visit) -> Response | Awaitable[Response]:
    session, is_form = visit.session, visit.request.method == "POST"
    if page.needs:
        if is_form and not (session and is_same_token(visit.form, session.token)):
            return sign_in.ask_again(visit)
        if session is None:
            path = visit.address
            return redirect(visit, f"/sign-in?next={quote(path, safe='')}" if path else "/sign-in")
        if page.needs != "person":
            visit.require(page.needs)
    handler = page.post if is_form and page.post else page.get
    if handler is None:  # browsers open the address of a form from their history, for example
        headers = {"allow": "POST, OPTIONS"}
        raise Problem(405, "method-not-allowed", "This address is only for forms.", headers=headers)
    try:
        return handler(visit)
    except Refused as error:
        refused = error
    except RevisionConflict:
        refused = Refused(409, note=CHANGED)
    assert page.get is not None  # noqa: S101 - a handler that refuses a form has a page that shows it
    return page.get(replace(visit, status=refused.status, shown=refused.shown))


def _problem_page(visit: Visit, problem: Problem) -> Response:
    """Return a page that describes a problem, with the typed fields, which can be sent again."""
    kept, path = sign_in.kept_fields(visit), visit.address
    response = render(visit, "problem.html", problem.status, problem=problem, kept=kept, path=path)
    response.headers.update(problem.headers)
    return response
