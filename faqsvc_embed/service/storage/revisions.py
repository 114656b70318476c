"""The revisions of FAQs as their owners see them, and previews of drafts."""

import secrets
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, delete, exists, func, insert, select

from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.service.storage.database import Part, number_after, paged
from faqsvc_embed.service.storage.schema import api_keys, faqs, people, previews, revisions, translations
from faqsvc_embed.service.storage.values import Access, Publication, Revision, check_present, secret_digest

PREVIEW_LIFETIME: Final = timedelta(hours=1)

OF_TRANSLATION: Final = and_(translations.c.slug == revisions.c.slug, translations.c.lang == revisions.c.lang)
NEWEST: Final = revisions.c.number == translations.c.newest
"""Matches the newest revision of each translation."""
HAS_REVISIONS: Final = exists().where(OF_TRANSLATION)
"""Matches translations that were not purged for ever."""

_AUTHOR: Final = func.coalesce(people.c.name, func.nullif(api_keys.c.name, ""), revisions.c.key_id)
_FAQ_STATE: Final = select(faqs.c.state).where(faqs.c.slug == revisions.c.slug).scalar_subquery()
_KNOWN: Final[dict[str, ColumnElement[Any]]] = {
    **translations.c,
    **revisions.c,
    "author": _AUTHOR,
    "faq_state": _FAQ_STATE,
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


class History(Part):
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
        number, lang = number_after(after), self._lang(access, slug, lang)
        query = select_revisions(of_translation(slug, lang)).limit(limit + 1)
        if number is not None:
            query = query.where(revisions.c.number < number)
        found = [Revision(*row) for row in self._rows(query.order_by(revisions.c.number.desc()))]
        if (not found and after is None) or (found and found[0].binned_at is not None):
            raise FAQNotFound(f"The FAQ {quoted(slug)} has no translation in {lang}")
        return paged(found, limit, lambda revision: revision.number)

    def revision(self, access: Access, slug: str, lang: str | None, number: int | None = None) -> Revision:
        """Return one revision; by default the newest."""
        return self._revision(slug, self._lang(access, slug, lang), number)

    def create_preview(self, access: Access, slug: str, lang: str | None) -> tuple[str, datetime]:
        """Return a token that reads the newest revisions of an FAQ for an hour, and its end.

        Only the digest of the token is stored.
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
        found = self._first(query.where(faqs.c.slug == slug, *is_valid))
        for one in filter(None, (lang, found.lang) if found else ()):
            try:
                draft = self._revision(slug, one, None)
            except FAQNotFound:  # there is none in this language, or it was purged meanwhile
                continue
            content = (draft.lang, draft.record, draft.tag, draft.website_url)
            return Publication(*content, draft.number, draft.created_at)
        return None

    def _lang(self, access: Access, slug: str, lang: str | None) -> str:
        """Return `lang` or the default language of the FAQ, if the key may read the FAQ."""
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
