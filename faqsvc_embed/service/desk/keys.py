"""The API keys of a site, which programs use: create, replace and revoke them."""

from datetime import timedelta
from typing import Any, Final, cast

from starlette.responses import Response

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.desk.forms import number_of
from faqsvc_embed.service.desk.messages import NAME
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.api_keys import APIKeyInfo, UnknownAPIKey
from faqsvc_embed.service.storage.values import SCOPES

OVERLAPS: Final = {"0": "at once", "1": "in an hour", "24": "in a day", "168": "in a week"}
"""When the old key becomes invalid after a rotation, by hours."""
SENT: Final = (
    "This form was sent before, and its key is in the list. Replace the key if you have not copied it."
)
UNNAMED: Final = "Give the key a name. The history shows it as the author of a revision."
UNCONFIRMED: Final = "Nothing was revoked. Tick the box to revoke the key."
REPLACED: Final = "Nothing was done, because somebody replaced this key since you opened the page."
SCOPE_TEXTS: Final = {
    "read": "Read drafts and history",
    "draft": "Write drafts",
    "publish": "Write, publish and unpublish",
}


def show(visit: Visit, status: int = 200, *, new_key: str = "", **context: Any) -> Response:
    """GET /desk/keys: the keys, the newest first, and a form for a new one."""
    visit.require("admin")
    found, now = visit.storage.keys.list(visit.access.site)[::-1], visit.storage.clock()
    keys = [key for key in found if not key.has_ended(now)]
    ended = [key for key in found if key.has_ended(now)]
    context = {"keys": keys, "ended": ended, "new_key": new_key, **context}
    return render(visit, "keys.html", status, scopes=SCOPE_TEXTS, **context)


def submit(visit: Visit) -> Response:
    """POST /desk/keys: create a key."""
    visit.require("admin")
    name, scope = visit.form.get("key_name").strip(), visit.form.get("scope")
    problems = {} if name else {"key_name": UNNAMED}
    problems |= {} if scope in SCOPES else {"scope": "Choose what the key may do."}
    if problems:
        return show(visit, 422, problems=problems)
    if visit.is_sent_again():
        return show(visit, 409, problems={"key_name": SENT})
    try:
        key = visit.storage.keys.create(
            name, site=visit.access.site, scope=cast("Scope", scope), by=visit.access
        )
    except ConfigurationError:
        return show(visit, 422, problems={"key_name": NAME})
    return show(visit, new_key=key, done=f"The key {name} is created.")


def show_one(visit: Visit, status: int = 200, **context: Any) -> Response:
    """GET /desk/keys/{key}: the rights of a key, and forms to replace or revoke it."""
    visit.require("admin")
    key = _key(visit)
    context |= {
        "key": key,
        "maker": visit.storage.people.names(visit.access.site).get(key.maker or "", key.maker),
        "has_ended": key.has_ended(visit.storage.clock()),
        "version": str(key.expires_at or ""),
    }
    return render(visit, "key.html", status, scopes=SCOPE_TEXTS, overlaps=OVERLAPS, **context)


def end(visit: Visit) -> Response:
    """POST /desk/keys/{key}: replace a key, or revoke it if that was confirmed."""
    visit.require("admin")
    key = _key(visit)
    if visit.form.get("action") == "rotate":
        hours, version = number_of(visit.form.get("overlap")) or 0, str(key.expires_at or "")
        if visit.form.get("version", version) != version:
            return show_one(visit, 409, problems={"key": REPLACED})
        overlap = timedelta(hours=hours if str(hours) in OVERLAPS else 0)
        try:
            new = visit.storage.keys.rotate(key.id, overlap=overlap, by=visit.access)
        except UnknownAPIKey:
            return show_one(visit, 409, problems={"key": "This key is no longer valid."})
        return show(visit, new_key=new, done=f"Here is the new key {key.name}.")
    if visit.form.get("confirm") != "yes":
        return show_one(visit, 422, problems={"confirm": UNCONFIRMED})
    visit.storage.keys.revoke(key.id, by=visit.access)
    return redirect(visit, "/keys?done=revoked")


def _key(visit: Visit) -> APIKeyInfo:
    """Return the key in the path."""
    for key in visit.storage.keys.list(visit.access.site):
        if key.id == visit.part("key"):
            return key
    raise Problem(404, "not-found", "This key does not exist")
