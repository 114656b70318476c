"""Middleware for any WSGI application. It completes the page of each request."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from faqsvc_embed.embed import FAQEmbed, embed_of_middleware
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.languages import MAX_HEADER
from faqsvc_embed.page.body import completed
from faqsvc_embed.page.context import enter_request, leave_request, request_page
from faqsvc_embed.page.header_changes import (
    changes_headers,
    headers_of_changed_body,
    headers_of_stream,
    with_page_headers,
)
from faqsvc_embed.page.request_page import RequestPage
from faqsvc_embed.page.response_head import ResponseHead
from faqsvc_embed.page.streams import StreamedBody
from faqsvc_embed.rendering.assets import FOLDER, File, find_file
from faqsvc_embed.settings.api_key import wrap_keys

if TYPE_CHECKING:
    from typing import Unpack
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from faqsvc_embed.settings.options import SettingOptions

EMBED: Final = "faqsvc.embed"
"""The key of the embed in the environment of a request."""
LANGUAGE: Final = "faqsvc.lang"
NONCE: Final = "faqsvc.csp_nonce"
"""Keys for the language of a page and for the nonce of its Content-Security-Policy; the host sets them."""

Header = tuple[str, str]


class FAQMiddleware:
    """Gives each request a page, and completes its response: one FAQPage, and each stylesheet once.

    Pass the same `embed` to `faqsvc_embed.jinja.install`. Without it, the settings create one.

    Raises:
        ConfigurationError: a setting is invalid, there are settings beside an `embed`, or `embed` is not one.
    """

    def __init__(
        self, app: "WSGIApplication", embed: FAQEmbed | None = None, **settings: "Unpack[SettingOptions]"
    ) -> None:
        options = wrap_keys(settings)
        del settings  # tracebacks show local variables
        self.app = app
        self.embed = embed_of_middleware(embed, options)

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
        response = _Response(page, self.embed.settings.lang, start_response)
        token = enter_request(page)
        try:
            return response.send(self.app(environ, response.start))
        except BaseException:
            page.is_over = True
            raise
        finally:
            leave_request(token)


def faqs_from(environ: "WSGIEnvironment") -> FAQEmbed:
    """Return the embed that serves a request.

    Raises:
        ConfigurationError: there is no FAQMiddleware around the application.
    """
    embed = environ.get(EMBED)
    if not isinstance(embed, FAQEmbed):
        raise ConfigurationError("the application has no FAQs: app = FAQMiddleware(app, embed=embed)")
    return embed


class _WSGIPage(RequestPage, kw_only=True):
    """The page of a request of WSGI."""

    may_block = True  # an event loop in a view serves only this request

    environ: "dict[str, Any]"

    def nonce(self) -> object:
        return self.environ.get(NONCE)

    def preferences(self) -> tuple[object, str]:
        choice = self.environ.get(LANGUAGE)
        return choice or None, str(self.environ.get("HTTP_ACCEPT_LANGUAGE", ""))[:MAX_HEADER]


class _Response:
    """A response. Its start is sent when the body is complete or, if it is streamed, has begun."""

    def __init__(
        self, page: _WSGIPage, default_language: str | None, start_response: "StartResponse"
    ) -> None:
        self._page = page
        self._default_language = default_language
        self._start_response: Callable[..., Any] = start_response
        self._status: str | None = None
        self._headers = list[Header]()
        self._written = list[bytes]()
        self._write: Callable[[bytes], object] = self._written.append
        self._is_sent = False

    def start(self, status: str, headers: list[Header], exc_info: Any = None) -> Callable[[bytes], object]:
        """Store the start of the response; after an error, the application may call this again."""
        self._status, self._headers = status, headers
        if exc_info:
            self._written.clear()  # it belongs to the page that failed
        if self._is_sent:
            self._start_response(status, headers, exc_info)  # this raises the error if the headers were sent
        return self.write

    def write(self, part: bytes) -> None:
        """Add a part to the body, before what the iterable of the application yields next."""
        self._write(part)

    def send(self, parts: Iterable[bytes]) -> Iterable[bytes]:
        """Send the start, and return the body."""
        close: Callable[[], object] = getattr(parts, "close", lambda: None)
        with ExitStack() as unless_returned:
            unless_returned.callback(close)
            if self._status is None:
                parts = _Closing(_begun(parts), close)
            head = ResponseHead.of(int((self._status or "500")[:3]), self._headers)
            charset = head.charset
            if charset is None:
                self._pass_on(head)
            elif self._written or isinstance(parts, list | tuple) or self._has_length():
                return [self._completed(charset, parts)]
            else:
                self._page.decide_language(self._default_language)
                self._headers = headers_of_stream(self._page, self._headers)
                self._send_start()
                parts = StreamedBody(self._page, charset, _Closing(self._with_written(parts), close))
            unless_returned.pop_all()  # the server closes what it gets
            return parts

    def _pass_on(self, head: ResponseHead) -> None:
        """Send the start of a response that stays as it is, and let the server have what is written."""
        if self._page.is_unfinished:
            head.warn_of_compression("let the middleware that compresses wrap FAQMiddleware")
        self._write = self._send_start()
        for part in self._written:
            self._write(part)

    def _with_written(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the parts of a streamed body, each after what was written before it."""
        for part in parts:
            self._written.append(part)
            while self._written:
                yield self._written.pop(0)
        yield from self._written

    def _completed(self, charset: str, parts: Iterable[bytes]) -> bytes:
        """Send the start of a response that is read as a whole, and return its body."""
        for part in parts:
            self._written.append(part)  # so they are in order, and an error discards them all
        body, page = b"".join(self._written), self._page
        changed = completed(page, charset, body)
        is_head_only = page.environ.get("REQUEST_METHOD") == "HEAD" and not body and page.is_unfinished
        if changed is not None or is_head_only:
            length = None if changed is None else len(changed)
            self._headers = headers_of_changed_body(self._headers, length)
        page.is_over = True
        self._send_start()
        return body if changed is None else changed

    def _send_start(self) -> Any:
        headers, page = self._headers, self._page
        if changes_headers(page):
            headers = with_page_headers(page, headers)
        self._is_sent = True
        return self._start_response(self._status, headers)

    def _has_length(self) -> bool:
        return any(name.lower() == "content-length" for name, _ in self._headers)


class _Closing:
    """The parts of a body, with the `close()` of the iterable that the application returned."""

    def __init__(self, parts: Iterator[bytes], close: Callable[[], object]) -> None:
        self._parts = parts
        self.close = close

    def __iter__(self) -> Iterator[bytes]:
        return self._parts


def _begun(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Return a body after its first part was read: an application may start its response with it."""
    rest = iter(parts)
    return chain(list(islice(rest, 1)), rest)


def _file(environ: "WSGIEnvironment") -> File | None:
    """Return the static file that is requested."""
    folder, _, name = str(environ.get("PATH_INFO", "")).rpartition("/")
    if folder != f"/{FOLDER}" or environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
        return None
    return find_file(name, dict(parse_qsl(environ.get("QUERY_STRING", ""))))


def _send_file(file: File, start_response: "StartResponse") -> Iterable[bytes]:
    start_response("200 OK", list(file.headers.items()))
    return [file.content]
