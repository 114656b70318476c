"""Placeholders in a page, which are replaced by FAQs when the body is sent.

A placeholder is an HTML comment with a random token of its page, so that no other text can pass for one. In
the preview of a draft, two such comments enclose the published FAQ, which a cache of the host may store.
"""

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
    unfound: dict[str, None] = {}
    """The numbers of the placeholders that no body has contained yet."""
    _open: dict[str, Filling] = {}
    _numbers: Iterator[int] = msgspec.field(default_factory=count)  # threads may render parts of a page
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

    def leave(self, published: str = "", *, filling: Filling | None = None, text: Text = "") -> Markup:
        """Return a new placeholder, which encloses the markup `published`, if there is any.

        Before the body is sent, `text` replaces both; with `filling`, the text for which it is awaited once.
        """
        self.are_used = True
        number = str(next(self._numbers))
        self.unfound[number] = None
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
        self._prefix = placeholders.prefix.encode()
        prefix = re.escape(self._prefix)
        self._placeholder = re.compile(prefix + rb"(\d+)(?:/?-->|\+-->.*?" + prefix + rb"\1/-->)", re.DOTALL)
        self.is_blocked: bool = False
        """Whether the rest that `split` returned last begins with a placeholder that cannot be filled yet."""

    def split(self, body: bytes) -> tuple[bytes, bytes]:
        """Return what can be sent of a part, filled, and the rest, with which the next part must begin.

        The rest begins with a placeholder that is not filled yet, or whose end is in a later part.
        """
        self.is_blocked = False
        if not self._placeholders.unfound:  # every placeholder was found
            return body, b""
        sent, start = list[bytes](), 0
        for found in self._placeholder.finditer(body):
            if (filled := self._filled(found)) is None:
                self.is_blocked = True
                break
            sent += [body[start : found.start()], filled]
            start = found.end()
        end = self._cut(body, start)
        return b"".join([*sent, body[start:end]]), body[end:]

    def finish(self, rest: bytes) -> bytes:
        """Return the rest of a body, filled as far as possible."""

        def replacement(found: re.Match[bytes]) -> bytes:
            filled = self._filled(found)
            return found[0] if filled is None else filled

        return self._placeholder.sub(replacement, rest)

    def _filled(self, found: re.Match[bytes]) -> bytes | None:
        """Return what replaces a placeholder, or None if that is not known yet."""
        number = found[1].decode()
        text = self._placeholders.texts.get(number)
        if text is None:
            return None
        self._placeholders.unfound.pop(number, None)
        return encode(text() if callable(text) else text, self._charset)

    def _cut(self, body: bytes, start: int) -> int:
        """Return where the rest of a body begins: at a placeholder not filled or cut off, else at its end."""
        at = body.find(self._prefix, start)
        if at < 0:
            at = body.find(b"<", max(start, len(body) - len(self._prefix) + 1))
            while at >= 0 and not self._prefix.startswith(body[at:]):
                at = body.find(b"<", at + 1)
        return at if at >= 0 else len(body)


def encode(html: str, charset: str) -> bytes:
    """Return HTML in a charset. Characters outside of ASCII are escaped, except in UTF-8.

    Browsers decode some legacy charsets, such as Shift_JIS, differently from Python.
    """
    if not (charset == "utf-8" or html.isascii()):
        html = re.sub(
            _JSON_LD, lambda found: found[1] + re.sub(_NOT_ASCII, _json_escape, found[2]) + found[3], html
        )
        html = html.encode("ascii", "xmlcharrefreplace").decode()
    return html.encode(charset)


def _json_escape(character: re.Match[str]) -> str:
    units = character[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
