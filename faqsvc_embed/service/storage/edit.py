"""The steps within a transaction that writing, unpublishing, deleting and restoring an FAQ share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, and_, case, delete, func, insert, literal, select, update

from faqsvc_embed.api.content import revision_digest, stored_record
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import logs
from faqsvc_embed.service.storage.errors import Gone, QuotaExceeded, RevisionConflict, TooManyWrites
from faqsvc_embed.service.storage.reading import NEWEST, of_translation, select_revisions
from faqsvc_embed.service.storage.schema import Timestamp, faqs, previews, revisions, sites, translations
from faqsvc_embed.service.storage.values import (
    HIDDEN,
    Access,
    Preconditions,
    Quota,
    Revision,
    check_present,
    faq_state,
    search_text,
    storable,
)

_MINUTE: Final = 60_000_000
"""In microseconds."""


@dataclass
class Edit:
    """A transaction of a key, a person or the operator, which changes the FAQ `slug`.

    `present` and `newest` say whether there is something to change, and `check` whether the writer has seen
    what the change overwrites. The steps that follow collect events, `record_change` collects entries of the
    audit log, and `finish` writes both. `faq` is the row of the FAQ after `lock`; None if there is none.

    All transactions take their locks in this order, so they cannot deadlock: an Idempotency-Key, the FAQ,
    then in `finish` the site with its counters, and the end of the change log, which all sites share.
    """

    connection: Connection
    access: Access
    slug: str
    now: datetime
    quota: Quota
    faq: Any = None
    _was_counted: bool | None = None  # among the FAQs of the site, before this transaction
    _translations: dict[Lang, Revision] | None = None
    _added_faqs: int = 0
    _added_bytes: int = 0
    _events: list[tuple[str, str, int | None]] = field(default_factory=list)
    _entries: list[tuple[logs.Action, dict[str, Any]]] = field(default_factory=list)

    def lock(self) -> Any:
        """Lock the FAQ, and return its row; None if there is none."""
        locked = select(faqs).where(faqs.c.slug == self.slug).with_for_update()
        self.faq = self.connection.execute(locked).first()
        if self._was_counted is None and self.faq is not None:
            # The row of a new FAQ has no `updated_at` yet.
            self._was_counted = self.faq.updated_at is not None and self.faq.state not in HIDDEN
        return self.faq

    def present(self, *, binned: bool = False) -> Any:
        """Return the row of an FAQ of the site, locked; raise what `check_present` raises."""
        return check_present(self.faq or self.lock(), self.access, self.slug, binned=binned)

    @property
    def translations(self) -> dict[Lang, Revision]:
        """The newest revision of each translation, without its record; also of those in the bin."""
        if self._translations is None:
            query = select_revisions(translations.c.slug == self.slug, NEWEST, has_record=False)
            rows = self.connection.execute(query.order_by(translations.c.lang))
            self._translations = {row.lang: Revision(*row) for row in rows}
        return self._translations

    def revision(self, lang: str, number: int | None) -> Revision | None:
        """Return a revision with its record."""
        query = select_revisions(of_translation(self.slug, lang), revisions.c.number == number)
        row = self.connection.execute(query).first()
        return None if row is None else Revision(*row)

    def newest(self, lang: Lang, *, binned: bool = False) -> Revision | None:
        """Return the newest revision of a translation with its record.

        Raises Gone if the translation was purged or, without `binned`, is in the bin.
        """
        found = self.translations.get(lang)
        if found is None:
            mine = (translations.c.slug == self.slug, translations.c.lang == lang)
            if self.connection.execute(select(translations.c.lang).where(*mine)).first() is None:
                return None
        if found is None or (found.binned_at is not None and not binned):
            raise Gone(f"The FAQ {quoted(self.slug)} in {lang} was deleted: restore it to write it again")
        return self.revision(lang, found.number)

    def languages(self, lang: Lang | None, *, binned: bool = False) -> list[Lang]:
        """Return the languages of an FAQ, or only `lang`; those in the bin only with `binned`.

        Raises FAQNotFound if the FAQ lacks `lang`.
        """
        found = [one.lang for one in self.translations.values() if binned or one.binned_at is None]
        if lang is not None and lang not in found:
            raise FAQNotFound(f"The FAQ {quoted(self.slug)} has no translation in {lang}")
        return found if lang is None else [lang]

    def check(self, preconditions: Preconditions, lang: Lang | None, newest: Revision | None) -> None:
        """Check a write to a translation, or without a language to all translations of an FAQ.

        `newest` is the newest revision, even if it is a draft: a writer who has not seen it would undo it.
        Raises RevisionConflict if a precondition failed.
        """
        if preconditions.is_create_only and newest is not None:
            raise RevisionConflict("The FAQ already exists in this language", newest)
        tags, versions = preconditions.if_match, preconditions.versions
        if tags is not None and (newest is None or (tags and newest.tag not in tags)):
            what = "unpublished" if newest is not None and newest.is_unpublished else "changed"
            raise RevisionConflict(f"The FAQ was {what} by somebody else", newest)
        if versions is None:
            return
        now: dict[Any, str] = {one: self.translations[one].version for one in self.languages(None)}
        for one in {*now, *versions} if lang is None else {lang}:
            if now.get(one) != versions.get(one):
                raise RevisionConflict("The FAQ was changed by somebody else", self.newest(one))

    def write(self, lang: Lang, faq: FAQ, *, is_draft: bool, record: str | None = None) -> Revision:
        """Write a revision of a translation, which may be new, and publish it unless it is a draft.

        If the newest revision has the same content, no revision is added: it is published, or nothing
        changes. `record` is that of the revision to copy, so that both are equal byte for byte.
        """
        stored, website_url = stored_record(faq, self.slug, lang), faq.website_url or ""
        record = record or stored.to_json()
        newest, digest = self.translations.get(lang), revision_digest(website_url, record)
        if newest is None or newest.digest != digest or (is_draft and newest.state == "superseded"):
            row = {"record": record, "digest": digest, "website_url": website_url}
            number = self._append(lang, stored, row, is_draft=is_draft)
        elif newest.state == "published" or is_draft:
            return newest
        else:
            number = newest.number
            self.publish(lang, number)
        self.record_change("draft" if is_draft else "publish", lang, number)
        return self.translations[lang]

    def _append(self, lang: Lang, faq: FAQ, row: dict[str, Any], *, is_draft: bool) -> int:
        last = select(func.max(revisions.c.number)).where(of_translation(self.slug, lang))
        number = (self.connection.scalar(last) or 0) + 1  # a discarded draft keeps its number
        source = None if lang == self.faq.lang else self.translations.get(self.faq.lang)
        values: dict[str, Any] = {"newest": number, "search_text": search_text(faq)}
        if not is_draft:
            values |= {"published": number, "withdrawn": None, "withdrawn_at": None}
            self._events.append((self.slug, lang, number))
        if lang in self.translations:
            self.update_translations([lang], **values)
        else:
            self.connection.execute(insert(translations).values(slug=self.slug, lang=lang, **values))
            self._translations = None
        row |= {
            "slug": self.slug,
            "lang": lang,
            "number": number,
            "title": storable(faq.title),
            "website_name": storable(faq.website_name),
            "key_id": self.access.key_id,
            "person_id": self.access.person_id,
            "created_at": self.now,
            "published_at": None if is_draft else self.now,
            "translated_from": source and source.newest,
        }
        self.connection.execute(insert(revisions), row)
        self._added_bytes += len(row["record"].encode())
        return number

    def publish(self, lang: Lang, number: int) -> None:
        """Let readers see a revision."""
        self.update_translations([lang], published=number, withdrawn=None, withdrawn_at=None)
        first = func.coalesce(revisions.c.published_at, literal(self.now, Timestamp()))
        published = update(revisions).where(of_translation(self.slug, lang), revisions.c.number == number)
        self.connection.execute(published.values(published_at=first))
        self._events.append((self.slug, lang, number))

    def set_source(self, lang: Lang, source: int | None) -> None:
        """Record which revision of the default language the newest revision of a translation is made from."""
        newest = (of_translation(self.slug, lang), revisions.c.number == self.translations[lang].newest)
        self.connection.execute(update(revisions).where(*newest).values(translated_from=source))

    def unpublish(self, languages: Sequence[Lang]) -> bool:
        """Unpublish translations; return whether one was published."""
        published = [lang for lang in languages if self.translations[lang].published is not None]
        for lang in published:
            self._events.append((self.slug, lang, None))
        withdrawn = translations.c.published
        self.update_translations(published, published=None, withdrawn=withdrawn, withdrawn_at=self.now)
        return bool(published)

    def delete_texts(self, languages: Sequence[Lang]) -> None:
        """Unpublish translations and delete their texts.

        A translation without revisions is blocked: nobody can write it until an admin allows it (`unblock`).
        """
        mine = (revisions.c.slug == self.slug, revisions.c.lang.in_(languages))
        records = self.connection.scalars(select(revisions.c.record).where(*mine))
        self._added_bytes -= sum(len(record.encode()) for record in records)
        self.unpublish(languages)
        self.connection.execute(delete(revisions).where(*mine))
        self.update_translations(languages, search_text="", withdrawn=None, binned_at=self.now)

    def update_translations(self, languages: Sequence[Lang], **values: Any) -> None:
        """Change columns of translations."""
        mine = (translations.c.slug == self.slug, translations.c.lang.in_(languages))
        self.connection.execute(update(translations).where(*mine).values(values))
        self._translations = None

    def record_change(
        self, action: logs.Action, lang: str | None, revision: int | None = None, **what: Any
    ) -> None:
        """Record a change of translations: in the audit log, and in the state and language of their FAQ."""
        self._entries.append((action, {"slug": self.slug, "lang": lang, "revision": revision, **what}))
        every = sorted(self.translations.values(), key=lambda one: LANGUAGES.index(one.lang))
        state, default = faq_state(every), self.faq.lang
        kept = [one for one in every if one.binned_at is None]
        if kept and default not in {one.lang for one in kept}:  # this language was deleted
            default = next((one for one in kept if one.published is not None), kept[0]).lang
        values = {"updated_at": self.now, "state": state, "lang": default}
        if state == "purged":  # nobody may use the slug before an admin allows it
            values |= {"sealed": True, "page_url": None}
            self.connection.execute(delete(translations).where(translations.c.slug == self.slug))
        if default != self.faq.lang:  # the sources are revisions of the old default language
            mine = update(revisions).where(revisions.c.slug == self.slug)
            self.connection.execute(mine.values(translated_from=None))
        if state in HIDDEN:
            self.connection.execute(delete(previews).where(previews.c.slug == self.slug))
        self.connection.execute(update(faqs).where(faqs.c.slug == self.slug).values(values))
        self._added_faqs = (state not in HIDDEN) - bool(self._was_counted)
        self._translations = {one.lang: one._replace(faq_state=state) for one in every}

    def finish(self) -> None:
        """Write what concerns more than the FAQ: the audit log, the counters of the site, and the events.

        Raises QuotaExceeded or TooManyWrites.
        """
        if not (self._events or self._entries or self._added_faqs or self._added_bytes):
            return
        for action, what in self._entries:
            logs.log(self.connection, self.access, action, self.now, **what)
        self._count()
        logs.append_changes(self.connection, self._events, self.now)

    def _count(self) -> None:
        """Count a write by a key or a person, and the FAQs and bytes that it adds; lock the row of the site.

        Writes are counted by the generic cell rate algorithm: those of a minute may come in one burst.
        """
        columns, time = sites.c, round(self.now.timestamp() * 1_000_000)
        most = self.quota.writes if self.access.key_id or self.access.person_id else None
        values = {
            "faq_count": columns.faq_count + self._added_faqs,
            "byte_count": columns.byte_count + self._added_bytes,
        }
        if most is not None:
            # A time further ahead was written by a wrong clock.
            is_ahead = and_(columns.write_arrival > time, columns.write_arrival <= time + _MINUTE)
            values["write_arrival"] = case((is_ahead, columns.write_arrival), else_=time) + _MINUTE // most
        counted = update(sites).where(columns.id == self.access.site).values(values).returning(sites)
        row = self.connection.execute(counted).first()
        if row is None:  # the operator, for all sites
            return
        if most is not None and (wait := row.write_arrival - time - _MINUTE) > 0:
            raise TooManyWrites(f"The site may write {most} times in a minute", wait / 1_000_000)
        faqs_limit, bytes_limit = row.max_faqs or self.quota.faqs, row.max_bytes or self.quota.bytes
        for added, count, limit, what in (
            (self._added_faqs, row.faq_count, faqs_limit, "FAQs; delete some"),
            (self._added_bytes, row.byte_count, bytes_limit, "bytes; delete FAQs for ever"),
        ):
            if added > 0 and limit is not None and count > limit:
                raise QuotaExceeded(f"The site may have {limit} {what} to make room")
