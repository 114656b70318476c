"""FAQs in Starlette and any ASGI application: a page with each request, filled in as its body leaves."""

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final

from anyio import to_thread
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.languages import MAX_HEADER
from faqsvc_embed.page import context as pages
from faqsvc_embed.page.asgi import Delivery
from faqsvc_embed.page.context import Page
from faqsvc_embed.page.visitor import RequestPage
from faqsvc_embed.rendering.assets import File, file_named
from faqsvc_embed.runtime.background_loop import DaemonThreads
from faqsvc_embed.runtime.waiting import Waits
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.api_key import sealed

NAME: Final = "faqsvc"
"""The key of an embed in the scope of a request, and the path of our files."""
NONCE_NAMES: Final = ("csp_nonce",)
LONGEST_START: Final = 60.0
"""Seconds that the first pages wait for what takes long."""
LANGUAGE_NAMES: Final = ("lang", "language", "locale")
"""What a host says of a page in the state of its request."""


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
        self._getting_ready: Future[None] | None = None
        self._lock = threading.Lock()
        self._waits = Waits()
        self._limits_caching = self.embed.settings.degraded_max_age is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if self._has_files and (file := _file(scope)) is not None:
                await _sending(file)(scope, receive, send)
                return
            scope.setdefault("state", {})  # what is set further in, on a copy of this scope, is seen here
            if NAME in scope and pages.current() is not None:
                await self._pass_on(scope, receive, send)
                return
            scope[NAME] = self.embed
            page = _RequestPage(scope=scope)
            if getattr(scope.get("app"), "debug", False):
                page.shows_problems = True
            if self._has_files:  # what is mounted further in has a root_path of its own
                page.assets = _assets(scope)
            if self._limits_caching:
                page.limits_caching = True
            if not self._is_ready:
                await self._get_ready(page)
            delivery = Delivery(page, scope["method"], send)
            token = pages.begin(page)
            try:
                await self.app(scope, receive, delivery)
            except Exception:
                await delivery.let_go()
                raise
            finally:
                page.is_over = True
                pages.end(token)
            if delivery.start is not None:
                await delivery.let_go()
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
        page = pages.current()
        if self._has_files and page is not None and page.assets is None:  # the outer one serves none
            page.assets = _assets(scope)
        outer, scope[NAME] = scope[NAME], self.embed
        try:
            await self.app(scope, receive, send)
        finally:
            scope[NAME] = outer

    async def _get_ready(self, page: Page) -> None:
        """Do in a thread what takes long, where no lifespan did it; it counts as a wait of the page."""
        page.start_waiting()
        with suppress(Exception):  # whoever shows an FAQ meets it again, and says so
            if not self.embed.is_ready:
                with self._lock:  # once, however many come first, in whichever loops
                    if self._getting_ready is None:
                        self._getting_ready = DaemonThreads().submit(self.embed.get_ready)
                await self._waits.until(self._getting_ready, LONGEST_START)
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


class _RequestPage(RequestPage, kw_only=True):
    """The page of a request, which asks the request's state and headers only when it has to."""

    fills_slots = True

    scope: Scope

    def nonce(self) -> str | None:
        state = self.scope.get("state")
        return _first_of(state, NONCE_NAMES) if state else None

    def preferences(self) -> tuple[object, bytes]:
        state = self.scope.get("state")
        choice = _first_of(state, LANGUAGE_NAMES) if state else None
        header = b""
        for name, value in self.scope["headers"]:
            if name == b"accept-language":
                header = header + b"," + value if header else value
        return choice, bytes(header[:MAX_HEADER])  # a server may have it as a bytearray


def _first_of(state: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """Return what the host has put into the state of a request, as text or as a function."""
    for name in names:
        value = state.get(name)
        value = value() if callable(value) else value
        if value:
            return str(value)
    return None


def _assets(scope: Scope) -> str:
    return f"{scope.get('root_path', '')}/{NAME}"


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
