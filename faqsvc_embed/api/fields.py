"""The types of fields with their limits, slugs, and the codes of error responses.

The limits keep a record below the 1 MiB that clients read. Client and service share them, so that the client
refuses what the service would refuse.
"""

import re
from typing import Annotated, Final, Literal, TypeGuard

from msgspec import Meta

from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.models.wire import ITEM_ID, ITEM_ID_FORM, MAX_INTRODUCTION, MAX_SECTION
from faqsvc_embed.text import clean_text, normalized

MAX_BODY: Final = 1_000_000
"""Bytes."""
MAX_ITEMS: Final = 1_000
MAX_QUESTION: Final = 1_000
MAX_ANSWER: Final = 20_000
MAX_NAME: Final = 200
MAX_URL: Final = 2_000

MAX_SLUG: Final = 200
"""Characters."""
ACCEPTED: Final = f"1 to {MAX_SLUG} characters without control characters, '/' and '\\', and not '.' or '..'"

NOT_EMPTY: Final = r"^[^\u0000]*[^\u0000\s][^\u0000]*$"
"""Some text, without U+0000, which databases cannot store."""
_NOT_IN_HOST: Final = (
    r"\u0000-,/:-@\[-^`{-}\u007f-\u00a0\u2000-\u200b\u200e-\u25ff\u27c0-\u2aff\u2e00-\u3001\u3003\u3004"
    r"\u3008-\u303f\ue000-\ufe0e\ufe10-\uffff"
)
"""What no host has: signs except `.`, `_`, `~`, `-` and emoji, and letters that NFKC turns into signs."""
WEB_ADDRESS: Final = (
    rf"^[Hh][Tt][Tt][Pp][Ss]?://[^{_NOT_IN_HOST}]+"
    r"(:([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
    r"([/?#][^\u0000-\u0020\u0022<>\\\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*)?$"
)
"""http or https, a host in any script, no user name or password, and no white space, control
character, quotation mark, angle bracket or backslash.

Generated clients compile these patterns in other dialects. Some of them know no character above U+FFFF.
"""
SLUG: Final = r"^(?!\.{1,2}$)[^\u0000-\u001f\u007f-\u009f/\\]+$"

# `accepted` completes "… is accepted" in the message for a text that does not match the pattern.
Slug = Annotated[
    str,
    Meta(min_length=1, max_length=MAX_SLUG, pattern=SLUG, examples=["pricing"], extra={"accepted": ACCEPTED}),
]
WebsiteURL = Annotated[
    str,
    Meta(
        max_length=MAX_URL,
        pattern=WEB_ADDRESS,
        examples=["https://www.tea.example"],
        extra={"accepted": "an address such as https://www.example.com"},
    ),
]
Name = Annotated[str, Meta(max_length=MAX_NAME, pattern=NOT_EMPTY)]
Question = Annotated[str, Meta(max_length=MAX_QUESTION, pattern=NOT_EMPTY)]
Answer = Annotated[str, Meta(max_length=MAX_ANSWER, pattern=NOT_EMPTY)]
Introduction = Annotated[str, Meta(max_length=MAX_INTRODUCTION, pattern=NOT_EMPTY)]
Section = Annotated[str, Meta(max_length=MAX_SECTION, pattern=NOT_EMPTY)]
ItemId = Annotated[str, Meta(pattern=ITEM_ID, examples=["shipping"], extra={"accepted": ITEM_ID_FORM})]
Lang = Literal["en", "ko", "ja", "zh", "es", "fr", "de"]
Code = Literal[
    "bad-request",  # 400: a Host header that is no host, a body that ended early
    "missing-key",  # 401
    "unknown-key",  # 403: unknown, expired or revoked
    "missing-scope",  # 403: the key may not do this
    "not-your-site",  # 403: the FAQ belongs to another site
    "invalid-preview",  # 403: the preview token has expired, or belongs to another FAQ
    "not-found",  # 404
    "nothing-to-restore",  # 404: no translation is in the bin or unpublished
    "method-not-allowed",  # 405
    "not-acceptable",  # 406
    "request-timeout",  # 408
    "unpublished",  # 409: a file would publish an FAQ that was unpublished
    "quota-exceeded",  # 409: the site has as many FAQs or bytes as it may have
    "gone",  # 410: unpublished, in the bin, or purged
    "revision-conflict",  # 412: If-Match or If-None-Match failed; `current` is the newest revision
    "old-file",  # 412: a file would undo a change; `current` is the newest revision
    "body-too-large",  # 413
    "unsupported-media-type",  # 415
    "invalid-body",  # 422: `problems` has every reason
    "unknown-question",  # 422: `index` is the number of the change, `closest` what it may mean
    "invalid-parameter",  # 422: the same for the path, the query or a header
    "idempotency-key-reused",  # 422: the same key came with another body
    "precondition-required",  # 428: PATCH without If-Match
    "unreadable-website",  # 422 or 502: generation cannot read it
    "rate-limited",  # 429: Retry-After says when to try again
    "internal-error",  # 500
    "generation-failed",  # 501, 502 or 503
    "unavailable",  # 503: the database does not respond, or the service is shutting down
    "generation-timeout",  # 504
]
"""The `code` of a problem. Codes are stable; titles and details are for people and may change."""


def is_slug(value: object) -> TypeGuard[str]:
    """Return whether `value` can be a slug: one path segment without control characters and surrogates."""
    if not isinstance(value, str) or len(value) > MAX_SLUG:
        return False
    return value == clean_text(value) and re.fullmatch(SLUG, value) is not None


def is_same_slug(one: str, other: str) -> bool:
    """Return whether two slugs are the same in Unicode's normal form NFC."""
    return normalized("NFC", one) == normalized("NFC", other)


def invalid_slug(value: object, template: str | None = None) -> FAQNotFound:
    """Return the error for a value that cannot be a slug; no request is made for it.

    `template` is the name of the template with the value: empty if it has no name, None without a template.
    """
    where = f"template {template!r}: " if template else ""
    # Without quotes, a template reads a slug as a variable, which is then None, undefined or empty.
    is_text = isinstance(value, str) and (value or template is None)
    hint = "" if is_text else '; write it in quotes: faq("a")'
    return FAQNotFound(f"{where}{quoted(value)} is not a slug: {ACCEPTED}{hint}")
