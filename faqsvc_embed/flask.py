"""The Flask extension: it adds `faq()` to the templates, and sets the headers that their FAQs need."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final, Unpack

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("flask"):
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

import click
from jinja2 import TemplateNotFound

from faqsvc_embed.embed import FAQEmbed, embed_of
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.jinja import install
from faqsvc_embed.page.border import guarded, guarded_parts
from faqsvc_embed.page.headers import change, filled_body_changes, page_changes
from faqsvc_embed.page.page import NO_PAGE, Page, RequestPage, first_of
from faqsvc_embed.rendering.assets import FOLDER, are_served, requested_file
from faqsvc_embed.settings import SettingOptions, Settings, with_hidden_keys

__all__ = ["FAQExtension", "faqs_from"]

EMBED: Final = "faqsvc"
"""The key of the embed in `app.extensions`."""
PAGE: Final = "faqsvc_page"
"""An attribute of the request, because its WSGI environment may be passed on to another application."""
LANGUAGE_NAMES: Final = ("lang", "language", "locale", "lang_code")
"""Attributes of `g` with the language of a page; Flask's documentation uses the last one."""


class FlaskConfigurationError(ConfigurationError, click.ClickException):
    """A setting or a file is invalid. As a `ClickException`, it is printed without a traceback by `flask`."""

    def __init__(self, message: str) -> None:
        click.ClickException.__init__(self, message)
        ConfigurationError.__init__(self, message)


class FAQExtension:
    """Adds FAQs to the templates of Flask applications.

    Settings are keywords here, `FAQSVC_…` keys of `app.config` when `init_app` runs, or environment
    variables, in this order of precedence. To use an existing embed, for example in tests, pass `embed`.

    Raises:
        ConfigurationError: a setting is invalid, there are settings beside an `embed`, `embed` is not one, or
            the application has this extension already.
    """

    def __init__(
        self, app: Flask | None = None, *, embed: FAQEmbed | None = None, **settings: Unpack[SettingOptions]
    ) -> None:
        settings = with_hidden_keys(settings)
        if embed is not None:
            embed_of("FAQExtension", embed, settings)
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
            try:
                embed = FAQEmbed(settings=Settings.from_mapping(app.config, **self._options))
            except ConfigurationError as error:
                raise FlaskConfigurationError(str(error)) from None
        app.extensions[EMBED] = embed
        embed.presenter.page_source = _page
        install(app.jinja_env, embed)
        request_finished.connect(_finish, app)  # after every hook of the host
        _add_commands(app, embed)
        if are_served(embed.settings):
            if app.url_map.host_matching or app.subdomain_matching:
                # Before routing, because rules for named hosts take precedence over a rule for any host.
                app.before_request(partial(guarded, _file, otherwise=None))
            else:  # hooks of the host expect that the address has a rule, with an endpoint and values
                app.add_url_rule(f"/{FOLDER}/<name>", "faqsvc_file", _file_or_404)


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


class _FlaskPage(RequestPage, kw_only=True):
    """The page of a Flask request. It does not refer to the request, because the request refers to it."""

    may_block = True  # an event loop in a view serves only this request

    app: Flask
    fills_stream: bool = False
    """Whether the drafts of a preview are filled in while the body is sent."""

    @property
    def shows_problems(self) -> bool:
        return self.app.debug

    def nonce(self) -> object:
        """Return the nonce in `g`, else the one that Flask-Talisman gives to templates."""
        attributes = g._get_current_object()  # each use of `g` looks it up again
        return attributes.get("csp_nonce") or self.app.jinja_env.globals.get("csp_nonce")

    def chosen_language(self) -> object:
        """Return the language in `g`, else the locale of Flask-Babel."""
        attributes = g._get_current_object()
        choice = first_of(attributes.get, LANGUAGE_NAMES)
        if not choice and "babel" in self.app.extensions:
            from flask_babel import get_locale

            choice = get_locale()
        return choice or None

    def accept_language(self) -> str:
        return str(request.environ.get("HTTP_ACCEPT_LANGUAGE", ""))

    def fill_drafts(self, response: Response) -> None:
        """Fill in the drafts of a preview."""
        filler = None if self.fills_stream else self.new_filler(response.status_code, response.headers)
        if filler is None:
            return
        self.fills_stream = response.is_streamed
        if response.is_streamed:
            if (close := getattr(response.response, "close", None)) is not None:
                response.call_on_close(close)
            response.response = guarded_parts(response.iter_encoded(), filler.split, filler.finish)
        else:
            response.set_data(filler.finish(response.get_data()))
        change(response.headers, filled_body_changes())

    def complete(self, response: Response) -> None:
        """Fill in the drafts that a hook has rendered, and set the headers that depend on the page."""
        try:
            self.fill_drafts(response)
        finally:
            if response.is_streamed:  # its body may still show FAQs
                self.sent_headers = list(response.headers)
            change(response.headers, page_changes(self, response.headers))


def _page() -> Page | None:
    """Return the page of the current request, made for its first FAQ; None outside of a request."""
    if not has_request_context():
        return None
    # Each use of a proxy looks up its object again.
    this_request: Request = request._get_current_object()  # type: ignore[attr-defined]
    page: Page | None = getattr(this_request, PAGE, None) or _new_page(this_request)
    return None if page is None or page.is_over else page


def _new_page(this_request: Request) -> Page | None:
    """Return the page of a request, which is stored on the request; None if its application has no FAQs."""
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    if EMBED not in app.extensions:
        return None
    page = _FlaskPage(app=app)
    environ = this_request.environ
    page.configure(faqs_from(app).settings, environ.get("QUERY_STRING", ""), environ.get("SCRIPT_NAME", ""))
    if page.preview is not None:  # before a hook of the host compresses the body
        after_this_request(lambda response: guarded(page.fill_drafts, response, otherwise=None) or response)
    setattr(this_request, PAGE, page)
    return page


def _page_of(response: Response) -> Page | None:
    """Return the page of a response; a streamed one may still show FAQs."""
    this_request: Request = request._get_current_object()  # type: ignore[attr-defined]
    if response.is_streamed and response.mimetype == "text/html":
        return _page()
    page: Page | None = getattr(this_request, PAGE, None)
    if page is None:  # what a thread with a copy of the context shows later is not of this response
        setattr(this_request, PAGE, NO_PAGE)
    return page


def _finish(_: Flask, response: Response, **__: Any) -> None:
    """Complete the response of a page."""
    page = guarded(_page_of, response, otherwise=None)
    if isinstance(page, _FlaskPage):
        guarded(page.complete, response, otherwise=None)
        if response.is_streamed:
            response.call_on_close(partial(guarded, page.end, otherwise=None))
        else:
            guarded(page.end, otherwise=None)


def _file() -> Response | None:
    file = requested_file(request.method, request.path, request.query_string.decode("latin-1"))
    return None if file is None else Response(file.content, headers=file.headers)


def _file_or_404(**_: str) -> Response:
    return guarded(_file, otherwise=None) or abort(404)


def _add_commands(app: Flask, embed: FAQEmbed) -> None:
    """Add the command `flask faq check`, which is imported on use."""

    @app.cli.command("faq", context_settings={"ignore_unknown_options": True, "help_option_names": []})
    @click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
    def faq(arguments: tuple[str, ...]) -> None:
        """Check the FAQs that the templates show."""
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
