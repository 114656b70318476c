"""The Django middleware, which gives each request a page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any

from asgiref.sync import async_to_sync, iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.core.signals import request_finished
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import get_language

from faqsvc_embed.django.apps import faqs_from
from faqsvc_embed.django.nonce import nonce_of
from faqsvc_embed.languages import lookup
from faqsvc_embed.page.context import REQUEST
from faqsvc_embed.page.headers import (
    changes_headers,
    fillable_charset,
    headers_of_filled_body,
    with_page_headers,
)
from faqsvc_embed.page.page import Page
from faqsvc_embed.page.placeholders import BodyFiller, Placeholders, filled, filled_parts
from faqsvc_embed.rendering.assets import FOLDER, File, find_file


class FAQMiddleware:
    """Gives each request a page. Only a page that has left a placeholder has its body changed.

    It belongs below middleware that compresses or caches pages.

    Raises:
        ConfigurationError: a setting is invalid, or the application is not installed.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)
        faqs_from().presenter.renderer.load_templates()  # a project with invalid settings does not start
        request_finished.connect(_end_page, dispatch_uid=__name__)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self._respond_async(request) if self._is_async else self._respond(request)

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        file = _file(request)
        if file is not None:
            return file
        page, outer_page = _page(request), REQUEST.get()
        REQUEST.set(page)
        response: HttpResponseBase | None = None
        try:
            response = self._get_response(request)
            if (placeholders := page.placeholders_in(response)) is not None:  # the view is asynchronous
                async_to_sync(placeholders.fill)()
        finally:
            page.leave(response, outer_page)
        return page.complete(response)

    async def _respond_async(self, request: HttpRequest) -> HttpResponseBase:
        file = _file(request)
        if file is not None:
            return file
        page, outer_page = _page(request), REQUEST.get()
        REQUEST.set(page)
        response: HttpResponseBase | None = None
        try:
            response = await self._get_response(request)
            if (placeholders := page.placeholders_in(response)) is not None:
                await placeholders.fill()
        finally:
            page.leave(response, outer_page)
        return page.complete(response)


class DjangoPage(Page, kw_only=True):
    """The page of a Django request. Templates of asynchronous views may print placeholders."""

    defers = True

    request: HttpRequest

    @property
    def shows_problems(self) -> bool:
        return bool(settings.DEBUG)

    def nonce(self) -> object:
        return nonce_of(self.request)

    def language(self, default: str | None) -> str | None:
        """Return the active language of Django, if it is a supported one.

        If nothing has activated a language, `default` takes precedence over LANGUAGE_CODE.
        """
        active = get_language()
        is_chosen = active != settings.LANGUAGE_CODE or hasattr(self.request, "LANGUAGE_CODE")
        language = lookup(active) if active and (is_chosen or default is None) else None
        return language or default

    def placeholders_in(self, response: HttpResponseBase) -> Placeholders | None:
        """Return the open placeholders of this page, if a response can contain them."""
        placeholders = self.placeholders
        if placeholders is None or not placeholders.are_open or not isinstance(response, HttpResponse):
            return None
        return placeholders if placeholders.prefix.encode() in response.content else None

    def leave(self, response: HttpResponseBase | None, outer_page: Page | None) -> None:
        """End the page, unless a streamed body may still show FAQs."""
        if response is None or not response.streaming:
            self.end()
            REQUEST.set(outer_page)

    def complete(self, response: HttpResponseBase) -> HttpResponseBase:
        """Set the headers that the page needs, and fill its placeholders."""
        self.sent_headers: Any = response.headers.items()
        if isinstance(response, StreamingHttpResponse):
            self._complete_stream(response)
        elif isinstance(response, HttpResponse) and self.placeholders is not None:
            self._fill(response, self.placeholders)
        if changes_headers(self):
            _replace_headers(response, with_page_headers(self, response.items()))
        return response

    def _fill(self, response: HttpResponse, placeholders: Placeholders) -> None:
        charset = fillable_charset(response.status_code, response.items())
        if charset is not None and placeholders.lost:
            response.content = content = filled(response.content, placeholders, charset)
            length = len(content) if "Content-Length" in response.headers else None
            _replace_headers(response, headers_of_filled_body(response.items(), length))
        self.report_lost_placeholders(response.status_code, self.request.method)

    def _complete_stream(self, response: StreamingHttpResponse) -> None:
        """Fill the placeholders of a stream, which a preview or an asynchronous view leaves."""
        charset = fillable_charset(response.status_code, response.items())
        if charset is None:
            return
        content = response.streaming_content
        if isinstance(content, AsyncIterator):
            response.streaming_content = self._filled_parts(content, charset)
        elif self.placeholders is not None:
            response.streaming_content = filled_parts(content, self.placeholders, charset)
        if self.placeholders is not None:
            _replace_headers(response, headers_of_filled_body(response.items()))

    async def _filled_parts(self, parts: AsyncIterator[bytes], charset: str) -> AsyncIterator[bytes]:
        """Yield the parts of an asynchronous body; a placeholder delays only what follows it."""
        filler: BodyFiller | None = None
        while True:
            REQUEST.set(self)  # the body may be sent in another context
            part = await anext(parts, None)
            if part is None:
                break
            placeholders = self.placeholders
            if placeholders is None:
                yield part
                continue
            filler = filler or BodyFiller(placeholders, charset)
            if filler.is_idle:
                yield part
                continue
            yield filler.feed(part)
            if filler.is_blocked and placeholders.are_open:
                await placeholders.fill()
                yield filler.feed(b"")
        if filler is not None and not filler.is_idle:
            yield filler.feed(b"", last=True)


def _end_page(**_: Any) -> None:
    """End the page of a streamed response, because its body was sent."""
    page = REQUEST.get()
    if isinstance(page, DjangoPage):
        page.end()
        REQUEST.set(None)


def _replace_headers(response: HttpResponseBase, headers: Iterable[tuple[str, str]]) -> None:
    """Replace all headers; Django stores cookies separately."""
    new = dict[str, str]()
    for name, value in headers:  # there may be two Cache-Status headers
        new[name] = f"{new[name]}, {value}" if name in new else value
    for name in [name for name, _ in response.items() if name not in new]:
        del response.headers[name]
    for name, value in new.items():
        response.headers[name] = value


def _page(request: HttpRequest) -> DjangoPage:
    page, embed = DjangoPage(request=request), faqs_from()
    page.configure(embed.settings, request.META.get("QUERY_STRING", ""))
    if embed.serves_files:
        script_name = str(request.META.get("SCRIPT_NAME", "")).rstrip("/")
        page.folder = f"{script_name}/{FOLDER}"
    return page


def _file(request: HttpRequest) -> HttpResponse | None:
    """Return the response to a request for a static file of the package."""
    folder, _, name = request.path_info.rpartition("/")
    if folder != f"/{FOLDER}" or not faqs_from().serves_files:
        return None
    file: File | None = find_file(name, request.GET)
    if file is None:
        return None
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    return HttpResponse(file.content, headers=file.headers)
