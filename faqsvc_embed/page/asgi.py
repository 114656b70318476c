"""Sends one ASGI response. Messages pass unchanged, unless the page changes headers or left a placeholder."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from typing import Any, Final

from faqsvc_embed.page.border import guarded
from faqsvc_embed.page.headers import Changes, applied, fillable_charset, filled_body_changes, page_changes
from faqsvc_embed.page.page import Page
from faqsvc_embed.page.placeholders import BodyFiller

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Header = tuple[bytes, bytes]

START: Final = "http.response.start"
BODY: Final = "http.response.body"
BEFORE_START: Final = ("http.response.push", "http.response.early_hint", "http.response.debug")
"""Messages that may be sent before the start of a response."""


class PageResponse:
    """The response of a page. The start of a stream is sent with its first part, which may change headers."""

    def __init__(self, page: Page, method: str, send: Send) -> None:
        self.page = page
        self.unsent: list[Message] = []
        """The application's messages, unchanged, that the server does not have yet."""
        self._method = method
        self._send = send
        self._filler: BodyFiller | None = None
        self._status = 0
        self._charset: str | None = None

    async def send(self, message: Message) -> None:
        """Send what can be sent after a message of the application, which calls this function."""
        if message["type"] == BODY and not self.page.placeholders.are_used and not self.unsent:
            if not message.get("more_body"):
                guarded(self.page.end, otherwise=None)
            await self._send(message)
            return
        self.unsent.append(message)
        for may_wait in (True, False):
            unchanged = (self.unsent, list[Message](), False)
            ready, self.unsent, waits = guarded(
                self._next, self.unsent, may_wait, otherwise=unchanged, about=message["type"]
            )
            for one in ready:
                await self._send(one)
            if not waits:
                break
            filling = guarded(self.page.placeholders.fill, self.page.passes, otherwise=None)
            for failure in await asyncio.gather(*filter(None, [filling]), return_exceptions=True):
                guarded(_check, failure, otherwise=None, passes=self.page.passes)

    def _next(self, held: list[Message], may_wait: bool) -> tuple[list[Message], list[Message], bool]:
        """Return the messages to send, those to keep, and whether placeholders must be filled first."""
        message, placeholders = held[-1], self.page.placeholders
        if message["type"] == START:
            return self._begin(message)
        if message["type"] in BEFORE_START:
            return [message], held[:-1], False
        if message["type"] == BODY and placeholders.are_used and self._charset is not None:
            self._filler = self._filler or BodyFiller(placeholders, self._charset)
            return self._fill(held, self._filler, may_wait)
        if message["type"] == BODY and not message.get("more_body"):
            guarded(self._end, otherwise=None)
        return [self._start(one) if one["type"] == START else one for one in held], [], False

    def _begin(self, message: Message) -> tuple[list[Message], list[Message], bool]:
        """Send the start of a response, or hold it until the first part of a body that may be filled."""
        headers = message.get("headers", ())
        if not isinstance(headers, list | tuple):  # any other iterable may be read only once
            message = {**message, "headers": (headers := list(headers))}
        self._status = message["status"]
        if self.page.placeholders.are_used or not _has_length(headers):
            self._charset = fillable_charset(self._status, decoded(headers))
        return ([self._start(message)], [], False) if self._charset is None else ([], [message], False)

    def _fill(
        self, held: list[Message], filler: BodyFiller, may_wait: bool
    ) -> tuple[list[Message], list[Message], bool]:
        """Send a part of a body with its placeholders filled; the text before an open one is sent at once."""
        message, is_last = held[-1], not held[-1].get("more_body")
        start = held[0] if held[0]["type"] == START else None
        body = b"".join([bytes(one.get("body", b"")) for one in held if one["type"] == BODY])
        sent, rest = filler.split(body)
        is_open = filler.is_blocked and self.page.placeholders.are_open
        waits = is_open and may_wait
        # A framework may leave out the body of a response to HEAD.
        is_whole = start is not None and is_last and (body != b"" or self._method != "HEAD")
        if waits and is_whole:  # Content-Length is known once all is filled
            return [], held, True
        if not waits and (is_last or is_open):
            sent, rest = sent + filler.finish(rest), b""
            if is_last:
                guarded(self._end, otherwise=None)
        ready = [message]
        if waits or sent != message.get("body", b""):
            ready = [{**message, "body": sent, "more_body": waits or not is_last}]
        if start is not None:
            if not is_whole and self.page.may_degrade and self.page.placeholders.are_open:
                self.page.limit_max_age(0)  # the headers of a stream do not wait for FAQs
            length = len(sent) if is_whole and _has_length(start.get("headers", ())) else None
            changes = {} if is_whole and sent == body else filled_body_changes(length)
            ready.insert(0, self._start(start, changes))
        return ready, [{**message, "body": rest}] if rest else [], waits

    def _end(self) -> None:
        self.page.end()
        self.page.report_lost_placeholders(self._status, self._method)

    def _start(self, message: Message, changes: Changes | None = None) -> Message:
        """Return the start of the response with the headers that the page changes."""
        headers = self.page.sent_headers = message.get("headers", ())
        changes = {**(changes or {}), **page_changes(self.page, decoded(headers))}
        if not changes:
            return message
        sent = applied(decoded(headers), {name.lower(): value for name, value in changes.items()})
        return {
            **message,
            "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in sent],
        }


def _check(outcome: BaseException | None) -> None:
    """Raise what a coroutine has raised."""
    if outcome is not None:
        raise outcome


def _has_length(headers: Iterable[Header]) -> bool:
    return b"content-length" in map(bytes.lower, dict(headers))


def decoded(headers: Iterable[Header]) -> Iterator[tuple[str, str]]:
    """Yield the headers of a message as text."""
    return ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
