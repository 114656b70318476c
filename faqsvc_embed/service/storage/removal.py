"""Unpublishes FAQs, moves them to the bin, restores them, and purges them for ever.

Each method is one transaction (`edit.py`). In the bin, texts and history stay for 30 days, for `restore`.
"""

import time
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, delete, insert, select, update

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.service.storage import logs
from faqsvc_embed.service.storage.edit import Edit
from faqsvc_embed.service.storage.errors import Gone, NothingToRestore, NotYourSite, RevisionConflict
from faqsvc_embed.service.storage.reading import HAS_REVISIONS
from faqsvc_embed.service.storage.schema import (
    api_keys,
    faqs,
    idempotency_keys,
    people,
    sessions,
    sign_in_links,
    sites,
    translations,
    wall_clock,
)
from faqsvc_embed.service.storage.sites import find_site
from faqsvc_embed.service.storage.values import UNCONDITIONAL, Access, Preconditions, Revision, check_owner
from faqsvc_embed.service.storage.writer import Writer

BIN_LIFETIME: Final = timedelta(days=30)
"""How long an FAQ in the bin can be restored."""
PORTION: Final = 20
"""FAQs that one call removes from the bin, so that others can write to an SQLite file in between."""
PAUSE: Final = 0.03
"""Seconds of pause after each FAQ of a deleted site, so that others can write to an SQLite file."""
STEADY: Final = timedelta(days=1)
"""How long the wall clock must have run without a jump. A longer step is a jump."""


