"""Reads for the public: published translations, and the FAQs of listed sites."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, and_, bindparam, case, func, select, union_all

from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.storage.database import Part
from faqsvc_embed.service.storage.errors import Gone
from faqsvc_embed.service.storage.revisions import OF_TRANSLATION
from faqsvc_embed.service.storage.schema import faqs, revisions, sites, translations
from faqsvc_embed.service.storage.values import Listing, Publication

PURGED_FOR: Final = timedelta(days=1)
"""How long a purged slug returns 410, so that every cache receives it."""
MAX_MERGED: Final = 20
"""Maximum number of listed sites that are read one by one. With more, all FAQs are read by slug."""
FAQS_AT_ONCE: Final = 100
"""Maximum number of FAQs whose titles one statement reads. For more, PostgreSQL may read the whole table."""


_PUBLISHED: Final = and_(translations.c.slug == faqs.c.slug, translations.c.published.is_not(None))
"""Matches the published translations of an FAQ."""
_REVISION: Final = and_(OF_TRANSLATION, revisions.c.number == translations.c.published)
_RANK: Final = case(
    (translations.c.lang == faqs.c.lang, 0),
    *((translations.c.lang == lang, rank) for rank, lang in enumerate(LANGUAGES, 1)),
)
"""A number for each translation: readers who request no language get the lowest published one."""
# The requested language, else the default one, else the first that is published.
_GET: Final = (
    select(
        faqs.c.state,
        faqs.c.sealed,
        faqs.c.updated_at,
        revisions.c.lang,
        revisions.c.record,
        revisions.c.digest,
        revisions.c.website_url,
        revisions.c.number,
        revisions.c.published_at,
        sites.c.listed,
        sites.c.website_url.label("site_url"),
    )
    .select_from(
        faqs.outerjoin(sites, sites.c.id == faqs.c.site)  # the site of a slug that is gone may be deleted
        .outerjoin(translations, _PUBLISHED)
        .outerjoin(revisions, _REVISION)
    )
    .where(faqs.c.slug == bindparam("slug"))
    .order_by(case((translations.c.lang == bindparam("lang"), 0), else_=1), _RANK)
    .limit(1)
)
_LANGUAGES: Final = (
    select(translations.c.lang).join(faqs, _PUBLISHED).where(faqs.c.slug == bindparam("slug")).order_by(_RANK)
)
_LISTINGS: Final = (
    select(
        faqs.c.slug,
        translations.c.lang,
        revisions.c.title,
        revisions.c.website_name,
        revisions.c.published_at,
    )
    .select_from(faqs.join(translations, _PUBLISHED).join(revisions, _REVISION))
    .where(faqs.c.slug.in_(bindparam("slugs", expanding=True)))
    .order_by(faqs.c.slug, _RANK)
)
# A scalar subquery reads one row for each FAQ. For EXISTS, PostgreSQL would join all translations.
_PUBLISHED_LANGUAGE: Final = select(translations.c.lang).where(_PUBLISHED).limit(1).scalar_subquery()


class Publications(Part):
    """The published FAQs in a database."""

    def get(self, slug: str, lang: str | None = None) -> Publication:
        """Return an FAQ in a language, else in its default language, else in the first published one.

        Raises:
            FAQNotFound: none was ever published.
            Gone: it was unpublished, is in the bin, or was purged.
        """
        row = self._first(_GET, {"slug": slug, "lang": lang})
        unknown = FAQNotFound(f"No FAQ has the slug {quoted(slug)}")  # nobody learns of a draft
        if row is None:
            raise unknown
        if row.lang is not None:
            content = (row.lang, row.record, row.digest, row.website_url)
            return Publication(*content, row.number, row.published_at, row.listed)
        is_gone = row.state in ("unpublished", "binned") or row.sealed
        if is_gone or (row.state == "purged" and self._clock() < row.updated_at + PURGED_FOR):
            gone = Gone(f"The FAQ {quoted(slug)} is no longer published")
            gone.website_url = row.site_url or ""
            raise gone
        raise unknown

    def languages(self, slug: str) -> list[str]:
        """Return the languages in which an FAQ is published, as `get` prefers them."""
        return [row.lang for row in self._rows(_LANGUAGES, {"slug": slug})]

    def listed(self, limit: int) -> list[Listing]:
        """Return the first FAQs of listed sites by slug, each in the language of readers who request none."""
        return [translations[0] for translations in self.translations(limit=limit)]

    def translations(self, *, first: str = "", limit: int) -> list[list[Listing]]:
        """Return the translations of up to `limit` FAQs of listed sites, from the slug `first` on.

        The FAQs are ordered by slug, the translations of each as `get` prefers them.
        """
        found = dict[str, list[Listing]]()
        with self._database.snapshot() as connection:
            slugs = _first_slugs(connection, first, limit)
            for start in range(0, len(slugs), FAQS_AT_ONCE):
                some = {"slugs": slugs[start : start + FAQS_AT_ONCE]}
                for row in connection.execute(_LISTINGS, some):
                    found.setdefault(row.slug, []).append(Listing(*row))
        return list(found.values())

    def starts(self, size: int) -> list[str]:
        """Return the first slug of each `size` FAQs of listed sites, ordered by slug."""
        number = func.row_number().over(order_by=faqs.c.slug).label("number")
        with self._database.snapshot() as connection:
            is_listed = faqs.c.site.in_(_listed_sites(connection))
            numbered = select(faqs.c.slug, number).where(is_listed, faqs.c.state == "published").subquery()
            query = select(numbered.c.slug).where((numbered.c.number - 1) % size == 0)
            return list(connection.scalars(query.order_by(numbered.c.slug)))


def _listed_sites(connection: Connection) -> Sequence[str]:
    return connection.scalars(select(sites.c.id).where(sites.c.listed)).all()


def _first_slugs(connection: Connection, first: str, limit: int) -> Sequence[str]:
    """Return up to `limit` slugs of published FAQs of listed sites, from `first` on."""
    query = select(faqs.c.slug).where(faqs.c.state == "published", faqs.c.slug >= first)
    query = query.where(_PUBLISHED_LANGUAGE.is_not(None)).order_by(faqs.c.slug).limit(limit)
    ids = _listed_sites(connection)
    if not ids:
        return []
    if len(ids) > MAX_MERGED:
        return connection.scalars(query.join(sites, and_(sites.c.id == faqs.c.site, sites.c.listed))).all()
    # Merged by the database, whose collation the comparison with `first` uses, too.
    merged = union_all(*(select(query.where(faqs.c.site == site).subquery()) for site in ids)).subquery()
    return connection.scalars(select(merged.c.slug).order_by(merged.c.slug).limit(limit)).all()
