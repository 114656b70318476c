"""Writes revisions of FAQs, and publishes them. Each method is one transaction (`edit.py`)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final, cast

from msgspec import structs
from sqlalchemy import Connection, delete, select, update

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.files.detection import detect_language
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage.database import Database, insert_new
from faqsvc_embed.service.storage.edit import Edit
from faqsvc_embed.service.storage.errors import Gone, IdempotencyKeyReused, RevisionConflict
from faqsvc_embed.service.storage.file_state import write_file
from faqsvc_embed.service.storage.revisions import of_translation, select_revisions
from faqsvc_embed.service.storage.schema import faqs, idempotency_keys, revisions
from faqsvc_embed.service.storage.slugs import check_new, numbered, proposed_slug
from faqsvc_embed.service.storage.values import (
    Access,
    IdempotencyKey,
    Preconditions,
    Quota,
    Revision,
    Write,
    search_text,
)

DEFAULT_LANGUAGE: Final = "en"
ENOUGH_ITEMS: Final = 3
"""Minimum number of items for which a detected language in Latin script is certain."""
KEY_WINDOW: Final = timedelta(hours=24)
"""How long an Idempotency-Key is remembered."""
_LATIN_SCRIPT: Final = frozenset({"en", "es", "fr", "de"})


class Writer:
    """Writes to the FAQs in a database. `quota` limits each site that has no limits of its own.

    All methods that get an FAQ raise:
        FAQNotFound: the site has no such FAQ, translation or revision.
        NotYourSite: it belongs to another site.
        Gone: the FAQ or the translation is in the bin, or was purged.
        RevisionConflict: a precondition failed.
        QuotaExceeded: the site has no room for it.
        TooManyWrites: the site wrote too often in the last minute.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self.database = database
        self.clock = clock
        self.quota: Quota = Quota()

    @contextmanager
    def editing(self, access: Access, slug: str) -> Iterator[Edit]:
        """Begin a transaction, which is committed when the block ends, and rolled back if it raises."""
        with self.database.writing() as connection:
            edit = Edit(connection, access, slug, self.clock(), self.quota)
            yield edit
            edit.finish()

    def is_first(self, access: Access, key: str) -> bool:
        """Return whether the form with this key, which makes a person or an API key, was not sent before."""
        with self.database.writing() as connection:
            return _is_first(connection, access.site, IdempotencyKey(key, ""), self.clock())

    def write(self, access: Access, request: Write) -> tuple[Revision, bool]:
        """Write a revision and, unless it is a draft, publish it. The same content makes no new revision.

        Returns the revision, and whether the FAQ is new.

        Raises:
            ReservedSlug: a new FAQ cannot have this slug.
            Unpublished, OldFile: it is a file that would undo what somebody did.
            Incomplete: it is a file of a new FAQ without the website.
            IdempotencyKeyReused: the Idempotency-Key was used with another body in the last 24 hours.
        """
        key = request.idempotency_key
        detected = None if request.lang else detect_language(request.faq.items)
        with self.editing(access, request.slug or "") as edit:
            if key and (earlier := _claim(edit.connection, access.site, key, edit.now)):
                return earlier, False
            is_new = _open(edit, request, request.lang or detected or DEFAULT_LANGUAGE)
            lang = request.lang or _unstated_language(edit, detected, request)
            newest = edit.newest(lang)
            _check(edit, request, lang, newest, is_new=is_new)
            if request.file is not None:
                written = write_file(edit, lang, newest, request)
            else:
                faq = request.faq
                if newest is not None and faq.cta is None:
                    faq = structs.replace(faq, cta=newest.faq.cta)
                written = edit.write(lang, faq, is_draft=request.is_draft)
            if request.translated_from is not None:
                edit.set_source(lang, request.translated_from)
            if key:
                _record(edit.connection, access.site, key, written)
        return written, is_new

    def change(
        self,
        access: Access,
        key: tuple[str, Lang | None],
        change: Callable[[FAQ], FAQ],
        preconditions: Preconditions,
        *,
        is_draft: bool,
    ) -> Revision:
        """Write a revision with what `change` makes of the newest one.

        `key` is a slug with a language, or None for the default language. A translation keeps its source,
        because a change of a part does not bring it up to date.
        """
        slug, lang = key
        with self.editing(access, slug) as edit:
            newest = _existing(edit, lang, preconditions)
            written = edit.write(newest.lang, change(newest.content), is_draft=is_draft)
            edit.set_source(newest.lang, newest.translated_from)
            return written

    def publish(
        self, access: Access, slug: str, number: int, lang: Lang | None, preconditions: Preconditions
    ) -> Revision:
        """Publish a draft, or the content of an earlier revision, which then gets a new number."""
        with self.editing(access, slug) as edit:
            newest = _existing(edit, lang, preconditions)
            lang = newest.lang
            earlier = edit.revision(lang, number)
            if earlier is None:
                raise FAQNotFound(f"The FAQ {quoted(slug)} has no revision {number} in {lang}")
            # A draft that is not the newest gets a new number, too: editors start from the newest revision.
            written = edit.write(lang, earlier.content, is_draft=False, record=earlier.record)
            if lang != edit.faq.lang:
                edit.set_source(lang, earlier.translated_from)
            else:  # translations of the earlier revision are up to date with its copy
                made_from = (revisions.c.slug == slug, revisions.c.translated_from == number)
                copied = update(revisions).where(*made_from).values(translated_from=written.number)
                edit.connection.execute(copied)
            return written

    def discard(self, access: Access, slug: str, lang: Lang, preconditions: Preconditions) -> bool:
        """Discard the revisions after the one that readers see or saw last; return False if there is none.

        The discarded revisions stay in the history, marked as such.
        """
        with self.editing(access, slug) as edit:
            newest = _existing(edit, lang, preconditions)
            if newest.state != "draft":
                raise FAQNotFound(f"The FAQ {quoted(slug)} has no draft in {lang}")
            public = edit.revision(lang, newest.published or newest.withdrawn)
            if public is None:
                return False
            later = (of_translation(slug, lang), revisions.c.number > public.number)
            edit.connection.execute(update(revisions).where(*later).values(discarded_at=edit.now))
            edit.update_translations([lang], newest=public.number, search_text=search_text(public.faq))
            edit.log_change("discard", lang, newest.number)
            return True

    def confirm_translation(
        self, access: Access, slug: str, lang: Lang, source: int, preconditions: Preconditions
    ) -> None:
        """Record that a translation is up to date with a revision of the default language."""
        with self.editing(access, slug) as edit:
            _existing(edit, lang, preconditions)
            edit.set_source(lang, source)


