"""What an engine is asked, what it answers, and the one that is built in: what the site says itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import quote

from faqsvc_embed.generation.pages import Page
from faqsvc_embed.generation.ranking import ranked

MAX_COUNT: Final = 1_000
DEFAULT_COUNT: Final = 100


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be generated; `lang` is one of the seven, or None for the site's own."""

    website_url: str
    lang: str | None = None
    count: int | None = None
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A question with its answer, and the address that they come from."""

    question: str
    answer: str
    source: str


class Engine(Protocol):
    """Makes questions and answers of the pages of a site."""

    @property
    def share(self) -> float:
        """Of the time for a generation, what reading the site may take."""
        ...

    async def write(self, pages: Sequence[Page], wish: Wish) -> list[Found]:
        """Return at most as many as are wished for, the best first.

        Raises:
            EngineFailed: it cannot; the message says why, without any secret.
        """
        ...


class Extracting:
    """The engine that needs nothing: it returns what the site answers already, in the site's words."""

    share: float = 0.8

    async def write(self, pages: Sequence[Page], wish: Wish) -> list[Found]:
        """Return the questions of the pages, each once, in the site's language."""
        best = ranked(pages, lang=wish.lang, topic=wish.topic)[: wish.count or DEFAULT_COUNT]
        return [Found(pair.question, pair.answer, source(page, pair.fragment)) for page, pair in best]


def source(page: Page, fragment: str | None) -> str:
    """Return the address of a page, with the fragment that leads to a part of it."""
    return f"{page.url}#{quote(fragment, safe='/?:@!$&()*+,;=~-._')}" if fragment else page.url
