"""Middleware for Starlette and any other ASGI application. It gives each request a page.

It needs ASGI 3 and asyncio, and works without Starlette.
"""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final, Protocol, Unpack

from faqsvc_embed.embed import FAQEmbed, embed_of_middleware
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.languages import MAX_HEADER
from faqsvc_embed.page.asgi import Message, PageResponse, Send
from faqsvc_embed.page.border import guarded
from faqsvc_embed.page.context import REQUEST
from faqsvc_embed.page.page import RequestPage, first_of
from faqsvc_embed.rendering.assets import File, are_served, requested_file
from faqsvc_embed.runtime.threads import in_event_loop
from faqsvc_embed.settings import with_hidden_keys
from faqsvc_embed.settings.options import SettingOptions

__all__ = ["FAQMiddleware", "faqs_from"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
ASGIApp = Callable[[Any, Any, Any], Awaitable[None]]
"""Each framework has its own types for the scope and the messages."""

EMBED: Final = "faqsvc"
"""The key of the embed in the scope of a request."""
NONCE_NAMES: Final = ("csp_nonce",)
LANGUAGE_NAMES: Final = ("lang", "language", "locale")
"""Attributes of `request.state` with the language of a page."""


class FAQMiddleware:
    """Gives each request a page, and awaits the FAQs that its templates could not wait for.

    Pass the same `embed` to `faqsvc_embed.jinja.install`. Without it, the settings create one.

    Raises:
        ConfigurationError: a setting is invalid, there are settings beside an `embed`, or `embed` is not one.
    """

    def __init__(
        self, app: ASGIApp, embed: FAQEmbed | None = None, **settings: Unpack[SettingOptions]
    ) -> None:
        self.app = app
        settings = with_hidden_keys(settings)
        self.embed: FAQEmbed = embed_of_middleware(embed, settings)
        self._serves_files = are_served(self.embed.settings)
        guarded(self.embed.presenter.renderer.load_templates, otherwise=None)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._pass_on(scope, receive, send)
            return
        file = guarded(self._file, scope, otherwise=None) if self._serves_files else None
        if file is not None:
            await _send_file(file, scope["method"], send)
            return
        outer = scope.get(EMBED, self.embed)  # that of another FAQMiddleware around this one
        scope[EMBED] = self.embed
        response = guarded(self._response, scope, send, otherwise=None)
        if response is None:
            await self.app(scope, receive, send)
            return
        token = REQUEST.set(response.page)
        try:
            await self.app(scope, receive, response.send)
            for message in response.unsent:  # the application has sent no body
                await send(message)
        finally:
            if not response.page.is_over:
                guarded(response.page.end, otherwise=None)
            REQUEST.reset(token)
            scope[EMBED] = outer

    async def _pass_on(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass on a lifespan or a WebSocket, which has no page."""
        if scope["type"] == "lifespan":
            if not in_event_loop():
                raise ConfigurationError(
                    "FAQMiddleware needs asyncio: run the server with an asyncio event loop"
                )
            send = self._closing(send)
        elif scope["type"] == "websocket":
            scope[EMBED] = self.embed  # for `faqs_from`
        await self.app(scope, receive, send)

    def _file(self, scope: Scope) -> File | None:
        """Return the static file that is requested."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        return requested_file(scope["method"], path, scope["query_string"].decode("latin-1"))

    def _response(self, scope: Scope, send: Send) -> PageResponse:
        """Return the response of a new page."""
        scope.setdefault("state", {})  # shared with the scopes that applications copy from this one
        page, query_string = _ASGIPage(scope=scope), scope.get("query_string", b"").decode("latin-1")
        page.configure(self.embed.settings, query_string, scope.get("root_path", ""))
        return PageResponse(page, scope["method"], send)

    def _closing(self, send: Send) -> Send:
        async def send_and_close(message: Message) -> None:
            if message["type"] in ("lifespan.shutdown.complete", "lifespan.shutdown.failed"):
                await self.embed.aclose()  # before the message, because the server waits for it
            await send(message)

        return send_and_close


class Connection(Protocol):
    """A request or a WebSocket of an ASGI framework."""

    @property
    def scope(self) -> Mapping[str, Any]:
        """The scope that the server made (ASGI 3)."""


def faqs_from(request: Connection) -> FAQEmbed:
    """Return the embed that serves a request or a WebSocket.

    Raises:
        ConfigurationError: there is no FAQMiddleware around the application.
    """
    embed = request.scope.get(EMBED)
    if not isinstance(embed, FAQEmbed):
        raise ConfigurationError("there is no FAQMiddleware: app.add_middleware(FAQMiddleware, embed=embed)")
    return embed


class _ASGIPage(RequestPage, kw_only=True):
    """The page of a request. Its templates cannot wait, because they run in the event loop."""

    fills_placeholders = True

    scope: Scope

    @property
    def shows_problems(self) -> bool:
        return bool(getattr(self.scope.get("app"), "debug", False))

    def nonce(self) -> object:
        state = self.scope.get("state")
        return first_of(state.get, NONCE_NAMES) if state else None

    def chosen_language(self) -> object:
        state = self.scope.get("state")
        return first_of(state.get, LANGUAGE_NAMES) if state else None

    def accept_language(self) -> str:
        values = [value for name, value in self.scope["headers"] if name == b"accept-language"]
        return b",".join(values)[:MAX_HEADER].decode("latin-1")


async def _send_file(file: File, method: str, send: Send) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in file.headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else file.content})
