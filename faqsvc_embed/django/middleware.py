"""The Django middleware, which completes the page of each request."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Final

from asgiref.sync import async_to_sync, iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseNotAllowed, StreamingHttpResponse
from django.http.response import HttpResponseBase

from faqsvc_embed.django.apps import faqs_from
from faqsvc_embed.django.language import active_language
from faqsvc_embed.django.nonce import nonce_of
from faqsvc_embed.page.body import completed
from faqsvc_embed.page.context import Page, enter_request, leave_request
from faqsvc_embed.page.elements import ROOT_TAG
from faqsvc_embed.page.header_changes import (
    changes_headers,
    headers_of_changed_body,
    headers_of_stream,
    with_page_headers,
)
from faqsvc_embed.page.response_head import ResponseHead
from faqsvc_embed.page.streams import AsyncStreamedBody, StreamedBody
from faqsvc_embed.rendering.assets import FOLDER, File, find_file
from faqsvc_embed.runtime.bounded_log import LogOnce

PLACEHOLDER: Final = b"<!--faqsvc "

_log: Final = LogOnce()


class FAQMiddleware:
    """Gives each request a page, and completes its response: one FAQPage, and each stylesheet once.

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
        faqs_from()  # a project with invalid settings does not start

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self._respond_async(request) if self._is_async else self._respond(request)

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        file = _file(request)
        if file is not None:
            return file
        page = _page(request)
        token = enter_request(page)
        try:
            response = self._get_response(request)
            if page.placeholders is not None and page.has_open_placeholders:  # the view is asynchronous
                async_to_sync(page.placeholders.fill)()
        finally:
            leave_request(token)
        return page.complete_response(response)

    async def _respond_async(self, request: HttpRequest) -> HttpResponseBase:
        file = _file(request)
        if file is not None:
            return file
        page = _page(request)
        token = enter_request(page)
        try:
            response = await self._get_response(request)
            if page.placeholders is not None:
                await page.placeholders.fill()
        finally:
            leave_request(token)
        return page.complete_response(response)


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
        return active_language(self.request, default)

    def complete_response(self, response: HttpResponseBase) -> HttpResponseBase:
        """Complete the body of a response, or prepare a streamed one."""
        if isinstance(response, HttpResponse):
            self._complete_whole(response)
            self.is_over = True
        elif isinstance(response, StreamingHttpResponse) and not isinstance(response, FileResponse):
            self._complete_stream(response)
        else:
            self.is_over = True
        if changes_headers(self):
            _replace_headers(response, with_page_headers(self, response.items()))
        return response

    def _complete_whole(self, response: HttpResponse) -> None:
        content = response.content
        if b"faqsvc" not in content and not self.is_unfinished:
            return
        head = ResponseHead.of(response.status_code, response.items())
        charset = head.charset
        if charset is None:
            if self.is_unfinished:
                head.warn_of_compression("in MIDDLEWARE, move what compresses before FAQMiddleware")
            return
        printed = sum(one is not None and one.fragment is not None for one in self.printed)
        self.printed += [None] * (content.count(ROOT_TAG.encode()) - printed)  # {% cache %} has stored them
        changed = completed(self, charset, content)
        if changed is not None:
            response.content = content = changed
            length = len(content) if "Content-Length" in response.headers else None
            _replace_headers(response, headers_of_changed_body(response.items(), length))
        if PLACEHOLDER in content:
            _log.warning(
                "placeholder",
                "{% cache %} or @cache_page has stored what an asynchronous view rendered before its FAQ had "
                "arrived: FAQs are cached anyway, so move it out, or `await faqs_from().aprefetch(…)` first",
            )

    def _complete_stream(self, response: StreamingHttpResponse) -> None:
        charset = ResponseHead.of(response.status_code, response.items()).charset
        if charset is None:
            self.is_over = True
            return
        _replace_headers(response, headers_of_stream(self, response.items()))
        content = response.streaming_content
        if isinstance(content, AsyncIterator):
            response.streaming_content = AsyncStreamedBody(self, charset, content)
        else:
            response.streaming_content = StreamedBody(self, charset, content)


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
