"""FAQs in Flask: attach, find the embed again, begin and end a page with each request."""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from inspect import isgenerator
from typing import Any, Final

from flask import Flask, Request, Response, abort, after_this_request, current_app, g, request
from flask.ctx import _AppCtxGlobals
from werkzeug.datastructures import Headers

from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.jinja import install
from faqsvc_embed.languages import MAX_HEADER
from faqsvc_embed.page import context as pages
from faqsvc_embed.page.headers import NEGOTIATED, SPOKE_OF_BODY, fillable, shortened, varied
from faqsvc_embed.page.visitor import RequestPage
from faqsvc_embed.rendering.assets import file_named
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.api_key import sealed

logger = logging.getLogger("faqsvc_embed")

NAME: Final = "faqsvc"
LANGUAGE_NAMES: Final = ("lang", "language", "locale", "lang_code")
"""Attributes of `g` that say the language of a page; the last is the one of Flask's documentation."""
TOKEN: Final = "faqsvc.page"  # noqa: S105  # a key of the request's environ, nothing secret


class FAQExtension:
    """Puts FAQs into the templates of Flask applications.

    Settings are keywords here, or `FAQSVC_…` keys of `app.config` when `init_app` runs, or environment
    variables, in this order of strength. `embed` takes one that is made already, as tests do.

    Raises:
        ConfigurationError: a setting cannot be, there are settings beside an `embed`, or the application has
            this extension already.
    """

    def __init__(self, app: Flask | None = None, *, embed: FAQEmbed | None = None, **settings: Any) -> None:
        if embed is not None and settings:
            names = ", ".join(settings)
            raise ConfigurationError(f"FAQExtension got an embed and also {names}: give these to the embed")
        self._embed = embed
        self._settings = settings = sealed(settings)
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Attach to an application; of several, each gets an embed and settings of its own."""
        if NAME in app.extensions:
            raise ConfigurationError("FAQExtension is attached to this application already: attach it once")
        embed = self._embed or FAQEmbed(settings=Settings.from_mapping(app.config, **self._settings))
        app.extensions[NAME] = embed
        install(app.jinja_env, embed)
        app.url_value_preprocessor(partial(_begin, app))  # before any before_request, which may answer
        app.after_request(_tell)
        app.teardown_request(_end)
        for name in ("handle_user_exception", "handle_exception"):
            setattr(app, name, partial(_handle, getattr(app, name)))
        if embed.showing.has_files:
            if app.url_map.host_matching or app.subdomain_matching:
                app.before_request(_file_of_any_host)
            else:
                app.add_url_rule(f"/{NAME}/<name>", f"{NAME}_file", _file)


def faqs_from(app: Flask | None = None) -> FAQEmbed:
    """Return the embed of an application, by default of the current one.

    Raises:
        ConfigurationError: the application has no FAQExtension.
    """
    embed = (app or current_app).extensions.get(NAME)
    if not isinstance(embed, FAQEmbed):
        raise ConfigurationError("this application has no FAQs yet: call FAQExtension(app) when it is made")
    return embed


class _RequestPage(RequestPage, kw_only=True):
    """The page of a request, which asks the application and the headers only when it has to."""

    app: Flask
    environ: dict[str, Any]
    said: Any
    """The `g` of the request: a body that is streamed may be made where there is no context any more."""

    def _says_nothing(self) -> bool:
        """As on nearly every page; a class of the host's own may say more than it holds."""
        return type(self.said) is _AppCtxGlobals and not vars(self.said)

    def nonce(self) -> str | None:
        nonce = None if self._says_nothing() else self.said.get("csp_nonce")
        nonce = nonce() if callable(nonce) else nonce
        return str(nonce) if nonce else None

    def preferences(self) -> tuple[object, str]:
        """Return what `g` says, else Flask-Babel's choice, where it is used; and the header."""
        choice = None
        if not self._says_nothing():
            for name in LANGUAGE_NAMES:
                choice = self.said.get(name)
                choice = choice() if callable(choice) else choice
                if choice:
                    break
        if not choice and "babel" in self.app.extensions:
            from flask_babel import get_locale

            choice = get_locale()
        return choice or None, self.environ.get("HTTP_ACCEPT_LANGUAGE", "")[:MAX_HEADER]


