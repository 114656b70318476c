"""The stored form of a record: one JSON document, verified when it is read."""

import hashlib
import hmac
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

import msgspec

from faqsvc_embed.api.cache_control import NO_CACHE_CONTROL, CacheControl
from faqsvc_embed.api.requests import NO_VALIDATORS, Validators
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.models import FAQ
from faqsvc_embed.text import clean_text

FORMAT: Final = "faqsvc-copy/1"
DIGEST: Final = '  "digest": '
"""The start of the last line. The digest covers all lines before it."""


class StoredFAQ(msgspec.Struct, frozen=True):
    """A record with its lifetime and validators, and the time when the source last confirmed it."""

    faq: FAQ
    lang: str | None
    """The requested language, which may differ from the record's."""
    updated_at: datetime
    """When the source last confirmed the record, in UTC, by the clock of the machine that fetched it."""
    fresh_for: float
    """Seconds after `updated_at` during which the record is fresh."""
    validators: Validators = NO_VALIDATORS
    cache_control: CacheControl = NO_CACHE_CONTROL

    def to_json(self, base_url: str, secret: str | None = None) -> str:
        """Return the document, in short lines for reviews; `base_url` is the name of its source.

        A `secret` signs it, so that only those who know the secret can write one.
        """
        document = {
            "form": FORMAT,
            "baseUrl": base_url,
            "slug": self.faq.slug,
            "lang": self.lang,
            "confirmedAt": self.updated_at.isoformat(),
            "freshFor": self.fresh_for,
            "lifetime": self.cache_control.lifetime,
            "etag": self.validators.etag,
            "lastModified": self.validators.last_modified,
            "faq": self.faq.to_dict(),
        }
        text = clean_text(json.dumps(document, ensure_ascii=False, indent=2).removesuffix("\n}") + ",\n")
        return f'{text}{DIGEST}"{_digest(text.encode(), secret)}"\n}}\n'

    @classmethod
    def from_json(cls, text: bytes, base_url: str, key: Key, secret: str | None = None) -> "StoredFAQ":
        """Read the document of one FAQ.

        Raises:
            InvalidFAQ: it is cut off, was edited, or belongs to another FAQ; the message says which.
        """
        try:
            document = msgspec.json.decode(text, type=_Document)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise InvalidFAQ(f"it is not a document of the form {FORMAT!r}: {error}") from None
        if document.form != FORMAT:
            raise InvalidFAQ(f"its form is {document.form[:40]!r}, not {FORMAT!r}")
        # Git may have changed the line ends. Texts in the document contain none.
        covered = text.replace(b"\r\n", b"\n").rpartition(DIGEST.encode())[0]
        if not hmac.compare_digest(document.digest.encode(), _digest(covered, secret).encode()):
            raise InvalidFAQ(
                "its digest does not match: it was edited, damaged or signed with another secret"
            )
        owner = (document.base_url, document.slug, document.lang)
        if owner != (base_url, key.slug, key.lang):
            raise InvalidFAQ(f"it belongs to another FAQ: {owner!r}")
        faq = FAQ.from_json(bytes(document.faq))
        if faq.slug != key.slug:
            raise InvalidFAQ(f"it contains the record of {faq.slug!r}")
        return cls(
            faq,
            key.lang,
            document.confirmed_at.astimezone(UTC),
            document.fresh_for,
            Validators(document.etag, document.last_modified),
            CacheControl(document.lifetime),
        )


def max_document(max_bytes: int) -> int:
    """Return how many bytes the document of a record of `max_bytes` may have."""
    return 4 * max_bytes + 65_536


def is_forgotten(stored: StoredFAQ, marks: Iterable[bytes | None]) -> bool:
    """Return whether a record was confirmed before its FAQ was forgotten.

    A mark contains the time when the FAQ was forgotten, in ISO 8601, or is None if there is none. Times come
    from several machines: if the clock of one is ahead, more records are fetched again than necessary. A
    mark that cannot be read counts as later than every record.
    """
    try:
        times = [datetime.fromisoformat(mark.decode()) for mark in marks if mark is not None]
        return any(stored.updated_at <= time for time in times)
    except (ValueError, TypeError):
        return True


class _Document(msgspec.Struct, rename="camel"):
    form: str
    base_url: str
    slug: str
    lang: str | None
    confirmed_at: datetime
    fresh_for: float
    etag: str | None
    last_modified: str | None
    faq: msgspec.Raw
    digest: str
    lifetime: float | None = None


def _digest(text: bytes, secret: str | None) -> str:
    if secret is None:
        return f"sha256:{hashlib.sha256(text).hexdigest()}"
    return f"hmac-sha256:{hmac.digest(secret.encode(), text, 'sha256').hex()}"
