"""Changes the body of a response: replaces placeholders and removes duplicate elements."""

import codecs
import re
from collections.abc import AsyncIterator, Callable, Iterable
from functools import partial
from typing import Final

from faqsvc_embed.page.context import Page
from faqsvc_embed.page.elements import ElementFilter, Needles, by_head, hold_back, occurrences
from faqsvc_embed.page.placeholders import Placeholders
from faqsvc_embed.runtime.threads import in_event_loop, to_thread

LONG: Final = 250_000
"""Bytes of a body above which it is changed in a thread, because an event loop should not be blocked."""
PLACEHOLDER_HEAD: Final = len("<!--faqsvc ")
"""All placeholders of a page begin alike."""

_JSON_LD: Final = r'(<script type="application/ld\+json"[^>]*>)([^<]*)(</script>)'
_NOT_ASCII: Final = r"[^\x00-\x7f]"
_CONTINUATION_BYTES: Final = bytes(range(0x80, 0xC0))
JSON_LD_TAG: Final = '<script type="application/ld+json"'


class BodyFilter:
    """Changes the body of one response in pieces of any size; all other bytes stay the same."""

    def __init__(self, page: Page, charset: str) -> None:
        self._page = page
        self._charset = charset
        self._decoder = codecs.getincrementaldecoder(charset)()
        self._elements: ElementFilter | None = None
        self._rest = b""
        self._is_first = True
        self._is_text = True
        self.has_changed = False

    def feed(self, chunk: bytes, *, last: bool) -> bytes:
        """Return the part of the body that can be sent. Its placeholders must have been filled."""
        self._read(chunk)
        return self._release(len(self._rest), last=last)

    async def afeed(self, chunk: bytes, *, last: bool) -> AsyncIterator[bytes]:
        """Yield the parts of the body that can be sent; text before a placeholder does not wait for it."""
        self._read(chunk)
        placeholders = self._page.placeholders
        if self._is_text and placeholders is not None and placeholders.are_open:
            at = self._find_unfilled(placeholders)
            if at > 0 and not (self._is_first and last):
                yield self._release(at, last=False)
            if at >= 0:
                await placeholders.fill()
        filled = 0 if placeholders is None else sum(map(len, placeholders.texts.values()))
        if len(self._rest) + filled > LONG and in_event_loop():
            yield await to_thread(partial(self._release, last=last), len(self._rest))
        else:
            yield self._release(len(self._rest), last=last)

    def _read(self, chunk: bytes) -> None:
        """Append a piece of the body to the rest, and note whether all of it is in its charset."""
        if self._is_first:
            self._charset = _without_byte_order_mark(self._charset, chunk)
        self._is_text = self._is_text and self._decodes(chunk)
        self._rest += chunk

    def _release(self, end: int, *, last: bool) -> bytes:
        """Return the part of the rest up to `end` that can be sent."""
        body, behind = self._rest[:end], self._rest[end:]
        if not self._is_text:  # the browser would misread inserted text
            body, self._rest = self._rest, b""
            return body
        self._is_first = False
        body, partial = self._fill(body, last=last)
        kept = b""
        if self._page.printed:
            if self._elements is None:
                self._elements = ElementFilter(self._page.printed, self._charset, _encoders(self._charset))
            body, kept = self._elements.feed(body, last=last)
            self.has_changed = self.has_changed or self._elements.has_changed
        self._rest = kept + partial + behind
        return body

    def _find_unfilled(self, placeholders: Placeholders) -> int:
        """Return the position up to which the body can be sent before placeholders are filled, or -1.

        That is the first placeholder, or the FAQPage, which gets the questions of all FAQs.
        """
        needles = self._needles((*placeholders, JSON_LD_TAG))
        return next((at for at, _, _ in occurrences(self._rest, needles)), -1)

    def _needles(self, texts: Iterable[str]) -> Needles:
        """Return placeholders in the encodings in which the body may have them."""
        encoded = ((encode(text), text) for encode in _encoders(self._charset) for text in texts)
        return by_head(encoded, PLACEHOLDER_HEAD)

    def _decodes(self, chunk: bytes) -> bool:
        """Return whether the body is in its charset so far; the first piece may begin within a character."""
        if self._is_first and self._charset == "utf-8":
            chunk = chunk.lstrip(_CONTINUATION_BYTES)
        try:
            self._decoder.decode(chunk)
        except UnicodeError:
            return False
        return True

    def _fill(self, body: bytes, *, last: bool) -> tuple[bytes, bytes]:
        """Return the body with its placeholders replaced, and an end that may be the beginning of one."""
        placeholders = self._page.placeholders
        if placeholders is None:
            return body, b""
        needles = self._needles(placeholders)
        parts, start = list[bytes](), 0
        for at, end, one in occurrences(body, needles):
            text = placeholders.texts.get(one)
            if text is not None and at >= start:  # a published FAQ may end with a FAQPage
                parts += [body[start:at], encode_escaped(text, self._charset)]
                start, self.has_changed = end, True
        cut = len(body) if last else hold_back(body, start, needles)
        return b"".join([*parts, body[start:cut]]), body[cut:]


def completed(page: Page, charset: str, body: bytes) -> bytes | None:
    """Return a whole body with its placeholders filled and each element once; None if it stays as it is."""
    if not (page.may_change(len(body)) and page.must_change(body, partial(encode, charset=charset))):
        return None
    body_filter = BodyFilter(page, charset)
    changed = body_filter.feed(body, last=True)
    return changed if body_filter.has_changed else None


async def acompleted(page: Page, charset: str, body: bytes) -> bytes | None:
    """Return what `completed` does, with placeholders that are filled first."""
    if not page.has_open_placeholders and (len(body) < LONG or not page.is_unfinished):
        return completed(page, charset, body)
    body_filter = BodyFilter(page, charset)
    changed = b"".join([piece async for piece in body_filter.afeed(body, last=True)])
    return changed if body_filter.has_changed else None


def _encoders(charset: str) -> list[Callable[[str], bytes]]:
    """Return the encodings in which a body may have an element: the host's, and that of placeholders."""
    encodings = (encode_escaped,) if charset.startswith("utf-") else (encode, encode_escaped)
    return [partial(encoding, charset=charset) for encoding in encodings]


def encode(html: str, charset: str) -> bytes:
    """Return HTML in a charset of the host, escaped if the charset lacks one of its characters."""
    try:
        return html.encode(charset)
    except UnicodeEncodeError:
        return encode_escaped(html, charset)


def encode_escaped(html: str, charset: str) -> bytes:
    """Return HTML in a charset. Characters outside of ASCII are escaped, except in the UTF encodings.

    Browsers decode some legacy charsets, such as Shift_JIS, differently from Python.
    """
    if not (charset.startswith("utf-") or html.isascii()):
        html = re.sub(
            _JSON_LD, lambda found: found[1] + re.sub(_NOT_ASCII, _json_escape, found[2]) + found[3], html
        )
        html = html.encode("ascii", "xmlcharrefreplace").decode()
    return html.encode(charset)


def _json_escape(character: re.Match[str]) -> str:
    units = character[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _without_byte_order_mark(charset: str, body: bytes) -> str:
    """Return the charset for text in the middle of a body, which has no byte order mark of its own."""
    if charset == "utf-16":
        return "utf-16-be" if body.startswith(codecs.BOM_UTF16_BE) else "utf-16-le"
    if charset == "utf-32":
        return "utf-32-be" if body.startswith(codecs.BOM_UTF32_BE) else "utf-32-le"
    return "utf-8" if charset == "utf-8-sig" else charset
