"""The Flask extension: it adds `faq()` to the templates, and sets the headers that their FAQs need."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

try:
    from flask import (
        Flask,
        Request,
        Response,
        abort,
        after_this_request,
        current_app,
        g,
        has_request_context,
        request,
        request_finished,
    )
except ImportError as _error:
    raise ImportError("faqsvc_embed.flask needs Flask: pip install 'faqsvc-embed[flask]'") from _error

import click
from jinja2 import TemplateNotFound
from werkzeug.datastructures import Headers

from faqsvc_embed.embed import FAQEmbed, only_embed
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.jinja import install
from faqsvc_embed.languages import MAX_HEADER
from faqsvc_embed.page.headers import (
    changes_headers,
    fillable_charset,
    headers_of_filled_body,
    with_page_headers,
)
from faqsvc_embed.page.page import RequestPage, first_of
from faqsvc_embed.page.placeholders import filled, filled_parts
from faqsvc_embed.rendering.assets import FOLDER, find_file
from faqsvc_embed.settings import Settings

if TYPE_CHECKING:
    from typing import Unpack

    from faqsvc_embed.settings.options import SettingOptions

__all__ = ["FAQExtension", "faqs_from"]

EMBED: Final = "faqsvc"
"""The key of the embed in `app.extensions`."""
PAGE: Final = "faqsvc_page"
"""The request attribute for the page. The WSGI environment could be passed on to another application."""
LANGUAGE_NAMES: Final = ("lang", "language", "locale", "lang_code")
"""Attributes of `g` with the language of a page; Flask's documentation uses the last one."""


