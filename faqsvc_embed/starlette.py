"""FAQs in Starlette and any ASGI application: a page with each request, filled in as its body leaves."""

import logging
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from functools import cache
from typing import Any, Final

from anyio import to_thread
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed import page as pages
from faqsvc_embed.apikey import sealed
from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.filling import BodyFiller
from faqsvc_embed.page import Page, RequestPage
from faqsvc_embed.responses import NEGOTIATED, SPOKE_OF_BODY, fillable, shortened, varied
from faqsvc_embed.settings import Settings
from faqsvc_embed.styles import File, file_named

logger = logging.getLogger("faqsvc_embed")

NAME: Final = "faqsvc"
"""The key of an embed in the scope of a request, and the path of our files."""
ONE_PIECE: Final = 262_144
"""Bytes of a whole body that are put together into one message; a longer one is sent in parts."""

VARY: Final = (b"vary", NEGOTIATED.encode())


class FAQMiddleware:
    """Gives each request a page, and awaits the FAQs that its templates could not wait for.

    `embed` is the one that `faqsvc_embed.jinja.install` got; without it, one is made of the settings.

    Raises:
        ConfigurationError: a setting cannot be, or there are settings beside an `embed`.
    """

    def __init__(self, app: ASGIApp, /, embed: FAQEmbed | None = None, **settings: Any) -> None:
        settings = sealed(settings)
        if embed is not None and settings:
            names = ", ".join(sorted(settings))
            raise ConfigurationError(f"FAQMiddleware got an embed and also {names}: give these to the embed")
        self.app = app
        self.embed = embed or FAQEmbed(settings=Settings.from_env(**settings))
        self._has_files = self.embed.showing.has_files
        self._is_ready = False
        self._limits_caching = self.embed.settings.degraded_max_age is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if self._has_files and (file := _file(scope)) is not None:
                await _sending(file)(scope, receive, send)
                return
            if NAME in scope:
                await self._pass_on(scope, receive, send)
                return
            scope[NAME] = self.embed
            page = _RequestPage(scope, self._has_files)
            page.limits_caching = self._limits_caching
            await self._get_ready(page)
            responder = _Responder(page, scope["method"], send)
            token = pages.begin(page)
            try:
                await self.app(scope, receive, responder)
            except Exception:
                await responder.let_go()
                raise
            finally:
                page.is_over = True
                pages.end(token)
            if responder.start is not None:
                await responder.let_go()
        elif scope["type"] == "lifespan":
            await to_thread.run_sync(self.embed.get_ready)
            self._is_ready = True
            await self.app(scope, receive, self._closing(send))
        else:
            if scope["type"] == "websocket":
                scope[NAME] = self.embed  # for `faqs_from`; there is no page
            await self.app(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Leave the page to the middleware that began it; the application inside has this embed."""
        outer, scope[NAME] = scope[NAME], self.embed
        try:
            await self.app(scope, receive, send)
        finally:
            scope[NAME] = outer

    async def _get_ready(self, page: Page) -> None:
        """Do in a thread what takes long, where no lifespan did it; it counts as a wait of the page."""
        if self._is_ready:
            return
        page.start_waiting()
        with suppress(Exception):  # whoever shows an FAQ meets it again, and says so
            await to_thread.run_sync(self.embed.get_ready)
        page.stop_waiting()
        self._is_ready = True

    def _closing(self, send: Send) -> Send:
        async def close_and_send(message: Message) -> None:
            if message["type"] in ("lifespan.shutdown.complete", "lifespan.shutdown.failed"):
                await to_thread.run_sync(self.embed.close)  # before, for now the server waits
            await send(message)

        return close_and_send


def faqs_from(request: HTTPConnection) -> FAQEmbed:
    """Return the embed that serves a request or a WebSocket.

    Raises:
        ConfigurationError: no FAQMiddleware stands before it.
    """
    embed = request.scope.get(NAME)
    if not isinstance(embed, FAQEmbed):
        raise ConfigurationError("no FAQs here yet: app.add_middleware(FAQMiddleware, embed=embed)")
    return embed


class _RequestPage(RequestPage):
    """The page of a request, which asks the request's state and headers only when it has to."""

    fills_slots = True

    def __init__(self, scope: Scope, has_files: bool) -> None:
        self._scope = scope
        self.shows_problems = getattr(scope.get("app"), "debug", False)
        if has_files:  # what is mounted further in has a root_path of its own
            self.assets = f"{scope.get('root_path', '')}/{NAME}"

    def nonce(self) -> str | None:
        return self._from_state("csp_nonce")

    def locale(self) -> str | None:
        return self._from_state("lang", "language", "locale")

    def accept_language(self) -> str:
        header = b""
        for name, value in self._scope["headers"]:
            if name == b"accept-language":
                header = header + b"," + value if header else value
        return header.decode("latin-1")

    def _from_state(self, *names: str) -> str | None:
        state = self._scope.get("state")
        if not state:
            return None
        for name in names:
            value = state.get(name)
            value = value() if callable(value) else value
            if value:
                return str(value)
        return None


def _file(scope: Scope) -> File | None:
    """Return the file of ours that a request asks for."""
    path, root = scope["path"], scope.get("root_path", "")
    folder, _, name = path.removeprefix(root).rpartition("/")
    if folder != f"/{NAME}" or scope["method"] not in ("GET", "HEAD"):
        return None
    return file_named(name, HTTPConnection(scope).query_params)


def _sending(file: File) -> Response:
    forever = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(file.text, media_type=file.media_type, headers=forever)


class _Responder:
    """Sends one response on; the start of one that may change is held back until it is known how."""

    # Defaults on the class: in most responses nothing has to be filled in.
    start: Message | None = None
    _charset = ""
    _filler: BodyFiller | None = None

    def __init__(self, page: Page, method: str, send: Send) -> None:
        self._page = page
        self._method = method
        self._send = send

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
            for name, _ in headers:
                if name == b"content-length":  # the body is whole, and there is nothing to change in it
                    as_it_is = not page.negotiated and not page.limits_caching
                    return self._send(message if as_it_is else self._negotiated(message))
        charset = fillable(
            method=self._method,
            status=message["status"],
            content_type=_value(headers, b"content-type"),
            content_encoding=_value(headers, b"content-encoding"),
            content_range=_value(headers, b"content-range"),
        )
        if charset is None:
            if page.has_open_slots and _value(headers, b"content-encoding"):
                _warn_of_compression()
            return self._send(self._negotiated(message))
        self.start, self._charset = message, charset
        return _nothing()

    async def _fill(self, message: Message) -> None:
        if message["type"] != "http.response.body":
            await self.let_go()
            self._filler = None
            await self._send(message)
            return
        start, self.start = self.start, None
        body, more = message.get("body", b""), message.get("more_body", False)
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
        if not self._page.negotiated:
            return start
        headers = start.get("headers", ())
        for name, _ in headers:
            if name.lower() == b"vary":
                break
        else:
            return {**start, "headers": [*headers, VARY]}
        vary = varied(value.decode("latin-1") for name, value in headers if name.lower() == b"vary")
        if vary is None:
            return start
        others = [(name, value) for name, value in headers if name.lower() != b"vary"]
        return {**start, "headers": [*others, (b"vary", vary.encode("latin-1"))]}


def _limited(start: Message, max_age: int | None) -> Message:
    """Return the start of a response that nobody keeps for longer."""
    if max_age is None:
        return start
    texts = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in start.get("headers", ()))
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in shortened(texts, max_age)
    ]
    return {**start, "headers": headers}


def _changed(start: Message, length: int | None = None) -> Message:
    """Return the start of a response without what is no longer true of its body."""
    headers = list[tuple[bytes, bytes]]()
    for name, value in start.get("headers", ()):
        field = name.lower().decode("latin-1")
        if field == "content-length" and length is not None:
            headers.append((name, str(length).encode()))
        elif field not in SPOKE_OF_BODY and field != "content-length":
            headers.append((name, value))
    return {**start, "headers": headers}


def _value(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in headers if name.lower() == wanted), "")


@cache
def _warn_of_compression() -> None:
    logger.warning(
        "an FAQ is left out of a compressed response, which cannot be filled in: "
        "add the middleware that compresses after FAQMiddleware, so that it is outside of it"
    )


async def _nothing() -> None:
    """Hold a message back."""
