"""The page to unpublish an FAQ, to publish it again or, for admins, to delete it."""

from typing import Final, Literal, cast
from urllib.parse import quote

from starlette.responses import Response

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.service.desk import versions
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.values import Preconditions, RevisionConflict

CHANGED: Final = "Nothing was done, because somebody changed this FAQ since you opened the page."


def show(visit: Visit) -> Response:
    """GET …/remove: the form, which says what readers will see."""
    visit.require("publish")
    return _page(visit)


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
        visit.require_admin()
    if action == "purge" and typed.strip() != visit.slug.strip():
        return _page(visit, 422, problem=f"Nothing was deleted. To delete it, type {visit.slug}")
    try:
        if action == "bin":
            removal.bin(visit.access, visit.slug, None, unchanged)
            return redirect(visit, "/bin?done=deleted")
        if action == "purge":
            removal.purge(visit.access, visit.slug, None, unchanged)
            return redirect(visit, "/bin?done=purged")
        if action == "restore":
            removal.restore(visit.access, visit.slug, unchanged)
            return redirect(visit, f"{page}?done=restored")
        removal.unpublish(visit.access, visit.slug, cast("Lang | None", lang or None), unchanged)
    except RevisionConflict:
        return _page(visit, 409, note=CHANGED)
    return redirect(visit, f"{page}?done=unpublished")


def _page(visit: Visit, status: int = 200, *, problem: str = "", note: str = "") -> Response:
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    published = [translation for translation in faq.translations if translation.published]
    return render(
        visit,
        "removal.html",
        status,
        faq=faq,
        lang=faq.lang,
        published=published,
        problem=problem,
        note=note,
        version=versions.of_all(faq),
    )
