"""The bin: FAQs that were deleted within the last 30 days, and slugs that were purged for ever."""

from contextlib import suppress
from datetime import datetime
from typing import Final, Literal
from urllib.parse import quote

from starlette.responses import Response

from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.overview import Filter
from faqsvc_embed.service.storage.removal import BIN_LIFETIME
from faqsvc_embed.service.storage.values import Preconditions, RevisionConflict
from faqsvc_embed.text import normalized

MAX_SHOWN: Final = 500
CHANGED: Final = "Nothing was restored, because somebody restored or deleted it since you opened the page."


def show(visit: Visit) -> Response:
    """GET /desk/bin: the FAQs and translations that can be restored."""
    visit.require("publish")
    return _page(visit)


def _page(visit: Visit, status: int = 200, *, note: str = "") -> Response:
    site = visit.access.site
    return render(
        visit,
        "bin.html",
        status,
        note=note,
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
    try:
        visit.storage.removal.restore(visit.access, slug, Preconditions(binned_at=_shown(visit)))
    except RevisionConflict:
        return _page(visit, 409, note=CHANGED)
    return redirect(visit, f"/faqs/{quote(slug, safe='')}?done=restored")


def _shown(visit: Visit) -> datetime | None:
    """Return the time when the FAQ was moved to the bin, from the form."""
    with suppress(ValueError):
        return datetime.fromisoformat(visit.form.get("version"))
    return None
