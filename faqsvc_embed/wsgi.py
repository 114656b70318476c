"""Middleware for any WSGI application. It gives each request a page."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from faqsvc_embed.embed import FAQEmbed, embed_of_middleware
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.languages import MAX_HEADER
from faqsvc_embed.page.context import REQUEST, request_page
from faqsvc_embed.page.headers import (
    changes_headers,
    fillable_charset,
    headers_of_filled_body,
    with_page_headers,
)
from faqsvc_embed.page.page import Page, RequestPage
from faqsvc_embed.page.placeholders import filled_parts
from faqsvc_embed.rendering.assets import FOLDER, File, requested_file

if TYPE_CHECKING:
    from typing import Unpack
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from faqsvc_embed.settings.options import SettingOptions

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
        self, app: "WSGIApplication", embed: FAQEmbed | None = None, **settings: "Unpack[SettingOptions]"
    ) -> None:
        self.app = app
        self.embed: FAQEmbed = embed_of_middleware(embed, settings)

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        serves_files = self.embed.serves_files
        if serves_files and (file := _file(environ)) is not None:
            return _send_file(file, start_response)
        outer = environ.get(EMBED)
        environ[EMBED] = self.embed
        if outer is not None and request_page() is not None:  # there is another FAQMiddleware around this one
            parts: Iterable[bytes] = ()
            try:
                parts = self.app(environ, start_response)
            finally:
                if isinstance(parts, list | tuple):  # a generator looks for its embed later
                    environ[EMBED] = outer
            return parts
        page = _WSGIPage(environ=environ)
        page.configure(self.embed.settings, str(environ.get("QUERY_STRING", "")))
        if serves_files:
            page.folder = f"{environ.get('SCRIPT_NAME', '')}/{FOLDER}"
        start, outer_page = _Start(page, start_response), REQUEST.get()
        REQUEST.set(page)  # without a token: a server may send the body in another context
        body: Iterable[bytes] = ()
        try:
            body = self.app(environ, start)
        finally:
            is_whole = isinstance(body, list | tuple) or _is_file(body, environ)
            if is_whole:
                page.end()
                REQUEST.set(outer_page)
        if not is_whole:
            return _Body(start, body, outer_page)
        if page.placeholders is not None:
            body = list(start.filled(iter(body)))
        start.send()
        return body


def faqs_from(environ: "WSGIEnvironment") -> FAQEmbed:
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

    environ: "dict[str, Any]"

    def nonce(self) -> object:
        return self.environ.get(NONCE)

    def preferences(self) -> tuple[object, str]:
        choice = self.environ.get(LANGUAGE)
        return choice or None, str(self.environ.get("HTTP_ACCEPT_LANGUAGE", ""))[:MAX_HEADER]


class _Start:
    """The start of a response. It is sent with the first part of the body, because the page may change it."""

    def __init__(self, page: _WSGIPage, start_response: "StartResponse") -> None:
        self.page = page
        self._start_response: Callable[..., Any] = start_response
        self._write: Callable[[bytes], object] | None = None
        self._status = ""
        self._headers = list[Header]()

    def __call__(self, status: str, headers: list[Header], exc_info: Any = None) -> Callable[[bytes], object]:
        """Store the start of the response; after an error, the application may call this again."""
        self._status, self._headers = status, headers
        if self._write is not None:  # this raises the error, because the headers were sent
            self._start_response(status, headers, exc_info)
        return self.write

    def write(self, part: bytes) -> None:
        """Send a part of the body, before the parts that the application returns."""
        self.send()(part)

    def send(self) -> Callable[[bytes], object]:
        """Send the start, unless it was sent already."""
        if self._write is None:
            page, headers = self.page, self._headers
            page.sent_headers = headers
            if changes_headers(page):
                headers = with_page_headers(page, headers)
            self._write = self._start_response(self._status, headers)
        return self._write

    def filled(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Return the parts of a body with the drafts of a preview."""
        charset = fillable_charset(int(self._status[:3] or 0), self._headers)
        if self.page.placeholders is None or charset is None:
            return parts
        self._headers = headers_of_filled_body(self._headers)
        return filled_parts(parts, self.page.placeholders, charset)


class _Body:
    """A body in parts: the first one sends the start of the response, and the last one ends the page."""

    def __init__(self, start: _Start, parts: Iterable[bytes], outer_page: Page | None) -> None:
        self._start = start
        self._parts = parts
        self._outer_page = outer_page

    def __iter__(self) -> Iterator[bytes]:
        rest = iter(self._parts)
        parts: Iterator[bytes] = chain(list(islice(rest, 1)), rest)
        if self._start.page.placeholders is not None:
            parts = self._start.filled(parts)
        self._start.send()
        return parts

    def close(self) -> None:
        """Close what the application returned (PEP 3333)."""
        self._start.page.end()
        REQUEST.set(self._outer_page)
        close = getattr(self._parts, "close", None)
        if close is not None:
            close()


def _is_file(body: object, environ: "WSGIEnvironment") -> bool:
    """Return whether a body is a file, which the server sends faster if it is unchanged (PEP 3333)."""
    wrapper = environ.get("wsgi.file_wrapper")
    if isinstance(wrapper, type):
        return isinstance(body, wrapper)
    return wrapper is not None and hasattr(body, "read")  # uWSGI's is a function that returns the file


def _file(environ: "WSGIEnvironment") -> File | None:
    """Return the static file that is requested."""
    method, path = environ.get("REQUEST_METHOD", ""), str(environ.get("PATH_INFO", ""))
    return requested_file(method, path, environ.get("QUERY_STRING", ""))


def _send_file(file: File, start_response: "StartResponse") -> Iterable[bytes]:
    start_response("200 OK", list(file.headers.items()))
    return [file.content]
