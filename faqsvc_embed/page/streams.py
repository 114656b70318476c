"""The body of a streamed response."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator

from faqsvc_embed.page.body import BodyFilter, encode
from faqsvc_embed.page.context import Page, enter_request, leave_request


class StreamedBody:
    """The parts of a streamed WSGI body. Each is produced with the page of its request, and completed."""

    def __init__(self, page: Page, charset: str, parts: Iterable[str | bytes]) -> None:
        self._page = page
        self._charset = charset
        self._parts = iter(parts)
        self._close = getattr(parts, "close", None)
        self._filter: BodyFilter | None = None

    def __iter__(self) -> Iterator[bytes]:
        for part in self._made():
            chunk = encode(part, self._charset) if isinstance(part, str) else part
            if self._filter is None and self._page.printed:
                self._filter = BodyFilter(self._page, self._charset)
            yield chunk if self._filter is None else self._filter.feed(chunk, last=False)
        self._page.is_over = True
        if self._filter is not None:
            yield self._filter.feed(b"", last=True)

    def _made(self) -> Iterator[str | bytes]:
        while True:
            token = enter_request(self._page)  # not around `yield`: the server has a context of its own
            try:
                part = next(self._parts, None)
            finally:
                leave_request(token)
            if part is None:
                return
            yield part

    def close(self) -> None:
        """Close the iterable that the application returned (PEP 3333)."""
        self._page.is_over = True
        if self._close is not None:
            self._close()


class AsyncStreamedBody:
    """The parts of an asynchronous body. Each is produced with the page of its request, and completed."""

    def __init__(self, page: Page, charset: str, parts: AsyncIterable[str | bytes]) -> None:
        self._page = page
        self._charset = charset
        self._parts = aiter(parts)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body: BodyFilter | None = None
        async for part in self._made():
            chunk = encode(part, self._charset) if isinstance(part, str) else part
            if body is None and self._page.printed:
                body = BodyFilter(self._page, self._charset)
            if body is None:
                yield chunk
                continue
            async for piece in body.afeed(chunk, last=False):
                yield piece
        self._page.is_over = True
        if body is not None:
            async for piece in body.afeed(b"", last=True):
                yield piece

    async def _made(self) -> AsyncIterator[str | bytes]:
        while True:
            token = enter_request(self._page)  # not around `yield`: the server has a context of its own
            try:
                part = await anext(self._parts, None)
            finally:
                leave_request(token)
            if part is None:
                return
            yield part
