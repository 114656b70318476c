"""Sends one ASGI response. Its messages pass unchanged, unless the page has left a placeholder."""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

from faqsvc_embed.page.headers import (
    changes_headers,
    fillable_charset,
    headers_of_filled_body,
    with_page_headers,
)
from faqsvc_embed.page.page import Page
from faqsvc_embed.page.placeholders import BodyFiller, Placeholders

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

BEFORE_START: Final = ("http.response.push", "http.response.early_hint", "http.response.debug")
"""Messages that may be sent before the start of a response."""


class PageResponse:
    """The response of a page. The start of a stream is sent with its first part, which may change headers."""

    def __init__(self, page: Page, method: str, send: Send) -> None:
        self._page = page
        self._method = method
        self._send = send
        self._filler: BodyFiller | None = None
        self._status = 0
        self._charset: str | None = None
        self._start: Message | None = None

    def sender(self) -> Send:
        """Return the function to which an application passes its messages, one for each part of a stream."""
        page, send = self._page, self._send

        def send_message(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                return self._begin(message)
            if message["type"] != "http.response.body":
                return self._send_other(message)
            if self._start is not None or page.placeholders is not None:
                return self._send_body(message)
            if not message.get("more_body"):
                page.end()
            return send(message)

        return send_message

    async def finish(self) -> None:
        """Send the start of a response if the application has sent no body."""
        if self._start is not None:
            await self._send_start(self._start)

    def _begin(self, message: Message) -> Awaitable[None]:
        """Send the start of a response, or store it until the first part of a body that may be filled."""
        headers = message.get("headers", ())
        if not isinstance(headers, list | tuple):  # any other iterable may be read only once
            message = {**message, "headers": (headers := list(headers))}
        self._status = message["status"]
        if self._page.placeholders is not None or not _has_length(headers):
            self._charset = fillable_charset(self._status, decoded(headers))
        return self._send_start(message) if self._charset is None else self._keep(message)

    async def _keep(self, message: Message) -> None:
        self._start = message

    async def _send_other(self, message: Message) -> None:
        """Send a message that is neither the start of a response nor a part of its body."""
        if message["type"] not in BEFORE_START:  # a file, or trailers
            await self.finish()
            if self._filler is not None and (rest := self._filler.feed(b"", last=True)):
                await self._send({"type": "http.response.body", "body": rest, "more_body": True})
        await self._send(message)

    async def _send_body(self, message: Message) -> None:
        page, placeholders = self._page, self._page.placeholders
        is_last = not message.get("more_body")
        if placeholders is not None and self._charset is not None and self._filler is None:
            self._filler = BodyFiller(placeholders, self._charset)
            if self._start is not None:
                message = await self._fill_first(self._start, message, placeholders)
        if self._start is not None:
            await self._send_start(self._start)
        if placeholders is not None and self._filler is not None and not self._filler.is_idle:
            message = {**message, "body": await self._filled_part(message, self._filler, placeholders)}
        if is_last:
            page.end()
            page.report_lost_placeholders(self._status, self._method)
        await self._send(message)

    async def _fill_first(self, start: Message, message: Message, placeholders: Placeholders) -> Message:
        """Change the headers for a filled body. A body in one part is filled first, to know its length."""
        headers, length, filler = start.get("headers", ()), None, self._filler
        before = bytes(message.get("body", b""))
        # A framework may leave out the body of a response to HEAD.
        if filler is not None and not message.get("more_body") and (before or self._method != "HEAD"):
            body = filler.feed(before)
            if filler.is_blocked:
                await placeholders.fill()
            body += filler.feed(b"", last=True)
            if body == before:  # it has no placeholder
                return message
            message = {**message, "body": body}
            length = len(body) if _has_length(headers) else None
        elif self._page.may_degrade and placeholders.are_open:  # a stream does not wait
            self._page.limit_max_age(0)
        self._start = {**start, "headers": _encoded(headers_of_filled_body(decoded(headers), length))}
        return message

    async def _filled_part(self, message: Message, filler: BodyFiller, placeholders: Placeholders) -> bytes:
        """Return a part of a stream; the text before an open placeholder is sent at once."""
        is_last = not message.get("more_body")
        body = filler.feed(bytes(message.get("body", b"")))
        if filler.is_blocked and placeholders.are_open:
            if body:
                await self._send({**message, "body": body, "more_body": True})
            await placeholders.fill()
            body = filler.feed(b"")
        return body + filler.feed(b"", last=True) if is_last else body

    def _send_start(self, message: Message) -> Awaitable[None]:
        page, self._start = self._page, None
        page.sent_headers = message.get("headers", ())
        if changes_headers(page):
            headers = with_page_headers(page, decoded(page.sent_headers))
            message = {**message, "headers": _encoded(headers)}
        return self._send(message)


def _has_length(headers: Iterable[Header]) -> bool:
    return b"content-length" in map(bytes.lower, dict(headers))


def decoded(headers: Iterable[Header]) -> list[tuple[str, str]]:
    """Return the headers of a message as text."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def _encoded(headers: Iterable[tuple[str, str]]) -> list[Header]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
