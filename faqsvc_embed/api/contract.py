"""The REST contract: the body of every request and response, for service, client and tool server.

The structs are the source of the service's OpenAPI document, and `validation.py` checks request bodies
against them. Names are snake_case here and camelCase on the wire. `service/routes` declares which operation
has which of them; docs/reference/service.md lists the operations.

Errors are `Problem`s.
"""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from faqsvc_embed.api.fields import (
    MAX_ITEMS,
    MAX_QUESTION,
    Answer,
    Code,
    Introduction,
    ItemId,
    Lang,
    Name,
    Question,
    Section,
    Slug,
    WebsiteURL,
)
from faqsvc_embed.models import AnswerFormat
from faqsvc_embed.models.wire import MAX_SECTION

LIST_PATH: Final = "/api/v1/faqs"
MAX_LIMIT, DEFAULT_LIMIT = 500, 100
"""Entries of one page of a list."""
MAX_SLUGS: Final = 1_000
"""Slugs that one subscriber of the change feed may follow."""
PREVIEW_HEADER: Final = "X-FAQ-Preview"
"""The request header with a preview token; the response is the draft, with `Cache-Control: no-store`."""
PREVIEW_PARAMETER: Final = "faq_preview"
"""The query parameter with a preview token in the address of a host's page."""
REVISION_HEADER: Final = "FAQ-Revision"
"""The response header with the revision of a record, to compare with the events of the change feed."""

Scope = Literal["read", "draft", "publish"]
"""What an API key may do: read drafts and history, write drafts, publish. Each includes those before."""
State = Literal["draft", "published", "unpublished", "binned"]
"""The state of an FAQ: never published, published, unpublished, or in the bin (410 for readers)."""
RevisionState = Literal["draft", "published", "superseded"]
"""The state of a revision; a draft is newer than the published revision and was never published."""


class RecordItem(Struct, frozen=True, omit_defaults=True):
    """A question with its answer and its zero-based place; without a section or an id, these are left out."""

    position: Annotated[int, Meta(ge=0)]
    question: str
    answer: str
    section: str | None = None
    id: str | None = None


