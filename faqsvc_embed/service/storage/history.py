"""Reads for the owner of a site: revisions, and previews of drafts."""

import re
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, insert, select

from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.faq_cursor import InvalidCursor
from faqsvc_embed.service.storage.revisions import revision_of, select_revisions
from faqsvc_embed.service.storage.schema import faqs, previews, revisions, translations
from faqsvc_embed.service.storage.values import (
    HIDDEN,
    Access,
    Publication,
    Revision,
    check_owner,
    secret_digest,
)

PREVIEW_LIFETIME: Final = timedelta(hours=1)
REVISION_CURSOR: Final = "^[0-9]{1,9}$"


class History:
    """The revisions and previews of sites. The results are for their owners only."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def revisions(
        self, access: Access, slug: str, lang: str | None, *, limit: int, after: str | None = None
    ) -> tuple[list[Revision], str | None]:
        """Return the revisions of a translation, newest first, and the cursor of the next page.

        Without `lang`, they are those of the default language.

        Raises:
            FAQNotFound: the site has no such translation.
            NotYourSite: the FAQ belongs to another site.
            InvalidCursor: `after` is not a cursor.
        """
        if after is not None and re.fullmatch(REVISION_CURSOR, after) is None:
            raise InvalidCursor
        lang = self._lang(access, slug, lang)
        query = select_revisions(slug, lang).limit(limit + 1)
        if after is not None:
            query = query.where(revisions.c.number < int(after))
        with self._database.browsing() as connection:
            rows = connection.execute(query.order_by(revisions.c.number.desc())).all()
        if (not rows and after is None) or (rows and rows[0].binned_at is not None):
            raise FAQNotFound(f"The FAQ {quoted(slug)} has no translation in {lang}")
        next_ = str(rows[limit - 1].number) if len(rows) > limit else None
        return [revision_of(row) for row in rows[:limit]], next_

    def revision(self, access: Access, slug: str, lang: str | None, number: int | None = None) -> Revision:
        """Return one revision; by default the newest.

        Raises:
            FAQNotFound: the site has no such revision.
            NotYourSite: the FAQ belongs to another site.
        """
        return self._revision(slug, self._lang(access, slug, lang), number)

    def create_preview(self, access: Access, slug: str, lang: str | None) -> tuple[str, datetime]:
        """Return a token that reads the newest revisions of an FAQ for an hour, and its end.

        Only the digest of the token is stored.

        Raises:
            FAQNotFound, NotYourSite: as `revision` does.
        """
        self.revision(access, slug, lang)
        token, now = secrets.token_urlsafe(24), self._clock()
        expires_at = now + PREVIEW_LIFETIME
        with self._database.writing() as connection:
            connection.execute(delete(previews).where(previews.c.expires_at <= now))
            connection.execute(
                insert(previews), {"digest": secret_digest(token), "slug": slug, "expires_at": expires_at}
            )
        return token, expires_at

    def preview(self, token: str, slug: str, lang: str | None) -> Publication | None:
        """Return the newest revision of an FAQ, in a language or else in its default language.

        Returns None if the token has expired, or belongs to another FAQ.
        """
        is_valid = (previews.c.digest == secret_digest(token), previews.c.expires_at > self._clock())
        query = select(faqs.c.lang).join(previews, previews.c.slug == faqs.c.slug)
        with self._database.reading() as connection:
            default = connection.scalar(query.where(faqs.c.slug == slug, *is_valid))
            if default is None:
                return None
            languages = set(
                connection.scalars(
                    select(translations.c.lang).where(
                        translations.c.slug == slug, translations.c.binned_at.is_(None)
                    )
                )
            )
        try:
            draft = self._revision(slug, str(lang if lang in languages else default), None)
        except FAQNotFound:  # it was purged meanwhile
            return None
        return Publication(
            draft.lang, draft.record, draft.tag, draft.website_url, draft.number, draft.created_at
        )

    def _lang(self, access: Access, slug: str, lang: str | None) -> str:
        """Return `lang` or the default language of the FAQ, if the key may read the FAQ."""
        with self._database.browsing() as connection:
            found = connection.execute(select(faqs).where(faqs.c.slug == slug)).first()
        faq = check_owner(found, access, slug)
        if faq.state in HIDDEN:
            raise FAQNotFound(f"No FAQ has the slug {quoted(slug)}")
        return lang or str(faq.lang)

    def _revision(self, slug: str, lang: str, number: int | None) -> Revision:
        condition = revisions.c.number == (translations.c.newest if number is None else number)
        with self._database.browsing() as connection:
            row = connection.execute(select_revisions(slug, lang).where(condition)).first()
        if row is None or row.binned_at is not None:
            which = "revision" if number is None else f"revision {number}"
            raise FAQNotFound(f"The FAQ {quoted(slug)} has no {which} in {lang}")
        return revision_of(row)
