"""The bin: what was deleted within the last 30 days, and slugs that were purged for ever."""

from typing import Final, Literal
from urllib.parse import quote

from starlette.responses import Response

from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.overview import Filter
from faqsvc_embed.service.storage.removal import BIN_LIFETIME
from faqsvc_embed.text import normalized

MAX_SHOWN: Final = 500


def show(visit: Visit) -> Response:
    """GET /desk/bin: the FAQs and translations that can be restored."""
    visit.require("publish")
    site = visit.access.site
    return render(
        visit,
        "bin.html",
        binned=visit.storage.overview.faqs(site, Filter(state="binned"), limit=MAX_SHOWN),
        sealed=visit.storage.overview.sealed(site),
        lifetime=BIN_LIFETIME,
    )


def submit(visit: Visit) -> Response:
    """POST /desk/bin: restore an FAQ, or allow a purged slug to be used again."""
    visit.require("publish")
    action, slug = visit.form.get("action"), normalized("NFC", visit.form.get("slug"))
    if problems := field_problems("action", action, Literal["restore", "lift"]):
        raise Problem.invalid(*problems)
    if action == "lift":
        visit.require_admin()
        visit.storage.removal.lift(slug, visit.access)
        return redirect(visit, "/bin?done=lifted")
    visit.storage.removal.restore(visit.access, slug)
    return redirect(visit, f"/faqs/{quote(slug, safe='')}?done=restored")
