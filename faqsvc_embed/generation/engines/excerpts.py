"""The text of a site in parts that a language model reads one at a time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, TypeVar

from faqsvc_embed.generation.crawl.page import Page

MAX_EXCERPT: Final = 8_000
"""Characters of one excerpt; a longer page becomes several."""
MAX_BATCH: Final = 40_000
"""Characters of the excerpts in one request."""
MAX_BATCHES: Final = 6
"""Requests for one site; the text after that is not read."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of the text of a page."""

    page: Page
    text: str


def interleaved(parts: Iterable[Iterable[T]]) -> list[T]:
    """Return the first elements of all parts, then the second ones, and so on."""
    return [element for row in zip_longest(*parts) for element in row if element is not None]


def batches_of(pages: Sequence[Page]) -> list[list[Excerpt]]:
    """Return the text of pages as batches of excerpts; each batch is the data of one request.

    The first excerpts of all pages come first, because the end of a long site is left out.
    """
    batches: list[list[Excerpt]] = []
    size = MAX_BATCH
    for excerpt in interleaved(map(_excerpts, pages)):
        if size + len(excerpt.text) > MAX_BATCH:
            if len(batches) == MAX_BATCHES:
                break
            batches.append([])
            size = 0
        batches[-1].append(excerpt)
        size += len(excerpt.text)
    return batches


def _excerpts(page: Page) -> Iterator[Excerpt]:
    """Yield the text of a page, divided between paragraphs where that is possible."""
    start = 0
    while start < len(page.text):
        end = start + MAX_EXCERPT
        if end < len(page.text):
            paragraph = page.text.rfind("\n\n", start + MAX_EXCERPT // 2, end)
            end = paragraph if paragraph > 0 else end
        if text := page.text[start:end].strip():
            yield Excerpt(page, text)
        start = end
