"""The page to unpublish an FAQ, or to delete it with its history."""

from typing import cast
from urllib.parse import quote

from starlette.responses import Response

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.storage.values import Preconditions


def show(visit: Visit) -> Response:
    """GET …/remove: the form, which explains what readers will see."""
    visit.require("publish")
    return _page(visit)


def submit(visit: Visit) -> Response:
    """POST …/remove: unpublish all languages or one, or delete the FAQ if its slug was typed."""
    visit.require("publish")
    writer = visit.storage.writer
    if visit.form.get("action") == "purge":
        typed = visit.form.get("typed")
        if not typed or typed.strip() != visit.slug.strip():  # editors do not see outer spaces
            return _page(visit, 422, problem=f"Nothing was deleted. To delete it, type {visit.slug}")
        writer.purge(visit.access, visit.slug, None, Preconditions())
        return redirect(visit, "?done=deleted")
    lang = visit.form.get("lang")
    one = cast("Lang", lang) if lang in LANGUAGES else None
    writer.unpublish(visit.access, visit.slug, one, Preconditions())
    return redirect(visit, f"/faqs/{quote(visit.slug, safe='')}/remove?done=unpublished")


def _page(visit: Visit, status: int = 200, *, problem: str = "") -> Response:
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    published = [translation for translation in faq.translations if translation.published]
    context = {"faq": faq, "lang": faq.lang, "published": published, "problem": problem}
    return render(visit, "removal.html", status, **context)
