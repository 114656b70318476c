"""The built-in engine, which needs no model: it returns questions and answers of a site, word for word."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Final

from faqsvc_embed.api.contract import DroppedEntry, GeneratedEntry, GenerateResponse
from faqsvc_embed.generation.crawl.page import Page
from faqsvc_embed.generation.engines.protocol import GenerationRequest, Reason, source_of
from faqsvc_embed.generation.extraction.extractor import Pair
from faqsvc_embed.generation.extraction.questions import question_key
from faqsvc_embed.generation.threads import run_in_thread

DEFAULT_COUNT: Final = 100


class ExtractiveEngine:
    """Returns the questions and answers of the pages, in the language of the pages."""

    crawl_time_fraction: float = 0.8

    async def generate_items(self, pages: Sequence[Page], request: GenerationRequest) -> GenerateResponse:
        """Return each question once: those in an FAQ first, then by page."""
        return await run_in_thread(partial(unique_items, pages, request))


def unique_items(pages: Sequence[Page], request: GenerationRequest) -> GenerateResponse:
    """Return each question of pages once: those in an FAQ first, then by page."""
    lang = _language(pages, request.lang)
    pairs, dropped = _unique_pairs(pages, lang)
    count = request.count or DEFAULT_COUNT
    dropped += [DroppedEntry(pair.question, Reason.BEYOND_COUNT) for _, pair in pairs[count:]]
    items = [_item(position, *found) for position, found in enumerate(pairs[:count])]
    notes = []
    if items and request.lang is not None and lang != request.lang:
        notes.append(
            f"Nothing is translated: no page with questions is in {request.lang!r}, and no language model is"
            f" configured. The items are in {items[0].lang or 'the language of the site'!r}."
        )
    if not items and (empty := [page.url for page in pages if page.needs_script]):
        notes.append(
            f"{empty[0]} lacks text without JavaScript, which is not run: save the page as a browser shows"
            " it and read that file, or copy its text."
        )
    return GenerateResponse(items, dropped=dropped, notes=notes)


def _item(position: int, page: Page, pair: Pair) -> GeneratedEntry:
    source = source_of(page.url, pair.question)
    markdown = pair.markdown if pair.markdown not in ("", pair.answer) else None
    return GeneratedEntry(position, pair.question, pair.answer, source, pair.section, markdown, page.tag)


def _unique_pairs(
    pages: Sequence[Page], lang: str | None
) -> tuple[list[tuple[Page, Pair]], list[DroppedEntry]]:
    """Return the pairs in a language, those in an FAQ first, and what is dropped.

    If a question has several answers, that in an FAQ is kept.
    """
    found: dict[str, tuple[Page, Pair]] = {}
    dropped: list[DroppedEntry] = []
    pairs = [(page, pair) for page in pages for pair in page.pairs]
    for page, pair in sorted(pairs, key=lambda found: not found[1].in_faq):
        key = question_key(pair.question)
        if page.lang != lang:
            detail = f"{page.url} is in {page.tag!r}"
            dropped.append(DroppedEntry(pair.question, Reason.OTHER_LANGUAGE, detail))
        elif key in found:
            dropped.append(DroppedEntry(pair.question, Reason.DUPLICATE, f"{page.url} repeats it"))
        else:
            found[key] = (page, pair)
    return list(found.values()), dropped


def _language(pages: Sequence[Page], wanted: str | None) -> str | None:
    """Return the wanted language if a pair is in it, else the language of most pairs."""
    counts = Counter(page.lang for page in pages for _ in page.pairs)
    if wanted is not None and counts[wanted]:
        return wanted
    return counts.most_common(1)[0][0] if counts else None