def _begin(app: Flask, endpoint: str | None, values: dict[str, Any] | None) -> None:
    environ = _environ()
    # A view may pass its own environ on to another application, whose request then lies within this one.
    page = _RequestPage(app=app, environ=environ, said=g._get_current_object())
    embed = faqs_from(app)
    if app.debug:
        page.shows_problems = True
    if embed.showing.has_files:
        page.assets = f"{environ.get('SCRIPT_NAME', '').rstrip('/')}/{NAME}"
    if embed.settings.degraded_max_age is not None:
        page.limits_caching = True
    environ[TOKEN] = pages.begin(page), environ.get(TOKEN)
    after_this_request(_complete)  # before any after_request, which may compress what we have to read


def _handle(handle: Callable[..., Any], *args: Any) -> Any:
    """What was rendered before an error has left with no response: the page of the error begins anew."""
    page = pages.current()
    if isinstance(page, _RequestPage):
        page.begin_again()
    return handle(*args)


def _complete(response: Response) -> Response:
    """Put what is missing into the body of a response; go on with the page in a stream."""
    page = pages.current()
    if page is None:
        return response
    if response.direct_passthrough:
        return response
    if response.is_streamed:
        return _streamed(page, response)
    return response if page.is_settled else _merged(page, response)


def _streamed(page: pages.Page, response: Response) -> Response:
    if response.mimetype == "text/html":
        if isgenerator(response.response):  # which may yet ask, when the headers have left
            faqs_from().showing.settle_language(page)
        response.response = _Streamed(page, response.response)
    return response


def _merged(page: pages.Page, response: Response) -> Response:
    """Put the questions of all FAQs of the page into its one FAQPage."""
    told = {name.lower(): value for name, value in response.headers}
    content_type, encoding = told.get("content-type", ""), told.get("content-encoding", "")
    charset = fillable(
        method="GET",  # a HEAD must tell the length of what a GET would get
        status=response.status_code,
        content_type=content_type,
        content_encoding=encoding,
        content_range=told.get("content-range", ""),
    )
    if charset is None:
        if encoding:
            _warn("was compressed before that")
        return response
    if hasattr(current_app.view_functions.get(request.endpoint or ""), "uncached"):
        _warn("is kept by Flask-Caching as it was before that")
    response.set_data(page.merge(response.get_data(), charset))  # which sets Content-Length, too
    for name in SPOKE_OF_BODY:
        if name in told:
            del response.headers[name]
    return response


@cache
def _warn(what: str) -> None:
    logger.warning(
        "the questions of all FAQs of a page are put into one FAQPage when its view has returned, but a "
        "response %s: in its template, say schema=False in each faq(), and {{ faq_schema() }} after the last",
        what,
    )


class _Streamed:
    """The parts of a body, each made on the page of its request, and not on whichever is current then."""

    def __init__(self, page: pages.Page, parts: Any) -> None:
        self._page = page
        self._parts = iter(parts)
        self._close = getattr(parts, "close", None)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if pages.current() is self._page:  # the request is not over, and may end in this very step
            return next(self._parts)
        token = pages.begin(self._page)
        try:
            return next(self._parts)
        finally:
            pages.end(token)

    def close(self) -> None:
        if self._close is not None:
            self._close()


def _tell(response: Response) -> Response:
    """Say in the headers what the page depends on, and how long it may be kept."""
    page = pages.current()
    if page is None:
        return response
    if page.negotiated:
        if not (present := response.headers.getlist("Vary")):
            response.headers.add("Vary", NEGOTIATED)
        elif (vary := varied(present)) is not None:
            response.headers["Vary"] = vary
    if page.limits_caching and (most := page.max_age()) is not None:
        response.headers = Headers(shortened(response.headers, most))
    return response


def _end(error: BaseException | None = None) -> None:
    environ = _environ()
    if (begun := environ.get(TOKEN)) is None:
        return
    token, outer = begun
    with suppress(ValueError):  # a copy of the context, in a thread, that ends before the request does
        pages.end(token)
        environ[TOKEN] = outer


def _environ() -> dict[str, Any]:
    """Return the environ of the request, at a tenth of what the proxy takes for an attribute."""
    now: Request = request._get_current_object()  # type: ignore[attr-defined]
    return now.environ


def _file_of_any_host() -> Response | None:
    """Answer for a file ahead of all routes: one for any host would come after those that name theirs."""
    before, found, name = request.path.partition(f"/{NAME}/")
    return _file(name) if found and not before and file_named(name, request.args) else None


def _file(name: str) -> Response:
    file = file_named(name, request.args)
    if file is None:
        abort(404)
    response = Response(file.text, mimetype=file.media_type)
    response.cache_control.public = True
    response.cache_control.max_age = 31_536_000
    response.cache_control.immutable = True
    return response
