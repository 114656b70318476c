"""Reads for the public: published translations, and the FAQs of listed sites."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, FromClause, and_, bindparam, case, select

from faqsvc_embed.errors import quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.schema import faqs, revisions, sites, translations
from faqsvc_embed.service.storage.values import Gone, Listing, Publication

PURGED_FOR: Final = timedelta(days=1)
"""How long a purged slug returns 410, so that every cache learns of it."""


def _published(faqs: FromClause) -> ColumnElement[bool]:
    """Match the published translations of FAQs."""
    return and_(translations.c.slug == faqs.c.slug, translations.c.published.is_not(None))


def _rank(faqs: FromClause) -> ColumnElement[int]:
    """Return a number for each translation: readers who request no language get the lowest published one."""
    ranks = ((translations.c.lang == lang, rank) for rank, lang in enumerate(LANGUAGES, 1))
    return case((translations.c.lang == faqs.c.lang, 0), *ranks)


_REVISION: Final = and_(
    revisions.c.slug == translations.c.slug,
    revisions.c.lang == translations.c.lang,
    revisions.c.number == translations.c.published,
)
# The requested language, else the default one, else the first that is published.
_GET: Final = (
    select(
        faqs.c.state,
        faqs.c.updated_at,
        revisions.c.lang,
        revisions.c.record,
        revisions.c.digest,
        revisions.c.website_url,
        revisions.c.number,
        revisions.c.published_at,
    )
    .select_from(faqs.outerjoin(translations, _published(faqs)).outerjoin(revisions, _REVISION))
    .where(faqs.c.slug == bindparam("slug"))
    .order_by(case((translations.c.lang == bindparam("lang"), 0), else_=1), _rank(faqs))
    .limit(1)
)
_LANGUAGES: Final = (
    select(translations.c.lang, faqs.c.lang, revisions.c.digest, revisions.c.published_at)
    .select_from(faqs.join(translations, _published(faqs)).join(revisions, _REVISION))
    .where(faqs.c.slug == bindparam("slug"))
)


class Publications:
    """The published FAQs in a database."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def get(self, slug: str, lang: str | None = None) -> Publication | None:
        """Return an FAQ in a language, else in its default language, else in the first published one.

        Returns None if none was ever published.

        Raises:
            Gone: it was unpublished, or purged within the last day.
        """
        with self._database.reading() as connection:
            row = connection.execute(_GET, {"slug": slug, "lang": lang}).first()
        if row is None:
            return None
        if row.lang is None:
            if row.state == "unpublished" or (row.state == "purged" and self._is_recent(row.updated_at)):
                raise Gone(f"The FAQ {quoted(slug)} is no longer published")
            return None
        return Publication(row.lang, row.record, row.digest, row.website_url, row.number, row.published_at)

    def languages(self, slug: str) -> dict[str, str]:
        """Return the languages in which an FAQ is published, as `get` prefers them, each with its version."""
        with self._database.reading() as connection:
            rows = list(connection.execute(_LANGUAGES, {"slug": slug}))
        rows.sort(key=lambda row: (row[0] != row[1], LANGUAGES.index(row[0])))
        return {lang: f"{digest} {published_at}" for lang, _, digest, published_at in rows}

    def listed(self, *, after: str = "", limit: int) -> list[Listing]:
        """Return up to `limit` FAQs of listed sites that follow the slug `after`, ordered by slug."""
        page = (
            select(faqs.c.slug, faqs.c.lang)
            .join(sites, and_(sites.c.id == faqs.c.site, sites.c.listed))
            .where(faqs.c.slug > after, select(translations.c.slug).where(_published(faqs)).exists())
            .order_by(faqs.c.slug)
            .limit(limit)
            .subquery()
        )
        columns = (revisions.c.title, revisions.c.website_name, revisions.c.published_at)
        query = (
            select(page.c.slug, translations.c.lang, *columns)
            .select_from(page.join(translations, _published(page)).join(revisions, _REVISION))
            .order_by(page.c.slug, _rank(page).desc())
        )
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return list({row.slug: Listing(*row) for row in rows}.values())  # of each FAQ, the lowest rank

    def _is_recent(self, purged_at: datetime) -> bool:
        return self._clock() < purged_at + PURGED_FOR
