"""Middleware for any WSGI application. It gives each request a page."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice
from typing import Any, Final, Unpack
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from faqsvc_embed.embed import FAQEmbed, embed_of
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.page.border import guarded, guarded_parts
from faqsvc_embed.page.headers import applied, filled_body_changes, page_changes
from faqsvc_embed.page.page import REQUEST, RequestPage
from faqsvc_embed.page.placeholders import BodyFiller
from faqsvc_embed.rendering.assets import File, are_served, requested_file
from faqsvc_embed.settings import SettingOptions, with_hidden_keys

__all__ = ["FAQMiddleware", "faqs_from"]

EMBED: Final = "faqsvc.embed"
"""The key of the embed in the environment of a request."""
LANGUAGE: Final = "faqsvc.lang"
NONCE: Final = "faqsvc.csp_nonce"
"""Keys for the language of a page and for the nonce of its Content-Security-Policy; the host sets them."""

Header = tuple[str, str]


class FAQMiddleware:
    """Gives each request a page. The body passes as it is, except in the preview of a draft.

    Pass the same `embed` to `faqsvc_embed.jinja.install`. Without it, the settings create one.

    Raises:
        ConfigurationError: a setting is invalid, there are settings beside an `embed`, or `embed` is not one.
    """

    def __init__(
        self, app: WSGIApplication, embed: FAQEmbed | None = None, **settings: Unpack[SettingOptions]
    ) -> None:
        self.app = app
        settings = with_hidden_keys(settings)
        self.embed: FAQEmbed = embed_of("FAQMiddleware", embed, settings)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        file = guarded(self._file, environ, otherwise=None)
        if file is not None:
            start_response("200 OK", list(file.headers.items()))
            return [file.content]
        # The embed and the page of another FAQMiddleware around this one.
        outer, outer_page = environ.get(EMBED, self.embed), REQUEST.get()
        environ[EMBED] = self.embed
        response = guarded(self._response, environ, start_response, otherwise=None)
        if response is None:
            return self.app(environ, start_response)
        REQUEST.set(response.page)  # without a token: a server may send the body in another context
        is_over, closing = True, response.closing  # also if the application raises an exception
        try:
            parts = self.app(environ, response.start)
            is_over = guarded(_is_whole, parts, environ, otherwise=False)
        finally:
            if is_over:
                guarded(response.page.end, otherwise=None)
                REQUEST.set(outer_page)
                environ[EMBED] = outer
        if not is_over:  # the page ends when the server closes the body
            response.parts = parts
            if hasattr(parts, "close"):
                closing.callback(parts.close)
            closing.callback(REQUEST.set, outer_page)
            closing.callback(partial(guarded, response.page.end, otherwise=None))
            return response
        if not response.has_started:
            start_response(*guarded(response.head, otherwise=response.given))
        parts = [*response.written, *parts] if response.written else parts
        return guarded(response.filled, parts, otherwise=parts)

    def _file(self, environ: WSGIEnvironment) -> File | None:
        if not are_served(self.embed.settings):
            return None
        method, path = environ.get("REQUEST_METHOD", ""), str(environ.get("PATH_INFO", ""))
        return requested_file(method, path, environ.get("QUERY_STRING", ""))

    def _response(self, environ: WSGIEnvironment, start_response: StartResponse) -> "_Response":
        page = _WSGIPage(environ=environ)
        query_string, root_path = environ.get("QUERY_STRING", ""), environ.get("SCRIPT_NAME", "")
        page.configure(self.embed.settings, query_string, root_path)
        return _Response(page, start_response)


def faqs_from(environ: WSGIEnvironment) -> FAQEmbed:
    """Return the embed that serves a request.

    Raises:
        ConfigurationError: there is no FAQMiddleware around the application.
    """
    embed = environ.get(EMBED)
    if not isinstance(embed, FAQEmbed):
        raise ConfigurationError("there is no FAQMiddleware: app = FAQMiddleware(app, embed=embed)")
    return embed


class _WSGIPage(RequestPage, kw_only=True):
    """The page of a WSGI request."""

    may_block = True  # an event loop in a view serves only this request

    environ: dict[str, Any]

    def nonce(self) -> object:
        return self.environ.get(NONCE)

    def chosen_language(self) -> object:
        return self.environ.get(LANGUAGE) or None

    def accept_language(self) -> str:
        return str(self.environ.get("HTTP_ACCEPT_LANGUAGE", ""))


class _Response:
    """The response of a page. Its start is sent with the first part of the body: the page may change it.

    It is the body that a server iterates over, if the application has returned one in parts.
    """

    def __init__(self, page: _WSGIPage, start_response: StartResponse) -> None:
        self.page = page
        self.given: tuple[str, list[Header]] = ("", [])
        """Status and headers as the application has stated them."""
        self.parts: Iterable[bytes] = ()
        self.has_started = False
        """Whether the start was sent."""
        self.server_write: Any = None
        """The function of the server that writes a part of the body (PEP 3333)."""
        self._start_response: Callable[..., Any] = start_response
        self.closing = ExitStack()
        """What happens when the server closes the body (PEP 3333)."""
        self.close = self.closing.close
        self._filler: BodyFiller | None = None
        self.written: list[bytes] = []
        """Parts of a preview that the application wrote; they are sent with the parts that it returns."""

    def start(self, status: str, headers: list[Header], exc_info: Any = None) -> Callable[[bytes], object]:
        """Store the start of the response; after an error, the application may call this again."""
        self.given, self.written = (status, headers), []
        if self.has_started:  # this raises the error, because the headers were sent
            self._start_response(status, headers, exc_info)
        return self.write

    def write(self, part: bytes) -> None:
        """Send a part of the body, before the parts that the application returns."""
        if self.page.placeholders.are_used:
            self.written.append(part)
            return
        if not self.has_started:  # written out here and below: a function is one more that could break a page
            self.server_write = self._start_response(*guarded(self.head, otherwise=self.given))
            self.has_started = True
        self.server_write(part)

    def __iter__(self) -> Iterator[bytes]:
        """Return the parts of the body. The start is sent with the first one."""
        rest = iter(self.parts)
        parts: Iterator[bytes] = chain(self.written, list(islice(rest, 1)), rest)
        if not self.has_started:
            self.server_write = self._start_response(*guarded(self.head, otherwise=self.given))
            self.has_started = True
        if self._filler is None:
            return parts
        return guarded_parts(parts, self._filler.split, self._filler.finish)

    def head(self) -> tuple[str, list[Header]]:
        """Return status and headers with what the page changes."""
        status, headers = self.given
        self.page.sent_headers = headers
        changes = page_changes(self.page, headers)
        filler = self.page.new_filler(int(status[:3] or 0), headers)
        if filler is not None:
            changes = {**filled_body_changes(), **changes}
        headers = applied(headers, changes) if changes else headers
        self._filler = filler
        return status, headers

    def filled(self, parts: Iterable[bytes]) -> Iterable[bytes]:
        """Return a whole body with the drafts of a preview."""
        return parts if self._filler is None else [self._filler.finish(b"".join(parts))]


def _is_whole(body: object, environ: WSGIEnvironment) -> bool:
    """Return whether a body is passed on as it is: a list, or a file, which servers send fast (PEP 3333)."""
    if isinstance(body, list | tuple):
        return True
    wrapper = environ.get("wsgi.file_wrapper")
    if isinstance(wrapper, type):
        return isinstance(body, wrapper)
    return wrapper is not None and hasattr(body, "read")  # uWSGI's is a function that returns the file
