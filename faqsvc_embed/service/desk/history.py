"""The history of a translation: its revisions, the differences between two, and publishing one again."""

from typing import cast
from urllib.parse import quote

from starlette.responses import Response

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.desk.differences import Change, changes
from faqsvc_embed.service.desk.draft import Draft
from faqsvc_embed.service.desk.forms import number_of
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.storage.faq_cursor import InvalidCursor
from faqsvc_embed.service.storage.values import Preconditions

PAGE_SIZE = 50


def show(visit: Visit) -> Response:
    """GET …/history: the revisions, newest first, and the differences between two of them."""
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    lang = visit.query("lang") if faq.translation(visit.query("lang")) else faq.lang
    after = visit.query("after") or None
    try:
        found = visit.storage.history.revisions(visit.access, faq.slug, lang, limit=PAGE_SIZE, after=after)
    except InvalidCursor:
        found = visit.storage.history.revisions(visit.access, faq.slug, lang, limit=PAGE_SIZE)
    numbers = [revision.revision for revision in found.items]
    new = number_of(visit.query("new")) or (numbers[0] if numbers else 0)
    old = number_of(visit.query("old")) or new - 1
    return render(
        visit,
        "history.html",
        faq=faq,
        lang=lang,
        revisions=found,
        old=old,
        new=new,
        changes=_compare(visit, lang, old, new),
    )


def publish(visit: Visit) -> Response:
    """POST …/history: publish a draft, or an earlier revision again."""
    visit.require("publish")
    number = number_of(visit.form.get("number"))
    lang = visit.form.get("lang")
    if number is None or lang not in LANGUAGES:
        raise FAQNotFound(f"There is no revision {visit.form.get('number')[:20]!r}")
    visit.storage.writer.publish(visit.access, visit.slug, number, cast("Lang", lang), Preconditions())
    return redirect(visit, f"/faqs/{quote(visit.slug, safe='')}?lang={lang}&done=published")


def _compare(visit: Visit, lang: str, old: int, new: int) -> list[Change] | None:
    """Return the differences between two revisions, or None if one does not exist."""
    try:
        drafts = [
            Draft.of_publication(
                visit.slug, visit.storage.history.revision(visit.access, visit.slug, lang, number)[1]
            )
            for number in (old, new)
        ]
    except FAQNotFound:
        return None
    return changes(*drafts)