class Record(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A published FAQ. `answerFormat` is left out if it is "text"."""

    slug: str
    title: str
    website_name: str
    lang: Lang
    items: list[RecordItem]
    cta: Any
    answer_format: AnswerFormat = "text"
    website_url: str | None = None
    page_url: str | None = None
    introduction: str | None = None


class NewItem(Struct, frozen=True, gc=False):
    """A question with its answer. `section` is the heading above it, `id` names its element on a page."""

    question: Question
    answer: Answer
    section: Section | None = None
    id: ItemId | None = None


REQUIRED: Final = "Required, except with `revision`."


class PublishBody(Struct, frozen=True, rename="camel", kw_only=True):
    """The FAQ that POST and PUT publish, or only store if `draft` is true. Unknown fields are ignored.

    POST creates an FAQ under a slug from its title. PUT takes the slug and the language from the URL; `lang`
    of the body is used if the URL has none. A `slug` in the body, as in records, is not used.

    `revision` says that the body comes from a file, and which revision the file was made from, or null. Such
    a body is refused if it would undo a change (412), unless `overwrite` is true, or publish an unpublished
    FAQ (409), unless `republish` is true. It may leave out the website and the title, which are then kept.
    """

    # `anyOf` could say this in the schema, but generators of clients make no type of it.
    website_url: Annotated[WebsiteURL, Meta(description=REQUIRED)] | UnsetType = UNSET
    website_name: Annotated[Name, Meta(description=REQUIRED)] | UnsetType = UNSET
    items: Annotated[list[NewItem], Meta(min_length=1, max_length=MAX_ITEMS)]
    title: Annotated[Name | None, Meta(description='By default, the website\'s name and "FAQ".')] = None
    introduction: Annotated[Introduction | None, Meta(description="Between title and questions.")] = None
    lang: Annotated[Lang | None, Meta(description="By default, it is detected.")] = None
    answer_format: Annotated[AnswerFormat | None, Meta(description='By default "text".')] = None
    page_url: Annotated[WebsiteURL | None, Meta(description="The page of the website that shows it.")] = None
    draft: Annotated[bool | None, Meta(description="Store a draft, and publish nothing.")] = None
    slug: Annotated[Slug | None, Meta(description="Not used.")] = None
    revision: Annotated[int, Meta(ge=0, le=99_999_999)] | UnsetType | None = UNSET
    overwrite: bool | None = None
    republish: bool | None = None


class Change(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """A change of one question, which is named by its text, in any spelling, or by its `id`.

    With `add`, it is a new question, which needs an `answer`. Beside a `question`, `id` is its new id.
    """

    question: Annotated[Question | None, Meta(description="Its current text.")] = None
    answer: Annotated[Answer | None, Meta(description="The new answer.")] = None
    add: Annotated[bool | None, Meta(description="Add the question, which must not be there.")] = None
    new_question: Annotated[Question | None, Meta(description="The new text of the question.")] = None
    remove: Annotated[bool | None, Meta(description="Remove the question; nothing else may be given.")] = None
    section: Annotated[
        Annotated[str, Meta(max_length=MAX_SECTION)] | None,
        Meta(description="Move to the end of this section; beside a text, only from another. Empty: none."),
    ] = None
    after: Annotated[
        Annotated[str, Meta(max_length=MAX_QUESTION)] | None,
        Meta(description="Put it after this question, or first if empty. Its own `section` moves with it."),
    ] = None
    id: Annotated[ItemId | None, Meta(description="Names the question, if there is no `question`.")] = None


class ChangeBody(Struct, frozen=True, rename="camel", kw_only=True):
    """The changes of the newest revision, in order: all or none. `introduction` null removes it.

    At least one field besides `lang` and `draft` is required.
    """

    changes: Annotated[list[Change], Meta(min_length=1, max_length=MAX_ITEMS)] | UnsetType = UNSET
    title: Annotated[Name, Meta(description="A new title.")] | UnsetType = UNSET
    introduction: Introduction | UnsetType | None = UNSET
    answer_format: Annotated[AnswerFormat, Meta(description="The format of all answers.")] | UnsetType = UNSET
    lang: Annotated[Lang | None, Meta(description="The translation to change, if the URL names none.")] = None
    draft: Annotated[bool | None, Meta(description="Store a draft, and publish nothing.")] = None


INSTALL: Final = "npm install @faqsvc/react"
"""The specification requires it in responses. The npm registry has no such package: never show it."""


class Install(Struct, frozen=True):
    """What shows the FAQ: a command and an element for React, and the line of a template for Python."""

    npm: str
    component: str
    template: str


class PublishResponse(Struct, frozen=True, rename="camel"):
    """The revision that was written. `ignored` lists the fields that were not used."""

    slug: str
    faq_url: str
    install: Install
    lang: Lang
    revision: int
    state: RevisionState
    ignored: list[str] | UnsetType = UNSET


class TranslationSummary(Struct, frozen=True, rename="camel"):
    """A translation of an FAQ in a list, with the number and the entity tag of its newest revision."""

    lang: Lang
    revision: int
    etag: str
    state: State
    has_draft: Annotated[bool, Meta(description="Whether that revision was never published.")] = False


class FAQSummary(Struct, frozen=True, rename="camel"):
    """An FAQ in a list, with `title`, `revision` and `etag` of the newest revision in its default language.

    `languages` has the default language first, and no unpublished translation unless all are unpublished;
    `translations` has all of them. `hasDraft` says whether one of them has a draft. A list of the state
    `binned` has only translations in the bin.
    """

    slug: str
    title: str
    languages: list[Lang]
    state: State
    revision: int
    updated_at: datetime
    has_draft: bool = False
    etag: str | None = None
    translations: list[TranslationSummary] = []


class FAQList(Struct, frozen=True):
    """FAQs of a site, the last changed first. `next` is the cursor for `after`; null at the end."""

    items: list[FAQSummary]
    next: str | None = None


class Revision(Struct, frozen=True, rename="camel"):
    """A revision in a list; `key` is the name of the person or the API key that wrote it, or the key's id.

    `etag` is for `If-Match`. Equal contents have equal entity tags, but the tag of the newest revision
    is different while its translation, or the FAQ, is unpublished. A `discarded` draft is never the newest
    revision, even if its number is the highest.
    """

    revision: int
    state: RevisionState
    created_at: datetime
    key: str | None
    etag: str | None = None
    discarded: bool = False


class RevisionList(Struct, frozen=True):
    """Revisions of a translation, newest first. `next` is the cursor for `after`; null at the end."""

    items: list[Revision]
    next: str | None = None


class RevisionContent(Revision, frozen=True, rename="camel", kw_only=True):
    """One revision, whole; the header ETag has its entity tag.

    `faq` is the record as readers get it. `websiteUrl` is not part of a record, but PUT needs it.
    """

    website_url: str
    faq: Record


class Preview(Struct, frozen=True, rename="camel"):
    """A token that reads the newest revision of one FAQ until `expiresAt`."""

    token: str
    expires_at: datetime


class GenerateBody(Struct, frozen=True, rename="camel", kw_only=True):
    """The website for which to generate items. Nothing is stored."""

    website_url: WebsiteURL
    lang: Annotated[Lang | None, Meta(description="By default, the language of the website.")] = None
    count: Annotated[int, Meta(ge=1, le=MAX_ITEMS)] | None = None


class GeneratedEntry(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A question and answer; `source` is the URL of the page, with a fragment if possible."""

    position: int
    question: str
    answer: str
    source: str = ""
    section: Annotated[str | None, Meta(description="The heading above it.")] = None
    answer_markdown: Annotated[
        str | None, Meta(description="With links, lists and tables, if that is more than the text.")
    ] = None
    lang: str | None = None


class ReadPage(Struct, frozen=True):
    """A page that was read, and how many pairs of question and answer it has."""

    url: str
    lang: str | None
    pairs: int


class DroppedEntry(Struct, frozen=True, omit_defaults=True):
    """A question or page that was left out, and why."""

    subject: str
    reason: str
    detail: str = ""


class GenerateResponse(Struct, frozen=True, omit_defaults=True):
    """The generated items, the pages that were read, and the questions and pages that were left out."""

    items: list[GeneratedEntry]
    pages: list[ReadPage] = []
    dropped: list[DroppedEntry] = []
    notes: list[str] = []
    ignored: list[str] = []


class FollowBody(Struct, frozen=True):
    """The FAQs whose changes a subscriber follows. A URL has no room for a thousand slugs."""

    slugs: Annotated[list[Slug], Meta(min_length=1, max_length=MAX_SLUGS)]


class Event(Struct, frozen=True):
    """A change, whose number is the event's `id`. `revision` is null if the translation was unpublished."""

    slug: str
    lang: Lang
    revision: int | None
    state: Literal["published", "unpublished"]


class CurrentRevision(Struct, frozen=True, rename="camel"):
    """The newest revision of a translation, of which the writer did not know.

    `state` is the state of the translation. `hasDraft` says whether this revision was never published, and
    `key` names its author.
    """

    revision: int
    etag: str
    state: State
    created_at: datetime
    key: str | None
    items: list[RecordItem]
    has_draft: bool = False


class Problem(Struct, frozen=True):
    """An error response (RFC 9457). `type` is `about:blank`, `code` says what is wrong.

    `problems` lists every reason where there can be several, and `ignored` the unknown fields of a body.
    After a conflict, `revision` is the number of the newest revision, and `current` is that revision if there
    is one. `index` is the number of the change, from 0, that cannot be made; `closest` are the questions that
    it may mean.
    """

    title: str
    status: int
    detail: str
    code: Code
    type: str = "about:blank"
    problems: list[str] | UnsetType = UNSET
    ignored: list[str] | UnsetType = UNSET
    revision: int | UnsetType = UNSET
    current: CurrentRevision | UnsetType = UNSET
    index: int | UnsetType = UNSET
    closest: list[str] | UnsetType = UNSET
