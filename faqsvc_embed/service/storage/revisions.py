"""Revisions as their owners see them: their state, their entity tag and their author."""

from typing import Any, Final

from sqlalchemy import Row, Select, and_, exists, func, select

from faqsvc_embed.api.contract import RevisionState, State
from faqsvc_embed.service.storage.schema import api_keys, faqs, people, revisions, translations
from faqsvc_embed.service.storage.values import UNPUBLISHED, Revision

OF_TRANSLATION: Final = and_(translations.c.slug == revisions.c.slug, translations.c.lang == revisions.c.lang)
NEWEST: Final = and_(OF_TRANSLATION, revisions.c.number == translations.c.newest)
"""Joins each translation to its newest revision."""

HAS_REVISIONS: Final = exists().where(OF_TRANSLATION)
"""Matches translations that were not purged for ever."""

_TRANSLATION: Final = [translations.c[name] for name in ("newest", "published", "withdrawn", "binned_at")]
_STATES: Final = (
    *_TRANSLATION,
    select(faqs.c.state).where(faqs.c.slug == revisions.c.slug).scalar_subquery().label("faq_state"),
)
STATE_COLUMNS: Final = (revisions.c.number, revisions.c.digest, revisions.c.published_at, *_STATES)
"""The columns that `state_of`, `translation_state` and `tag_of` need."""


AUTHOR: Final = func.coalesce(people.c.name, func.nullif(api_keys.c.name, ""), revisions.c.key_id).label(
    "author"
)
"""The name of the person or the key that wrote a revision."""


def select_revisions(slug: str, lang: str) -> Select[Any]:
    """Select the revisions of a translation; `revision_of` converts the rows."""
    query = select(revisions, *_STATES, AUTHOR).join(translations, OF_TRANSLATION)
    return with_author(query).where(revisions.c.slug == slug, revisions.c.lang == lang)


def with_author(query: Select[Any]) -> Select[Any]:
    """Join the tables that `AUTHOR` needs to a query of revisions."""
    return query.outerjoin(api_keys, api_keys.c.id == revisions.c.key_id).outerjoin(
        people, people.c.id == revisions.c.person_id
    )


def revision_of(row: Row[Any]) -> Revision:
    """Return the revision in a row."""
    return Revision(
        row.slug,
        row.lang,
        row.number,
        state_of(row),
        translation_state(row),
        tag_of(row),
        row.record,
        row.website_url,
        row.created_at,
        row.author,
        row.key_id,
        row.discarded_at is not None,
        row.published_at is not None,
    )


def state_of(row: Row[Any]) -> RevisionState:
    """Return the state of a revision; a draft is newer than every published revision."""
    if row.number == row.published:
        return "published"
    return "draft" if is_draft(row) else "superseded"


def is_draft(row: Row[Any]) -> bool:
    """Return whether a revision is the newest one, and was never published."""
    return row.number == row.newest and row.published_at is None


def translation_state(row: Row[Any]) -> State:
    """Return the state of a translation."""
    if row.binned_at is not None:
        return "binned"
    if row.published is not None:
        return "published"
    return "draft" if row.withdrawn is None else "unpublished"


def tag_of(row: Row[Any]) -> str:
    """Return the opaque part of the entity tag of a revision.

    The tag of the newest revision changes when its translation or the FAQ is unpublished. Otherwise, a writer
    who began before would publish it again.
    """
    is_unpublished = row.number == row.newest and "unpublished" in (translation_state(row), row.faq_state)
    return f"{row.digest}{UNPUBLISHED}" if is_unpublished else str(row.digest)


def version_of(row: Any) -> str:
    """Return a text that changes whenever a translation is written, published or unpublished.

    The row is its newest revision.
    """
    return f"{row.newest}.{row.published or 0}.{tag_of(row)}"
