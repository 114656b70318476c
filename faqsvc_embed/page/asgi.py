"""Sends one ASGI response: completes its body, and updates its headers to match."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

from faqsvc_embed.page.body import BodyFilter, acompleted
from faqsvc_embed.page.context import Page
from faqsvc_embed.page.header_changes import (
    changes_headers,
    headers_of_changed_body,
    headers_of_stream,
    with_page_headers,
)
from faqsvc_embed.page.response_head import ResponseHead
from faqsvc_embed.runtime.bounded_log import LogOnce

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

BEFORE_START: Final = ("http.response.push", "http.response.early_hint", "http.response.debug")
"""Messages that may be sent before the start of a response."""
UNCHANGED: Final = -1
"""The length of a body that was not changed."""

_log: Final = LogOnce()


class PageResponder:
    """Sends the messages of one response. If the body may change, the start waits for the body."""

    def __init__(self, page: Page, method: str, send: Send) -> None:
        self._page = page
        self._method = method
        self._send = send
        self._start: Message | None = None
        self._charset: str | None = None
        self._filter: BodyFilter | None = None
        self._length: int | None = None
        """How long the body is, if the start says so; it is then read as a whole."""
        self._body = bytearray()

    def __call__(self, message: Message) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            return self._begin(message)
        if message["type"] != "http.response.body":
            return self._send_other(message)
        if self._charset is not None:
            return self._send_body(message, self._charset)
        if not message.get("more_body"):
            self._page.is_over = True
        return self._send(message)

    def _begin(self, message: Message) -> Awaitable[None]:
        """Send the start of a response whose body is complete, or keep it until the body comes."""
        headers = message.get("headers", ())
        if not isinstance(headers, list | tuple):  # any other iterable may be read only once
            message = {**message, "headers": (headers := list(headers))}
        page = self._page
        if not page.is_unfinished:
            for name, value in headers:  # as on nearly every page
                if name == b"content-length" and not (page.printed and page.may_change(_number(value))):
                    return self._send(self._with_headers(message))
        head = ResponseHead.of(message["status"], _decoded(headers))
        self._charset = head.charset
        if self._charset is None:
            if page.is_unfinished:
                head.warn_of_compression("add the middleware that compresses after FAQMiddleware")
            if page.has_open_placeholders and self._method != "HEAD":
                _warn_of_form(head)
            return self._send(self._with_headers(message))
        self._start = message
        lengths = (_number(value) for name, value in headers if name.lower() == b"content-length")
        self._length = next(lengths, None)
        return _nothing()

    async def _send_other(self, message: Message) -> None:
        """Send a file or trailers. The body cannot be changed after such a message."""
        if message["type"] not in BEFORE_START:
            if self._body and self._start is not None and self._charset is not None:
                part = {"type": "http.response.body", "body": bytes(self._body), "more_body": True}
                await self._send_part(part, self._charset)
            await self.send_start()
            body_filter, self._filter, self._charset = self._filter, None, None
            if body_filter is not None:
                async for piece in body_filter.afeed(b"", last=True):
                    await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._send(message)

    async def _send_body(self, message: Message, charset: str) -> None:
        page, more = self._page, message.get("more_body", False)
        is_whole = not more
        if self._start is not None and self._length is not None and (more or self._body):
            self._body += message.get("body", b"")
            is_whole = is_whole or len(self._body) >= self._length
            if not is_whole:
                return
            message = {**message, "body": bytes(self._body)}
        if self._start is not None and is_whole and (page.is_unfinished or page.printed):
            await self._send_whole(message, charset)
            if more:  # what still comes is empty, as in BaseHTTPMiddleware of Starlette
                self._charset = None
        elif more or self._filter is not None or page.is_unfinished:
            await self._send_part(message, charset)
        else:
            await self.send_start()
            await self._send(message)
        if not more:
            page.is_over = True

    async def _send_whole(self, message: Message, charset: str) -> None:
        """Send a response with a body in one piece, with its length."""
        body = bytes(message.get("body", b""))
        changed = await acompleted(self._page, charset, body)
        if changed is not None:
            await self.send_start(length=len(changed))
            await self._send({**message, "body": changed})
        else:
            # A HEAD without body must not have another length than the GET.
            await self.send_start(length=UNCHANGED if body or self._method != "HEAD" else None)
            await self._send(message)

    async def _send_part(self, message: Message, charset: str) -> None:
        """Send the part of a streamed body that is complete."""
        page, more = self._page, message.get("more_body", False)
        await self.send_start(is_streamed=True)
        if self._filter is None and (page.placeholders is not None or page.printed):
            self._filter = BodyFilter(page, charset)
        if self._filter is None:
            await self._send(message)
            return
        async for piece in self._filter.afeed(bytes(message.get("body", b"")), last=not more):
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        if not more:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def send_start(self, *, length: int | None = UNCHANGED, is_streamed: bool = False) -> None:
        """Send the start of the response, if it waits; `length` is None if it is not known.

        A response whose body never came has its start sent last; after an exception, that of an error page.
        """
        start, self._start = self._start, None
        if start is not None:
            await self._send(self._with_headers(start, length=length, is_streamed=is_streamed))

    def _with_headers(
        self, start: Message, *, length: int | None = UNCHANGED, is_streamed: bool = False
    ) -> Message:
        """Return the start of a response with the headers that its body and its page need."""
        page = self._page
        if not (is_streamed or length != UNCHANGED or changes_headers(page)):
            return start
        changed = headers = list(_decoded(start.get("headers", ())))
        if is_streamed:
            changed = headers_of_stream(page, headers)
        elif length != UNCHANGED:
            changed = headers_of_changed_body(headers, length)
        if changes_headers(page):
            changed = with_page_headers(page, changed)
        return start if changed == headers else {**start, "headers": _encoded(changed)}


def _number(length: bytes) -> int:
    """Return the value of Content-Length."""
    return int(length) if length.isdigit() else 0


async def _nothing() -> None:
    """Send nothing yet."""


def _encoded(headers: list[tuple[str, str]]) -> list[Header]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _decoded(headers: Iterable[Header]) -> Iterable[tuple[str, str]]:
    return ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)


def _warn_of_form(head: ResponseHead) -> None:
    if head.status == 200 and not head.is_compressed:
        _log.warning(
            "form",
            "a response that is not text/html lacks an FAQ that was not cached: "
            "`await embed.aprefetch(...)` before its template is rendered",
        )
