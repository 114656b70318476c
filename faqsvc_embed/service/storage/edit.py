"""A transaction that changes FAQs: the steps shared by writing, unpublishing, deleting and restoring."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, delete, func, insert, select, update

from faqsvc_embed.api.content import revision_digest
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import audit
from faqsvc_embed.service.storage.change_log import MAX_EVENTS
from faqsvc_embed.service.storage.revisions import (
    NEWEST,
    STATE_COLUMNS,
    revision_of,
    seen_of,
    select_revisions,
)
from faqsvc_embed.service.storage.schema import events, faqs, last_event, revisions, sites, translations
from faqsvc_embed.service.storage.values import (
    Access,
    Gone,
    Preconditions,
    Quota,
    QuotaExceeded,
    Revision,
    RevisionConflict,
    check_owner,
    search_text,
)


@dataclass(frozen=True, slots=True)
class Edit:
    """A transaction of a key, a person or the operator.

    It locks Idempotency-Keys, then the FAQ, then the site with its counters, then the number of the last
    event. All transactions use this order, so they cannot deadlock.
    """

    connection: Connection
    access: Access
    now: datetime
    quota: Quota

    def locked(self, slug: str) -> Any:
        """Return the row of an FAQ, locked; None if there is none."""
        return self.connection.execute(select(faqs).where(faqs.c.slug == slug).with_for_update()).first()

    def owned(self, slug: str) -> Any:
        """Return the row of an FAQ of the site, which may be in the bin, locked.

        Raises:
            FAQNotFound: the site has none with this slug.
            NotYourSite: another site has, or had, this slug.
        """
        return check_owner(self.locked(slug), self.access, slug)

    def present(self, slug: str) -> Any:
        """Return the row of an FAQ of the site that is not deleted, locked.

        Raises:
            FAQNotFound, NotYourSite: as `owned` does.
            Gone: it is in the bin, or was purged.
        """
        faq = self.owned(slug)
        if faq.state == "binned":
            raise Gone(f"The FAQ {quoted(slug)} is in the bin: restore it, or choose another slug")
        if faq.sealed:
            raise Gone(
                f"The FAQ {quoted(slug)} was deleted for ever, and its slug cannot be used again before an"
                f" admin allows it at the desk, or by `faqsvc restore {slug} --lift`"
            )
        if faq.state == "purged":
            raise Gone(f"The FAQ {quoted(slug)} was deleted")
        return faq

    def newest(self, slug: str, lang: str) -> Revision | None:
        """Return the newest revision of a translation.

        Raises:
            Gone: the translation is in the bin, or was purged.
        """
        row = self.connection.execute(
            select(translations).where(translations.c.slug == slug, translations.c.lang == lang)
        ).first()
        if row is None:
            return None
        if row.binned_at is not None:
            raise Gone(f"The FAQ {quoted(slug)} in {lang} was deleted: restore it to write it again")
        found = self.connection.execute(select_revisions(slug, lang).where(NEWEST)).one()
        return revision_of(found)

    def languages(self, slug: str, lang: Lang | None, *, binned: bool = False) -> list[Lang]:
        """Return the languages of an FAQ, or only `lang`; those in the bin only with `binned`.

        Raises:
            FAQNotFound: the FAQ lacks this language.
        """
        query = select(translations.c.lang).where(translations.c.slug == slug)
        query = query if binned else query.where(translations.c.binned_at.is_(None))
        languages = list(self.connection.scalars(query))
        if lang is not None and lang not in languages:
            raise FAQNotFound(f"The FAQ {quoted(slug)} has no translation in {lang}")
        return languages if lang is None else [lang]

    def check_seen(self, slug: str, lang: str | None, preconditions: Preconditions) -> None:
        """Check that a translation, or without `lang` all of an FAQ, are in the state that a form has shown.

        Raises:
            RevisionConflict: they were changed.
        """
        if preconditions.seen is None:
            return
        query = select(translations.c.lang, *STATE_COLUMNS).join(revisions, NEWEST)
        query = query.where(translations.c.slug == slug)
        rows = self.connection.execute(query.where(translations.c.binned_at.is_(None)))
        now = {row.lang: seen_of(row) for row in rows}
        languages = {*now, *preconditions.seen} if lang is None else {lang}
        for lang in languages:
            if now.get(lang) != preconditions.seen.get(lang):
                raise RevisionConflict("The FAQ was changed by somebody else", self.newest(slug, lang))

    def append(self, newest: Revision | None, key: tuple[str, Lang], row: dict[str, Any]) -> int:
        """Append a revision to a translation, which is new if `newest` is None; return the number."""
        slug, lang = key
        numbers = select(func.max(revisions.c.number)).where(
            revisions.c.slug == slug, revisions.c.lang == lang
        )
        number = (self.connection.scalar(numbers) or 0) + 1  # a discarded draft keeps its number
        values = {"newest": number, "search_text": search_text(FAQ.from_json(row["record"]))}
        if newest is None:
            self.connection.execute(insert(translations), {"slug": slug, "lang": lang, **values})
        else:
            self.connection.execute(update(translations).where(*of_translation(slug, lang)).values(values))
        digest = revision_digest(row["website_url"], row["record"])
        row = row | {"slug": slug, "lang": lang, "number": number, "digest": digest}
        author = {"key_id": self.access.key_id, "person_id": self.access.person_id}
        self.connection.execute(insert(revisions), row | author | {"created_at": self.now})
        self.count(size=len(row["record"].encode()))
        return number

    def note_source(self, slug: str, lang: str, source: int | None = None) -> None:
        """Record the revision of the default language that was translated; by default the newest."""
        default = translations.alias()
        newest = (
            select(default.c.newest)
            .join(faqs, faqs.c.slug == default.c.slug)
            .where(default.c.slug == slug, default.c.lang == faqs.c.lang)
            .scalar_subquery()
        )
        values = {"translated_from": newest if source is None else source}
        self.connection.execute(update(translations).where(*of_translation(slug, lang)).values(values))

    def follow_source(self, slug: str, lang: str, number: int, copy: int) -> None:
        """Assign the translations of a revision to its copy, which has the same text."""
        made_from = (translations.c.slug == slug, translations.c.translated_from == number)
        is_default = faqs.c.slug == slug, faqs.c.lang == lang
        query = update(translations).where(*made_from, select(faqs.c.slug).where(*is_default).exists())
        self.connection.execute(query.values(translated_from=copy))

    def discard(self, slug: str, lang: str) -> bool:
        """Discard the revisions after the last published one; return whether there is a published one."""
        translation = self.connection.execute(select(translations).where(*of_translation(slug, lang))).one()
        number = translation.published or translation.withdrawn
        if number is None:
            return False
        mine = (revisions.c.slug == slug, revisions.c.lang == lang)
        record = self.connection.scalar(select(revisions.c.record).where(*mine, revisions.c.number == number))
        discarded = update(revisions).where(*mine, revisions.c.number > number)
        self.connection.execute(discarded.values(discarded_at=self.now))
        self.update_translations(
            slug, [cast("Lang", lang)], newest=number, search_text=search_text(FAQ.from_json(record or "{}"))
        )
        return True

    def publish(self, slug: str, lang: str, number: int) -> None:
        """Publish a revision of a translation."""
        values = {"published": number, "withdrawn": None, "withdrawn_at": None}
        self.connection.execute(update(translations).where(*of_translation(slug, lang)).values(values))
        published = revisions.c.slug == slug, revisions.c.lang == lang, revisions.c.number == number
        self.connection.execute(update(revisions).where(*published).values(published_at=self.now))
        self.record_event(slug, lang, number)

    def unpublish(self, slug: str, languages: Sequence[Lang]) -> bool:
        """Unpublish translations; return whether one was published."""
        of_faq = (translations.c.slug == slug, translations.c.lang.in_(languages))
        mine = (*of_faq, translations.c.published.is_not(None))
        query = select(translations.c.lang).where(*mine).order_by(translations.c.lang)
        published = self.connection.scalars(query).all()
        for lang in published:
            self.record_event(slug, lang, None)
        values = {"published": None, "withdrawn": translations.c.published, "withdrawn_at": self.now}
        self.connection.execute(update(translations).where(*mine).values(values))
        return bool(published)

    def update_translations(self, slug: str, languages: Sequence[Lang], **values: Any) -> None:
        """Change columns of translations."""
        mine = (translations.c.slug == slug, translations.c.lang.in_(languages))
        self.connection.execute(update(translations).where(*mine).values(values))

    def settle(self, slug: str) -> None:
        """Update the state of an FAQ, and its default language if that translation was deleted."""
        columns = [translations.c[name] for name in ("lang", "published", "withdrawn", "binned_at")]
        rows = self.connection.execute(select(*columns).where(translations.c.slug == slug)).all()
        rows = sorted(rows, key=lambda row: LANGUAGES.index(row.lang))
        kept = [row for row in rows if row.binned_at is None]
        faq = self.locked(slug)
        values: dict[str, Any] = {"updated_at": self.now}
        if not kept:
            values["state"] = "binned"
        else:
            published = [row for row in kept if row.published is not None]
            was_public = any(row.withdrawn is not None for row in rows)
            values["state"] = "published" if published else "unpublished" if was_public else "draft"
            if faq.lang not in {row.lang for row in kept}:
                values["lang"] = (published or kept)[0].lang
        self.connection.execute(update(faqs).where(faqs.c.slug == slug).values(values))

    def count(self, *, faqs: int = 0, size: int = 0) -> None:
        """Update the counters of the site; raises QuotaExceeded beyond its quota."""
        columns = sites.c
        row = self.connection.execute(
            update(sites)
            .where(columns.id == self.access.site)
            .values(faq_count=columns.faq_count + faqs, byte_count=columns.byte_count + size)
            .returning(columns.faq_count, columns.byte_count, columns.max_faqs, columns.max_bytes)
        ).one()
        for added, count, limit, unit in (
            (faqs, row.faq_count, row.max_faqs or self.quota.faqs, "FAQs"),
            (size, row.byte_count, row.max_bytes or self.quota.bytes, "bytes"),
        ):
            if added > 0 and limit is not None and count > limit:
                raise QuotaExceeded(
                    f"The site may have {limit} {unit}; deleting FAQs with purge=now makes room"
                )

    def record_event(self, slug: str, lang: str, revision: int | None) -> None:
        """Add an event to the change log; without a revision, the translation was unpublished."""
        number = self.connection.scalar(
            update(last_event).values(number=last_event.c.number + 1).returning(last_event.c.number)
        )
        row = {"number": number, "slug": slug, "lang": lang, "revision": revision}
        self.connection.execute(insert(events), row | {"created_at": self.now})
        if number % 100 == 0:
            self.connection.execute(delete(events).where(events.c.number <= number - MAX_EVENTS))

    def log(
        self,
        action: audit.Action,
        slug: str,
        lang: str | None,
        revision: int | None = None,
        subject: str | None = None,
    ) -> None:
        """Add an entry to the audit log."""
        what = {"slug": slug, "lang": lang, "revision": revision, "subject": subject}
        audit.log(self.connection, self.access, action, self.now, **what)


def of_translation(slug: str, lang: str) -> tuple[Any, ...]:
    """Return the conditions of a translation."""
    return translations.c.slug == slug, translations.c.lang == lang


def check_preconditions(preconditions: Preconditions, newest: Revision | None) -> None:
    """Check the newest revision, even if it is a draft: a writer who has not seen it would undo it.

    Raises:
        RevisionConflict: a precondition failed.
    """
    if preconditions.is_create_only and newest is not None:
        raise RevisionConflict("The FAQ already exists in this language", newest)
    tags = preconditions.if_match
    if tags is None or (newest is not None and ("*" in tags or newest.tag in tags)):
        return
    if newest is not None and newest.tag.endswith("-unpublished"):
        raise RevisionConflict("The FAQ was unpublished by somebody else", newest)
    raise RevisionConflict("The FAQ was changed by somebody else", newest)
