"""The format of slugs."""

import unicodedata
from typing import Final, TypeGuard

from faqsvc_embed.errors import FAQNotFound, quoted

MAX_SLUG: Final = 200
"""Characters."""

ACCEPTED: Final = f"1 to {MAX_SLUG} characters without control characters, '/' and '\\', and not '.' or '..'"


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


def invalid_slug(value: object) -> FAQNotFound:
    """Return the error for a value that cannot be a slug; no request is made for it."""
    return FAQNotFound(f"{quoted(value)} is not a slug: {ACCEPTED}")
