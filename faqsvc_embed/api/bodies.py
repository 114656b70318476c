"""Reads the bodies of responses: decompressed, and never more than a limit."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import Final

from faqsvc_embed.errors import InvalidFAQ

MAX_ERROR_BODY: Final = 65_536
"""Bytes of an error response that are read: enough to explain it, and to reuse the connection."""

_GZIP: Final = ("gzip", "x-gzip")


async def read_body(chunks: AsyncIterator[bytes], coding: str, limit: int) -> bytes:
    """Return a complete body, decompressed; it may have at most `limit` bytes, compressed or not."""
    if coding not in ("identity", "", *_GZIP):
        raise InvalidFAQ(f"the response has the content coding {coding[:40]!r}; gzip was requested")
    unzip, body, received = _decompressor(coding), bytearray(), 0
    async for chunk in chunks:
        received += len(chunk)
        try:
            body += chunk if unzip is None else unzip.decompress(chunk, limit + 1 - len(body))
        except zlib.error as error:
            raise InvalidFAQ(f"the response is not gzip: {error}") from None
        if len(body) > limit or received > limit:
            raise InvalidFAQ(f"the response has more than {limit} bytes, the setting max_bytes")
    if unzip is not None and not unzip.eof:
        raise InvalidFAQ("the response ends within its gzip data")
    return bytes(body)


async def read_error_body(
    chunks: AsyncIterator[bytes], coding: str, until: float, limit: int = MAX_ERROR_BODY
) -> tuple[bytes, bool]:
    """Return the first `limit` bytes of a body, and whether it arrived in time."""
    import httpx2

    unzip, body = _decompressor(coding), bytearray()
    try:
        async with asyncio.timeout_at(until):
            async for chunk in chunks:
                body += chunk if unzip is None else unzip.decompress(chunk, limit - len(body))
                if len(body) >= limit:
                    break
    except (TimeoutError, httpx2.HTTPError, zlib.error):
        return bytes(body), False
    return bytes(body[:limit]), True


def _decompressor(coding: str) -> "zlib._Decompress | None":
    return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16) if coding in _GZIP else None
