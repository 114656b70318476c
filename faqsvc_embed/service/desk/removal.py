"""The page to unpublish an FAQ, to publish it again or, for admins, to delete it; and the bin."""

from contextlib import suppress
from datetime import datetime
from typing import Any, Final, Literal, cast
from urllib.parse import quote

from starlette.responses import Response

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.service.desk import versions
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.overview import Filter
from faqsvc_embed.service.storage.removal import BIN_LIFETIME
from faqsvc_embed.service.storage.values import Preconditions, RevisionConflict
from faqsvc_embed.text import normalized

MAX_SHOWN: Final = 500
"""FAQs of the bin that are shown."""
NOT_RESTORED: Final = (
    "Nothing was restored, because somebody restored or deleted it since you opened the page."
)
CHANGED: Final = "Nothing was done, because somebody changed this FAQ since you opened the page."


def show(visit: Visit, status: int = 200, **context: Any) -> Response:
    """GET …/remove: the forms, which say what readers will see."""
    visit.require("publish")
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    published = [translation for translation in faq.translations if translation.published]
    context |= {"faq": faq, "lang": faq.lang, "published": published, "version": versions.of_all(faq)}
    return render(visit, "removal.html", status, **context)


def submit(visit: Visit) -> Response:
    """POST …/remove: unpublish all languages or one, or publish again what was unpublished last.

    Admins can move the FAQ to the bin, and purge it for ever if its slug was typed.
    """
    visit.require("publish")
    removal = visit.storage.removal
    action, lang, typed = (visit.form.get(name) for name in ("action", "lang", "typed"))
    problems = field_problems("action", action, Literal["unpublish", "restore", "bin", "purge"])
    if problems := problems + field_problems("lang", lang or None, Lang | None):
        raise Problem.invalid(*problems)
    unchanged = Preconditions(versions=versions.by_language(visit.form.get("version")))
    page = f"/faqs/{quote(visit.slug, safe='')}/remove"
    if action in ("bin", "purge"):
        visit.require("admin")
    if action == "purge" and typed.strip() != visit.slug.strip():
        problem = f"Nothing was deleted. To delete it, type {visit.slug}"
        return show(visit, 422, problems={"typed": problem})
    try:
        if action == "bin":
            removal.bin(visit.access, visit.slug, None, unchanged)
            return redirect(visit, "/bin?done=deleted")
        if action == "purge":
            removal.purge(visit.access, visit.slug, None, unchanged)
            return redirect(visit, "/bin?done=purged")
        if action == "restore":
            removal.restore(visit.access, visit.slug, unchanged)
            return redirect(visit, f"{page}?done=again")
        removal.unpublish(visit.access, visit.slug, cast("Lang | None", lang or None), unchanged)
    except RevisionConflict:
        return show(visit, 409, note=CHANGED)
    return redirect(visit, f"{page}?done=unpublished")


def show_bin(visit: Visit, status: int = 200, **context: Any) -> Response:
    """GET /desk/bin: the FAQs and translations that can be restored, and the slugs that were purged."""
    visit.require("publish")
    site = visit.access.site
    context["binned"] = visit.storage.overview.faqs(site, Filter(state="binned"), limit=MAX_SHOWN)
    context["sealed"] = visit.storage.overview.sealed(site)
    return render(visit, "bin.html", status, lifetime=BIN_LIFETIME, **context)


def restore(visit: Visit) -> Response:
    """POST /desk/bin: restore an FAQ, or allow a purged slug to be used again."""
    visit.require("publish")
    action, slug = visit.form.get("action"), normalized("NFC", visit.form.get("slug"))
    if problems := field_problems("action", action, Literal["restore", "lift"]):
        raise Problem.invalid(*problems)
    if action == "lift":
        visit.require("admin")
        visit.storage.removal.lift(slug, visit.access)
        return redirect(visit, "/bin?done=lifted")
    binned_at = None
    with suppress(ValueError):
        binned_at = datetime.fromisoformat(visit.form.get("version"))
    try:
        visit.storage.removal.restore(visit.access, slug, Preconditions(binned_at=binned_at))
    except RevisionConflict:
        return show_bin(visit, 409, note=NOT_RESTORED)
    return redirect(visit, f"/faqs/{quote(slug, safe='')}?done=restored")
