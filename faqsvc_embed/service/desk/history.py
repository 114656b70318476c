"""The history of a translation: its revisions, the differences between two, and publishing one again."""

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


def show(visit: Visit) -> Response:
    """GET …/history: the revisions, newest first, and the differences between two of them."""
    return _page(visit, visit.query("lang"))


def read(visit: Visit) -> Response:
    """GET …/history/{number}: a whole revision, as readers saw it or would see it."""
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    translation = faq.translation(visit.query("lang")) or faq.translations[0]
    number = number_of(visit.part("number"))
    if number is None:
        raise FAQNotFound("There is no such revision")
    revision = visit.storage.history.revision(visit.access, faq.slug, translation.lang, number)
    draft = Draft.of_publication(faq.slug, revision)
    preview = preview_of(draft, visit.storage.sites.get(visit.access.site).accent_color)
    return render(
        visit,
        "revision.html",
        faq=faq,
        lang=translation.lang,
        version=translation.version,
        newest=translation.newest,
        revision=revision,
        theme_file=preview.theme_file,
        html=preview.html.replace(Markup("<details "), Markup("<details open ")),  # it is read whole
        images=image_source(draft.record()),
    )


def _page(visit: Visit, lang: str, status: int = 200, *, note: str = "") -> Response:
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    translation = faq.translation(lang) or faq.translations[0]
    lang = translation.lang
    after = visit.query("after") or None
    try:
        found, next_ = visit.storage.history.revisions(
            visit.access, faq.slug, lang, limit=PAGE_SIZE, after=after
        )
    except InvalidCursor:
        found, next_ = visit.storage.history.revisions(visit.access, faq.slug, lang, limit=PAGE_SIZE)
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
        now = visit.storage.overview.faq(visit.access, visit.slug).translation(lang)
        author = (conflict.current and conflict.current.author) or "somebody"
        happened = what_happened(before, now, author) if now else "it was deleted"
        note = f"Nothing was done, because {happened} since you opened the page."
        return _page(visit, lang, 409, note=note)
    return redirect(visit, f"/faqs/{quote(visit.slug, safe='')}?lang={lang}&done=published")


def _compare(visit: Visit, lang: str, old: int, new: int) -> list[Change] | None:
    """Return the differences between two revisions, or None if one does not exist."""
    try:
        drafts = [
            Draft.of_publication(
                visit.slug, visit.storage.history.revision(visit.access, visit.slug, lang, number)
            )
            for number in (old, new)
        ]
    except FAQNotFound:
        return None
    return changes(*drafts)
