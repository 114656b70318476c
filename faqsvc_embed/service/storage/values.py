"""The values that the storage takes and returns."""

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from msgspec import structs

from faqsvc_embed.api.contract import RevisionState, Scope, State
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage.errors import Gone, NotYourSite
from faqsvc_embed.text import normalized

SCOPES: Final[tuple[Scope, ...]] = ("read", "draft", "publish")

HIDDEN: Final = ("binned", "purged")
"""The states of FAQs that are in no list of their owner."""


def storable(text: str) -> str:
    """Return text without U+0000, which PostgreSQL cannot store. In JSON, it is escaped, so it may stay."""
    return text.replace("\0", "\ufffd")


def search_text(faq: FAQ) -> str:
    """Return the text of an FAQ for searching."""
    items = (text for item in faq.items for text in (item.question, item.answer))
    return "\n".join(map(folded, (faq.slug, faq.title, *items)))


def folded(text: str) -> str:
    """Return text for comparisons that ignore case and width, in every language."""
    return storable(normalized("NFKC", text).casefold())


def secret_digest(secret: str) -> str:
    """Return the digest of a key or a token, which the database has instead of the secret.

    A fast digest without salt is enough for 192 random bits.
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Access:
    """The rights of an API key or a person on a site; without both, the rights of the operator.

    An admin manages people, keys and the settings of the site. No key does.
    """

    key_id: str | None
    site: str
    scope: Scope = "publish"
    person_id: str | None = None
    is_admin: bool = False

    def may(self, scope: Scope) -> bool:
        """Return whether the rights include a scope."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


NOBODY: Final = Access("", "", "read")
"""The rights of a request without a key: no site has this id."""


def check_owner(faq: Any, access: Access, slug: str) -> Any:
    """Return the row of an FAQ of the site, which may be in the bin or purged.

    Raises:
        FAQNotFound: the site has none with this slug.
        NotYourSite: another site has, or had, this slug, and readers know it.
    """
    if faq is None or (faq.site != access.site and faq.state in ("draft", "unpublished")):
        raise FAQNotFound(f"No FAQ has the slug {quoted(slug)}")
    if faq.site != access.site:
        raise NotYourSite(f"The FAQ {quoted(slug)} belongs to another site")
    return faq


def check_present(faq: Any, access: Access, slug: str, *, binned: bool = False) -> Any:
    """Return the row of an FAQ of the site that is not deleted.

    Raises:
        FAQNotFound, NotYourSite: as `check_owner` does.
        Gone: it was purged or, without `binned`, it is in the bin.
    """
    faq, name = check_owner(faq, access, slug), quoted(slug)
    if faq.state == "binned" and not binned:
        raise Gone(f"The FAQ {name} is in the bin: restore it, or choose another slug")
    if faq.sealed:
        raise Gone(
            f"The FAQ {name} was deleted for ever, and its slug cannot be used again until an admin allows"
            f" it at the desk, or an operator with `faqsvc restore {shlex.quote(slug)} --lift`"
        )
    if faq.state == "purged":
        raise Gone(f"The FAQ {name} was deleted")
    return faq


@dataclass(frozen=True, slots=True)
class Preconditions:
    """The conditions of a write: entity tags of `If-Match` (`[]` for `*`), or that the translation is new.

    The tag of a translation changes when it or the FAQ is unpublished, so a program that began before is
    refused. A new translation does not publish an FAQ that was unpublished. `versions` are those of
    the translations when a form was opened (`Revision.version`); translations that the write changes
    must still have them. `binned_at` is the time at which a restored FAQ must have been moved to the bin.
    """

    if_match: Sequence[str] | None = None
    is_create_only: bool = False
    versions: Mapping[str, str] | None = None
    binned_at: datetime | None = None


