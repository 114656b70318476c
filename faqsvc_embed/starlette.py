"""Middleware for Starlette and any other ASGI application. It gives each request a page.

Messages pass unchanged, unless the page changes headers or has left a placeholder. The middleware needs
ASGI 3 and asyncio, and works without Starlette.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, Final, Protocol, Unpack

from faqsvc_embed.embed import FAQEmbed, embed_of
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.page.border import guarded
from faqsvc_embed.page.headers import Changes, applied, fillable_charset, filled_body_changes, page_changes
from faqsvc_embed.page.page import REQUEST, RequestPage, first_of
from faqsvc_embed.page.placeholders import BodyFiller
from faqsvc_embed.rendering.assets import File, are_served, requested_file
from faqsvc_embed.runtime.threads import in_event_loop
from faqsvc_embed.settings import SettingOptions, with_hidden_keys

__all__ = ["FAQMiddleware", "faqs_from"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Header = tuple[bytes, bytes]
Send = Callable[[Message], Awaitable[None]]
Receive = Callable[[], Awaitable[Message]]
ASGIApp = Callable[[Any, Any, Any], Awaitable[None]]
"""Each framework has its own types for the scope and the messages."""

EMBED: Final = "faqsvc"
"""The key of the embed in the scope of a request."""
NONCE_NAMES: Final = ("csp_nonce",)
LANGUAGE_NAMES: Final = ("lang", "language", "locale")
"""Attributes of `request.state` with the language of a page."""
START: Final = "http.response.start"
BODY: Final = "http.response.body"
BEFORE_START: Final = ("http.response.push", "http.response.early_hint", "http.response.debug")
"""Messages that may be sent before the start of a response."""


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
        self.embed: FAQEmbed = embed_of("FAQMiddleware", embed, settings)
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
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        return requested_file(scope["method"], path, scope["query_string"].decode("latin-1"))

    def _response(self, scope: Scope, send: Send) -> "_Response":
        scope.setdefault("state", {})  # shared with the scopes that applications copy from this one
        page, query_string = _ASGIPage(scope=scope), scope.get("query_string", b"").decode("latin-1")
        page.configure(self.embed.settings, query_string, scope.get("root_path", ""))
        return _Response(page, scope["method"], send)

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
        return first_of(self.scope["state"].get, NONCE_NAMES)

    def chosen_language(self) -> object:
        return first_of(self.scope["state"].get, LANGUAGE_NAMES)

    def accept_language(self) -> str:
        values = [value for name, value in self.scope["headers"] if name == b"accept-language"]
        return b",".join(values).decode("latin-1")


Split = tuple[list[Message], list[Message]]  # the messages to send now, and those to hold


class _Response:
    """The response of a page. Each message of the application is sent, or held with those that follow.

    If the body may be filled, its start is held until the first part, which may change the headers. A
    placeholder that is open holds what follows it, or a body that comes in one part, which has a length.
    """

    def __init__(self, page: _ASGIPage, method: str, send: Send) -> None:
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
            as_it_is: Split = self.unsent, []
            sent, self.unsent = guarded(
                self._split, self.unsent, may_wait, otherwise=as_it_is, about=message["type"]
            )
            for one in sent:
                await self._send(one)
            if not (self.unsent and self._filler is not None and self._filler.is_blocked):
                break
            # Not `aguarded`, which would be one more function that could break the page.
            filling = guarded(self.page.placeholders.fill, self.page.passes, otherwise=None)
            for failure in await asyncio.gather(*filter(None, [filling]), return_exceptions=True):
                guarded(_check, failure, otherwise=None, passes=self.page.passes)

    def _split(self, messages: list[Message], may_wait: bool) -> Split:
        """Return which messages to send now, and which to hold, after the last one has come.

        If it `may_wait`, placeholders may be open, and are filled next.
        """
        message, placeholders = messages[-1], self.page.placeholders
        if message["type"] == START:
            return self._begin(message)
        if message["type"] in BEFORE_START:
            return [message], messages[:-1]
        if message["type"] == BODY and placeholders.are_used and self._charset is not None:
            self._filler = self._filler or BodyFiller(placeholders, self._charset)
            return self._fill(messages, self._filler, may_wait)
        if message["type"] == BODY and not message.get("more_body"):
            guarded(self._end, otherwise=None)
        return [self._start(one) if one["type"] == START else one for one in messages], []

    def _begin(self, message: Message) -> Split:
        """Send the start of a response, or hold it until the first part of a body that may be filled."""
        headers = message.get("headers", ())
        if not isinstance(headers, list | tuple):  # any other iterable may be read only once
            message = {**message, "headers": (headers := list(headers))}
        self._status = message["status"]
        if self.page.placeholders.are_used or not _has_length(headers):
            self._charset = fillable_charset(self._status, _decoded(headers))
        return ([self._start(message)], []) if self._charset is None else ([], [message])

    def _fill(self, messages: list[Message], filler: BodyFiller, may_wait: bool) -> Split:
        """Send a part of a body with its placeholders filled; the text before an open one is sent at once."""
        message, is_last = messages[-1], not messages[-1].get("more_body")
        start = messages[0] if messages[0]["type"] == START else None
        body = b"".join([bytes(one.get("body", b"")) for one in messages if one["type"] == BODY])
        sent, rest = filler.split(body)
        is_open = filler.is_blocked and self.page.placeholders.are_open
        waits = is_open and may_wait
        # A framework may leave out the body of a response to HEAD.
        is_whole = start is not None and is_last and (body != b"" or self._method != "HEAD")
        if waits and is_whole:  # Content-Length is known once all is filled
            return [], messages
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
        return ready, [{**message, "body": rest}] if rest else []

    def _end(self) -> None:
        self.page.end()
        self.page.report_lost_placeholders(self._status, self._method)

    def _start(self, message: Message, changes: Changes | None = None) -> Message:
        """Return the start of the response with the headers that the page changes."""
        headers = self.page.sent_headers = _decoded(message.get("headers", ()))
        changes = {**(changes or {}), **page_changes(self.page, headers)}
        if not changes:
            return message
        sent = applied(headers, {name.lower(): value for name, value in changes.items()})
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


def _decoded(headers: Iterable[Header]) -> list[tuple[str, str]]:
    """Return the headers of a message as text."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


async def _send_file(file: File, method: str, send: Send) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in file.headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else file.content})
