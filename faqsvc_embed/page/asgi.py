"""One ASGI response on its way out: its body is filled in, and its head tells what is true of it then."""

import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from functools import cache
from typing import Any, Final

import msgspec

from faqsvc_embed.page.body import BodyFiller
from faqsvc_embed.page.context import Page
from faqsvc_embed.page.headers import (
    NEGOTIATED,
    SPOKE_OF_BODY,
    fillable,
    may_be_shared,
    shortened,
    varied,
)

logger = logging.getLogger("faqsvc_embed")

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

ONE_PIECE: Final = 262_144
"""Bytes of a whole body that are put together into one message; a longer one is sent in parts."""

WITHOUT_START: Final = ("http.response.push", "http.response.early_hint", "http.response.debug")
"""Messages that may go ahead of a start that is held back."""
OF_BODY: Final = frozenset(name.encode() for name in SPOKE_OF_BODY)
VARY: Final = (b"vary", NEGOTIATED.encode())


class Delivery(msgspec.Struct, eq=False):
    """Sends one response on; the start of one that may change is held back until it is known how."""

    _page: Page
    _method: str
    _send: Send
    start: Message | None = None
    _charset: str = ""
    _filler: BodyFiller | None = None

    __repr__ = object.__repr__  # as that of its page

    def __call__(self, message: Message) -> Awaitable[None]:
        if self.start is not None or self._filler is not None:
            return self._fill(message)
        if message["type"] == "http.response.start":
            return self._begin(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self._page.is_over = True
        return self._send(message)

    def _begin(self, message: Message) -> Awaitable[None]:
        """Pass the start of a response on, or hold it back if the body is HTML that may change."""
        page, headers = self._page, message.get("headers", ())
        if type(headers) is not list and type(headers) is not tuple:  # any iterable may be read but once
            message = {**message, "headers": list(headers)}
            headers = message["headers"]
        if not page.may_change:
            is_whole = says_vary = False
            for name, _ in headers:
                if name == b"content-length":
                    is_whole = True
                elif len(name) == 4 and name.lower() == b"vary":
                    says_vary = True
            if is_whole:  # there is nothing to change in the body
                if page.limits_caching or (page.negotiated and says_vary):
                    message = self._negotiated(message)
                elif page.negotiated:  # the way of nearly every page with an FAQ
                    message = {**message, "headers": [*headers, VARY]}
                return self._send(message)
        content_type = content_encoding = content_range = ""
        for name, value in headers:
            name = name.lower()
            if name == b"content-type":
                content_type = value.decode("latin-1")
            elif name == b"content-encoding":
                content_encoding = value.decode("latin-1")
            elif name == b"content-range":
                content_range = value.decode("latin-1")
        charset = fillable(
            method=self._method,
            status=message["status"],
            content_type=content_type,
            content_encoding=content_encoding,
            content_range=content_range,
        )
        if charset is None:
            if content_encoding and (page.has_open_slots or not page.is_settled):
                _warn_of_compression()
            elif page.has_open_slots and message["status"] == 200 and self._method != "HEAD":
                _warn_of_form()
            return self._send(self._negotiated(message))
        self.start, self._charset = message, charset
        return _nothing()

    async def _fill(self, message: Message) -> None:
        if message["type"] != "http.response.body":
            if message["type"] not in WITHOUT_START:
                await self._end_filling()
            await self._send(message)
            return
        start, self.start = self.start, None
        body, more = bytes(message.get("body", b"")), message.get("more_body", False)
        if self._filler is None:
            self._filler = BodyFiller(self._page, self._charset, body)
        pieces = self._filler.feed(body, last=not more)
        if start is not None and not more:
            await self._send_whole(start, message, [piece async for piece in pieces])
            return
        if start is not None:
            await self._send(
                _changed(self._negotiated(start)) if self._page.may_change else self._negotiated(start)
            )
        async for piece in pieces:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        if not more:
            self._page.is_over = True
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _end_filling(self) -> None:
        """Let what was held back go, for the body goes on in a form that cannot be read here."""
        await self.let_go()
        filler, self._filler = self._filler, None
        if filler is not None:
            async for piece in filler.feed(b"", last=True):
                await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _send_whole(self, start: Message, message: Message, pieces: list[bytes]) -> None:
        """Send a response whose whole body has come, with its length."""
        self._page.is_over = True
        start = self._negotiated(start)
        if self._filler is None or not self._filler.has_changed:
            await self._send(start)
            await self._send(message)
            return
        length = sum(map(len, pieces))
        await self._send(_changed(start, length))
        if length <= ONE_PIECE:
            pieces = [b"".join(pieces)]
        for piece in pieces[:-1]:
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        await self._send({**message, "body": pieces[-1] if pieces else b"", "more_body": False})

    async def let_go(self) -> None:
        """Send the start of a response whose body never came."""
        start, self.start = self.start, None
        if start is not None:
            await self._send(self._negotiated(start))

    def _negotiated(self, start: Message) -> Message:
        """Return a start with what is known of the page now: how long it may be kept, what it varies by."""
        if self._page.limits_caching:
            start = _limited(start, self._page.max_age())
        headers = start.get("headers", ())
        if not self._page.negotiated:
            if not self._page.is_over:  # what follows may ask, when it is too late to name the language
                self._page.may_negotiate = not may_be_shared(_texts(headers))
            return start
        vary = varied(value.decode("latin-1") for name, value in headers if name.lower() == b"vary")
        if vary is None:
            return start
        others = [(name, value) for name, value in headers if name.lower() != b"vary"]
        return {**start, "headers": [*others, (b"vary", vary.encode("latin-1"))]}


def _limited(start: Message, max_age: int | None) -> Message:
    """Return the start of a response that nobody keeps for longer."""
    if max_age is None:
        return start
    headers = shortened(_texts(start.get("headers", ())), max_age)
    encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    return {**start, "headers": encoded}


def _changed(start: Message, length: int | None = None) -> Message:
    """Return the start of a response without what is no longer true of its body."""
    headers: list[tuple[bytes, bytes]] = []
    for header in start.get("headers", ()):
        name = header[0].lower()
        if name == b"content-length":
            if length is not None:
                headers.append((name, b"%d" % length))
        elif name not in OF_BODY:
            headers.append(header)
    return {**start, "headers": headers}


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> Iterable[tuple[str, str]]:
    return ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)


@cache
def _warn_of_compression() -> None:
    logger.warning(
        "an FAQ, or its questions in the page's FAQPage, is left out of a compressed response, which cannot "
        "be filled in: add the middleware that compresses after FAQMiddleware, so that it is outside of it"
    )


@cache
def _warn_of_form() -> None:
    logger.warning(
        "an FAQ that was not held yet is left out of a response that is no text/html, which cannot be filled "
        "in: await faqs_from(request).aprefetch() before such a template"
    )


async def _nothing() -> None:
    """Hold a message back."""
