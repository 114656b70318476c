"""The body of a response on its way out: its slots are filled in, and its one FAQPage is made whole."""

import asyncio
import codecs
from collections.abc import AsyncIterator
from typing import Final

from faqsvc_embed.page.context import Page
from faqsvc_embed.page.headers import exact, writable
from faqsvc_embed.page.placeholders import bare, beginning, whole
from faqsvc_embed.runtime.steps import in_short_steps

SLICE: Final = 65_536
"""Characters or bytes to handle at once; an event loop can do other things in between."""

A_MARK: Final = 2048
"""Characters that take as long to handle as it does to find a mark."""

Part = tuple[str, int, int]
"""A text from here to there: to cut and join megabytes takes milliseconds."""

SCRIPT: Final = -1
"""Stands for the JSON-LD that the host printed, among the numbers of slots."""


class BodyFiller:
    """Fills in the body of one response as it comes, cut anywhere.

    There are two kinds of marks: slots, and the JSON-LD as a template printed it. What stands before the
    first leaves at once. At it, everything that the page has left open is awaited, together; thereafter
    the JSON-LD of all is known. A body that is not in its character set stays as it is.
    """

    def __init__(self, page: Page, charset: str, first: bytes) -> None:
        self._page = page
        self._charset = exact(charset, first)
        self._decoder = codecs.getincrementaldecoder(charset)()
        self._is_text = True
        self._kept = b""
        self._printed: tuple[str | None, bytes] = (None, b"")
        self._unpaused = 0
        """Characters that were filled in since something else could run."""
        self.has_changed = False

    async def feed(self, chunk: bytes, *, last: bool) -> AsyncIterator[bytes]:
        """Yield what may leave now; the possible beginning of a mark is kept."""
        text, self._kept = self._kept + chunk, b""
        start, end = 0, len(text)
        if self._page.may_change and await self._decodes(chunk, last):
            await in_short_steps(self._page.merging())
            while (mark := self._mark(text, start)) is not None:
                begins, ends, number = mark
                if begins > start:
                    yield text[start:begins]
                for part in await self._replacement(number):
                    async for encoded in self._encoded(*part):
                        yield encoded
                start = ends
            end = len(text) if last else self._cut(text, start)
        if end > start:
            yield text[start:end]
        self._kept = text[end:]

    async def _decodes(self, chunk: bytes, last: bool) -> bool:
        """Tell whether the body is in its character set so far; else our part might be read as nonsense."""
        try:
            for at in range(0, len(chunk) if self._is_text else 0, SLICE):
                if at:
                    await asyncio.sleep(0)
                self._decoder.decode(chunk[at : at + SLICE])
            if self._is_text and last:
                self._decoder.decode(b"", True)
        except UnicodeError:
            self._is_text = False
        return self._is_text

    def _mark(self, text: bytes, start: int) -> tuple[int, int, int] | None:
        """Return where the next mark begins and ends, and its number."""
        slot = self._page.slots.finder(self._charset).find(text, start) if self._page.slots else None
        script = self._script()
        at = whole(script, text, start) if script else -1
        if at >= 0 and (slot is None or at < slot[0]):
            return at, at + len(script), SCRIPT
        return slot

    def _cut(self, text: bytes, start: int) -> int:
        """Return where the possible beginning of a mark begins."""
        script, slots = self._script(), self._page.slots
        return min(
            slots.finder(self._charset).cut(text, start) if slots else len(text),
            beginning(script, text, start) if script else len(text),
        )

    def _script(self) -> bytes:
        """Return the JSON-LD that a template printed, if that may have to change."""
        page = self._page
        if page.shown.script is None or (page.is_settled and not page.has_open_slots):
            return b""
        if page.shown.script is not self._printed[0]:
            try:
                self._printed = page.shown.script, bare(page.shown.script).encode(self._charset)
            except UnicodeEncodeError:  # so the host cannot have sent it
                self._printed = page.shown.script, b""
        return self._printed[1]

    async def _replacement(self, number: int) -> list[Part]:
        """Return what stands in the place of a mark, in parts."""
        page, slots = self._page, self._page.slots
        if slots is not None:
            async with page.turn():
                await slots.fill()
        merged = bare(await in_short_steps(page.merging()))
        printed = bare(page.shown.script or "")
        if number == SCRIPT:
            text = printed
        else:
            text = slots.texts[number] if slots is not None and number < len(slots.texts) else ""
            self.has_changed = True
        if printed and printed != merged:
            at = len(text) - len(printed) if text.endswith(printed) else whole(printed, text)
            if at >= 0:
                self.has_changed = True
                return [(text, 0, at), (merged, 0, len(merged)), (text, at + len(printed), len(text))]
        return [(text, 0, len(text))]

    async def _encoded(self, text: str, start: int, end: int) -> AsyncIterator[bytes]:
        if not self._charset.startswith("utf-"):
            text = writable(text[start:end], self._charset)
            start, end = 0, len(text)
        for at in range(start, end, SLICE):
            if self._unpaused > SLICE:  # to pause for less would make each page wait for all others
                self._unpaused = 0
                await asyncio.sleep(0)
            length = min(SLICE, end - at)
            self._unpaused += length + A_MARK
            yield text[at : at + length].encode(self._charset)
