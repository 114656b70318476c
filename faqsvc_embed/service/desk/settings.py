"""The settings of a site, for its admins: the site itself, its people and the API keys of its programs."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, cast

import msgspec
from starlette.responses import Response

from faqsvc_embed.api.contract import Scope
from faqsvc_embed.api.fields import WebsiteURL
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import ConfigurationError, FAQError
from faqsvc_embed.service.desk.draft import ADDRESS
from faqsvc_embed.service.desk.forms import completed
from faqsvc_embed.service.desk.pages import PAGE_SIZE, redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.api_keys import APIKeyInfo, UnknownAPIKey
from faqsvc_embed.service.storage.people import LastAdmin, Person, PersonExists, Role, UnknownPerson
from faqsvc_embed.service.storage.sites import MAX_NAME, Site
from faqsvc_embed.service.storage.values import SCOPES, Access
from faqsvc_embed.text import is_name

NAME: Final = "Write a name of 1 to 100 characters, without line breaks."
EMAIL: Final = "Write an email address such as mia@example.com."
OVERLAPS: Final = {"0": "at once", "1": "in an hour", "24": "in a day", "168": "in a week"}
"""When the old key becomes invalid after a rotation, by hours."""
SCOPE_TEXTS: Final = {
    "read": "Read drafts and history",
    "draft": "Write drafts",
    "publish": "Write, publish and unpublish",
}
ROLE_TEXTS: Final = {
    "editor": "Editor: writes drafts",
    "publisher": "Publisher: also publishes and unpublishes",
    "admin": "Admin: also manages people, keys and the site, and deletes FAQs",
}
EMPTY: Final[Mapping[str, str]] = {}
_REFUSALS: Final = (ConfigurationError, PersonExists, LastAdmin)


def _version_of(values: Mapping[str, str]) -> str:
    """Return the version of a form of settings: all values that it shows."""
    return msgspec.json.encode(values).decode()


def _form_of(now: dict[str, str], typed: Mapping[str, str]) -> dict[str, Any]:
    """Return the version of a form of settings, and the values of its fields."""
    return {"version": _version_of(now), "fields": {**now, **typed}}


def _saved(
    visit: Visit,
    now: Mapping[str, str],
    write: Callable[[dict[str, str]], dict[str, str]],
    page: Callable[..., Response],
) -> Response:
    """Save the fields that were changed in a form of settings whose current values are `now`.

    `write` gets them, and returns what is wrong with each; `page` shows the form again. A field that was
    not changed in the form keeps its current value, which may be somebody else's.
    """
    try:
        opened = {**now, **msgspec.json.decode(visit.form.get("version"), type=dict[str, str])}
    except msgspec.MsgspecError:
        opened = dict(now)
    changed = {name: value for name in now if (value := visit.form.get(name).strip()) != opened[name]}
    theirs = {
        name: f"Somebody else has changed this to “{now[name]}” in the meantime. Save again to replace it."
        for name, value in changed.items()
        if now[name] not in (opened[name], value)
    }
    if problems := theirs or write(changed):
        return page(visit, 409 if theirs else 422, problems=problems, typed=changed)
    return redirect(visit, f"{visit.path}?done=saved")


def change_site(visit: Visit) -> Response:
    """POST /desk/site: save the site."""
    visit.require("admin")

    def write(changed: dict[str, str]) -> dict[str, str]:
        problems, values = dict[str, str](), dict[str, Any](changed)
        if (name := changed.get("name")) is not None and not (0 < len(name) <= MAX_NAME and is_name(name)):
            problems["name"] = NAME
        if url := completed(changed.get("website_url", "")):
            values["website_url"] = url
            problems |= {"website_url": ADDRESS} if field_problems("", url, WebsiteURL) else {}
        if not problems:
            values |= {"listed": values["listed"] == "yes"} if "listed" in values else {}
            visit.storage.sites.update(visit.access, **values)
        return problems

    return _saved(visit, _fields_of_site(visit.storage.sites.get(visit.access.site)), write, show_site)


def _fields_of_site(site: Site) -> dict[str, str]:
    """Return the values of the form."""
    return {
        "name": site.given_name,
        "website_url": site.website_url,
        "listed": "yes" if site.is_listed else "",
    }


def show_site(
    visit: Visit, status: int = 200, *, typed: Mapping[str, str] = EMPTY, **context: Any
) -> Response:
    """GET /desk/site: the site."""
    site = visit.storage.sites.get(visit.access.site)
    default, now = visit.storage.writer.quota, _fields_of_site(site)
    limits = {"max_faqs": site.max_faqs or default.faqs, "max_bytes": site.max_bytes or default.bytes}
    return render(visit, "site.html", status, site=site, **_form_of(now, typed), **limits, **context)


def show_you(visit: Visit) -> Response:
    """GET and POST /desk/you: the signed-in person; POST creates a link for another device."""
    link = _link(visit, visit.person) if visit.request.method == "POST" else ""
    return render(visit, "you.html", roles=ROLE_TEXTS, link=link)


def show_people(visit: Visit, status: int = 200, **context: Any) -> Response:
    """GET /desk/people: the people, and a form for a new one."""
    typed = visit.form.get if "problems" in context else {"role": "editor"}.get
    fields = {name: typed(name, "") for name in ("name", "email", "role")}
    people, next_ = visit.storage.people.page(visit.access.site, limit=PAGE_SIZE, after=visit.after)
    context |= {"people": people, "next": next_, "fields": fields, "roles": ROLE_TEXTS}
    return render(visit, "people.html", status, **context)


def add_person(visit: Visit) -> Response:
    """POST /desk/people: add a person, and show the first sign-in link."""
    name, email, role = (visit.form.get(field).strip() for field in ("name", "email", "role"))
    if visit.is_sent_again():
        problem = "This form was sent already: the person is in the list. Open their page to make a new link."
        return show_people(visit, 409, problems={"name": problem})
    try:
        person = visit.storage.people.add(
            name, email=email or None, role=cast("Role", role), site=visit.access.site, by=visit.access
        )
    except _REFUSALS as error:
        return show_people(visit, 422, problems=_refused(error))
    return show_people(visit, added=person, link=_link(visit, person))


def show_person(
    visit: Visit, status: int = 200, *, typed: Mapping[str, str] = EMPTY, **context: Any
) -> Response:
    """GET /desk/people/{person}: a person, to change or remove."""
    person = _person(visit)
    context |= _form_of(_fields_of_person(person), typed)
    context |= {
        "person": person,
        "roles": ROLE_TEXTS,
        "keys": len(visit.storage.keys.made_by_person(person.id)),
    }
    return render(visit, "person.html", status, **context)


def change_person(visit: Visit) -> Response:
    """POST /desk/people/{person}: save the person, create a sign-in link, or remove the person."""
    person, action = _person(visit), visit.form.get("action")
    if action == "link":
        return show_person(visit, link=_link(visit, person, by=visit.access))
    if action == "remove":
        return _remove_person(visit, person)

    def write(changed: dict[str, Any]) -> dict[str, str]:
        try:
            visit.storage.people.change(person.id, **changed, by=visit.access)
        except _REFUSALS as error:
            return _refused(error)
        return {}

    return _saved(visit, _fields_of_person(person), write, show_person)


def _remove_person(visit: Visit, person: Person) -> Response:
    now = _version_of(_fields_of_person(person))
    if visit.form.get("confirm") != "yes":
        problem = "Nobody was removed. Tick the box to remove the person."
        return show_person(visit, 422, problems={"confirm": problem})
    if visit.form.get("version", now) != now:
        problem = "Nobody was removed, because somebody changed this person since you opened the page."
        return show_person(visit, 409, problems={"confirm": problem})
    with_keys = visit.form.get("with_keys") == "yes"
    try:
        visit.storage.people.remove(person.id, with_keys=with_keys, by=visit.access)
    except LastAdmin as error:
        return show_person(visit, 409, problems={"confirm": f"{error}."})
    return redirect(visit, "/people?done=removed")


def _fields_of_person(person: Person) -> dict[str, str]:
    """Return the values of the form."""
    return {"name": person.name, "email": person.email or "", "role": person.role}


def _refused(error: FAQError) -> dict[str, str]:
    """Return what is wrong with the field for which the storage refuses a person."""
    if isinstance(error, PersonExists):
        return {"email": "There is already a person with this email address."}
    if isinstance(error, LastAdmin):
        return {"role": f"{error}."}
    text = {"email": EMAIL, "role": "Choose what the person may do."}
    field = str(error).partition(" ")[0]
    return {field: text[field]} if field in text else {"name": NAME}


def _person(visit: Visit) -> Person:
    """Return the person in the path, who must be of this site."""
    try:
        return visit.storage.people.find(visit.part("person"), site=visit.access.site)
    except UnknownPerson:
        raise Problem(404, "not-found", "There is no such person; the person may have been removed") from None


def _link(visit: Visit, person: Person, by: Access | None = None) -> str:
    return visit.urls.sign_in(visit.storage.sign_ins.create_link(person, by))


def show_keys(visit: Visit, status: int = 200, **context: Any) -> Response:
    """GET /desk/keys: the keys, the newest first, and a form for a new one."""
    keys, next_ = visit.storage.keys.page(visit.access.site, limit=PAGE_SIZE, after=visit.after)
    context |= {"keys": keys, "next": next_, "now": visit.storage.clock(), "scopes": SCOPE_TEXTS}
    return render(visit, "keys.html", status, **context)


def create_key(visit: Visit) -> Response:
    """POST /desk/keys: create a key."""
    name, scope = visit.form.get("key_name").strip(), visit.form.get("scope")
    problems = dict[str, str]()
    if not name:
        problems["key_name"] = "Give the key a name. The history shows it as the author of a revision."
    if scope not in SCOPES:
        problems["scope"] = "Choose what the key may do."
    if problems:
        return show_keys(visit, 422, problems=problems)
    if visit.is_sent_again():
        problem = "This form was sent already: the key is in the list. If you have not copied it, replace it."
        return show_keys(visit, 409, problems={"key_name": problem})
    try:
        key = visit.storage.keys.create(
            name, site=visit.access.site, scope=cast("Scope", scope), by=visit.access
        )
    except ConfigurationError:
        return show_keys(visit, 422, problems={"key_name": NAME})
    return show_keys(visit, new_key=key, done=f"The key {name} was created.")


def show_key(visit: Visit, status: int = 200, **context: Any) -> Response:
    """GET /desk/keys/{key}: the rights of a key, and forms to replace or revoke it."""
    key, names = _key(visit), visit.storage.people.names(visit.access.site)
    context |= {"key": key, "version": str(key.expires_at or ""), "scopes": SCOPE_TEXTS, "overlaps": OVERLAPS}
    context |= {
        "maker": names.get(key.maker or "", key.maker),
        "has_ended": key.has_ended(visit.storage.clock()),
    }
    return render(visit, "key.html", status, **context)


def end_key(visit: Visit) -> Response:
    """POST /desk/keys/{key}: replace a key, or revoke it if that was confirmed."""
    key = _key(visit)
    if visit.form.get("action") == "rotate":
        version = str(key.expires_at or "")
        if visit.form.get("version", version) != version:
            problem = "Nothing was done, because somebody replaced this key since you opened the page."
            return show_key(visit, 409, problems={"key": problem})
        hours = visit.form.get("overlap")
        overlap = timedelta(hours=int(hours) if hours in OVERLAPS else 0)
        try:
            new = visit.storage.keys.rotate(key.id, overlap=overlap, by=visit.access)
        except UnknownAPIKey:
            return show_key(visit, 409, problems={"key": "This key is no longer valid."})
        return show_keys(visit, new_key=new, done=f"Here is the new key {key.name}.")
    if visit.form.get("confirm") != "yes":
        problem = "Nothing was revoked. Tick the box to revoke the key."
        return show_key(visit, 422, problems={"confirm": problem})
    visit.storage.keys.revoke(key.id, by=visit.access)
    return redirect(visit, "/keys?done=revoked")


def _key(visit: Visit) -> APIKeyInfo:
    """Return the key in the path."""
    try:
        return visit.storage.keys.get(visit.access.site, visit.part("key"))
    except UnknownAPIKey:
        raise Problem(404, "not-found", "This key does not exist") from None
