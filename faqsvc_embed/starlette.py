"""FAQs in Starlette and any ASGI application: a page with each request, filled in as its body leaves."""

from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed import page as pages
from faqsvc_embed.apikey import sealed
from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.page import Page
from faqsvc_embed.responses import NEGOTIATED, SPOKE_OF_BODY, fillable
from faqsvc_embed.settings import Settings
from faqsvc_embed.slots import SlotFinder, Slots

NAME: Final = "faqsvc"


class FAQMiddleware:
    """Gives each request a page, and awaits the FAQs that its templates could not wait for.

    `embed` is the one that `faqsvc_embed.jinja.install` got; without it, one is made of the settings.

    Raises:
        ConfigurationError: a setting cannot be.
    """

    def __init__(self, app: ASGIApp, embed: FAQEmbed | None = None, **settings: Any) -> None:
        settings = sealed(settings)
        self.app = app
        self.embed = embed or FAQEmbed(settings=Settings.from_env(**settings))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and NAME not in scope:
            scope[NAME] = self.embed
            page = _page(scope)
            token = pages.begin(page)
            try:
                await self.app(scope, receive, _Responder(page, scope["method"], send))
            finally:
                pages.end(token)
        elif scope["type"] == "lifespan":
            try:
                await self.app(scope, receive, send)
            finally:
                await self.embed.aclose()
        else:
            await self.app(scope, receive, send)


def faqs_from(request: HTTPConnection) -> FAQEmbed:
    """Return the embed that serves a request.

    Raises:
        ConfigurationError: no FAQMiddleware stands before it.
    """
    embed = request.scope.get(NAME)
    if not isinstance(embed, FAQEmbed):
        raise ConfigurationError("no FAQs here yet: app.add_middleware(FAQMiddleware, embed=embed)")
    return embed


def _page(scope: Scope) -> Page:
    page = Page()
    page.slots = Slots()
    page.nonce = lambda: _from_state(scope, "csp_nonce")
    page.locale = lambda: next(
        filter(None, (_from_state(scope, name) for name in ("lang", "language", "locale"))), None
    )
    page.accept_language = lambda: HTTPConnection(scope).headers.get("accept-language", "")
    return page


def _from_state(scope: Scope, name: str) -> str | None:
    value = scope.get("state", {}).get(name)
    value = value() if callable(value) else value
    return str(value) if value else None


class _Responder:
    """Sends one response on, its start held back until it is known whether its body changes."""

    def __init__(self, page: Page, method: str, send: Send) -> None:
        self._page = page
        self._method = method
        self._send = send
        self._start: Message | None = None
        self._finder: SlotFinder | None = None
        self._charset = "utf-8"

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            message = await self._begin(start, message)
        if self._finder is None or message["type"] != "http.response.body":
            await self._send(message)
        else:
            await self._stream(message, self._finder)

    async def _begin(self, start: Message, message: Message) -> Message:
        """Send the start of a response, and return its first message as it is to be sent."""
        page = self._page
        headers = MutableHeaders(raw=start["headers"])
        is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)
        changes = page.has_open_slots or not page.is_settled
        if changes or not is_whole:
            charset = fillable(
                method=self._method,
                status=start["status"],
                content_type=headers.get("content-type", ""),
                content_encoding=headers.get("content-encoding", ""),
                content_range=headers.get("content-range", ""),
            )
            if charset is not None and is_whole:
                body = await page.filled(message.get("body", b""), charset)
                message = {**message, "body": body}
                _no_longer_true(headers)
                headers["content-length"] = str(len(body))
            elif charset is not None and (changes or "content-length" not in headers):
                self._charset, self._finder = charset, page.finder(charset)
                if changes:
                    _no_longer_true(headers)
        if page.negotiated:
            headers.add_vary_header(NEGOTIATED)
        await self._send({**start, "headers": headers.raw})
        return message

    async def _stream(self, message: Message, finder: SlotFinder) -> None:
        """Send a chunk on as it comes; where a slot is found, what stands before it leaves first."""
        more = message.get("more_body", False)
        if not self._page.has_open_slots:
            await self._send(message)
            return
        for piece in finder.feed(message.get("body", b""), last=not more):
            text = await self._page.fill(piece, self._charset) if isinstance(piece, int) else piece
            await self._send({"type": "http.response.body", "body": text, "more_body": True})
        if not more:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def _no_longer_true(headers: MutableHeaders) -> None:
    for name in (*SPOKE_OF_BODY, "content-length"):
        if name in headers:
            del headers[name]
