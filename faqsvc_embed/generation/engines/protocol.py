"""The interface of an engine: its request and its error, and the addresses of its items.

Its result is the response of the service, to which the generator adds the pages that were read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol
from urllib.parse import quote

from faqsvc_embed.api.contract import GenerateResponse
from faqsvc_embed.errors import FAQError
from faqsvc_embed.generation.crawl.crawler import MAX_PAGES
from faqsvc_embed.generation.crawl.page import Page

MAX_COUNT: Final = 1_000
MAX_TEXT: Final = 300
"""Characters of a text fragment."""


class EngineError(FAQError):
    """An engine fails. `status` and `retry_after` are those of the response that it got, if any."""


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """The website and the wanted items.

    `lang` is a supported language, or None for that of the site. `max_pages` limits the pages that are read.
    """

    website_url: str
    lang: str | None = None
    count: int | None = None
    max_pages: int = MAX_PAGES


class Reason(StrEnum):
    """Why a question or a page is not among the items."""

    DUPLICATE = "duplicate"
    """Another page has the same question."""
    OTHER_LANGUAGE = "other-language"
    """It is in another language than the items."""
    BEYOND_COUNT = "beyond-count"
    """There are already as many items as requested."""
    UNSUPPORTED = "unsupported"
    """No page says what a model wrote."""
    UNREADABLE = "unreadable"
    """The page cannot be read, or must not be requested."""


class Engine(Protocol):
    """Turns the pages of a site into questions and answers."""

    @property
    def crawl_time_fraction(self) -> float:
        """The share of the time for a generation that the crawl may take."""
        ...

    async def generate_items(self, pages: Sequence[Page], request: GenerationRequest) -> GenerateResponse:
        """Return at most as many items as requested, what was dropped, and notes.

        Raises:
            EngineError: the engine fails; the message contains no secret.
        """
        ...


def source_of(url: str, text: str) -> str:
    """Return a URL that opens a page at a text (URL Fragment Text Directives)."""
    # Commas, ampersands and hyphens have a meaning in the directive.
    directive = quote(text[:MAX_TEXT], safe="").replace("-", "%2D")
    return f"{url.partition('#')[0]}#:~:text={directive}"
