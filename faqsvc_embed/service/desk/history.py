"""The history of a translation: its revisions, the differences between two, and publishing one again."""

from functools import partial
from typing import cast
from urllib.parse import quote

from markupsafe import Markup
from starlette.responses import Response

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.desk.differences import Change, changes
from faqsvc_embed.service.desk.draft import Draft
from faqsvc_embed.service.desk.editor_page import preview_of
from faqsvc_embed.service.desk.forms import number_of
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.versions import what_happened
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.pages.html import image_source
from faqsvc_embed.service.storage.values import InvalidCursor, Preconditions, RevisionConflict

PAGE_SIZE = 50


def read(visit: Visit) -> Response:
    """GET …/history/{number}: a whole revision, as readers saw it or would see it."""
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    translation = faq.translation(visit.query("lang")) or faq.translations[0]
    if (number := number_of(visit.part("number"))) is None:
        raise FAQNotFound("There is no such revision")
    revision = visit.revision(faq.slug, translation.lang, number)
    draft = Draft.of_revision(revision)
    preview = preview_of(visit, draft)
    return render(
        visit,
        "revision.html",
        faq=faq,
        lang=translation.lang,
        version=translation.version,
        newest=translation.newest,
        revision=revision,
        theme_file=preview.theme_file,
        html=preview.html.replace(Markup("<details "), Markup("<details open ")),  # no answer is hidden
        images=image_source(draft.record()),
    )


def show(visit: Visit, status: int = 200, *, lang: str = "", note: str = "") -> Response:
    """GET …/history: the revisions, newest first, and the differences between two of them."""
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    translation = faq.translation(lang or visit.query("lang")) or faq.translations[0]
    lang = translation.lang
    after = visit.query("after") or None
    read = partial(visit.storage.history.revisions, visit.access, faq.slug, lang, limit=PAGE_SIZE)
    try:
        found, next_ = read(after=after)
    except InvalidCursor:
        found, next_ = read()
    numbers = [revision.number for revision in found]
    new = number_of(visit.query("new")) or (numbers[0] if numbers else 0)
    seen = (revision.number for revision in found if revision.published_at and revision.number < new)
    old = number_of(visit.query("old")) or next(seen, new - 1)  # the revision that readers saw before
    return render(
        visit,
        "history.html",
        status,
        faq=faq,
        lang=lang,
        revisions=found,
        next=next_,
        after=after,
        numbers=sorted({old, new, *numbers}, reverse=True),
        old=old,
        new=new,
        version=translation.version,
        note=note,
        changes=_compare(visit, lang, old, new),
    )


def publish(visit: Visit) -> Response:
    """POST …/history: publish a draft, or an earlier revision again."""
    visit.require("publish")
    number = number_of(visit.form.get("number"))
    lang = visit.form.get("lang")
    if number is None or lang not in LANGUAGES:
        raise FAQNotFound(f"There is no revision {visit.form.get('number')[:20]!r}")
    before = visit.form.get("version")
    unchanged = Preconditions(versions={lang: before})
    try:
        visit.storage.writer.publish(visit.access, visit.slug, number, cast("Lang", lang), unchanged)
    except RevisionConflict as conflict:
        happened = what_happened(before, conflict.current) if conflict.current else "it was deleted"
        note = f"Nothing was done, because {happened} since you opened the page."
        return show(visit, 409, lang=lang, note=note)
    return redirect(visit, f"/faqs/{quote(visit.slug, safe='')}?lang={lang}&done=published")


def _compare(visit: Visit, lang: str, old: int, new: int) -> list[Change] | None:
    """Return the differences between two revisions, or None if one does not exist."""
    try:
        drafts = [Draft.of_revision(visit.revision(visit.slug, lang, number)) for number in (old, new)]
    except FAQNotFound:
        return None
    return changes(*drafts)
