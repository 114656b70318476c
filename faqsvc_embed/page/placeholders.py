"""Places in a page for FAQs that are not held yet: left by a synchronous template, filled as the body leaves.

A slot is an HTML comment with a random token of its own page, so that nobody's text can pass for one, and
one that is never filled is never seen.
"""

import os
import secrets
from collections.abc import Awaitable, Callable
from typing import AnyStr, Final

from markupsafe import Markup

WIDTH: Final = 4
"""Digits of a slot's number; a page with more slots leaves the rest empty."""

HEAD: Final = 64
"""Characters of a mark that are looked for at first."""

TOKEN_LENGTH: Final = 24
TOKENS: Final = 100
"""How many are made at once."""

Filling = Callable[[], Awaitable[str]]


_tokens: list[str] = []
if hasattr(os, "register_at_fork"):  # a child must not leave the marks of its parent
    os.register_at_fork(after_in_child=_tokens.clear)


def new_token() -> str:
    """Return what nobody can guess.

    The system is asked for many at once: each time, the interpreter's lock is let go of and taken again, and
    a thread that waits for it, such as ours that fetches, waits anew.
    """
    try:
        return _tokens.pop()
    except IndexError:
        digits = secrets.token_hex(TOKENS * TOKEN_LENGTH // 2)
        _tokens.extend(
            digits[at : at + TOKEN_LENGTH] for at in range(TOKEN_LENGTH, len(digits), TOKEN_LENGTH)
        )
        return digits[:TOKEN_LENGTH]


class Slots:
    """The slots of one page, in the order in which they were left."""

    def __init__(self) -> None:
        self._token = new_token()
        self._fillings: list[Filling] = []
        self.texts: list[str] = []
        """What belongs into the slots that were filled, by their numbers."""
        self._finder: tuple[str, SlotFinder] | None = None

    @property
    def are_open(self) -> bool:
        """Some are not filled yet."""
        return len(self.texts) < len(self._fillings)

    def leave(self, filling: Filling) -> Markup:
        """Return the mark of a new slot; `filling` is awaited once, before the mark leaves."""
        number = len(self._fillings)
        if number >= 10**WIDTH:
            return Markup()
        self._fillings.append(filling)
        return Markup(f"<!--faqsvc {self._token} {number:0{WIDTH}}-->")  # nothing in it is anybody's

    async def fill(self) -> None:
        """Await all that is open, in order: what a page prints once comes with the first."""
        while self.are_open:
            self.texts.append(await self._fillings[len(self.texts)]())

    def finder(self, charset: str) -> "SlotFinder":
        """Return what finds these slots in a body of this character set."""
        if self._finder is None or self._finder[0] != charset:
            before, after = f"<!--faqsvc {self._token} ".encode(charset), "-->".encode(charset)
            self._finder = charset, SlotFinder(before, after, charset)
        return self._finder[1]


class SlotFinder:
    """Finds the marks of slots in bytes."""

    def __init__(self, before: bytes, after: bytes, charset: str) -> None:
        self._charset = charset
        self._before = before
        self._after = after
        self._digits = len("0".encode(charset)) * WIDTH
        self._length = len(before) + self._digits + len(after)

    def find(self, text: bytes, start: int) -> tuple[int, int, int] | None:
        """Return where the first mark from `start` on begins and ends, and the number of its slot."""
        at = text.find(self._before, start)
        while at >= 0:
            number = at + len(self._before)
            if text.startswith(self._after, number + self._digits):
                digits = text[number : number + self._digits].decode(self._charset)
                return at, at + self._length, int(digits)
            at = text.find(self._before, at + 1)
        return None

    def cut(self, text: bytes, start: int) -> int:
        """Return where the tail of `text` may be the beginning of a mark; its length if it cannot."""
        at = text.find(self._before, max(start, len(text) - self._length + 1))
        return at if at >= 0 else beginning(self._before, text, start)


def bare(script: str) -> str:
    """Return a script as it is looked for in a body: a host may change the white space around it."""
    return script.strip()


def whole(mark: AnyStr, text: AnyStr, start: int = 0) -> int:
    """Return where `mark` stands in `text`, -1 if it does not.

    To look for megabytes, Python prepares for milliseconds: this looks for their head.
    """
    head = mark[:HEAD]
    at = text.find(head, start)
    while at >= 0 and not text.startswith(mark, at):
        at = text.find(head, at + 1)
    return at


def beginning(mark: bytes, text: bytes, start: int) -> int:
    """Return where the tail of `text` is the beginning of `mark`; its length if it is not."""
    head = mark[:8]
    at = text.find(head, max(start, len(text) - len(mark) + 1))
    while at >= 0:
        if mark.startswith(text[at:]):
            return at
        at = text.find(head, at + 1)
    for kept in range(min(len(head) - 1, len(text) - start), 0, -1):
        if text.endswith(head[:kept]):
            return len(text) - kept
    return len(text)
