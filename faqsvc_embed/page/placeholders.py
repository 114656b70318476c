"""Places in a page for FAQs that a synchronous template in an event loop could not wait for.

A placeholder is an HTML comment with a random token of its page, so that no other text can pass for one. One
that is never filled is invisible.
"""

import secrets
from collections.abc import Awaitable, Callable
from typing import Final

from markupsafe import Markup

Filling = Callable[[], Awaitable[str]]

TOKEN_BYTES: Final = 12


class Placeholders:
    """The placeholders of one page, in the order in which they were left."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(TOKEN_BYTES)
        self._fillings: list[Filling] = []
        self.texts: dict[str, str] = {}
        """What belongs in the place of each placeholder that was filled."""

    @property
    def are_open(self) -> bool:
        """Whether some are not filled yet."""
        return len(self.texts) < len(self._fillings)

    @property
    def prefix(self) -> str:
        """How each of them begins."""
        return f"<!--faqsvc {self._token} "

    def leave(self, filling: Filling) -> Markup:
        """Return a new placeholder; `filling` is awaited once, before the response leaves."""
        self._fillings.append(filling)
        return Markup(self._name(len(self._fillings) - 1))  # contains nothing but our token

    async def fill(self) -> None:
        """Await all fillings, in order. Their fetches are running already, so that they overlap."""
        while self.are_open:
            number = len(self.texts)
            self.texts[self._name(number)] = await self._fillings[number]()

    def _name(self, number: int) -> str:
        return f"{self.prefix}{number}-->"
