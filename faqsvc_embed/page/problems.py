"""What goes wrong with an FAQ on a page, said in the log when it begins, and not on every page."""

import logging
import traceback
from typing import Final

from faqsvc_embed.errors import FAQUnavailable, quoted

logger = logging.getLogger("faqsvc_embed")

MOST: Final = 1000
"""How many different problems are told of; whoever has more makes them up."""


class Problems:
    """Tells the first of each distinct problem of one embed."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._late: set[tuple[object, str | None]] = set()

    def tell(self, what: object, error: Exception) -> None:
        """Log an error of ours, or of the host's templates, unless it came from the same place before."""
        problem = f"{_place(error)} {error!r}"
        if problem not in self._told and len(self._told) < MOST:
            self._told.add(problem)
            logger.error("FAQ %s is not shown: %r", quoted(what), error, exc_info=error)

    def late(self, slug: object, lang: str | None, wait: float) -> FAQUnavailable:
        """Return what a page without an FAQ that is still being fetched says of it; log when that begins."""
        what = f"did not arrive within {wait:g} s, all that a page waits for its FAQs"
        if (slug, lang) not in self._late and len(self._late) < MOST:
            self._late.add((slug, lang))
            logger.warning("FAQ %s %s; pages go without it until it has arrived", quoted(slug), what)
        advice = "it is shown once it has arrived. Fetch it before, by prefetch(), or set a longer wait"
        return FAQUnavailable(f"FAQ {quoted(slug)} {what}; {advice}")

    def arrived(self, slug: str, lang: str | None) -> None:
        """Log the end of what `late` told of."""
        if (slug, lang) in self._late:
            self._late.discard((slug, lang))
            logger.info("FAQ %s: it has arrived", quoted(slug))

    def forget(self) -> None:
        """Tell of everything again: what may have caused it has changed."""
        self._told.clear()


def _place(error: Exception) -> str:
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        place = f"{frame.f_code.co_filename}:{line}"
    return place
