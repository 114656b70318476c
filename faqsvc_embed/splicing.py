"""Held FAQs as bytes, put into a response as it leaves: a template prints a mark, and copies nothing.

A host that asks for this (`splice`) says that what its templates print during a request is the body of the
response, unread and unchanged. The first page whose mark is not found there ends it: from then on FAQs are
printed in place. What a host keeps of a template's text for later pages, nobody sees.
"""

import logging
from typing import Final
from weakref import ref

from markupsafe import Markup

from faqsvc_embed.rendering import Block
from faqsvc_embed.responses import encode
from faqsvc_embed.slots import Slots, new_token, slot_mark

MUCH: Final = 20_000
"""Characters that take as long to copy and encode as a mark takes to be made, found and replaced."""
MUCH_ASCII: Final = 500_000
"""The same of ASCII, which is copied as it is."""

NOT_IN_BODY: Final = "what its template printed is not in the body of its response"

logger = logging.getLogger("faqsvc_embed")


class Splicing:
    """Whether the pages of one embed are put together from bytes, and the bytes of its blocks."""

    def __init__(self) -> None:
        self.is_on = True
        self._encoded = dict[int, tuple[ref[Block], bytes]]()
        """By the identity of a block, for as long as it lives."""

    def pays(self, block: Block) -> bool:
        """Tell whether to copy and encode a block takes longer than to find its mark."""
        return len(block.alone) >= (MUCH_ASCII if block.alone.isascii() else MUCH)

    def encoded(self, block: Block) -> bytes:
        """Return the block with all that belongs to it, as UTF-8; made once."""
        key, known = id(block), self._encoded
        if (found := known.get(key)) is not None and found[0]() is block:
            return found[1]
        encoded = block.alone.encode()
        known[key] = ref(block, lambda _: known.pop(key, None)), encoded
        return encoded

    def end(self, reason: str) -> None:
        """Print FAQs in place from here on, and say why, once."""
        if self.is_on:
            self.is_on = False
            logger.warning("splice is switched off, for a page went without its FAQ: %s", reason)


class Spliced:
    """The one block of a page that is put in as bytes, and the mark that stands for it meanwhile."""

    def __init__(self, splicing: Splicing, block: Block) -> None:
        self._splicing = splicing
        self._block = block
        self._token = new_token()
        self.mark: Markup = slot_mark(self._token, 0)

    def into(self, body: bytes, charset: str = "utf-8") -> list[bytes] | None:
        """Return a whole body in parts, with the block where its mark is; None if it is not there."""
        first, *others = body.split(self.mark.encode(charset))
        if not others:
            return None
        if charset == "utf-8":
            encoded = self._splicing.encoded(self._block)
        else:
            encoded = encode(self._block.alone, charset)
        parts = [first]
        for other in others:  # a template may print one mark twice
            parts += (encoded, other)
        return parts

    def into_text(self, html: str) -> str:
        """Return what a template printed with the block in the place of its mark."""
        return html.replace(self.mark, self._block.alone)

    def as_slots(self) -> Slots:
        """Return slots of which the first is this mark, for a response that needs more than this block."""
        return Slots(self._token, [self._block.alone])

    def is_lost(self, why: str, status: int) -> None:
        """Note that the mark did not reach the body; the page of an error, or of none, need not have it."""
        if status < 400 and status not in (204, 205, 304):
            self._splicing.end(why)
