"""The paths of the desk."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from urllib.parse import quote

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from faqsvc_embed.errors import FAQError, FAQNotFound, quoted
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.desk import (
    audit_log,
    binned,
    choice,
    editor,
    faq_list,
    history,
    importing,
    keys,
    people,
    removal,
    sign_in,
    site,
    use,
)
from faqsvc_embed.service.desk.forms import MAX_OPEN_FORM, Form, check_origin, is_same_token, read_form
from faqsvc_embed.service.desk.pages import HEADERS, redirect, render, root_of, static_file
from faqsvc_embed.service.desk.session import Sessions, SeveralSites, set_cookie
from faqsvc_embed.service.desk.sign_in import DESK, SignIn
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.desk.website import FromWebsite
from faqsvc_embed.service.http.limits import RateLimiter, client_network
from faqsvc_embed.service.http.operation import Endpoint
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.requests import content_length
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import StorageUnavailable

FORMS = 16
"""Maximum number of large forms that are read at the same time."""
Handler = Callable[[Visit], Response | Awaitable[Response]]
"""Runs in a worker thread and returns the response, or an awaitable of it for the event loop."""


class Desk:
    """The desk of one application."""

    def __init__(self, service: ServiceContext, limiter: RateLimiter) -> None:
        self._service = service
        self._limiter = limiter
        self._sessions = Sessions(service.storage, service.sign_in_header)
        self._forms = anyio.CapacityLimiter(FORMS)

    def routes(self) -> list[Route]:
        """Return the routes of all pages."""
        page = SignIn()
        website = FromWebsite(self._service)
        pages = [
            self._route("", get=faq_list.show),
            self._route("/", get=lambda visit: redirect(visit, ""), is_open=True),
            self._route("/sign-in", get=page.show, post=page.submit, is_open=True),
            self._route(choice.PATH, get=choice.show, post=choice.submit, is_open=True),
            self._route("/sign-out", post=sign_in.sign_out),
            self._route("/new", get=editor.show_new, post=editor.submit),
            self._route("/import", get=importing.show, post=importing.submit),
            self._route("/website", post=website.generate),
            self._route("/faqs/{slug}", get=editor.show, post=editor.submit),
            self._route("/faqs/{slug}/history", get=history.show, post=history.publish),
            self._route("/faqs/{slug}/history/{number}", get=history.read),
            self._route("/faqs/{slug}/use", get=use.show, post=use.create_preview),
            self._route("/faqs/{slug}/remove", get=removal.show, post=removal.submit),
            self._route("/bin", get=binned.show, post=binned.submit),
            self._route("/you", get=people.show_own, post=people.renew),
            self._route("/site", get=site.show, post=site.submit),
            self._route("/log", get=audit_log.show),
            self._route("/people", get=people.show, post=people.submit),
            self._route("/people/{person}", get=people.show_one, post=people.change),
            self._route("/keys", get=keys.show, post=keys.submit),
            self._route("/keys/{key}", get=keys.show_one, post=keys.end),
        ]
        return [
            *pages,
            *(Route(f"{DESK}/at/{{site}}{page.path.removeprefix(DESK)}", page.endpoint) for page in pages),
            Route(f"{DESK}/static/{{digest}}/{{name}}", Endpoint({"GET": _show_static}, self._limiter)),
            self._route("/{path:path}", get=_not_found, is_open=True),
        ]

    def _route(
        self, path: str, *, get: Handler | None = None, post: Handler | None = None, is_open: bool = False
    ) -> Route:
        # Browsers open the address of any form, for example from their history.
        handlers = {"GET": self._endpoint(get or _only_for_forms, is_open)}
        if post is not None:
            handlers["POST"] = self._endpoint(post, is_open)
        # The handlers enforce the limit, because its response is a page.
        return Route(f"{DESK}{path}", Endpoint(handlers, RateLimiter(None)))

    def _endpoint(self, handler: Handler, is_open: bool) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            visit = self._visit(request)
            try:
                self._limiter.enforce(client_network(request.scope.get("client")))
                if request.method == "POST":
                    check_origin(request, visit.urls)
                    visit = replace(visit, form=await self._read_form(request))
                if visit.is_write:
                    writers = self._service.writers
                    found = await run_blocking(self._respond, handler, visit, is_open, limiter=writers)
                else:
                    is_preview = request.method == "POST"
                    found = await self._service.browse(
                        self._respond, handler, visit, is_open, is_preview=is_preview
                    )
                return found if isinstance(found, Response) else await found
            except Problem as problem:
                return _problem_page(visit, problem)
            except StorageUnavailable:
                text = "The database does not respond. Nothing was saved; try again in a moment."
                return _problem_page(visit, Problem(503, "unavailable", text, headers={"retry-after": "1"}))

        return respond

    async def _read_form(self, request: Request) -> Form:
        """Read a form: without a session only a small one, and few large ones at a time."""
        if 0 < content_length(request) <= MAX_OPEN_FORM:
            return await read_form(request, MAX_OPEN_FORM)
        if not await run_blocking(self._sessions.is_known, request):
            return await read_form(request, MAX_OPEN_FORM)
        async with self._forms:
            return await read_form(request)

    def _visit(self, request: Request) -> Visit:
        urls = self._service.urls(request)
        desk, site = root_of(urls.base), request.path_params.get("site")
        return Visit(
            request=request,
            storage=self._service.storage,
            sessions=self._sessions,
            urls=urls,
            desk=desk,
            root=desk if site is None else f"{desk}/at/{quote(site, safe='')}",
            session=None,
        )

    def _respond(self, handler: Handler, visit: Visit, is_open: bool) -> Response | Awaitable[Response]:
        try:
            site = visit.request.path_params.get("site")
            session = self._sessions.find(visit.request, site, visit.form.get("token"))
        except SeveralSites:
            if handler not in (choice.show, choice.submit):
                return choice.ask(visit)
            session = None
        visit = replace(visit, session=session)
        if session is not None and session.has_other_sites:
            visit = visit.at(session.person.site)
        response = self._handle(handler, visit, is_open)
        # No form has been sent with the token of a new cookie yet, so no handler is running in the loop.
        if session is not None and session.new_cookie and isinstance(response, Response):
            set_cookie(response, session.cookie, path=visit.desk, secure=visit.is_secure)
        return response

    def _handle(self, handler: Handler, visit: Visit, is_open: bool) -> Response | Awaitable[Response]:
        session = visit.session
        try:
            if is_open:
                return handler(visit)
            if session is None:
                return _sign_in_first(visit)
            if visit.request.method == "POST" and not is_same_token(visit.form, session.token):
                return sign_in.ask_again(visit)
            return handler(visit)
        except Problem as problem:
            return _problem_page(visit, problem)
        except StorageUnavailable:
            raise
        except FAQError as error:
            if (known := _removal_problem(visit, error) or Problem.of(error)) is None:
                raise
            return _problem_page(visit, known)


def _removal_problem(visit: Visit, error: FAQError) -> Problem | None:
    """Return the problem for an FAQ that is in the bin or was deleted for ever; None for any other."""
    if "slug" not in visit.request.path_params or not isinstance(error, FAQNotFound):
        return None
    slug = visit.slug
    if visit.storage.overview.binned(visit.access, slug) is not None:
        return Problem(410, "gone", f"{quoted(slug)} is in the bin. A publisher can restore it there")
    if (slug, None) in visit.storage.overview.sealed(visit.access.site, slug):
        return Problem(410, "gone", f"All texts of {quoted(slug)} were deleted for ever")
    return None


def _sign_in_first(visit: Visit) -> Response:
    if visit.request.method == "POST":
        return sign_in.ask_again(visit)
    path = sign_in.path_of(visit)
    return redirect(visit, f"/sign-in?next={quote(path, safe='')}" if path else "/sign-in")


def _not_found(visit: Visit) -> Response:
    problem = Problem(404, "not-found", "Check the address, or go to the list of FAQs.")
    return _problem_page(visit, problem, heading="There is no such page")


def _only_for_forms(visit: Visit) -> Response:
    headers = {"allow": "POST, OPTIONS"}
    problem = Problem(405, "method-not-allowed", "This address is only for forms.", headers=headers)
    return _problem_page(visit, problem, heading="This page cannot be opened")


def _problem_page(visit: Visit, problem: Problem, **context: str) -> Response:
    """Return a page that describes a problem, with the typed fields, which can be sent again."""
    kept, path = sign_in.kept_fields(visit), sign_in.path_of(visit)
    response = render(visit, "problem.html", problem.status, problem=problem, kept=kept, path=path, **context)
    response.headers.update(problem.headers)
    return response


async def _show_static(request: Request) -> Response:
    digest, name = (str(request.path_params[part]) for part in ("digest", "name"))
    found = static_file(digest, name, request.query_params)
    return found or Response(status_code=404, headers=HEADERS)