class Removal:
    """Removes the FAQs in a database, and brings them back. The methods raise what those of `Writer` do."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def unpublish(self, access: Access, slug: str, lang: Lang | None, preconditions: Preconditions) -> None:
        """Unpublish an FAQ, or one translation. Its history stays."""
        with self._writer.editing(access, slug) as edit:
            languages = _checked_languages(edit, lang, preconditions)
            if edit.unpublish(languages):
                edit.record_change("unpublish", lang)

    def bin(self, access: Access, slug: str, lang: Lang | None, preconditions: Preconditions) -> None:
        """Move an FAQ, or one translation, to the bin. Its text and its history stay for 30 days."""
        with self._writer.editing(access, slug) as edit:
            languages = _checked_languages(edit, lang, preconditions)
            edit.unpublish(languages)
            edit.update_translations(languages, binned_at=edit.now)
            edit.record_change("purge", lang, subject="bin")

    def purge(self, access: Access, slug: str, lang: Lang | None, preconditions: Preconditions) -> None:
        """Delete all texts of an FAQ, or of one translation, also if it is in the bin. This is final.

        Nobody can write it again until an admin allows it (`unblock`).
        """
        with self._writer.editing(access, slug) as edit:
            edit.delete_texts(_checked_languages(edit, lang, preconditions, binned=True))
            edit.record_change("purge", lang)

    def restore(self, access: Access, slug: str, preconditions: Preconditions = UNCONDITIONAL) -> None:
        """Restore an FAQ from the bin, or publish unpublished translations, whichever were removed last.

        Translations that were public when they were moved to the bin are published again. If translations
        were removed one after the other, the last ones are restored. A form with `versions`
        restores only unpublished ones, because it has not shown those in the bin. Raises NothingToRestore
        if no translation is in the bin or unpublished.
        """
        with self._writer.editing(access, slug) as edit:
            _checked_languages(edit, None, preconditions, binned=True)
            removed = dict[datetime, list[Revision]]()
            for one in edit.translations.values():
                # A form has shown the translations in the bin, or the others.
                other_form = preconditions.versions if one.binned_at else preconditions.binned_at
                if other_form is None and (at := one.binned_at or one.withdrawn_at):
                    removed.setdefault(at, []).append(one)
            last = max(removed, default=None)
            if preconditions.binned_at not in (None, last):
                raise RevisionConflict("The FAQ was restored or deleted again by somebody else")
            if last is None:
                raise NothingToRestore(f"The FAQ {quoted(slug)} has nothing to restore")
            edit.update_translations([one.lang for one in removed[last]], binned_at=None)
            for one in removed[last]:
                if one.withdrawn_at == last and one.withdrawn is not None:
                    edit.publish(one.lang, one.withdrawn)
            edit.record_change("restore", None, subject="bin" if removed[last][0].binned_at else None)

    def unblock(self, slug: str, access: Access = logs.OPERATOR) -> None:
        """Allow a site to write an FAQ, or translations of one, again after purging it.

        The operator may do it for any site. Raises FAQNotFound if nothing with this slug was purged.
        """
        with self._writer.editing(access, slug) as edit:
            faq = edit.lock()
            if access is not logs.OPERATOR:
                check_owner(faq, access, slug)
            mine = (translations.c.slug == slug, ~HAS_REVISIONS)
            count = edit.connection.execute(delete(translations).where(*mine)).rowcount
            if faq is None or not (count or faq.sealed):
                raise FAQNotFound(f"No FAQ with the slug {quoted(slug)} was deleted for ever")
            edit.connection.execute(update(faqs).where(faqs.c.slug == slug).values(sealed=False))
            what = {"site": faq.site, "slug": slug, "subject": "slug"}
            logs.log(edit.connection, access, "restore", edit.now, **what)

    def empty_bin(self) -> int:
        """Delete up to 20 FAQs that have been in the bin for 30 days, as `purge` does; return their number.

        Nothing is deleted before the wall clock has run for a day without a jump: what a jump makes overdue
        must not be deleted at once.
        """
        count, now = 0, self._writer.clock()
        end = now - BIN_LIFETIME
        query = select(translations.c.slug, faqs.c.site).join(faqs, faqs.c.slug == translations.c.slug)
        overdue = query.where(translations.c.binned_at < end, HAS_REVISIONS).distinct().limit(PORTION)
        with self._writer.database.writing() as connection:
            found = connection.execute(overdue).all() if _is_steady(connection, now) else []
        for slug, site in found:
            with self._writer.editing(Access(None, site), slug) as edit:
                edit.lock()
                every = edit.translations.values()
                languages = [one.lang for one in every if one.binned_at and one.binned_at < end]
                if languages:  # otherwise somebody has restored them
                    edit.delete_texts(languages)
                    edit.record_change("purge", None)
                    count += 1
        return count

    def delete_site(self, site: str) -> int:
        """Delete a site with its FAQs, their history, its keys and its people; return how many FAQs it had.

        Published FAQs become 410, and no other site can use their slugs. If this is interrupted, another call
        continues. The keys are revoked first. Raises UnknownSite if there is no such site.
        """
        database, now = self._writer.database, self._writer.clock()
        mine = select(people.c.id).where(people.c.site == site)
        with database.writing() as connection:
            find_site(connection, site)
            valid = (api_keys.c.site == site, api_keys.c.revoked_at.is_(None))
            connection.execute(update(api_keys).where(*valid).values(revoked_at=now))
            for table in (sessions, sign_in_links):
                connection.execute(delete(table).where(table.c.person.in_(mine)))
        slugs = select(faqs.c.slug).where(faqs.c.site == site, faqs.c.state != "purged")
        count = 0
        while True:  # a request that began before its key was revoked may still write an FAQ
            with database.writing() as connection:
                # Waits for the transactions that write an FAQ of the site, and lets none begin.
                connection.execute(select(sites.c.id).where(sites.c.id == site).with_for_update())
                found = connection.scalars(slugs).all()
                if not found:
                    connection.execute(update(faqs).where(faqs.c.site == site).values(site=None))
                    for table in (idempotency_keys, api_keys, people):
                        connection.execute(delete(table).where(table.c.site == site))
                    connection.execute(delete(sites).where(sites.c.id == site))
                    logs.log(connection, logs.OPERATOR, "site-remove", now, site=site, subject=site)
                    return count
            for slug in found:
                with suppress(Gone, NotYourSite):  # the bin was emptied, or another call deletes the site
                    self.purge(Access(None, site), slug, None, UNCONDITIONAL)
                    count += 1
                time.sleep(PAUSE)


def _checked_languages(
    edit: Edit, lang: Lang | None, preconditions: Preconditions, *, binned: bool = False
) -> list[Lang]:
    """Return the languages of the FAQ, or `lang`, after the checks of every removal.

    With `binned`, the FAQ may be in the bin.
    """
    faq = edit.present(binned=binned)
    languages = edit.languages(lang, binned=binned)
    # Read only to compare its entity tag, because the text in the default language may have been purged.
    newest = edit.newest(lang or faq.lang, binned=binned) if preconditions.if_match is not None else None
    edit.check(preconditions, lang, newest)
    return languages


def _is_steady(connection: Connection, now: datetime) -> bool:
    """Record the time, and return whether the clock has run for a day without a jump.

    A service that did not run for a day cannot tell that from a jump, so it waits for a day as well.
    """
    row = connection.execute(select(wall_clock).with_for_update()).first()
    has_jumped = row is None or not timedelta(0) <= now - row.seen <= STEADY
    since = now if row is None or has_jumped else row.since
    connection.execute(delete(wall_clock))
    connection.execute(insert(wall_clock), {"since": since, "seen": now})
    return bool(now - since >= STEADY)
