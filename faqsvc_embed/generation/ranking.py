"""Of all that was found: each question once, in one language, the best first."""

import re
from collections import Counter
from collections.abc import Sequence

from faqsvc_embed.generation.extraction.pairs import Pair, key
from faqsvc_embed.generation.pages import Page

Ranked = tuple[Page, Pair]

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{2,}")


def ranked(pages: Sequence[Page], *, lang: str | None = None, topic: str | None = None) -> list[Ranked]:
    """Return the questions of pages in `lang`, or in the site's language if there are none in that.

    Questions about the topic come first, then those that stand in an FAQ, then in the order of the site.
    """
    spoken = _spoken(pages, lang)
    found: dict[str, Ranked] = {}
    # In an FAQ an answer is written to stand alone, so of two for one question it is the better one.
    by_place = [(page, pair) for page in pages if page.lang == spoken for pair in page.pairs]
    for page, pair in sorted(by_place, key=lambda one: not one[1].in_faq):
        found.setdefault(key(pair.question), (page, pair))
    wanted = _terms(topic or "")
    return sorted(found.values(), key=lambda one: (-_relevance(one[1], wanted), not one[1].in_faq))


def _spoken(pages: Sequence[Page], lang: str | None) -> str | None:
    """Return the language that is wanted if any page with questions is in it, else that of most."""
    counts = Counter[str | None]()
    for page in pages:
        counts[page.lang] += len(page.pairs)
    if lang is not None and counts[lang]:
        return lang
    return counts.most_common(1)[0][0] if counts else None


def _terms(text: str) -> set[str]:
    """Return words, and pairs of characters where words are not spaced; the endings of words do not count."""
    words = {word.casefold()[:6] for word in _WORD.findall(text) if len(word) > 2}
    for run in _UNSPACED.findall(text):
        words |= {run[place : place + 2] for place in range(len(run) - 1)}
    return words


def _relevance(pair: Pair, wanted: set[str]) -> float:
    if not wanted:
        return 0.0
    return 2.0 * len(wanted & _terms(pair.question)) + len(wanted & _terms(pair.answer)) / (1 + len(wanted))
