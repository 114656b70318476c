"""The body of a streamed response."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator

from faqsvc_embed.page.body import BodyFilter, encode
from faqsvc_embed.page.context import REQUEST, Page, awithin, within


class StreamedBody:
    """The parts of a streamed WSGI body. Each is produced with the page of its request, and completed."""

    def __init__(self, page: Page, charset: str, parts: Iterable[str | bytes]) -> None:
        self._page = page
        self._charset = charset
        self._parts = iter(parts)
        self._close = getattr(parts, "close", None)
        self._filter = BodyFilter(page, charset)

    def __iter__(self) -> Iterator[bytes]:
        for part in within(REQUEST, self._page, self._parts):
            chunk = encode(part, self._charset) if isinstance(part, str) else part
            yield self._filter.feed(chunk, last=False)
        self._page.is_over = True
        if rest := self._filter.feed(b"", last=True):
            yield rest

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
        body = BodyFilter(self._page, self._charset)
        async for part in awithin(REQUEST, self._page, self._parts):
            chunk = encode(part, self._charset) if isinstance(part, str) else part
            async for piece in body.afeed(chunk, last=False):
                yield piece
        self._page.is_over = True
        async for piece in body.afeed(b"", last=True):
            if piece:
                yield piece
