"""The words and grammar by which questions and FAQs are recognised, one file for each language.

To improve a language, edit its file; `language.py` describes every field. The patterns of all languages are
tried on every page, because pages often state no language, or a wrong one.
"""

import re
from collections.abc import Iterable
from typing import Final

from faqsvc_embed.generation.extraction.patterns import (
    ar,
    da,
    de,
    en,
    es,
    fr,
    it,
    ja,
    ko,
    nl,
    pl,
    pt,
    ru,
    sv,
    tr,
    vi,
    zh,
)
from faqsvc_embed.generation.extraction.patterns import (
    id as id_,
)
from faqsvc_embed.generation.extraction.patterns.language import Language

LANGUAGES: Final[tuple[Language, ...]] = (
    en.PATTERNS,
    de.PATTERNS,
    fr.PATTERNS,
    es.PATTERNS,
    ko.PATTERNS,
    ja.PATTERNS,
    zh.PATTERNS,
    ar.PATTERNS,
    da.PATTERNS,
    id_.PATTERNS,
    it.PATTERNS,
    nl.PATTERNS,
    pl.PATTERNS,
    pt.PATTERNS,
    ru.PATTERNS,
    sv.PATTERNS,
    tr.PATTERNS,
    vi.PATTERNS,
)


def any_of(patterns: Iterable[tuple[str, ...]]) -> re.Pattern[str]:
    """Compile patterns of several languages into one, which ignores case."""
    return re.compile("|".join(pattern for language in patterns for pattern in language), re.IGNORECASE)
