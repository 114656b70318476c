"""Writes the FAQs of files, unless this would undo somebody's work by accident."""

from msgspec import structs
from sqlalchemy import select

from faqsvc_embed.api.content import faq_digest
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import quoted
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage.api_keys import own_keys
from faqsvc_embed.service.storage.edit import Edit
from faqsvc_embed.service.storage.errors import Incomplete, OldFile, Unpublished
from faqsvc_embed.service.storage.revisions import of_translation
from faqsvc_embed.service.storage.schema import revisions
from faqsvc_embed.service.storage.values import FileState, Revision, Write


def write_file(edit: Edit, lang: Lang, newest: Revision | None, request: Write) -> Revision:
    """Write the FAQ of a file, whose newest revision is `newest`; return the revision that has its content.

    Raises:
        Incomplete: the FAQ is new, and the file lacks the website.
        Unpublished: this would publish an FAQ that was unpublished.
        OldFile: this would undo a change.
    """
    state = request.file or FileState(None)
    base = newest
    if newest is not None and newest.state == "draft" and not request.is_draft:
        base = _public(edit, newest.lang) or newest
    faq = _completed(edit, base, request.faq)
    digest = "" if newest is None else faq_digest(faq, newest.slug, newest.lang)
    done = ("published", "draft") if request.is_draft else ("published",)
    if base is not None and base.digest == digest and base.state in done:
        return base
    is_unpublished = edit.faq.state == "unpublished" or (newest and newest.translation_state == "unpublished")
    if is_unpublished and not request.is_draft and not state.republish:
        raise Unpublished(f"{quoted(edit.slug)} was unpublished ({edit.faq.updated_at:%Y-%m-%d %H:%M} UTC)")
    if newest is not None and not state.overwrite and _is_old(edit, state, newest, digest):
        raise OldFile("The FAQ was changed after the file was written", newest)
    written = edit.write(lang, faq, is_draft=request.is_draft)
    is_part = state.revision and request.preconditions.if_match is not None and not state.overwrite
    if is_part and newest is not None and newest.translated_from is not None:
        edit.set_source(lang, newest.translated_from)  # a part does not bring a translation up to date
    return written


def _is_old(edit: Edit, state: FileState, newest: Revision, digest: str) -> bool:
    """Return whether somebody has changed the FAQ after the file was written.

    A file that states a revision is old unless that is the newest one. A number above the newest one is from
    another service or language, or from a discarded draft. A file that states none is old if another program
    wrote the newest revision, or if it has the text of an older revision.
    """
    if digest == newest.digest:
        return False
    if state.revision is not None:
        return state.revision != newest.number
    own = edit.connection.scalars(own_keys(edit.access.key_id)).all()
    if newest.author is not None and newest.key_id not in own:
        return True
    same = select(revisions.c.number).where(
        of_translation(newest.slug, newest.lang), revisions.c.digest == digest
    )
    return edit.connection.execute(same).first() is not None


def _public(edit: Edit, lang: Lang) -> Revision | None:
    """Return the published revision of a translation."""
    found = edit.translations.get(lang)
    return None if found is None else edit.revision(lang, found.published)


def _completed(edit: Edit, base: Revision | None, faq: FAQ) -> FAQ:
    """Return an FAQ with what its file may leave out: the website, the title and the call to action."""
    url, name = faq.website_url, faq.website_name
    if base is not None:
        earlier = base.faq
        faq = structs.replace(faq, title=faq.title or earlier.title, cta=earlier.cta)
    elif not (url and name):
        base = _public(edit, edit.faq.lang) or edit.newest(edit.faq.lang)
    if base is not None:
        url, name = url or base.website_url, name or base.faq.website_name
    if missing := [wire for wire, value in (("websiteUrl", url), ("websiteName", name)) if not value]:
        raise Incomplete(missing)
    return structs.replace(faq, website_url=url, website_name=name)
