"""The format of slugs."""

import unicodedata
from typing import Final, TypeGuard

from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.text import normalized

MAX_SLUG: Final = 200
"""Characters."""

ACCEPTED: Final = f"1 to {MAX_SLUG} characters without control characters, '/' and '\\', and not '.' or '..'"

_HINTS: Final[dict[type, str]] = {
    FAQState: "pass its data",
    FAQ: "it is a record, which only render() and faq() accept",
    dict: "make a record of it with FAQ.from_dict()",
    list: 'pass one slug; only prefetch("a", "b") takes several, each as an argument',
    tuple: 'pass one slug; only prefetch("a", "b") takes several, each as an argument',
}
"""Advice for values of other types."""


def is_slug(value: object) -> TypeGuard[str]:
    """Return whether `value` can be a slug: one path segment without control characters and surrogates."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_SLUG
        and value not in (".", "..")
        and "/" not in value
        and "\\" not in value
        and (value.isprintable() or not any(unicodedata.category(c) in ("Cc", "Cs") for c in value))
    )


def is_same_slug(one: str, other: str) -> bool:
    """Return whether two slugs are the same in Unicode's normal form NFC."""
    return normalized("NFC", one) == normalized("NFC", other)


def invalid_slug(value: object, template: str | None = None) -> FAQNotFound:
    """Return the error for a value that cannot be a slug; no request is made for it."""
    where = f"template {template!r}: " if template else ""
    hint = next((text for kind, text in _HINTS.items() if isinstance(value, kind)), ACCEPTED)
    return FAQNotFound(f"{where}{quoted(value)} is not a slug: {hint}")
