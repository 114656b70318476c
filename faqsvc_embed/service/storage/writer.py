"""Writes and publishes revisions, and unpublishes and purges FAQs.

Each method is one transaction. It locks Idempotency-Keys, then the FAQ, then the site with its counters, then
the number of the last event. All writers use this order, so they cannot deadlock.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from msgspec import UNSET
from sqlalchemy import Connection, Row, delete, insert, select, update

from faqsvc_embed.api.content import revision_digest
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import idempotency
from faqsvc_embed.service.storage.change_log import MAX_EVENTS
from faqsvc_embed.service.storage.database import Database, insert_new
from faqsvc_embed.service.storage.publications import PURGED_FOR
from faqsvc_embed.service.storage.schema import (
    events,
    faqs,
    last_event,
    previews,
    revisions,
    sites,
    translations,
)
from faqsvc_embed.service.storage.slugs import check_new, new_slug
from faqsvc_embed.service.storage.values import (
    NO_QUOTA,
    Access,
    Gone,
    NotYourSite,
    Preconditions,
    Quota,
    QuotaExceeded,
    RevisionConflict,
    Write,
    Written,
    search_text,
    storable,
)

DEFAULT_LANGUAGE: Final = "en"
ENOUGH_ITEMS: Final = 3
"""With fewer items, a detected language in Latin script is not certain."""
_LATIN_SCRIPT: Final = frozenset({"en", "es", "fr", "de"})


class Writer:
    """Writes to the FAQs in a database. `quota` limits each site that has no limits of its own."""

    def __init__(self, database: Database, clock: Callable[[], datetime], quota: Quota = NO_QUOTA) -> None:
        self._database = database
        self._clock = clock
        self.quota = quota

    def write(self, access: Access, request: Write) -> Written:
        """Write a revision and, unless it is a draft, publish it.

        Raises:
            FAQNotFound: there is no FAQ with this slug, and none may be created.
            NotYourSite: it belongs to another site.
            ReservedSlug: a new FAQ cannot have this slug.
            Gone: the slug was purged within the last day, or what the Idempotency-Key wrote was purged.
            RevisionConflict: a precondition failed.
            QuotaExceeded: the site has no room for it.
            IdempotencyKeyReused: the Idempotency-Key was used with another body in the last 24 hours.
        """
        key = request.idempotency_key
        with self._database.writing() as connection:
            if key and (earlier := idempotency.claim(connection, access.site, key, self._clock())):
                return earlier
            faq, is_new = self._open(connection, access, request)
            lang = request.lang or self._unstated_language(connection, faq, request)
            newest = self._newest(connection, faq.slug, lang)
            if request.must_be_new and not is_new:
                raise RevisionConflict(f"The FAQ {quoted(faq.slug)} exists", newest.number if newest else 0)
            if request.lang is None and newest is None and request.preconditions.if_match is not None:
                raise RevisionConflict(f"The FAQ {quoted(faq.slug)} has no translation in {lang}", 0)
            _check_preconditions(request.preconditions, newest)
            content = request.content
            if content.cta is UNSET and newest is not None:
                query = select(revisions.c.record).where(*_key(faq.slug, lang, newest.number))
                before = connection.scalar(query)
                content = replace(content, cta=FAQ.from_json(before or "").cta)
            record = content.record(faq.slug, lang)
            row = {
                "record": record.to_json(),
                "title": storable(record.title),
                "website_name": storable(record.website_name),
                "website_url": content.website_url,
            }
            if is_new:
                self._count(connection, access.site, faqs=1)
            written = self._append(connection, access, (faq.slug, lang), row, is_draft=request.is_draft)
            if key:
                idempotency.record(connection, access.site, key, written)
        return written._replace(is_new=is_new)

    def _unstated_language(self, connection: Connection, faq: Row[Any], request: Write) -> Lang:
        """Return the detected language if it is certain, or that of a translation; else the default one."""
        default: Lang = faq.lang
        detected = request.detected_lang
        # Japanese in Chinese characters alone is detected as Chinese.
        if detected is None or (detected, default) == ("zh", "ja"):
            return default
        is_certain = detected not in _LATIN_SCRIPT or len(request.content.items) >= ENOUGH_ITEMS
        if is_certain or self._newest(connection, faq.slug, detected) is not None:
            return detected
        return default

    def publish(
        self, access: Access, slug: str, number: int, lang: Lang | None, preconditions: Preconditions
    ) -> Written:
        """Publish a draft, or the content of an earlier revision under a new number.

        Raises:
            FAQNotFound: the site has no such revision.
            NotYourSite, RevisionConflict, QuotaExceeded: as `write` does.
        """
        with self._database.writing() as connection:
            faq = self._owned(connection, access, slug)
            lang = lang or faq.lang
            newest = self._newest(connection, slug, lang)
            key = _key(slug, lang, number)
            revision = connection.execute(select(revisions).where(*key)).mappings().first()
            if revision is None or newest is None:
                raise FAQNotFound(f"The FAQ {quoted(slug)} has no revision {number} in {lang}")
            _check_preconditions(preconditions, newest)
            # A draft that is not the newest revision gets a new number: editors start from the newest.
            is_draft = number == newest.number and revision["published_at"] is None
            if is_draft:
                self._publish(connection, (slug, lang), number)
            if is_draft or newest.published == number == newest.number:
                return Written(slug, lang, number, "published", revision["digest"], False)
            row = {name: revision[name] for name in ("record", "title", "website_name", "website_url")}
            return self._append(connection, access, (slug, lang), row, is_draft=False)

    def unpublish(self, access: Access, slug: str, lang: Lang | None, preconditions: Preconditions) -> None:
        """Unpublish an FAQ, or one translation. Its history stays.

        Raises:
            FAQNotFound: the site has no such FAQ, or not this translation.
            NotYourSite, RevisionConflict: as `write` does.
        """
        with self._database.writing() as connection:
            faq = self._owned(connection, access, slug)
            _check_preconditions(preconditions, self._newest(connection, slug, lang or faq.lang))
            self._unpublish(connection, slug, self._languages(connection, slug, lang))
            self._settle(connection, slug)

    def purge(self, access: Access, slug: str, lang: Lang | None, preconditions: Preconditions) -> None:
        """Delete an FAQ, or one translation, with its history. The slug stays gone for a day.

        Raises:
            FAQNotFound, NotYourSite, RevisionConflict: as `unpublish` does.
        """
        with self._database.writing() as connection:
            idempotency.forget_revisions(connection, slug, lang, self._clock())
            faq = self._owned(connection, access, slug)
            _check_preconditions(preconditions, self._newest(connection, slug, lang or faq.lang))
            languages = self._languages(connection, slug, lang)
            connection.execute(select(sites.c.id).where(sites.c.id == access.site).with_for_update())
            self._unpublish(connection, slug, languages)
            mine = (revisions.c.slug == slug, revisions.c.lang.in_(languages))
            records = connection.scalars(select(revisions.c.record).where(*mine))
            size = sum(len(record.encode()) for record in records)
            connection.execute(delete(revisions).where(*mine))
            connection.execute(
                delete(translations).where(translations.c.slug == slug, translations.c.lang.in_(languages))
            )
            is_last = not connection.scalar(select(translations.c.lang).where(translations.c.slug == slug))
            self._count(connection, access.site, faqs=-is_last, size=-size)
            if not is_last:
                self._settle(connection, slug)
                return
            # Another site may take the slug.
            connection.execute(delete(previews).where(previews.c.slug == slug))
            if faq.state == "draft":  # no cache can have it
                connection.execute(delete(faqs).where(faqs.c.slug == slug))
            else:
                values = {"state": "purged", "updated_at": self._clock()}
                connection.execute(update(faqs).where(faqs.c.slug == slug).values(values))

    def _open(self, connection: Connection, access: Access, request: Write) -> tuple[Row[Any], bool]:
        """Return the locked FAQ of a request, and whether it is a new one."""
        lang = request.lang or request.detected_lang or DEFAULT_LANGUAGE
        row = {"site": access.site, "lang": lang, "state": "draft", "created_at": self._clock()}
        content = request.content
        if request.slug is None:
            words = f"{content.website_name} {content.title or ''}"
            while not insert_new(
                connection, faqs, row | {"slug": (slug := new_slug(words, content.website_url))}
            ):
                pass
            return self._locked(connection, slug), True
        slug = request.slug
        if not request.must_exist:
            expired = faqs.c.updated_at < self._clock() - PURGED_FOR
            connection.execute(delete(faqs).where(faqs.c.slug == slug, faqs.c.state == "purged", expired))
            if insert_new(connection, faqs, row | {"slug": slug}):
                check_new(slug)
                if request.preconditions.if_match is not None:
                    raise RevisionConflict(f"No FAQ has the slug {quoted(slug)}", 0)
                return self._locked(connection, slug), True
        return self._owned(connection, access, slug), False

    def _locked(self, connection: Connection, slug: str) -> Any:
        return connection.execute(select(faqs).where(faqs.c.slug == slug).with_for_update()).first()

    def _owned(self, connection: Connection, access: Access, slug: str) -> Row[Any]:
        """Return a locked FAQ of the site."""
        faq: Row[Any] | None = self._locked(connection, slug)
        if faq is not None and faq.state == "purged":
            raise Gone(f"The FAQ {quoted(slug)} was deleted; the slug can be taken again a day later")
        if faq is None or (faq.site != access.site and faq.state != "published"):
            raise FAQNotFound(f"No FAQ has the slug {quoted(slug)}")
        if faq.site != access.site:
            raise NotYourSite(f"The FAQ {quoted(slug)} belongs to another site")
        return faq

    def _newest(self, connection: Connection, slug: str, lang: str) -> Any:
        query = select(revisions.c.number, revisions.c.digest, translations.c.published).join(
            translations,
            (translations.c.slug == revisions.c.slug)
            & (translations.c.lang == revisions.c.lang)
            & (translations.c.newest == revisions.c.number),
        )
        return connection.execute(query.where(revisions.c.slug == slug, revisions.c.lang == lang)).first()

    def _languages(self, connection: Connection, slug: str, lang: Lang | None) -> list[Lang]:
        """Return the languages of an FAQ, or only `lang`; raises FAQNotFound if the FAQ lacks it."""
        query = select(translations.c.lang).where(translations.c.slug == slug)
        languages = list(connection.scalars(query))
        if lang is not None and lang not in languages:
            raise FAQNotFound(f"The FAQ {quoted(slug)} has no translation in {lang}")
        return languages if lang is None else [lang]

    def _append(
        self,
        connection: Connection,
        access: Access,
        key: tuple[str, Lang],
        row: dict[str, Any],
        *,
        is_draft: bool,
    ) -> Written:
        """Append a revision to a translation, which may be new."""
        slug, lang = key
        mine = (translations.c.slug == slug, translations.c.lang == lang)
        number = (connection.scalar(select(translations.c.newest).where(*mine)) or 0) + 1
        values = {"newest": number, "search_text": search_text(FAQ.from_json(row["record"]))}
        if number == 1:
            connection.execute(insert(translations), {"slug": slug, "lang": lang, **values})
        else:
            connection.execute(update(translations).where(*mine).values(values))
        digest = revision_digest(row["website_url"], row["record"])  # all that a writer can change
        row |= {"slug": slug, "lang": lang, "number": number, "digest": digest}
        author = {"key_id": access.key_id, "person_id": access.person_id}
        connection.execute(insert(revisions), row | author | {"created_at": self._clock()})
        self._count(connection, access.site, size=len(row["record"].encode()))
        if is_draft:
            self._settle(connection, slug)
        else:
            self._publish(connection, key, number)
        return Written(slug, lang, number, "draft" if is_draft else "published", digest, False)

    def _publish(self, connection: Connection, key: tuple[str, Lang], number: int) -> None:
        slug, lang = key
        connection.execute(
            update(translations)
            .where(translations.c.slug == slug, translations.c.lang == lang)
            .values(published=number)
        )
        connection.execute(
            update(revisions).where(*_key(slug, lang, number)).values(published_at=self._clock())
        )
        self._settle(connection, slug)
        self._record_event(connection, slug, lang, number)

    def _unpublish(self, connection: Connection, slug: str, languages: list[Lang]) -> None:
        mine = (translations.c.slug == slug, translations.c.lang.in_(languages))
        published = select(translations.c.lang).where(*mine, translations.c.published.is_not(None))
        for lang in connection.scalars(published.order_by(translations.c.lang)).all():
            self._record_event(connection, slug, lang, None)
        connection.execute(update(translations).where(*mine).values(published=None))

    def _settle(self, connection: Connection, slug: str) -> None:
        """Update the state of an FAQ, and its default language if that translation was purged."""
        query = select(translations.c.lang, translations.c.published).where(translations.c.slug == slug)
        rows = sorted(connection.execute(query), key=lambda row: LANGUAGES.index(row.lang))
        languages = [row.lang for row in rows]
        published = [row.lang for row in rows if row.published is not None]
        faq = self._locked(connection, slug)
        state = "published" if published else "draft" if faq.state == "draft" else "unpublished"
        lang = faq.lang if faq.lang in languages else (published or languages)[0]
        values = {"state": state, "lang": lang, "updated_at": self._clock()}
        connection.execute(update(faqs).where(faqs.c.slug == slug).values(values))

    def _count(self, connection: Connection, site: str, *, faqs: int = 0, size: int = 0) -> None:
        """Update the counters of a site; raises QuotaExceeded beyond its quota."""
        columns = sites.c
        row = connection.execute(
            update(sites)
            .where(columns.id == site)
            .values(faq_count=columns.faq_count + faqs, byte_count=columns.byte_count + size)
            .returning(columns.faq_count, columns.byte_count, columns.max_faqs, columns.max_bytes)
        ).one()
        for added, count, limit, unit in (
            (faqs, row.faq_count, row.max_faqs or self.quota.faqs, "FAQs"),
            (size, row.byte_count, row.max_bytes or self.quota.bytes, "bytes"),
        ):
            if added > 0 and limit is not None and count > limit:
                raise QuotaExceeded(
                    f"The site may have {limit} {unit}; unpublish with purge=true to make room"
                )

    def _record_event(self, connection: Connection, slug: str, lang: str, revision: int | None) -> None:
        number = connection.scalar(
            update(last_event).values(number=last_event.c.number + 1).returning(last_event.c.number)
        )
        row = {"number": number, "slug": slug, "lang": lang, "revision": revision}
        connection.execute(insert(events), row | {"created_at": self._clock()})
        if number % 100 == 0:
            connection.execute(delete(events).where(events.c.number <= number - MAX_EVENTS))


def _check_preconditions(preconditions: Preconditions, newest: Any) -> None:
    """Check against the newest revision, even a draft, because a writer who has not seen it would undo it."""
    if preconditions.is_create_only and newest is not None:
        raise RevisionConflict("The FAQ exists in this language", newest.number)
    tags = preconditions.if_match
    if tags is not None and (newest is None or not ("*" in tags or newest.digest in tags)):
        raise RevisionConflict("The FAQ was changed by somebody else", newest.number if newest else 0)


def _key(slug: str, lang: str, number: int) -> tuple[Any, ...]:
    return revisions.c.slug == slug, revisions.c.lang == lang, revisions.c.number == number
