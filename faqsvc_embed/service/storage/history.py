"""Reads for the owner of a site: FAQs in every state, revisions, and previews of drafts."""

import hashlib
import re
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, and_, delete, func, insert, select

from faqsvc_embed.api import contract
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.faq_cursor import FAQCursor, InvalidCursor
from faqsvc_embed.service.storage.schema import api_keys, faqs, previews, revisions, translations
from faqsvc_embed.service.storage.values import Access, NotYourSite, Publication, default_first

PREVIEW_LIFETIME: Final = timedelta(hours=1)
REVISION_CURSOR: Final = "^[0-9]{1,9}$"

_TRANSLATION: Final = and_(translations.c.slug == revisions.c.slug, translations.c.lang == revisions.c.lang)


class History:
    """The FAQs, revisions and previews of sites. The results are for their owners only."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def faqs(self, site: str, *, limit: int, after: str | None = None) -> contract.FAQList:
        """Return the FAQs of a site, the last changed first; then those that were changed meanwhile.

        Raises:
            InvalidCursor: `after` is not a cursor.
        """
        cursor = FAQCursor.decode(after)
        is_mine = (faqs.c.site == site, faqs.c.state != "purged")
        mine = select(faqs).where(*is_mine, *cursor.conditions())
        page = mine.order_by(faqs.c.updated_at.desc(), faqs.c.slug.desc()).limit(limit + 1).subquery()
        query = (
            select(
                page.c.slug,
                revisions.c.title,
                page.c.lang,
                page.c.state,
                translations.c.newest,
                page.c.updated_at,
            )
            .outerjoin(
                translations, and_(translations.c.slug == page.c.slug, translations.c.lang == page.c.lang)
            )
            .outerjoin(revisions, and_(_TRANSLATION, revisions.c.number == translations.c.newest))
            .order_by(page.c.updated_at.desc(), page.c.slug.desc())
        )
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
            slugs = [row.slug for row in rows]
            languages, every = _languages(connection, slugs), _translations(connection, slugs)
            cursor = cursor.on_first_page(rows[0].updated_at if rows else None)
            newest = connection.scalar(select(func.max(faqs.c.updated_at)).where(*is_mine))
        next_ = None
        if len(rows) > limit:
            next_ = cursor.behind(rows[limit - 1].updated_at, rows[limit - 1].slug).encode()
        elif newest is not None and rows and newest > cursor.began:
            next_ = cursor.again().encode()
        items = [
            contract.FAQSummary(
                row.slug,
                row.title,
                default_first(languages[row.slug], row.lang),
                row.state,
                row.newest,
                row.updated_at,
                next(one.etag for one in every[row.slug] if one.lang == row.lang),
                every[row.slug],
            )
            for row in rows[:limit]
            if row.title is not None and row.slug in languages  # otherwise it has just been purged
        ]
        return contract.FAQList(items, next_)

    def revisions(
        self, access: Access, slug: str, lang: str | None, *, limit: int, after: str | None = None
    ) -> contract.RevisionList:
        """Return the revisions of a translation, newest first; by default those of the default language.

        Raises:
            FAQNotFound: the site has no such translation.
            NotYourSite: the FAQ is published and belongs to another site.
            InvalidCursor: `after` is not a cursor.
        """
        if after is not None and re.fullmatch(REVISION_CURSOR, after) is None:
            raise InvalidCursor
        lang = self._lang(access, slug, lang)
        query = self._query(slug, lang).limit(limit + 1)
        if after is not None:
            query = query.where(revisions.c.number < int(after))
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(revisions.c.number.desc())).all()
        if not rows and after is None:
            raise FAQNotFound(f"The FAQ {quoted(slug)} has no translation in {lang}")
        next_ = str(rows[limit - 1].number) if len(rows) > limit else None
        return contract.RevisionList([contract.Revision(*_fields(row)) for row in rows[:limit]], next_)

    def revision(
        self, access: Access, slug: str, lang: str | None, number: int | None = None
    ) -> tuple[contract.Revision, Publication]:
        """Return one revision with its record; by default the newest.

        Raises:
            FAQNotFound: the site has no such revision.
            NotYourSite: the FAQ is published and belongs to another site.
        """
        return self._revision(slug, self._lang(access, slug, lang), number)

    def create_preview(self, access: Access, slug: str, lang: str | None) -> contract.Preview:
        """Return a token that reads the newest revisions of an FAQ for an hour; only its digest is stored.

        Raises:
            FAQNotFound, NotYourSite: as `revision` does.
        """
        self.revision(access, slug, lang)
        token, now = secrets.token_urlsafe(24), self._clock()
        expires_at = now + PREVIEW_LIFETIME
        with self._database.writing() as connection:
            connection.execute(delete(previews).where(previews.c.expires_at <= now))
            connection.execute(
                insert(previews), {"digest": _digest(token), "slug": slug, "expires_at": expires_at}
            )
        return contract.Preview(token, expires_at)

    def preview(self, token: str, slug: str, lang: str | None) -> Publication | None:
        """Return the newest revision of an FAQ, in a language or else in its default language.

        Returns None if the token has expired, or belongs to another FAQ.
        """
        is_valid = (previews.c.digest == _digest(token), previews.c.expires_at > self._clock())
        query = select(faqs.c.lang).join(previews, previews.c.slug == faqs.c.slug)
        with self._database.reading() as connection:
            default = connection.scalar(query.where(faqs.c.slug == slug, *is_valid))
            if default is None:
                return None
            languages = set(
                connection.scalars(select(translations.c.lang).where(translations.c.slug == slug))
            )
        try:
            return self._revision(slug, str(lang if lang in languages else default), None)[1]
        except FAQNotFound:  # it was purged meanwhile
            return None

    def _lang(self, access: Access, slug: str, lang: str | None) -> str:
        """Return `lang` or the default language of the FAQ, if the key may read the FAQ."""
        with self._database.reading() as connection:
            faq = connection.execute(select(faqs).where(faqs.c.slug == slug)).first()
        if faq is not None and faq.site != access.site and faq.state == "published":
            raise NotYourSite(f"The FAQ {quoted(slug)} belongs to another site")
        if faq is None or faq.site != access.site or faq.state == "purged":
            raise FAQNotFound(f"No FAQ has the slug {quoted(slug)}")
        return lang or str(faq.lang)

    def _query(self, slug: str, lang: str) -> Any:
        columns = (
            revisions,
            translations.c.newest,
            translations.c.published,
            api_keys.c.name.label("key_name"),
        )
        return (
            select(*columns)
            .join(translations, _TRANSLATION)
            .outerjoin(api_keys, api_keys.c.id == revisions.c.key_id)
            .where(revisions.c.slug == slug, revisions.c.lang == lang)
        )

    def _revision(self, slug: str, lang: str, number: int | None) -> tuple[contract.Revision, Publication]:
        condition = revisions.c.number == (translations.c.newest if number is None else number)
        with self._database.reading() as connection:
            row = connection.execute(self._query(slug, lang).where(condition)).first()
        if row is None:
            which = "revision" if number is None else f"revision {number}"
            raise FAQNotFound(f"The FAQ {quoted(slug)} has no {which} in {lang}")
        record = Publication(lang, row.record, row.digest, row.website_url, row.number, row.created_at)
        return contract.Revision(*_fields(row)), record


def _translations(connection: Connection, slugs: list[str]) -> dict[str, list[contract.TranslationSummary]]:
    """Return the translations of FAQs, each with its newest revision."""
    query = (
        select(
            translations.c.slug,
            translations.c.lang,
            translations.c.newest,
            translations.c.published,
            revisions.c.digest,
            revisions.c.published_at,
        )
        .join(revisions, and_(_TRANSLATION, revisions.c.number == translations.c.newest))
        .where(translations.c.slug.in_(slugs))
    )
    found = dict[str, list[contract.TranslationSummary]]()
    for row in connection.execute(query):
        state: contract.State = (
            "published" if row.published else "draft" if row.published_at is None else "unpublished"
        )
        summary = contract.TranslationSummary(row.lang, row.newest, f'"{row.digest}"', state)
        found.setdefault(row.slug, []).append(summary)
    return found


def _languages(connection: Connection, slugs: list[str]) -> dict[str, list[Lang]]:
    """Return the languages of FAQs, without unpublished ones, unless all are unpublished."""
    is_unpublished = and_(translations.c.published.is_(None), revisions.c.published_at.is_not(None))
    query = (
        select(translations.c.slug, translations.c.lang, is_unpublished)
        .join(revisions, and_(_TRANSLATION, revisions.c.number == translations.c.newest))
        .where(translations.c.slug.in_(slugs))
    )
    every, available = dict[str, list[Lang]](), dict[str, list[Lang]]()
    for slug, lang, unpublished in connection.execute(query):
        every.setdefault(slug, []).append(lang)
        if not unpublished:
            available.setdefault(slug, []).append(lang)
    return every | available


def _fields(row: Row[Any]) -> tuple[int, contract.RevisionState, datetime, str | None, str]:
    state: contract.RevisionState = "superseded"
    if row.number == row.published:
        state = "published"
    elif row.number == row.newest and row.published_at is None:
        state = "draft"
    return row.number, state, row.created_at, row.key_name or row.key_id, f'"{row.digest}"'


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
