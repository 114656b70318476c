"""The site and its API keys: name, listing, quotas; create, rotate and revoke keys."""

from datetime import timedelta
from typing import Final

from starlette.responses import Response

from faqsvc_embed.api.fields import WebsiteURL
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.desk.draft import ADDRESS
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.storage.api_keys import APIKeyInfo, UnknownAPIKey
from faqsvc_embed.service.storage.sites import MAX_NAME
from faqsvc_embed.service.storage.values import SCOPES
from faqsvc_embed.theme import Theme

OVERLAPS: Final = {
    "0": ("at once", timedelta(0)),
    "1": ("in an hour", timedelta(hours=1)),
    "24": ("in a day", timedelta(days=1)),
    "168": ("in a week", timedelta(weeks=1)),
}
"""When the old key expires after a rotation."""
SCOPE_TEXTS: Final = {
    "read": "Read drafts and history",
    "draft": "Write drafts",
    "publish": "Everything, also publish and take back",
}
NAME: Final = "A name must have 1 to 100 characters, without line breaks."
DONE: Final = {"saved": "Saved.", "revoked": "The key is revoked. Its FAQs stay as they are."}


def show(visit: Visit) -> Response:
    """GET /desk/site: the site and its keys."""
    return _page(visit, done=DONE.get(visit.query("done"), ""))


def submit(visit: Visit) -> Response:
    """POST /desk/site: save the site, or create, rotate or revoke a key."""
    visit.require("publish")
    action = visit.form.get("action")
    try:
        if action == "save":
            return _save(visit)
        if action == "create":
            return _create(visit)
        if action in ("rotate", "revoke"):
            return _end(visit, action)
    except ConfigurationError:
        return _page(visit, 422, problems={"key_name": NAME})
    return _page(visit)


def _save(visit: Visit) -> Response:
    name, url, color = (visit.form.get(field).strip() for field in ("name", "website_url", "accent_color"))
    problems = dict[str, str]()
    if not name or len(name) > MAX_NAME or not name.isprintable():
        problems["name"] = NAME
    if url and field_problems("", url, WebsiteURL):
        problems["website_url"] = ADDRESS
    try:
        color = Theme(color or None).accent_color or ""
    except ConfigurationError:
        problems["accent_color"] = (
            "Write a colour as #0a7a5c, as rgb(10 122 92), or by its name in CSS, such as teal."
        )
    if problems:
        return _page(visit, 422, problems=problems)
    listed = visit.form.get("listed") == "yes"
    visit.storage.sites.update(
        visit.access.site, name=name, listed=listed, website_url=url, accent_color=color
    )
    return redirect(visit, "/site?done=saved")


def _create(visit: Visit) -> Response:
    name = visit.form.get("key_name").strip()
    if not name:
        problem = "Give the key a name. The history shows it as the author of a revision."
        return _page(visit, 422, problems={"key_name": problem})
    scope = visit.form.get("scope")
    if scope not in SCOPES:
        return _page(visit, 422, problems={"scope": "Choose what the key may do."})
    key = visit.storage.keys.create(name, site=visit.access.site, scope=scope)
    return _page(visit, new_key=key, done=f"The key {name} was created.")


def _end(visit: Visit, action: str) -> Response:
    """Rotate or revoke a key of this site."""
    key_id = visit.form.get("id")
    key = next((key for key in _keys(visit) if key.id == key_id), None)
    if key is None:
        return _page(visit, 404, problems={"keys": "This key does not exist."})
    if action == "revoke":
        visit.storage.keys.revoke(key.id)
        return redirect(visit, "/site?done=revoked")
    _, overlap = OVERLAPS.get(visit.form.get("overlap"), OVERLAPS["0"])
    try:
        new = visit.storage.keys.rotate(key.id, overlap=overlap)
    except UnknownAPIKey:
        return _page(visit, 409, problems={"keys": "This key was already revoked."})
    return _page(visit, new_key=new, done=f"Here is the new key {key.name}.")


def _keys(visit: Visit) -> list[APIKeyInfo]:
    """Return the keys of this site, the newest first."""
    return [key for key in reversed(visit.storage.keys.list()) if key.site == visit.access.site]


def _page(
    visit: Visit,
    status: int = 200,
    *,
    problems: dict[str, str] | None = None,
    new_key: str = "",
    done: str = "",
) -> Response:
    now = visit.storage.clock()
    keys = _keys(visit)
    ended = [key for key in keys if key.revoked_at or (key.expires_at and key.expires_at <= now)]
    site = visit.storage.sites.get(visit.access.site)
    default = visit.storage.writer.quota
    return render(
        visit,
        "site.html",
        status,
        site=site,
        max_faqs=site.quota.faqs or default.faqs,
        max_bytes=site.quota.bytes or default.bytes,
        keys=[key for key in keys if key not in ended],
        ended=ended,
        scopes=SCOPE_TEXTS,
        overlaps=OVERLAPS,
        problems=problems or {},
        new_key=new_key,
        done=done,
    )
