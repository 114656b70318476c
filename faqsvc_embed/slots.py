"""Places in a page for FAQs that are not held yet: left by a synchronous template, filled as the body leaves.

A slot is an HTML comment with a random token of its own page, so that nobody's text can pass for one, and
one that is never filled is never seen.
"""

import re
import secrets
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

from markupsafe import Markup

WIDTH: Final = 4
"""Digits of a slot's number; a page with more slots leaves the rest empty."""

Filling = Callable[[], Awaitable[str]]


class Slots:
    """The slots of one page, in the order in which they were left."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(12)
        self.fillings: list[Filling] = []

    def leave(self, filling: Filling) -> Markup:
        """Return the mark of a new slot; `filling` is awaited once, when the mark is found."""
        number = len(self.fillings)
        if number >= 10**WIDTH:
            return Markup()
        self.fillings.append(filling)
        return Markup(f"<!--faqsvc {self._token} {number:0{WIDTH}}-->")

    def finder(self, charset: str) -> "SlotFinder":
        """Return what finds these slots in a body of this character set."""
        return SlotFinder(f"<!--faqsvc {self._token} ".encode(charset), "-->".encode(charset), charset)


class SlotFinder:
    """Finds slots in a body that comes in chunks, cut anywhere."""

    def __init__(self, before: bytes, after: bytes, charset: str) -> None:
        digits = len("0".encode(charset)) * WIDTH
        self._charset = charset
        self._before = before
        self._length = len(before) + digits + len(after)
        self._mark = re.compile(re.escape(before) + b"(.{%d})" % digits + re.escape(after), re.DOTALL)
        self._kept = b""

    def feed(self, chunk: bytes, *, last: bool) -> Iterator[bytes | int]:
        """Yield text to send as it is and numbers of slots, in order; a possible beginning of one is kept."""
        text, start = self._kept + chunk, 0
        for match in self._mark.finditer(text):
            if match.start() > start:
                yield text[start : match.start()]
            yield int(match[1].decode(self._charset))
            start = match.end()
        cut = len(text) if last else self._beginning(text, start)
        if cut > start:
            yield text[start:cut]
        self._kept = text[cut:]

    def _beginning(self, text: bytes, start: int) -> int:
        """Return where the tail of `text` may be the beginning of a mark; its length if it cannot."""
        whole = text.find(self._before, max(start, len(text) - self._length + 1))
        if whole >= 0:
            return whole
        for kept in range(min(len(self._before) - 1, len(text) - start), 0, -1):
            if text.endswith(self._before[:kept]):
                return len(text) - kept
        return len(text)
