"""A copy of an FAQ as it outlives the process: one JSON document, checked when it is read."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.records import FAQ
from faqsvc_embed.wire import Validators

FORM: Final = "faqsvc-copy/1"


class Copy(msgspec.Struct, frozen=True):
    """A record, what the service said of its reuse, and when the service last confirmed it."""

    faq: FAQ
    lang: str | None
    """The language that was asked for, which may differ from the record's."""
    confirmed_at: datetime
    """In UTC, by the clock of the machine that asked."""
    fresh_for: float
    """Seconds after `confirmed_at` in which nobody needs to ask again."""
    validators: Validators = Validators()
    must_revalidate: bool = False

    def to_json(self, base_url: str) -> str:
        """Return the document, in lines that can be reviewed; `base_url` names the service it came from."""
        document = {
            "form": FORM,
            "baseUrl": base_url,
            "slug": self.faq.slug,
            "lang": self.lang,
            "confirmedAt": self.confirmed_at.isoformat(),
            "freshFor": self.fresh_for,
            "mustRevalidate": self.must_revalidate,
            "etag": self.validators.etag,
            "lastModified": self.validators.last_modified,
            "faq": self.faq.to_dict(),
        }
        document["digest"] = _digest(document)
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: bytes | str, base_url: str, slug: str, lang: str | None) -> "Copy":
        """Read the document of one FAQ.

        Raises:
            InvalidFAQ: it is cut off, was changed by hand, or is another's; the message says which.
        """
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidFAQ(f"not JSON: {error}") from None
        if not isinstance(document, dict) or document.get("form") != FORM:
            raise InvalidFAQ(f"not of the form {FORM!r}")
        digest = document.pop("digest", None)
        if digest != _digest(document):
            raise InvalidFAQ("it was changed by hand, or damaged: its digest does not fit")
        whose = (document.get("baseUrl"), document.get("slug"), document.get("lang"))
        if whose != (base_url, slug, lang):
            raise InvalidFAQ(f"it is the copy of another FAQ: {whose!r}")
        try:
            faq = FAQ.from_dict(document["faq"])
            copy = cls(
                faq,
                lang,
                datetime.fromisoformat(document["confirmedAt"]).astimezone(UTC),
                float(document["freshFor"]),
                Validators(document["etag"], document["lastModified"]),
                bool(document["mustRevalidate"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InvalidFAQ(f"a part of it is missing or wrong: {error!r}") from None
        if faq.slug != slug:
            raise InvalidFAQ(f"it holds the record of {faq.slug!r}")
        return copy


def _digest(document: dict[str, Any]) -> str:
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"
