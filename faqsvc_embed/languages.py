"""The seven languages of the service, and how to choose one of them.

A preference is a language range: an argument, the host's locale, or a part of an `Accept-Language` header
(RFC 9110, 12.5.4). Ranges are matched by the look-up of RFC 4647, section 3.4.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

LANGUAGES: Final = ("en", "ko", "ja", "zh", "es", "fr", "de")
"""The languages of the service, in the order in which it lists them."""

_LANGUAGE_TAG: Final = (  # RFC 5646, 2.1, without the irregular grandfathered tags
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

MAX_TAG: Final = 100
"""Characters. A longer text is not a language tag."""
MAX_HEADER: Final = 1024
"""Characters of an `Accept-Language` header that are read."""


def is_language_tag(text: object) -> bool:
    """Return whether `text` is a well-formed language tag (BCP 47, RFC 5646 section 2.1)."""
    if not isinstance(text, str) or len(text) > MAX_TAG:
        return False
    return text in LANGUAGES or re.fullmatch(_LANGUAGE_TAG, text) is not None


def lookup(language_range: str) -> str | None:
    """Return the language of the service that matches a language range, or None.

    Subtags are removed from the right until one of the seven is left (RFC 4647, 3.4): `zh-Hant-TW` gives
    `zh`, `de-CH` gives `de`. Underscores, as in POSIX locales, count as hyphens. `*` matches none.
    """
    if language_range in LANGUAGES:
        return language_range
    tag = language_range.strip().replace("_", "-").lower() if len(language_range) <= MAX_TAG else ""
    # All seven are primary subtags, so removing subtags from the right always ends at the first one.
    primary = tag.partition("-")[0]
    return primary if primary in LANGUAGES and re.fullmatch(_RANGE, tag) is not None else None


@lru_cache(maxsize=256)  # most visitors send one of a few headers
def negotiate(
    accept_language: str, default: str | None = None, available: tuple[str, ...] = LANGUAGES
) -> str | None:
    """Return the available language that an `Accept-Language` header prefers, else `default`.

    Only the first 1024 characters of the header are read, and malformed parts are skipped. A quality of 0
    excludes a language, and equal qualities keep the order of the header. `*` gives `default` or, if the
    header lists `default`, the first language that it does not list.
    """
    excluded, accepted = {*LANGUAGES} - {*available}, list[tuple[float, str]]()
    if len(accept_language) >= MAX_HEADER:
        accept_language = accept_language[:MAX_HEADER].rpartition(",")[0]  # the last part may be cut off
    for range_, quality in weighted(accept_language, _RANGE):
        if quality > 0:
            accepted.append((quality, range_))
        else:
            excluded.add(range_)  # `fr-ch;q=0` does not exclude `fr`
    accepted.sort(key=lambda pair: -pair[0])  # stable: the header's order decides between equal qualities
    listed = excluded.union(range_ for _, range_ in accepted)
    for _, range_ in accepted:
        if range_ == "*":
            if default is None and excluded.isdisjoint(LANGUAGES):
                return None
            # `*` stands for every language that the header does not list (RFC 9110, 12.5.4).
            unlisted = (language for language in (default, *LANGUAGES) if language and language not in listed)
            language = next(unlisted, None)
        else:
            language = lookup(range_)
        if language is not None and language not in excluded:
            return language
    return default


def weighted(header: str, pattern: str) -> Iterator[tuple[str, float]]:
    """Yield the ranges of an `Accept` or `Accept-Language` header in lower case, with their qualities.

    A missing quality is 1. Malformed parts are skipped, and other parameters are ignored.
    """
    is_range, is_quality = re.compile(pattern).fullmatch, re.compile(_QUALITY).fullmatch
    for part in header.lower().split(","):
        range_, *parameters = map(str.strip, part.split(";"))
        # Only a media type may end in a semicolon (RFC 9110, 5.6.6).
        if is_range(range_) and ("" not in parameters or "/" in range_):
            stated = [one for one in parameters if one.partition("=")[0].rstrip() == "q"] or ["q=1"]
            if quality := is_quality(stated[0]):
                yield range_, float(quality[1])
