"""The steps within a transaction that writing, unpublishing, deleting and restoring an FAQ share."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, literal, select, update

from faqsvc_embed.api.content import revision_digest
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import logs, sites
from faqsvc_embed.service.storage.revisions import NEWEST, of_translation, select_revisions
from faqsvc_embed.service.storage.schema import Timestamp, faqs, revisions, translations
from faqsvc_embed.service.storage.sites import Added
from faqsvc_embed.service.storage.values import (
    UNPUBLISHED,
    Access,
    Gone,
    Preconditions,
    Quota,
    Revision,
    RevisionConflict,
    Written,
    check_owner,
    search_text,
)


class Edit:
    """A transaction of a key, a person or the operator, which changes the FAQ `slug`.

    All transactions take their locks in this order, so they cannot deadlock: an Idempotency-Key, the FAQ,
    then in `finish` the site with its counters, and the end of the change log, which all sites share.
    """

    def __init__(
        self, connection: Connection, access: Access, slug: str, now: datetime, quota: Quota
    ) -> None:
        self.connection = connection
        self.access = access
        self.slug = slug
        self.now = now
        self._quota = quota
        self._faq: Any = None
        self._added = Added()
        self._events = list[tuple[str, str, int | None]]()
        self._entries = list[tuple[logs.Action, dict[str, Any]]]()

    def finish(self) -> None:
        """Write what concerns more than the FAQ: the audit log, the counters of the site, and the events.

        Raises:
            QuotaExceeded: the site has no room for the change.
            TooManyWrites: the site wrote too often in the last minute.
        """
        if not (self._events or self._entries or self._added != Added()):
            return
        for action, what in self._entries:
            logs.log(self.connection, self.access, action, self.now, **what)
        sites.count(self.connection, self.access, self._quota, self._added, self.now)
        logs.append(self.connection, self._events, self.now)

    def locked(self) -> Any:
        """Return the row of the FAQ, locked; None if there is none."""
        self._faq = self.connection.execute(
            select(faqs).where(faqs.c.slug == self.slug).with_for_update()
        ).first()
        return self._faq

    def owned(self) -> Any:
        """Return the row of an FAQ of the site, which may be in the bin, locked.

        Raises:
            FAQNotFound: the site has none with this slug.
            NotYourSite: another site has, or had, this slug.
        """
        return check_owner(self.locked(), self.access, self.slug)

    def present(self, *, binned: bool = False) -> Any:
        """Return the row of an FAQ of the site that is not deleted, locked.

        Raises:
            FAQNotFound, NotYourSite: as `owned` does.
            Gone: it was purged or, without `binned`, it is in the bin.
        """
        faq = self.owned() if self._faq is None else check_owner(self._faq, self.access, self.slug)
        name = quoted(self.slug)
        if faq.state == "binned" and not binned:
            raise Gone(f"The FAQ {name} is in the bin: restore it, or choose another slug")
        if faq.sealed:
            raise Gone(
                f"The FAQ {name} was deleted for ever, and its slug cannot be used again before an"
                f" admin allows it at the desk, or by `faqsvc restore {self.slug} --lift`"
            )
        if faq.state == "purged":
            raise Gone(f"The FAQ {name} was deleted")
        return faq

    def newest(self, lang: str, *, binned: bool = False) -> Revision | None:
        """Return the newest revision of a translation.

        Raises:
            Gone: the translation was purged or, without `binned`, it is in the bin.
        """
        row = self.connection.execute(select_revisions(of_translation(self.slug, lang), NEWEST)).first()
        if row is None:
            known = select(translations.c.lang).where(*self._of(lang))
            if self.connection.execute(known).first() is None:
                return None
        if row is None or (row.binned_at is not None and not binned):
            raise Gone(f"The FAQ {quoted(self.slug)} in {lang} was deleted: restore it to write it again")
        return Revision(*row)

    def languages(self, lang: Lang | None, *, binned: bool = False) -> list[Lang]:
        """Return the languages of an FAQ, or only `lang`; those in the bin only with `binned`.

        Raises:
            FAQNotFound: the FAQ lacks this language.
        """
        query = select(translations.c.lang).where(translations.c.slug == self.slug)
        query = query if binned else query.where(translations.c.binned_at.is_(None))
        languages = list(self.connection.scalars(query))
        if lang is not None and lang not in languages:
            raise FAQNotFound(f"The FAQ {quoted(self.slug)} has no translation in {lang}")
        return languages if lang is None else [lang]

    def check(self, preconditions: Preconditions, lang: Lang | None, newest: Revision | None) -> None:
        """Check a write to a translation, or without a language to all translations of an FAQ.

        `newest` is the newest revision, even if it is a draft: a writer who has not seen it would undo it.

        Raises:
            RevisionConflict: a precondition failed.
        """
        if preconditions.is_create_only and newest is not None:
            raise RevisionConflict("The FAQ already exists in this language", newest)
        tags = preconditions.if_match
        if tags is not None and (newest is None or not ("*" in tags or newest.tag in tags)):
            what = "unpublished" if newest is not None and newest.is_unpublished else "changed"
            raise RevisionConflict(f"The FAQ was {what} by somebody else", newest)
        if preconditions.versions is not None:
            self._check_versions(preconditions.versions, lang)

    def _check_versions(self, versions: Mapping[str, str], lang: Lang | None) -> None:
        """Check that translations are in the state that a form has shown."""
        here = (translations.c.slug == self.slug, translations.c.binned_at.is_(None), NEWEST)
        rows = self.connection.execute(select_revisions(*here, has_record=False))
        now: dict[str, str] = {row.lang: Revision(*row).version for row in rows}
        for one in {*now, *versions} if lang is None else {lang}:
            if now.get(one) != versions.get(one):
                raise RevisionConflict("The FAQ was changed by somebody else", self.newest(one))

    def append(self, newest: Revision | None, lang: Lang, row: dict[str, Any], *, is_draft: bool) -> Written:
        """Append a revision to a translation, new without `newest`, and publish it unless it is a draft."""
        last = self.connection.scalar(
            select(func.max(revisions.c.number)).where(of_translation(self.slug, lang))
        )
        number = (last or 0) + 1  # a discarded draft keeps its number
        digest = revision_digest(row["website_url"], row["record"])
        values = {"newest": number, "search_text": search_text(FAQ.from_json(row["record"]))}
        values["translated_from"] = number if lang == self._faq.lang else self._source()
        if not is_draft:
            values |= {"published": number, "withdrawn": None, "withdrawn_at": None}
        if newest is None:
            self.connection.execute(insert(translations).values(slug=self.slug, lang=lang, **values))
        else:
            self.connection.execute(update(translations).where(*self._of(lang)).values(values))
        author = {"key_id": self.access.key_id, "person_id": self.access.person_id, "created_at": self.now}
        row = row | {"slug": self.slug, "lang": lang, "number": number, "digest": digest, **author}
        self.connection.execute(insert(revisions), row | {"published_at": None if is_draft else self.now})
        self.count(size=len(row["record"].encode()))
        if not is_draft:
            self.record_event(lang, number)
        return self._written(lang, number, digest, is_draft=is_draft)

    def publish(self, newest: Revision) -> Written:
        """Publish the newest revision of a translation."""
        self.publish_again(newest.lang, newest.number)
        return self._written(newest.lang, newest.number, newest.digest, is_draft=False)

    def publish_again(self, lang: Lang, number: int) -> None:
        """Let readers see a revision."""
        self.update_translations([lang], published=number, withdrawn=None, withdrawn_at=None)
        first = func.coalesce(revisions.c.published_at, literal(self.now, Timestamp()))
        published = update(revisions).where(of_translation(self.slug, lang), revisions.c.number == number)
        self.connection.execute(published.values(published_at=first))
        self.record_event(lang, number)

    def _written(self, lang: Lang, number: int, digest: str, *, is_draft: bool) -> Written:
        """Settle the FAQ after a revision was written or published, and record that."""
        self.log("draft" if is_draft else "publish", lang, number)
        is_unpublished = lang in self.settle()
        tag = f"{digest}{UNPUBLISHED}" if is_unpublished else digest
        return Written(self.slug, lang, number, "draft" if is_draft else "published", tag, False)

    def _source(self) -> Any:
        """Return the newest revision of the default language, as a part of a statement."""
        default = translations.alias()
        mine = (default.c.slug == self.slug, default.c.lang == self._faq.lang)
        return select(default.c.newest).where(*mine).scalar_subquery()

    def follow_source(self, lang: str, number: int, copy: int) -> None:
        """Assign the translations of a revision to its copy, which has the same text."""
        if lang == self._faq.lang:
            made_from = (translations.c.slug == self.slug, translations.c.translated_from == number)
            self.connection.execute(update(translations).where(*made_from).values(translated_from=copy))

    def discard(self, lang: Lang) -> bool:
        """Discard the revisions after the last published one; return whether there is a published one."""
        translation = self.connection.execute(select(translations).where(*self._of(lang))).one()
        number = translation.published or translation.withdrawn
        if number is None:
            return False
        mine = of_translation(self.slug, lang)
        record = self.connection.scalar(select(revisions.c.record).where(mine, revisions.c.number == number))
        discarded = update(revisions).where(mine, revisions.c.number > number)
        self.connection.execute(discarded.values(discarded_at=self.now))
        text = search_text(FAQ.from_json(record or "{}"))
        self.update_translations([lang], newest=number, search_text=text)
        return True

    def unpublish(self, languages: Sequence[Lang]) -> bool:
        """Unpublish translations; return whether one was published."""
        of_faq = (translations.c.slug == self.slug, translations.c.lang.in_(languages))
        mine = (*of_faq, translations.c.published.is_not(None))
        query = select(translations.c.lang).where(*mine).order_by(translations.c.lang)
        published = self.connection.scalars(query).all()
        for lang in published:
            self.record_event(lang, None)
        values = {"published": None, "withdrawn": translations.c.published, "withdrawn_at": self.now}
        self.connection.execute(update(translations).where(*mine).values(values))
        return bool(published)

    def update_translations(self, languages: Sequence[Lang], **values: Any) -> None:
        """Change columns of translations."""
        mine = (translations.c.slug == self.slug, translations.c.lang.in_(languages))
        self.connection.execute(update(translations).where(*mine).values(values))

    def settle(self) -> list[Lang]:
        """Update the state of the FAQ, and its default language if that translation was deleted.

        Returns the languages whose newest revision is marked as unpublished.
        """
        columns = [translations.c[name] for name in ("lang", "published", "withdrawn", "binned_at")]
        rows = self.connection.execute(select(*columns).where(translations.c.slug == self.slug)).all()
        rows = sorted(rows, key=lambda row: LANGUAGES.index(row.lang))
        kept = [row for row in rows if row.binned_at is None]
        published = [row for row in kept if row.published is not None]
        values: dict[str, Any] = {"updated_at": self.now}
        if not kept:
            values["state"] = "binned"
        else:
            was_public = any(row.withdrawn is not None for row in rows)
            values["state"] = "published" if published else "unpublished" if was_public else "draft"
            if self._faq.lang not in {row.lang for row in kept}:
                values["lang"] = (published or kept)[0].lang
        self.connection.execute(update(faqs).where(faqs.c.slug == self.slug).values(values))
        is_unpublished = values["state"] == "unpublished"
        return [
            row.lang
            for row in kept
            if is_unpublished or (row.published is None and row.withdrawn is not None)
        ]

    def count(self, *, faqs: int = 0, size: int = 0) -> None:
        """Count FAQs and bytes of the site."""
        self._added = Added(self._added.faqs + faqs, self._added.bytes + size)

    def record_event(self, lang: str, revision: int | None) -> None:
        """Add an event to the change log; without a revision, the translation was unpublished."""
        self._events.append((self.slug, lang, revision))

    def log(self, action: logs.Action, lang: str | None, revision: int | None = None, **what: Any) -> None:
        """Add an entry to the audit log."""
        self._entries.append((action, {"slug": self.slug, "lang": lang, "revision": revision, **what}))

    def _of(self, lang: str) -> tuple[Any, ...]:
        """Return the conditions of a translation."""
        return translations.c.slug == self.slug, translations.c.lang == lang