class FAQExtension:
    """Adds FAQs to the templates of Flask applications.

    Settings are keywords here, `FAQSVC_…` keys of `app.config` when `init_app` runs, or environment
    variables, in this order of precedence. To use an existing embed, for example in tests, pass `embed`.

    Raises:
        ConfigurationError: a setting is invalid, there are settings beside an `embed`, `embed` is not one, or
            the application has this extension already.
    """

    def __init__(
        self,
        app: Flask | None = None,
        *,
        embed: FAQEmbed | None = None,
        **settings: "Unpack[SettingOptions]",
    ) -> None:
        if embed is not None:
            only_embed("FAQExtension", embed, settings)
        Settings(**settings)  # raises for invalid settings here, not in init_app()
        self._embed = embed
        self._options = settings
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Add FAQs to an application. Without `embed`, each application gets its own embed.

        Raises:
            ConfigurationError: it is not a Flask application, or has this extension already.
        """
        if not isinstance(app, Flask):
            raise ConfigurationError(_not_flask(app))
        if EMBED in app.extensions:
            raise ConfigurationError("the application has a FAQExtension already: call init_app() once")
        embed = self._embed
        if embed is None:
            embed = FAQEmbed(settings=Settings.from_mapping(app.config, **self._options))
        app.extensions[EMBED] = embed
        embed.presenter.find_pages_with(_page)
        install(app.jinja_env, embed)
        request_finished.connect(_finish, app)  # after every hook of the host
        _add_commands(app, embed)
        if embed.serves_files:
            if app.url_map.host_matching or app.subdomain_matching:
                app.before_request(_file_of_any_host)
            else:
                app.add_url_rule(f"/{FOLDER}/<name>", "faqsvc_file", _file)


def faqs_from(app: Flask | None = None) -> FAQEmbed:
    """Return the embed of an application, by default of the current one.

    Raises:
        ConfigurationError: it is not a Flask application, or has no FAQExtension.
    """
    if app is not None and not isinstance(app, Flask):
        raise ConfigurationError(f"faqs_from() takes a Flask application, not {type(app).__name__}")
    embed = (app or current_app).extensions.get(EMBED)
    if not isinstance(embed, FAQEmbed):
        raise ConfigurationError("the application has no FAQExtension: call FAQExtension(app)")
    return embed


class _FlaskPage(RequestPage):
    """The page of a Flask request. It does not refer to the request, because the request refers to it."""

    may_block = True  # an event loop in a view serves only this request

    fills_stream: bool = False
    """Whether the drafts of a preview are filled in while the body is sent."""

    @property
    def shows_problems(self) -> bool:
        return current_app.debug

    def nonce(self) -> object:
        return g.get("csp_nonce")

    def preferences(self) -> tuple[object, str]:
        """Return the language in `g`, else the locale of Flask-Babel; and the Accept-Language header."""
        if choice := first_of(g.get, LANGUAGE_NAMES):
            return choice, ""
        if "babel" in current_app.extensions:
            from flask_babel import get_locale

            if choice := get_locale():
                return choice, ""
        return None, request.environ.get("HTTP_ACCEPT_LANGUAGE", "")[:MAX_HEADER]

    def fill_drafts(self, response: Response) -> Response:
        """Fill the drafts of a preview in, before a hook of the host compresses the body."""
        if self.placeholders is None or self.fills_stream:
            return response
        charset = fillable_charset(response.status_code, response.headers)
        if charset is not None:
            self.fills_stream = response.is_streamed
            if response.is_streamed:
                if (close := getattr(response.response, "close", None)) is not None:
                    response.call_on_close(close)
                response.response = filled_parts(response.iter_encoded(), self.placeholders, charset)
            else:
                response.set_data(filled(response.get_data(), self.placeholders, charset))
            response.headers = Headers(headers_of_filled_body(response.headers))
        return response


_FINISHED: Final = _FlaskPage(is_over=True)
"""The page of a request that showed no FAQ, after its response was sent."""


def _page() -> "_FlaskPage | None":
    """Return the page of the current request, made for its first FAQ; None outside of a request."""
    if not has_request_context():
        return None
    # Each use of a proxy looks up its object again.
    this_request: Request = request._get_current_object()  # type: ignore[attr-defined]
    page: _FlaskPage | None = getattr(this_request, PAGE, None)
    if page is None:
        if EMBED not in current_app.extensions:
            return None
        page = _new_page(this_request)
    return None if page.is_over else page


def _new_page(this_request: Request) -> _FlaskPage:
    """Return the page of a request, which is stored on the request."""
    embed, page = faqs_from(), _FlaskPage()
    page.configure(embed.settings, this_request.environ.get("QUERY_STRING", ""))
    if embed.serves_files:
        page.folder = f"{this_request.script_root}/{FOLDER}"
    if page.preview is not None:
        after_this_request(page.fill_drafts)
    setattr(this_request, PAGE, page)
    return page


def _finish(_: Flask, response: Response, **__: Any) -> None:
    """Set the headers that depend on the page. A streamed body may still show FAQs."""
    this_request: Request = request._get_current_object()  # type: ignore[attr-defined]
    is_stream = response.is_streamed and response.mimetype == "text/html"
    page: _FlaskPage | None = _page() if is_stream else getattr(this_request, PAGE, None)
    if page is None:  # a thread with a copy of the context may show FAQs later
        setattr(this_request, PAGE, _FINISHED)
        return
    page.fill_drafts(response)  # drafts that a hook has rendered
    if is_stream:
        page.sent_headers = list(response.headers)
        response.call_on_close(page.end)
    else:
        page.end()
    if changes_headers(page):
        response.headers = Headers(with_page_headers(page, response.headers))


def _file_of_any_host() -> Response | None:
    """Serve a file before routing, because rules for named hosts take precedence over a rule for any host."""
    before, found, name = request.path.partition(f"/{FOLDER}/")
    return _file(name) if found and not before and find_file(name, request.args) else None


def _file(name: str) -> Response:
    file = find_file(name, request.args)
    if file is None:
        abort(404)
    return Response(file.content, headers=file.headers)


def _add_commands(app: Flask, embed: FAQEmbed) -> None:
    """Add the commands `flask faq list|check|pull|forget`, which are imported on use."""

    @app.cli.command("faq", context_settings={"ignore_unknown_options": True, "help_option_names": []})
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def faq(arguments: tuple[str, ...]) -> None:
        """List, check, pull or forget the FAQs that the templates show."""
        from faqsvc_embed.cli.host import Host, host_commands

        commands = host_commands(lambda: Host(embed, _templates(app)))
        commands.main(list(arguments) or ["--help"], prog_name="flask faq")


def _templates(app: Flask) -> Iterator[tuple[str, str]]:
    """Yield the name and the source of each template of an application and its blueprints."""
    loader = app.jinja_env.loader
    if loader is None:
        return
    for name in loader.list_templates():
        with suppress(UnicodeDecodeError, TemplateNotFound):  # an image in the template folder
            source, _, _ = loader.get_source(app.jinja_env, name)
            yield name, source


def _not_flask(app: object) -> str:
    if type(app).__module__.startswith("quart"):
        return (
            "FAQExtension is for Flask; for Quart write: "
            "app.asgi_app = FAQMiddleware(app.asgi_app, embed=embed), from faqsvc_embed.starlette"
        )
    hint = ": pass it as base_url=…" if isinstance(app, str) else ""
    return f"FAQExtension takes a Flask application first, not {type(app).__name__}{hint}"