def _existing(edit: Edit, lang: Lang | None, preconditions: Preconditions) -> Revision:
    """Check the preconditions, and return the newest revision in `lang`, or in the default language."""
    faq = edit.present()
    lang = lang or cast("Lang", faq.lang)
    newest = edit.newest(lang)
    if newest is None:
        raise FAQNotFound(f"The FAQ {quoted(edit.slug)} has no translation in {lang}")
    edit.check(preconditions, lang, newest)
    return newest


def _open(edit: Edit, request: Write, lang: Lang) -> bool:
    """Lock the FAQ of a request, or make and lock a new one; return whether it is new."""
    row = {"site": edit.access.site, "lang": lang, "state": "draft", "created_at": edit.now, "sealed": False}
    slug = request.slug
    if slug is None:
        candidates = numbered(proposed_slug(request.faq.title, request.faq.website_name))
        edit.slug = next(one for one in candidates if insert_new(edit.connection, faqs, row | {"slug": one}))
        edit.lock()
        return True
    faq = edit.lock()
    is_inserted = faq is None and insert_new(edit.connection, faqs, row | {"slug": slug})
    faq = faq or edit.lock()
    # A site can write a purged slug of its own again; another site never gets the slug.
    is_free = faq is not None and (faq.site, faq.state, faq.sealed) == (edit.access.site, "purged", False)
    if not (is_inserted or is_free):
        edit.present()
        return False
    check_new(slug)
    if request.preconditions.if_match is not None:
        raise RevisionConflict(f"No FAQ has the slug {quoted(slug)}")
    if is_free:
        edit.connection.execute(update(faqs).where(faqs.c.slug == slug).values(row))
        edit.lock()
    return True


