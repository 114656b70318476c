"""The blocks of a host's own records that were shown last."""

from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from typing import Final

from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering.renderer import Block

MOST: Final = 64
"""Blocks that are kept: a host has few records of its own that it shows again and again."""


class Latest:
    """Finds a block again by its record and by what was asked; the one that was shown longest ago gives way.

    Records are told apart by identity: to compare them, or to hash one, takes as long as to read it.
    """

    def __init__(self) -> None:
        self._blocks = OrderedDict[tuple[int, Hashable], tuple[FAQ, Block]]()

    def get(self, faq: FAQ, asked: Hashable) -> Block | None:
        """Return the block, if it is still there."""
        key = id(faq), asked
        try:
            found, block = self._blocks[key]
            self._blocks.move_to_end(key)
        except Exception:  # also by a theme of the host's, which may fail in any way to be looked up
            return None
        return block if found is faq else None

    def put(self, faq: FAQ, asked: Hashable, block: Block) -> None:
        """Keep a block, unless it is large."""
        if block.is_large:
            return
        with suppress(Exception):  # as above, or another thread has emptied it
            self._blocks[id(faq), asked] = faq, block
            if len(self._blocks) > MOST:
                self._blocks.popitem(last=False)
