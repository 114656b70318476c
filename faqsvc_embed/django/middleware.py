"""The Django middleware, which gives each request a page."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("django"):
    from asgiref.sync import async_to_sync, iscoroutinefunction, markcoroutinefunction
    from django.conf import settings
from django.core.signals import request_finished
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import get_language

try:
    from django.middleware.csp import get_nonce
except ImportError:  # Django 5.2
    get_nonce = None  # type: ignore[assignment]

from faqsvc_embed.django.apps import faqs_from
from faqsvc_embed.languages import lookup
from faqsvc_embed.page.border import aguarded, guarded, guarded_parts
from faqsvc_embed.page.headers import change, fillable_charset, filled_body_changes, page_changes
from faqsvc_embed.page.page import REQUEST, Page
from faqsvc_embed.page.placeholders import BodyFiller
from faqsvc_embed.rendering.assets import are_served, requested_file

NONCE: Final = "csp_nonce"
"""The request attribute that django-csp or a middleware of the project sets; also a template variable."""


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
        embed = faqs_from()  # a project with invalid settings does not start
        guarded(embed.presenter.renderer.load_templates, otherwise=None)
        request_finished.connect(_end_page, dispatch_uid=__name__)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self._respond_async(request) if self._is_async else self._respond(request)

    def _respond(self, request: HttpRequest) -> HttpResponseBase:
        page = guarded(_begin, request, otherwise=None)
        if not isinstance(page, DjangoPage):  # a file, or nothing
            return page or self._get_response(request)
        response: HttpResponseBase | None = None
        try:
            response = self._get_response(request)
            if page.placeholders.are_used:  # an asynchronous view may leave some
                guarded(page.fill_placeholders_of, response, otherwise=None)
        finally:
            if response is None or not response.streaming:
                guarded(page.end, otherwise=None)
                REQUEST.set(page.outer)
        guarded(page.complete, response, otherwise=None)
        return response

    async def _respond_async(self, request: HttpRequest) -> HttpResponseBase:
        page = guarded(_begin, request, otherwise=None)
        if not isinstance(page, DjangoPage):
            return page or await self._get_response(request)
        response: HttpResponseBase | None = None
        try:
            response = await self._get_response(request)
            if page.placeholders.are_used:
                await aguarded(page.afill_placeholders_of, response, otherwise=None, passes=page.passes)
        finally:
            if response is None or not response.streaming:
                guarded(page.end, otherwise=None)
                REQUEST.set(page.outer)
        guarded(page.complete, response, otherwise=None)
        return response


class DjangoPage(Page, kw_only=True):
    """The page of a Django request. Templates of asynchronous views may print placeholders."""

    fills_placeholders = True

    request: HttpRequest
    outer: Page | None
    """The page that was current before."""

    @property
    def shows_problems(self) -> bool:
        return bool(settings.DEBUG)

    def nonce(self) -> object:
        """Return the nonce of Django, django-csp or the project; only one that was read is in the header."""
        nonce = getattr(self.request, NONCE, None)
        return as_text(get_nonce(self.request) if nonce is None and get_nonce is not None else nonce)

    def language(self, default: str | None) -> str | None:
        """Return the active language of Django, if it is a supported one.

        If nothing has activated a language, `default` takes precedence over LANGUAGE_CODE.
        """
        active = get_language()
        is_chosen = active != settings.LANGUAGE_CODE or hasattr(self.request, "LANGUAGE_CODE")
        language = lookup(active) if active and (is_chosen or default is None) else None
        return language or default

    def fill_placeholders_of(self, response: HttpResponseBase) -> None:
        """Wait for the FAQs of open placeholders, as `afill_placeholders_of` does."""
        if self.placeholders.are_open:
            async_to_sync(self.afill_placeholders_of)(response)

    async def afill_placeholders_of(self, response: HttpResponseBase) -> None:
        """Await the FAQs of placeholders, if a response contains them."""
        if isinstance(response, HttpResponse) and self.placeholders.prefix.encode() in response.content:
            await self.placeholders.fill(self.passes)

    def complete(self, response: HttpResponseBase) -> None:
        """Fill the placeholders of a body, and set the headers that depend on the page.

        In a stream, an asynchronous view may still leave placeholders.
        """
        try:
            if isinstance(response, StreamingHttpResponse):
                self._fill_stream(response)
            elif isinstance(response, HttpResponse) and self.placeholders.are_used:
                self._fill(response)
        finally:
            change(response.headers, page_changes(self, response.items()))

    def _fill(self, response: HttpResponse) -> None:
        filler = self.new_filler(response.status_code, response.items())
        if filler is not None and self.placeholders.unfound:
            response.content = content = filler.finish(response.content)
            length = len(content) if "Content-Length" in response.headers else None
            change(response.headers, filled_body_changes(length))
        self.report_lost_placeholders(response.status_code, self.request.method)

    def _fill_stream(self, response: StreamingHttpResponse) -> None:
        charset = fillable_charset(response.status_code, response.items())
        content, is_filled = response.streaming_content, self.placeholders.are_used
        if charset is None or not (is_filled or isinstance(content, AsyncIterator)):
            return
        if is_filled:
            change(response.headers, filled_body_changes())
        filler = BodyFiller(self.placeholders, charset)
        if isinstance(content, AsyncIterator):
            response.streaming_content = self._filled_parts(content, filler)
        else:
            response.streaming_content = guarded_parts(content, filler.split, filler.finish)

    async def _filled_parts(self, parts: AsyncIterator[bytes], filler: BodyFiller) -> AsyncIterator[bytes]:
        """Yield the parts of an asynchronous body; a placeholder delays only what follows it."""
        rest = b""
        while True:
            REQUEST.set(self)  # the body may be sent in another context
            part = await anext(parts, None)
            if part is None:
                break
            part = rest + part
            sent, rest = guarded(filler.split, part, otherwise=(part, b""))
            yield sent
            if filler.is_blocked:
                await aguarded(self.placeholders.fill, self.passes, otherwise=None, passes=self.passes)
                sent, rest = guarded(filler.split, rest, otherwise=(rest, b""))
                yield sent
        if rest:
            yield guarded(filler.finish, rest, otherwise=rest)


def as_text(nonce: object) -> str | None:
    """Return the text of a nonce. A lazy nonce is false until it is read."""
    if nonce is None:
        return None
    return str(nonce() if callable(nonce) else nonce) or None


def _end_page(**_: Any) -> None:
    """End the page of a streamed response, because its body was sent."""
    page = REQUEST.get()
    if isinstance(page, DjangoPage):
        guarded(page.end, otherwise=None)
        REQUEST.set(None)


def _begin(request: HttpRequest) -> DjangoPage | HttpResponse:
    """Begin the page of a request, or return the file that is requested."""
    embed, meta = faqs_from(), request.META
    query_string = meta.get("QUERY_STRING", "")
    if are_served(embed.settings):
        file = requested_file(request.method or "", request.path_info, query_string)
        if file is not None:
            return HttpResponse(file.content, headers=file.headers)
    page = DjangoPage(request=request, outer=REQUEST.get())
    page.configure(embed.settings, query_string, meta.get("SCRIPT_NAME", ""))
    REQUEST.set(page)
    return page