def _check(edit: Edit, request: Write, lang: Lang, newest: Revision | None, *, is_new: bool) -> None:
    """Check the preconditions of a write; raise RevisionConflict."""
    conditions, slug = request.preconditions, quoted(edit.slug)
    if request.must_be_new and not is_new:
        raise RevisionConflict(f"The FAQ {slug} already exists", newest)
    may_create = conditions.if_match is None and (request.file is None or is_new)
    if request.lang is None and newest is None and not may_create:
        raise RevisionConflict(f"The FAQ {slug} has no translation in {lang}")
    edit.check(conditions, lang, newest)
    if conditions.is_create_only and edit.faq.state == "unpublished" and not request.is_draft:
        raise RevisionConflict(f"The FAQ {slug} was unpublished, and this would publish it again")


def _unstated_language(edit: Edit, detected: Lang | None, request: Write) -> Lang:
    """Return the detected language if it is certain or the FAQ has it; else the default language."""
    default: Lang = edit.faq.lang
    # Japanese in Chinese characters alone is detected as Chinese.
    if detected is None or (detected, default) == ("zh", "ja"):
        return default
    is_certain = detected not in _LATIN_SCRIPT or len(request.faq.items) >= ENOUGH_ITEMS
    if is_certain or detected in edit.translations:
        return detected
    return default


def _claim(connection: Connection, site: str, key: IdempotencyKey, now: datetime) -> Revision | None:
    """Return the revision that a site wrote with this key; None if this is the first use of the key.

    If two requests arrive at once, one waits at the INSERT for the transaction of the other.

    Raises:
        IdempotencyKeyReused: the key was used with another body.
        Gone: the FAQ was purged.
    """
    keys = idempotency_keys.c
    if _is_first(connection, site, key, now):
        return None
    mine = (keys.site == site, keys.key == key.key)
    earlier = connection.execute(select(idempotency_keys).where(*mine)).one()
    if earlier.body_digest != key.body_digest:
        raise IdempotencyKeyReused(
            f"Idempotency-Key {quoted(key.key)} was used with a different body", earlier.slug, earlier.lang
        )
    written = (of_translation(earlier.slug, earlier.lang), revisions.c.number == earlier.number)
    # After the FAQ was deleted for ever, a later revision may have the same number.
    is_this = revisions.c.created_at <= earlier.created_at
    row = connection.execute(select_revisions(*written, is_this, has_record=False)).first()
    if row is None or row.binned_at is not None:
        raise Gone(
            f"The same request made {quoted(earlier.slug)}, which was deleted: restore it, or state a slug"
        )
    return Revision(*row)


def _is_first(connection: Connection, site: str, key: IdempotencyKey, now: datetime) -> bool:
    """Remember a key, and return whether it was not used before."""
    connection.execute(delete(idempotency_keys).where(idempotency_keys.c.created_at < now - KEY_WINDOW))
    row = {"site": site, "key": key.key, "body_digest": key.body_digest, "created_at": now}
    return insert_new(connection, idempotency_keys, row | {"slug": "", "lang": "", "number": 0})


def _record(connection: Connection, site: str, key: IdempotencyKey, written: Revision) -> None:
    """Record the revision that was written with a key."""
    keys = idempotency_keys.c
    connection.execute(
        update(idempotency_keys)
        .where(keys.site == site, keys.key == key.key)
        .values(slug=written.slug, lang=written.lang, number=written.number)
    )
