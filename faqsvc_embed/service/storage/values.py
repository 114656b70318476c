"""The values that the storage takes and returns, and its errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from faqsvc_embed.api.content import Content as Content
from faqsvc_embed.api.contract import RevisionState, Scope
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQError
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ
from faqsvc_embed.text import normalized

SCOPES: Final[tuple[Scope, ...]] = ("read", "draft", "publish")


def default_first(languages: Iterable[Lang], default: str) -> list[Lang]:
    """Return languages in the order of `LANGUAGES`, with the default language first."""
    return sorted(languages, key=lambda lang: (lang != default, LANGUAGES.index(lang)))


def storable(text: str) -> str:
    """Return text without U+0000, which PostgreSQL cannot store. JSON escapes it, so it may stay there."""
    return text.replace("\0", "\ufffd")


def search_text(faq: FAQ) -> str:
    """Return the text of an FAQ that a search looks through."""
    items = (text for item in faq.items for text in (item.question, item.answer))
    return "\n".join(map(folded, (faq.slug, faq.title, *items)))


def folded(text: str) -> str:
    """Return text without differences of case and width, for comparisons in every language."""
    return storable(normalized("NFKC", text).casefold())


class NotYourSite(FAQError):
    """The FAQ belongs to another site."""


class Gone(FAQError):
    """The FAQ was unpublished, or purged within the last day."""


class ReservedSlug(FAQError):
    """The slug of a new FAQ is `generate`, a route of the API, ends in `.md`, or has invisible characters.

    With the ending, its page would have the address of another FAQ's Markdown.
    """


class QuotaExceeded(FAQError):
    """A write would exceed the FAQs or bytes that the site may have."""


class IdempotencyKeyReused(FAQError):
    """The Idempotency-Key was used before, with a different body."""


class RevisionConflict(FAQError):
    """A precondition failed; `newest` is the number of the newest revision, 0 if there is none."""

    def __init__(self, message: str, newest: int) -> None:
        super().__init__(message)
        self.newest = newest


@dataclass(frozen=True, slots=True)
class Access:
    """The rights of an API key or a person on a site; without either, those of the operator."""

    key_id: str | None
    site: str
    scope: Scope = "publish"
    person_id: str | None = None

    def may(self, scope: Scope) -> bool:
        """Return whether they include a scope."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


@dataclass(frozen=True, slots=True)
class Preconditions:
    """The conditions of a write: entity tags of `If-Match`, or that the translation is new."""

    if_match: Sequence[str] | None = None
    is_create_only: bool = False


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The Idempotency-Key of a request, and the digest of its body in hex."""

    key: str
    body_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A revision to write.

    Without `slug`, a new FAQ is created under a new slug. With `must_exist`, `slug` must be that of an FAQ;
    with `must_be_new` (`If-None-Match: *`), it must not. Without `lang`, the language is `detected_lang` if
    it is certain, else the default language of the FAQ, else English.
    """

    content: Content
    slug: str | None = None
    must_exist: bool = False
    must_be_new: bool = False
    lang: Lang | None = None
    detected_lang: Lang | None = None
    is_draft: bool = False
    preconditions: Preconditions = Preconditions()
    idempotency_key: IdempotencyKey | None = None


class Written(NamedTuple):
    """The revision that a request wrote or published."""

    slug: str
    lang: Lang
    number: int
    state: RevisionState
    digest: str
    is_new: bool
    """Whether this created the FAQ."""


class Publication(NamedTuple):
    """A published translation; `record` is its JSON, as the API returns it."""

    lang: str
    record: str
    digest: str
    website_url: str
    number: int
    published_at: datetime

    @property
    def version(self) -> str:
        """A text that changes whenever this translation is published."""
        return f"{self.digest} {self.published_at}"


class Listing(NamedTuple):
    """A published translation of an FAQ of a listed site."""

    slug: str
    lang: str
    title: str
    website_name: str
    published_at: datetime


@dataclass(frozen=True, slots=True)
class Quota:
    """How many FAQs and bytes a site may have; None is no limit."""

    faqs: int | None = None
    bytes: int | None = None


NO_QUOTA: Final = Quota()
