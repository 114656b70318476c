"""Placeholders in a page, which are replaced by FAQs when the body is sent.

A placeholder is an HTML comment with a random token of its page, so that no other text can pass for one. In
the preview of a draft, two such comments enclose the published FAQ, which a cache of the host may store.
"""

import codecs
import re
import secrets
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from typing import Final

import msgspec
from markupsafe import Markup

from faqsvc_embed.page.border import Passing, aguarded

Text = str | Callable[[], str]
"""What replaces a placeholder: a text, or a function that returns it when it is sent."""
Filling = Callable[[], Awaitable[Text]]

TOKEN_BYTES: Final = 12

_JSON_LD: Final = r'(<script type="application/ld\+json"[^>]*>)([^<]*)(</script>)'
_NOT_ASCII: Final = r"[^\x00-\x7f]"


class Placeholders(msgspec.Struct, eq=False):
    """The placeholders of one page."""

    are_used: bool = False
    """Whether the body must be searched: it has placeholders, or may get some."""
    texts: dict[str, Text] = {}
    """The text of each filled placeholder, by number."""
    lost: dict[str, None] = {}
    """The numbers of the placeholders that no body has contained yet."""
    _open: dict[str, Filling] = {}
    _numbers: Iterator[int] = msgspec.field(default_factory=count)
    _prefix: str = ""

    @property
    def prefix(self) -> str:
        """The beginning of each placeholder."""
        if not self._prefix:
            self._prefix = f"<!--faqsvc {secrets.token_hex(TOKEN_BYTES)} "
        return self._prefix

    @property
    def are_open(self) -> bool:
        """Whether some placeholders are not filled yet."""
        return bool(self._open)

    def leave(self, filling: Filling | None, published: str = "", text: Text = "") -> Markup:
        """Return a new placeholder, which encloses the markup `published`, if there is any.

        Before the body is sent, `filling` is awaited once for the text that replaces both. Without `filling`,
        `text` replaces them.
        """
        self.are_used = True
        number = str(next(self._numbers))
        self.lost[number] = None
        if filling is None:
            self.texts[number] = text
        else:
            self._open[number] = filling
        if not published:
            return Markup(f"{self.prefix}{number}-->")  # contains only our token
        return Markup(f"{self.prefix}{number}+-->{published}{self.prefix}{number}/-->")  # rendered

    async def fill(self, passes: Passing = ()) -> None:
        """Await all fillings, in order. Their fetches already run, so the waits overlap."""
        while self._open:
            number = next(iter(self._open))
            self.texts[number] = await aguarded(self._open[number], otherwise="", passes=passes)
            del self._open[number]


class BodyFiller:
    """Replaces the placeholders in a body that comes in parts; all other bytes stay the same."""

    def __init__(self, placeholders: Placeholders, charset: str) -> None:
        self._placeholders = placeholders
        self._charset = charset
        self._prefix = b""
        self.is_blocked: bool = False
        """Whether the rest that `split` returned last begins with a placeholder that cannot be filled yet."""

    def split(self, body: bytes) -> tuple[bytes, bytes]:
        """Return what can be sent of a part, filled, and the rest, with which the next part must begin.

        The rest begins with a placeholder that is not filled yet, or whose end is in a later part.
        """
        if not self._placeholders.lost:  # every placeholder was found
            self.is_blocked = False
            return body, b""
        sent, at = self._filled(body, is_last=False)
        start = body.find(self._prefix, at) if self.is_blocked else _cut(body, at, self._prefix)
        return b"".join([*sent, body[at:start]]), body[start:]

    def finish(self, rest: bytes) -> bytes:
        """Return the rest of a body, filled as far as possible."""
        sent, at = self._filled(rest, is_last=True)
        return b"".join([*sent, rest[at:]])

    def _filled(self, body: bytes, *, is_last: bool) -> tuple[list[bytes], int]:
        """Return the filled parts of a body, and where they end."""
        if not self._prefix:
            self._charset = _without_byte_order_mark(self._charset, body)
            self._prefix = self._placeholders.prefix.encode(self._charset)
        sent, start = list[bytes](), 0
        self.is_blocked = False
        while (at := body.find(self._prefix, start)) >= 0:
            end, text = self._replacement(body, at)
            if text is None and not is_last:
                self.is_blocked = True
                break
            sent += [body[start:at], body[at:end] if text is None else encode(text, self._charset)]
            start = end
        return sent, start

    def _replacement(self, body: bytes, at: int) -> tuple[int, str | None]:
        """Return where the placeholder at a position ends, and what replaces it; None if not known yet."""
        closing = "-->".encode(self._charset)
        end = body.find(closing, at)
        if end < 0:
            return len(body), None
        name = body[at + len(self._prefix) : end].decode(self._charset)
        number, end = name.strip("+/"), end + len(closing)
        text = self._placeholders.texts.get(number)
        text = text() if callable(text) else text
        if name.endswith("+"):
            last = f"{self._placeholders.prefix}{number}/-->".encode(self._charset)
            found = body.find(last, end)
            text = None if found < 0 else text
            end = found + len(last) if found >= 0 else end
        if text is not None:
            self._placeholders.lost.pop(number, None)
        return end, text


def _cut(body: bytes, start: int, needle: bytes) -> int:
    """Return where a needle may begin that the end of a body cuts off; the body's length if nowhere."""
    at = body.find(needle[:1], max(start, len(body) - len(needle) + 1))
    while at >= 0 and not needle.startswith(body[at:]):
        at = body.find(needle[:1], at + 1)
    return at if at >= 0 else len(body)


def encode(html: str, charset: str) -> bytes:
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
    return "utf-8" if charset == "utf-8-sig" else charset
