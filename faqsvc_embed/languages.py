"""Which of the seven languages of the service answers a wish for a language.

Wishes come as language ranges: from an argument, from the host's locale, or from an `Accept-Language`
header (RFC 9110, 12.5.4). They are matched by the look-up of RFC 4647, section 3.4.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

LANGUAGES: Final = ("en", "ko", "ja", "zh", "es", "fr", "de")
"""The languages of the service, in the order of its specification."""

_LANGUAGE_TAG: Final = (  # RFC 5646, 2.1, without the irregular grandfathered tags that nobody writes
    r"(?ai)(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4}|[a-z]{5,8})"
    r"(?:-[a-z]{4})?"
    r"(?:-(?:[a-z]{2}|[0-9]{3}))?"
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"
    r"(?:-[0-9a-wy-z](?:-[a-z0-9]{2,8})+)*"
    r"(?:-x(?:-[a-z0-9]{1,8})+)?"
    r"|x(?:-[a-z0-9]{1,8})+"
)
_RANGE: Final = r"(?ai)\*|[a-z]{1,8}(?:-(?:[a-z0-9]{1,8}|\*))*"
_QUALITY: Final = r"(?ai)q\s*=\s*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)"

MAX_TAG = 100
MAX_HEADER = 1024
"""Longer tags and the rest of a longer header are somebody's attempt at something, not a language."""


def is_language_tag(text: object) -> bool:
    """Tell whether `text` is a well-formed language tag (BCP 47, RFC 5646 section 2.1)."""
    if not isinstance(text, str) or len(text) > MAX_TAG:
        return False
    return text in LANGUAGES or re.fullmatch(_LANGUAGE_TAG, text) is not None


def lookup(wish: str) -> str | None:
    """Return the language of the service that a language range asks for, or None.

    Subtags are cut from the right until one of the seven is left (RFC 4647, 3.4): `zh-Hant-TW` gives
    `zh`, `de-CH` gives `de`. Underscores of POSIX locales count as hyphens. `*` names no language.
    """
    if wish in LANGUAGES:
        return wish
    tag = wish.strip().replace("_", "-").lower() if len(wish) <= MAX_TAG else ""
    # All seven are primary subtags, so cutting from the right always ends at the first one.
    primary = tag.partition("-")[0]
    return primary if primary in LANGUAGES and re.fullmatch(_RANGE, tag) is not None else None


# Most visitors' headers are like one before. Under `python -bb`, text and bytes may not meet as keys.
@lru_cache(maxsize=256, typed=True)
def negotiate(accept_language: str | bytes, default: str | None = None) -> str | None:
    """Return the language of the service that an `Accept-Language` header prefers, else `default`.

    It comes as text, or as the bytes of ASGI. Malformed parts are skipped, a quality of 0 excludes a
    language, equal qualities keep the order of the header, and `*` stands for `default`, or for the first
    language if the header names that one apart.
    """
    if isinstance(accept_language, bytes):
        accept_language = accept_language.decode("latin-1")
    excluded, wishes = set[str](), list[tuple[float, str]]()
    for range_, quality in _parse(accept_language):
        if quality > 0:
            wishes.append((quality, range_))
        else:
            excluded.add(range_.lower())  # `fr-CH;q=0` excludes no `fr`
    wishes.sort(key=lambda wish: -wish[0])  # stable: the header's order decides between equals
    for _, range_ in wishes:
        if range_ == "*":  # any that the header does not name apart (RFC 9110, 12.5.4)
            named = excluded.union(range_.lower() for _, range_ in wishes if range_ != "*")
            others = (language for language in (default, *LANGUAGES) if language and language not in named)
            if default is None and excluded.isdisjoint(LANGUAGES):
                return None
            if (other := next(others, None)) is not None:
                return other
            continue
        language = lookup(range_)
        if language is not None and language not in excluded:
            return language
    return default


def _parse(header: str) -> Iterable[tuple[str, float]]:
    """Yield the well-formed (range, quality) pairs of a header; a missing quality is 1."""
    is_range, is_quality = re.compile(_RANGE).fullmatch, re.compile(_QUALITY).fullmatch
    for part in header[:MAX_HEADER].split(","):
        range_, separator, parameter = part.partition(";")
        range_ = range_.strip()
        if is_range(range_) is None:
            continue
        if not separator:
            yield range_, 1.0
        elif quality := is_quality(parameter.strip()):
            yield range_, float(quality[1])
