"""Reads FAQs: for the public those that are published, for their owners every revision.

`OF_TRANSLATION`, `NEWEST` and `HAS_REVISIONS` are conditions of queries that join translations and revisions.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    select,
    union_all,
)

from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.storage.database import StoragePart, number_after, paged
from faqsvc_embed.service.storage.errors import Gone
from faqsvc_embed.service.storage.schema import (
    api_keys,
    faqs,
    people,
    previews,
    revisions,
    sites,
    translations,
)
from faqsvc_embed.service.storage.values import (
    Access,
    Listing,
    Revision,
    ServedFAQ,
    check_present,
    secret_digest,
)

PREVIEW_LIFETIME: Final = timedelta(hours=1)
PURGED_FOR: Final = timedelta(days=1)
"""How long a purged slug returns 410, so that every cache receives it."""
MAX_MERGED: Final = 20
"""Maximum number of listed sites that are read one by one. With more, all FAQs are read by slug."""
FAQS_AT_ONCE: Final = 100
"""Maximum number of FAQs whose titles one statement reads. For more, PostgreSQL may read the whole table."""

OF_TRANSLATION: Final = and_(translations.c.slug == revisions.c.slug, translations.c.lang == revisions.c.lang)
NEWEST: Final = revisions.c.number == translations.c.newest
"""Matches the newest revision of each translation."""
HAS_REVISIONS: Final = exists().where(OF_TRANSLATION)
"""Matches translations that were not purged for ever."""

_KNOWN: Final[dict[str, ColumnElement[Any]]] = {
    **translations.c,
    **revisions.c,
    "author": func.coalesce(people.c.name, func.nullif(api_keys.c.name, ""), revisions.c.key_id),
    "faq_state": select(faqs.c.state).where(faqs.c.slug == revisions.c.slug).scalar_subquery(),
}
_COLUMNS: Final = [_KNOWN[name].label(name) for name in Revision._fields]


def select_revisions(*conditions: ColumnElement[bool], has_record: bool = True) -> Select[Any]:
    """Select revisions, whose rows are the fields of `Revision`; its record is long."""
    query = select(*(_COLUMNS if has_record else _COLUMNS[:-1])).select_from(revisions)
    query = query.join(translations, OF_TRANSLATION).outerjoin(api_keys, api_keys.c.id == revisions.c.key_id)
    return query.outerjoin(people, people.c.id == revisions.c.person_id).where(*conditions)


def of_translation(slug: str, lang: str) -> ColumnElement[bool]:
    """Match the revisions of a translation."""
    return and_(revisions.c.slug == slug, revisions.c.lang == lang)


class History(StoragePart):
    """The revisions and previews of sites. The results are for their owners only.

    Without `lang`, the translation in the default language is meant. Methods that take `access` raise:
        FAQNotFound: the site has no such FAQ, translation or revision.
        NotYourSite: the FAQ belongs to another site.
        Gone: the FAQ is in the bin, or was deleted for ever.
    """

    def revisions(
        self, access: Access, slug: str, lang: str | None, *, limit: int, after: str | None = None
    ) -> tuple[list[Revision], str | None]:
        """Return the revisions of a translation, newest first, and the cursor of the next page."""
        number, lang = number_after(after), self._readable_language(access, slug, lang)
        query = select_revisions(of_translation(slug, lang)).limit(limit + 1)
        if number is not None:
            query = query.where(revisions.c.number < number)
        found = [Revision(*row) for row in self._rows(query.order_by(revisions.c.number.desc()))]
        if (not found and after is None) or (found and found[0].binned_at is not None):
            raise FAQNotFound(f"The FAQ {quoted(slug)} has no translation in {lang}")
        return paged(found, limit, lambda revision: revision.number)

    def revision(self, access: Access, slug: str, lang: str | None, number: int | None = None) -> Revision:
        """Return one revision; by default the newest."""
        return self._revision(slug, self._readable_language(access, slug, lang), number)

    def create_preview(self, access: Access, slug: str, lang: str | None) -> tuple[str, datetime]:
        """Return a token that reads the newest revisions of an FAQ for an hour, and its end.

        Only the digest of the token is stored.
        """
        self.revision(access, slug, lang)  # raises if there is nothing to show
        token, now = secrets.token_urlsafe(24), self._clock()
        expires_at = now + PREVIEW_LIFETIME
        with self._database.writing() as connection:
            connection.execute(delete(previews).where(previews.c.expires_at <= now))
            row = {"digest": secret_digest(token), "slug": slug, "expires_at": expires_at}
            connection.execute(insert(previews), row)
        return token, expires_at

    def preview(self, token: str, slug: str, lang: str | None) -> ServedFAQ | None:
        """Return the newest revision of an FAQ, in a language or else in its default language.

        Returns None if the token has expired, or belongs to another FAQ.
        """
        is_valid = (previews.c.digest == secret_digest(token), previews.c.expires_at > self._clock())
        query = select(faqs.c.lang).join(previews, previews.c.slug == faqs.c.slug)
        found = self._first(query.where(faqs.c.slug == slug, *is_valid))
        for one in filter(None, (lang, found.lang) if found else ()):
            try:
                draft = self._revision(slug, one, None)
            except FAQNotFound:  # there is none in this language, or it was purged meanwhile
                continue
            content = (draft.lang, draft.record, draft.tag, draft.website_url)
            return ServedFAQ(*content, draft.number, draft.created_at)
        return None

    def _readable_language(self, access: Access, slug: str, lang: str | None) -> str:
        """Return `lang` or the default language of the FAQ; raise what `check_present` raises."""
        faq = check_present(self._first(select(faqs).where(faqs.c.slug == slug)), access, slug)
        return lang or str(faq.lang)

    def _revision(self, slug: str, lang: str, number: int | None) -> Revision:
        condition = NEWEST if number is None else revisions.c.number == number
        row = self._first(select_revisions(of_translation(slug, lang), condition))
        found = None if row is None else Revision(*row)
        if found is None or found.binned_at is not None:
            which = "revision" if number is None else f"revision {number}"
            raise FAQNotFound(f"The FAQ {quoted(slug)} has no {which} in {lang}")
        return found


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


class Publications(StoragePart):
    """The published FAQs in a database."""

    def get(self, slug: str, lang: str | None = None) -> ServedFAQ:
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
            return ServedFAQ(*content, row.number, row.published_at, row.listed)
        is_gone = row.state in ("unpublished", "binned") or row.sealed
        if is_gone or (row.state == "purged" and self._clock() < row.updated_at + PURGED_FOR):
            raise Gone(f"The FAQ {quoted(slug)} is no longer published", row.site_url or "")
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
