"""Writes revisions of FAQs, and publishes them. Each method is one transaction (`edit.py`).

A file is not written if this would undo somebody's work by accident.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final, cast

from msgspec import structs
from sqlalchemy import ColumnElement, delete, select, update

from faqsvc_embed.api.content import faq_digest
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.files.detection import detect_language
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage.api_keys import own_keys
from faqsvc_embed.service.storage.database import Database, insert_new
from faqsvc_embed.service.storage.edit import Edit
from faqsvc_embed.service.storage.errors import (
    Gone,
    IdempotencyKeyReused,
    Incomplete,
    OldFile,
    RevisionConflict,
    Unpublished,
)
from faqsvc_embed.service.storage.reading import of_translation, select_revisions
from faqsvc_embed.service.storage.schema import faqs, idempotency_keys, revisions
from faqsvc_embed.service.storage.slugs import check_new, numbered, proposed_slug
from faqsvc_embed.service.storage.values import (
    Access,
    FileState,
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
        with self.editing(access, "") as edit:
            return _is_first(edit, IdempotencyKey(key, ""))

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
            if key and (earlier := _claim(edit, key)):
                return earlier, False
            is_new = _open(edit, request, request.lang or detected or DEFAULT_LANGUAGE)
            lang = request.lang or _unstated_language(edit, detected, request)
            newest = edit.newest(lang)
            _check(edit, request, lang, newest, is_new=is_new)
            if request.file is not None:
                written = _write_file(edit, lang, newest, request, request.file)
            else:
                faq = request.faq
                if newest is not None and faq.cta is None:
                    faq = structs.replace(faq, cta=newest.faq.cta)
                written = edit.write(lang, faq, is_draft=request.is_draft)
            if request.translated_from is not None:
                edit.set_source(lang, request.translated_from)
            if key:
                values = {"slug": written.slug, "lang": written.lang, "number": written.number}
                edit.connection.execute(update(idempotency_keys).where(*_mine(edit, key)).values(values))
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
            edit.record_change("discard", lang, newest.number)
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
    if (slug := request.slug) is None:
        candidates = numbered(proposed_slug(request.faq.title, request.faq.website_name))
        edit.slug = next(one for one in candidates if insert_new(edit.connection, faqs, row | {"slug": one}))
        edit.lock()
        return True
    faq = edit.lock()
    is_new = faq is None and insert_new(edit.connection, faqs, row | {"slug": slug})
    faq = faq or edit.lock()
    # A site can write a purged slug of its own again; another site never gets the slug.
    if faq and (faq.site, faq.state, faq.sealed) == (edit.access.site, "purged", False):
        edit.connection.execute(update(faqs).where(faqs.c.slug == slug).values(row))
        is_new = bool(edit.lock())
    if not is_new:
        edit.present()
        return False
    check_new(slug)
    if request.preconditions.if_match is not None:
        raise RevisionConflict(f"No FAQ has the slug {quoted(slug)}")
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


def _write_file(edit: Edit, lang: Lang, newest: Revision | None, request: Write, file: FileState) -> Revision:
    """Write the FAQ of a file, unless that would undo a change; return the revision that has its content.

    Raises:
        Incomplete: the FAQ is new, and the file lacks the website.
        Unpublished: this would publish an FAQ that was unpublished.
        OldFile: this would undo a change.
    """
    base = newest
    if newest is not None and newest.state == "draft" and not request.is_draft:
        base = edit.revision(lang, newest.published) or newest
    faq = _completed(edit, base, request.faq)
    digest = "" if newest is None else faq_digest(faq, newest.slug, newest.lang)
    done = ("published", "draft") if request.is_draft else ("published",)
    if base is not None and base.digest == digest and base.state in done:
        return base
    is_unpublished = edit.faq.state == "unpublished" or (newest and newest.translation_state == "unpublished")
    if is_unpublished and not request.is_draft and not file.republish:
        raise Unpublished(f"{quoted(edit.slug)} was unpublished ({edit.faq.updated_at:%Y-%m-%d %H:%M} UTC)")
    if newest is not None and not file.overwrite and _is_old(edit, file, newest, digest):
        raise OldFile("The FAQ was changed after the file was written", newest)
    written = edit.write(lang, faq, is_draft=request.is_draft)
    is_part = file.revision and request.preconditions.if_match is not None and not file.overwrite
    if is_part and newest is not None and newest.translated_from is not None:
        edit.set_source(lang, newest.translated_from)  # a part does not bring a translation up to date
    return written


def _is_old(edit: Edit, file: FileState, newest: Revision, digest: str) -> bool:
    """Return whether somebody has changed the FAQ after the file was written.

    A file that states a revision is old unless that is the newest one. A number above the newest one is from
    another service or language, or from a discarded draft. A file that states none is old if another program
    wrote the newest revision, or if it has the text of an older revision.
    """
    if digest == newest.digest:
        return False
    if file.revision is not None:
        return file.revision != newest.number
    own = edit.connection.scalars(own_keys(edit.access.key_id)).all()
    if newest.author is not None and newest.key_id not in own:
        return True
    same = (of_translation(newest.slug, newest.lang), revisions.c.digest == digest)
    return edit.connection.execute(select(revisions.c.number).where(*same)).first() is not None


def _completed(edit: Edit, base: Revision | None, faq: FAQ) -> FAQ:
    """Return an FAQ with what its file may leave out: the website, the title and the call to action."""
    url, name = faq.website_url, faq.website_name
    if base is not None:
        earlier = base.faq
        faq = structs.replace(faq, title=faq.title or earlier.title, cta=earlier.cta)
    elif not (url and name):
        default = edit.translations.get(edit.faq.lang)
        public = default and edit.revision(default.lang, default.published)
        base = public or edit.newest(edit.faq.lang)
    if base is not None:
        url, name = url or base.website_url, name or base.faq.website_name
    if missing := [wire for wire, value in (("websiteUrl", url), ("websiteName", name)) if not value]:
        raise Incomplete(missing)
    return structs.replace(faq, website_url=url, website_name=name)


def _claim(edit: Edit, key: IdempotencyKey) -> Revision | None:
    """Return the revision that the site wrote with this key; None if this is the first use of the key.

    If two requests arrive at once, one waits at the INSERT for the transaction of the other.

    Raises:
        IdempotencyKeyReused: the key was used with another body.
        Gone: the FAQ was purged.
    """
    if _is_first(edit, key):
        return None
    earlier = edit.connection.execute(select(idempotency_keys).where(*_mine(edit, key))).one()
    slug, lang = earlier.slug, earlier.lang
    if earlier.body_digest != key.body_digest:
        reason = f"Idempotency-Key {quoted(key.key)} was used with a different body"
        raise IdempotencyKeyReused(reason, slug, lang)
    written = (of_translation(slug, lang), revisions.c.number == earlier.number)
    # After the FAQ was deleted for ever, a later revision may have the same number.
    is_this = revisions.c.created_at <= earlier.created_at
    row = edit.connection.execute(select_revisions(*written, is_this, has_record=False)).first()
    if row is None or row.binned_at is not None:
        raise Gone(f"The same request made {quoted(slug)}, which was deleted: restore it, or state a slug")
    return Revision(*row)


def _is_first(edit: Edit, key: IdempotencyKey) -> bool:
    """Remember a key, and return whether it was not used before."""
    old = idempotency_keys.c.created_at < edit.now - KEY_WINDOW
    edit.connection.execute(delete(idempotency_keys).where(old))
    row = {"site": edit.access.site, "key": key.key, "body_digest": key.body_digest, "created_at": edit.now}
    return insert_new(edit.connection, idempotency_keys, row | {"slug": "", "lang": "", "number": 0})


def _mine(edit: Edit, key: IdempotencyKey) -> tuple[ColumnElement[bool], ...]:
    """Match the row of a key of the site."""
    return idempotency_keys.c.site == edit.access.site, idempotency_keys.c.key == key.key