UNCONDITIONAL: Final = Preconditions()


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The Idempotency-Key of a request, and the digest of its body in hex."""

    key: str
    body_digest: str


@dataclass(frozen=True, slots=True)
class FileState:
    """What a file says: the revision that it was made from, if any, and what it may undo."""

    revision: int | None
    overwrite: bool = False
    republish: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A revision to write. The slug and the language of `faq` are not used.

    Without `slug`, a new FAQ is created under a new slug. With `must_be_new`, no FAQ with `slug`
    may exist. Without `lang`, the language is detected; if that is uncertain, it is the default language of
    the FAQ, else English.
    """

    faq: FAQ
    slug: str | None = None
    must_be_new: bool = False
    lang: Lang | None = None
    is_draft: bool = False
    preconditions: Preconditions = UNCONDITIONAL
    translated_from: int | None = None
    """The revision of the default language that this is a translation of; by default the newest."""
    idempotency_key: IdempotencyKey | None = None
    file: FileState | None = None
    """Set if the FAQ comes from a file. Its website may then be empty."""


class Revision(NamedTuple):
    """A revision with the state of its translation, as its owner sees it.

    The fields are columns of its row and of its translation's. `author` is the name of the person or the key
    that wrote it, None for the operator; `published_at` is when it was first published.
    """

    slug: str
    lang: Lang
    number: int
    digest: str
    title: str
    website_url: str
    created_at: datetime
    published_at: datetime | None
    discarded_at: datetime | None
    key_id: str | None
    author: str | None
    newest: int
    published: int | None
    withdrawn: int | None
    withdrawn_at: datetime | None
    binned_at: datetime | None
    translated_from: int | None
    faq_state: str
    record: str = ""
    """Empty in lists of FAQs."""

    @property
    def faq(self) -> FAQ:
        """The record."""
        return FAQ.from_json(self.record)

    @property
    def content(self) -> FAQ:
        """The record with its website."""
        return structs.replace(self.faq, website_url=self.website_url)

    @property
    def is_draft(self) -> bool:
        """Whether it is the newest revision, and was never published."""
        return self.number == self.newest and self.published_at is None

    @property
    def state(self) -> RevisionState:
        """Its state; a draft is newer than every published revision."""
        if self.number == self.published:
            return "published"
        return "draft" if self.is_draft else "superseded"

    @property
    def translation_state(self) -> State:
        """The state of the translation."""
        if self.binned_at is not None:
            return "binned"
        if self.published is not None:
            return "published"
        return "draft" if self.withdrawn is None else "unpublished"

    @property
    def is_unpublished(self) -> bool:
        """Whether it is the newest revision of a translation or of an FAQ that is unpublished."""
        return self.number == self.newest and "unpublished" in (self.translation_state, self.faq_state)

    @property
    def tag(self) -> str:
        """The opaque part of its entity tag: the digest of its content.

        The tag of the newest revision changes when its translation or the FAQ is unpublished. Otherwise, a
        writer who began before would publish it again.
        """
        return f"{self.digest}-unpublished" if self.is_unpublished else self.digest

    @property
    def version(self) -> str:
        """A text that changes whenever the translation, whose newest revision this is, changes its state."""
        return f"{self.newest}.{self.published or 0}.{self.tag}"


def faq_state(translations: Sequence[Revision]) -> State | Literal["purged"]:
    """Return the state of an FAQ with these translations, which are those with a revision."""
    kept = [one for one in translations if one.binned_at is None]
    if not kept:
        return "binned" if translations else "purged"
    if any(one.published is not None for one in kept):
        return "published"
    return "unpublished" if any(one.withdrawn is not None for one in translations) else "draft"


class ServedFAQ(NamedTuple):
    """A revision as readers get it, the published one or a preview; `record` is its JSON in the API."""

    lang: str
    record: str
    digest: str
    website_url: str
    number: int
    published_at: datetime
    is_listed: bool = True
    """Whether its site is listed; search engines index only pages of listed sites."""


class Listing(NamedTuple):
    """A published translation of an FAQ of a listed site."""

    slug: str
    lang: str
    title: str
    website_name: str
    published_at: datetime


@dataclass(frozen=True, slots=True)
class Quota:
    """How many FAQs and bytes a site may have, and how often it may write in a minute; None is no limit."""

    faqs: int | None = None
    bytes: int | None = None
    writes: int | None = None
