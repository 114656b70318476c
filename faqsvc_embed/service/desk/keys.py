"""The API keys of a site, which programs use: create, replace and revoke them."""

from datetime import timedelta
from typing import Any, Final, cast

from starlette.responses import Response

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.site import NAME
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.api_keys import APIKeyInfo, UnknownAPIKey
from faqsvc_embed.service.storage.values import SCOPES

OVERLAPS: Final = {
    "0": ("at once", timedelta(0)),
    "1": ("in an hour", timedelta(hours=1)),
    "24": ("in a day", timedelta(days=1)),
    "168": ("in a week", timedelta(weeks=1)),
}
"""When the old key becomes invalid after a rotation."""
SENT: Final = (
    "This form was sent before, and its key is in the list. Replace the key if you have not copied it."
)
REPLACED: Final = "Nothing was done, because somebody replaced this key since you opened the page."
SCOPE_TEXTS: Final = {
    "read": "Read drafts and history",
    "draft": "Write drafts",
    "publish": "Write, publish and unpublish",
}


def show(visit: Visit) -> Response:
    """GET /desk/keys: the keys, and a form for a new one."""
    visit.require_admin()
    return _page(visit, done="The key is revoked." if visit.query("done") == "revoked" else "")


def submit(visit: Visit) -> Response:
    """POST /desk/keys: create a key."""
    visit.require_admin()
    name, scope = visit.form.get("key_name").strip(), visit.form.get("scope")
    problems = dict[str, str]()
    if not name:
        problems["key_name"] = "Give the key a name. The history shows it as the author of a revision."
    if scope not in SCOPES:
        problems["scope"] = "Choose what the key may do."
    if problems:
        return _page(visit, 422, problems=problems)
    if visit.is_sent_again():
        return _page(visit, 409, problems={"key_name": SENT})
    try:
        key = visit.storage.keys.create(
            name, site=visit.access.site, scope=cast("Scope", scope), by=visit.access
        )
    except ConfigurationError:
        return _page(visit, 422, problems={"key_name": NAME})
    return _page(visit, new_key=key, done=f"The key {name} is created.")


def show_one(visit: Visit) -> Response:
    """GET /desk/keys/{key}: the rights of a key, and forms to replace or revoke it."""
    visit.require_admin()
    return _one(visit)


def end(visit: Visit) -> Response:
    """POST /desk/keys/{key}: replace a key, or revoke it if that was confirmed."""
    visit.require_admin()
    key = _key(visit)
    if visit.form.get("action") == "rotate":
        _, overlap = OVERLAPS.get(visit.form.get("overlap"), OVERLAPS["0"])
        version = str(key.expires_at or "")
        if visit.form.get("version", version) != version:
            return _one(visit, 409, problems={"key": REPLACED})
        try:
            new = visit.storage.keys.rotate(key.id, overlap=overlap, by=visit.access)
        except UnknownAPIKey:
            return _one(visit, 409, problems={"key": "This key is no longer valid."})
        return _page(visit, new_key=new, done=f"Here is the new key {key.name}.")
    if visit.form.get("confirm") != "yes":
        return _one(visit, 422, problems={"confirm": "Nothing was revoked. Tick the box to revoke the key."})
    visit.storage.keys.revoke(key.id, by=visit.access)
    return redirect(visit, "/keys?done=revoked")


def _keys(visit: Visit) -> list[APIKeyInfo]:
    """Return the keys of this site, the newest first."""
    return visit.storage.keys.list(visit.access.site)[::-1]


def _key(visit: Visit) -> APIKeyInfo:
    """Return the key in the path."""
    for key in _keys(visit):
        if key.id == visit.part("key"):
            return key
    raise Problem(404, "not-found", "This key does not exist")


def _page(visit: Visit, status: int = 200, **context: Any) -> Response:
    found, now = _keys(visit), visit.storage.clock()
    context = {
        "keys": [key for key in found if not key.has_ended(now)],
        "ended": [key for key in found if key.has_ended(now)],
        "new_key": "",
        **context,
    }
    return render(visit, "keys.html", status, scopes=SCOPE_TEXTS, **context)


def _one(visit: Visit, status: int = 200, **context: Any) -> Response:
    key = _key(visit)
    context = {
        "key": key,
        "maker": visit.storage.people.names(visit.access.site).get(key.maker or "", key.maker),
        "has_ended": key.has_ended(visit.storage.clock()),
        "version": str(key.expires_at or ""),
        **context,
    }
    return render(visit, "key.html", status, scopes=SCOPE_TEXTS, overlaps=OVERLAPS, **context)
