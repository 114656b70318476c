"""The errors that the storage raises when it refuses a request, beside `FAQNotFound`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from faqsvc_embed.errors import FAQError, FAQNotFound

if TYPE_CHECKING:
    from faqsvc_embed.service.storage.values import Revision


class NotYourSite(FAQError):
    """The FAQ belongs to another site."""


class NothingToRestore(FAQNotFound):
    """No translation of the FAQ is in the bin or unpublished."""


class Gone(FAQError):
    """The FAQ was unpublished, is in the bin, or was purged; `website_url` is that of its site, if known."""

    def __init__(self, message: str, website_url: str = "") -> None:
        super().__init__(message)
        self.website_url = website_url


class ReservedSlug(FAQError):
    """A new FAQ cannot have the slug: `generate`, a slug that ends in `.md`, or invisible characters.

    `generate` is a route of the API, and `SLUG.md` is the Markdown of another FAQ.
    """


class QuotaExceeded(FAQError):
    """A write would exceed the FAQs or bytes that the site may have."""


class TooManyWrites(FAQError):
    """The site wrote too often in the last minute; `wait` is the time until the next write in seconds."""

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message)
        self.wait = wait


class IdempotencyKeyReused(FAQError):
    """The Idempotency-Key was used before, with a different body, and wrote the FAQ `slug` in `lang`."""

    def __init__(self, message: str, slug: str, lang: str) -> None:
        super().__init__(message)
        self.slug = slug
        self.lang = lang


class RevisionConflict(FAQError):
    """A precondition failed; `current` is the newest revision of the translation, None if there is none."""

    def __init__(self, message: str, current: "Revision | None" = None) -> None:
        super().__init__(message)
        self.current = current


class InvalidCursor(FAQError):
    """A cursor was not returned by a list."""

    def __init__(self) -> None:
        super().__init__("after is not a cursor that a list returned")


class Unpublished(FAQError):
    """A file would publish an FAQ that was unpublished."""


class OldFile(RevisionConflict):
    """A file would undo a change that was made after it was written."""


class Incomplete(FAQError):
    """A file of a new FAQ lacks fields that it must have; `fields` has their names on the wire."""

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__(f"missing: {', '.join(fields)}")
        self.fields = fields
