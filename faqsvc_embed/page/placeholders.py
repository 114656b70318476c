"""Places in a page for FAQs that are filled in before the response is sent.

A placeholder is an HTML comment with a random token of its page, so that no other text can pass for one. One
that is never filled is invisible. In the preview of a draft, the published FAQ is the placeholder: a cache of
the host may keep the rendered markup and show it to every visitor.
"""

import secrets
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from typing import Final

from markupsafe import Markup

Filling = Callable[[], Awaitable[str]]

TOKEN_BYTES: Final = 12


class Placeholders:
    """The placeholders of one page, in the order in which they were left."""

    def __init__(self) -> None:
        self.prefix: Final = f"<!--faqsvc {secrets.token_hex(TOKEN_BYTES)} "
        """How each comment begins."""
        self.texts: dict[str, str] = {}
        """What belongs in the place of each placeholder that was filled."""
        self._open: dict[str, Filling] = {}
        self._numbers = count()

    @property
    def are_open(self) -> bool:
        """Whether some are not filled yet."""
        return bool(self._open)

    def leave(self, filling: Filling | str, published: str = "") -> Markup:
        """Return a new placeholder: the markup `published`, else a comment.

        `filling` is the text that replaces it, or a function that is awaited once for that text.
        """
        name = published or f"{self.prefix}{next(self._numbers)}-->"
        if isinstance(filling, str):
            self.texts[name] = filling
        else:
            self._open[name] = filling
        return Markup(name)  # contains only our token, or rendered markup

    def __iter__(self) -> Iterator[str]:
        """Iterate over all placeholders."""
        yield from self.texts
        yield from self._open

    async def fill(self) -> None:
        """Await all fillings, in order. Their fetches already run, so the waits overlap."""
        while self._open:
            name = next(iter(self._open))
            self.texts[name] = await self._open[name]()
            del self._open[name]
