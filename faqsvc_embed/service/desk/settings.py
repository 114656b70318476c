"""The pages about a site: for its admins the site itself, its people, its API keys and its audit log."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, cast

import msgspec
from starlette.responses import Response

from faqsvc_embed.api.content import digest_of
from faqsvc_embed.api.contract import Scope
from faqsvc_embed.api.fields import WebsiteURL
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import ConfigurationError, FAQError
from faqsvc_embed.service.desk.draft import ADDRESS
from faqsvc_embed.service.desk.forms import completed
from faqsvc_embed.service.desk.visit import PAGE_SIZE, Refused, Visit, redirect, render
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.storage.api_keys import APIKeyInfo, UnknownAPIKey
from faqsvc_embed.service.storage.logs import Action, EntryFilter
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
ACTIONS: Final[dict[Action, str]] = {
    "draft": "Saved a draft of",
    "discard": "Discarded a draft of",
    "publish": "Published",
    "unpublish": "Unpublished",
    "purge": "Deleted for ever",
    "restore": "Published again",
    "sign-in": "Signed in",
    "sign-in-link": "Made a sign-in link for",
    "key-create": "Made the key",
    "key-rotate": "Replaced the key",
    "key-revoke": "Revoked the key",
    "person-create": "Added",
    "person-set": "Changed",
    "person-remove": "Removed",
    "site-create": "Created the site",
    "site-set": "Changed the site",
    "site-remove": "Deleted the site",
}
SPECIAL: Final = {
    ("purge", "bin"): "Moved to the bin",
    ("restore", "bin"): "Restored from the bin",
    ("restore", "slug"): "Allowed the use of",
}
"""The texts of actions that depend on the subject."""


def _form(visit: Visit, saved: Mapping[str, str]) -> dict[str, Any]:
    """Return the version of a form of settings, and its values: those that were typed, if it was refused."""
    typed = _typed(visit, saved) if visit.status != 200 else {}
    return {"version": _version(saved), "fields": {**saved, **typed}}


def _typed(visit: Visit, saved: Mapping[str, str]) -> dict[str, str]:
    return {name: visit.form.get(name).strip() for name in saved} if visit.form.all("name") else {}


def _save(visit: Visit, saved: Mapping[str, str], write: Callable[..., None]) -> Response:
    """Pass the fields of a form that differ from the saved values to `write`.

    Raises:
        Refused: a value is not accepted (422), or somebody has changed the settings meanwhile (409).
    """
    changed = {name: value for name, value in _typed(visit, saved).items() if value != saved[name]}
    if changed and visit.form.get("version", _version(saved)) != _version(saved):
        text = "Somebody else has changed these settings. The saved value is {}. Save again to replace it."
        values = {name: f"“{saved[name]}”" if saved[name] else "empty" for name in changed}
        raise Refused(409, {name: text.format(value) for name, value in values.items()})
    write(**changed)
    return redirect(visit, f"{visit.path}?done=saved")


def _version(saved: Mapping[str, str]) -> str:
    """Return the version of a settings form: the digest of its values."""
    return digest_of(msgspec.json.encode(saved).decode())


def _site_fields(site: Site) -> dict[str, str]:
    listed = "yes" if site.is_listed else ""
    return {"name": site.given_name, "website_url": site.website_url, "listed": listed}


def show_site(visit: Visit) -> Response:
    """GET /desk/site: the site."""
    site, default = visit.site, visit.storage.writer.quota
    return render(
        visit,
        "site.html",
        site=site,
        max_faqs=site.max_faqs or default.faqs,
        max_bytes=site.max_bytes or default.bytes,
        **_form(visit, _site_fields(site)),
    )


def change_site(visit: Visit) -> Response:
    """POST /desk/site: save the site."""
    visit.require("admin")

    def write(**changed: Any) -> None:
        problems = dict[str, str]()
        if (name := changed.get("name")) is not None and not (0 < len(name) <= MAX_NAME and is_name(name)):
            problems["name"] = NAME
        if url := completed(changed.get("website_url", "")):
            changed["website_url"] = url
            problems |= {"website_url": ADDRESS} if field_problems("", url, WebsiteURL) else {}
        if problems:
            raise Refused(422, problems)
        changed |= {"listed": changed["listed"] == "yes"} if "listed" in changed else {}
        visit.storage.sites.update(visit.access, **changed)

    return _save(visit, _site_fields(visit.site), write)


def show_log(visit: Visit) -> Response:
    """GET /desk/log: the entries, newest first. The query may name one person, key or slug."""
    names = {name: visit.query(name)[:300].strip() for name in ("person", "key", "slug")}
    site = visit.access.site
    wanted = EntryFilter(site, **{name: value for name, value in names.items() if value})
    found, next_ = visit.storage.audit.entries(wanted, limit=PAGE_SIZE, after=visit.after)
    keys = {key.id: key.name or key.id for key in visit.storage.keys.list(site)}
    people = visit.storage.people.names(site)
    context: dict[str, Any] = {"people": people, "keys": keys, "actions": ACTIONS, "special": SPECIAL}
    return render(visit, "log.html", entries=found, next=next_, names=names, **context)


def show_you(visit: Visit) -> Response:
    """GET /desk/you: the signed-in person."""
    return render(visit, "you.html", roles=ROLE_TEXTS)


def link_device(visit: Visit) -> Response:
    """POST /desk/you: create a link for another device."""
    return show_you(visit.showing(link=_link(visit, visit.person)))


def show_people(visit: Visit) -> Response:
    """GET /desk/people: the people, and a form for a new one."""
    people, next_ = visit.storage.people.page(visit.access.site, limit=PAGE_SIZE, after=visit.after)
    form = _form(visit, {"name": "", "email": "", "role": "editor"})
    return render(visit, "people.html", people=people, next=next_, roles=ROLE_TEXTS, **form)


def add_person(visit: Visit) -> Response:
    """POST /desk/people: add a person, and show the first sign-in link."""
    name, email, role = (visit.form.get(field).strip() for field in ("name", "email", "role"))
    if visit.is_sent_again():
        problem = "This form was sent already: the person is in the list. Open their page to make a new link."
        raise Refused(409, {"name": problem})
    try:
        person = visit.storage.people.add(
            name, email=email or None, role=cast("Role", role), site=visit.access.site, by=visit.access
        )
    except (ConfigurationError, PersonExists) as error:
        raise _refused(error) from None
    return show_people(visit.showing(added=person, link=_link(visit, person)))


def show_person(visit: Visit) -> Response:
    """GET /desk/people/{person}: a person, to change or remove."""
    person = _person(visit)
    keys = len(visit.storage.keys.made_by_person(person.id))
    form = _form(visit, _person_fields(person))
    return render(visit, "person.html", person=person, keys=keys, roles=ROLE_TEXTS, **form)


def change_person(visit: Visit) -> Response:
    """POST /desk/people/{person}: save the person, create a sign-in link, or remove the person."""
    person, action = _person(visit), visit.form.get("action")
    if action == "link":
        return show_person(visit.showing(link=_link(visit, person, by=visit.access)))
    if action == "remove":
        return _remove_person(visit, person)

    def write(**changed: Any) -> None:
        try:
            visit.storage.people.change(person.id, **changed, by=visit.access)
        except (ConfigurationError, PersonExists, LastAdmin) as error:
            raise _refused(error) from None

    return _save(visit, _person_fields(person), write)


def _remove_person(visit: Visit, person: Person) -> Response:
    version = _version(_person_fields(person))
    if visit.form.get("confirm") != "yes":
        raise Refused(422, {"confirm": "Nobody was removed. Tick the box to remove the person."})
    if visit.form.get("version", version) != version:
        problem = "Nobody was removed, because somebody changed this person since you opened the page."
        raise Refused(409, {"confirm": problem})
    with_keys = visit.form.get("with_keys") == "yes"
    try:
        visit.storage.people.remove(person.id, with_keys=with_keys, by=visit.access)
    except LastAdmin as error:
        raise Refused(409, {"confirm": f"{error}."}) from None
    return redirect(visit, "/people?done=removed")


def _person_fields(person: Person) -> dict[str, str]:
    return {"name": person.name, "email": person.email or "", "role": person.role}


def _refused(error: FAQError) -> Refused:
    """Return the refusal of a form for an error of the storage, which concerns one of its fields."""
    if isinstance(error, PersonExists):
        return Refused(422, {"email": "There is already a person with this email address."})
    if isinstance(error, LastAdmin):
        return Refused(422, {"role": f"{error}."})
    text = {"email": EMAIL, "role": "Choose what the person may do."}
    field = str(error).partition(" ")[0]  # the message begins with the name of the field
    return Refused(422, {field: text[field]} if field in text else {"name": NAME})


def _person(visit: Visit) -> Person:
    """Return the person in the path, who must be of this site."""
    try:
        return visit.storage.people.find(visit.part("person"), site=visit.access.site)
    except UnknownPerson:
        raise Problem(404, "not-found", "There is no such person; the person may have been removed") from None


def _link(visit: Visit, person: Person, by: Access | None = None) -> str:
    return visit.urls.sign_in(visit.storage.sign_ins.create_link(person, by))


def show_keys(visit: Visit) -> Response:
    """GET /desk/keys: the keys, the newest first, and a form for a new one."""
    keys, next_ = visit.storage.keys.page(visit.access.site, limit=PAGE_SIZE, after=visit.after)
    now = visit.storage.clock()
    return render(visit, "keys.html", keys=keys, next=next_, now=now, scopes=SCOPE_TEXTS)


def create_key(visit: Visit) -> Response:
    """POST /desk/keys: create a key."""
    name, scope = visit.form.get("key_name").strip(), visit.form.get("scope")
    problems = dict[str, str]()
    if not name:
        problems["key_name"] = "Give the key a name. The history shows it as the author of a revision."
    if scope not in SCOPES:
        problems["scope"] = "Choose what the key may do."
    if problems:
        raise Refused(422, problems)
    if visit.is_sent_again():
        problem = "This form was sent already: the key is in the list. If you have not copied it, replace it."
        raise Refused(409, {"key_name": problem})
    try:
        key = visit.storage.keys.create(
            name, site=visit.access.site, scope=cast("Scope", scope), by=visit.access
        )
    except ConfigurationError:
        raise Refused(422, {"key_name": NAME}) from None
    return show_keys(visit.showing(new_key=key, done=f"The key {name} was created."))


def show_key(visit: Visit) -> Response:
    """GET /desk/keys/{key}: the rights of a key, and forms to replace or revoke it."""
    key, names = _key(visit), visit.storage.people.names(visit.access.site)
    return render(
        visit,
        "key.html",
        key=key,
        version=str(key.expires_at or ""),
        maker=names.get(key.maker or "", key.maker),
        has_ended=key.has_ended(visit.storage.clock()),
        scopes=SCOPE_TEXTS,
        overlaps=OVERLAPS,
    )


def end_key(visit: Visit) -> Response:
    """POST /desk/keys/{key}: replace a key, or revoke it if that was confirmed."""
    key = _key(visit)
    if visit.form.get("action") == "rotate":
        version = str(key.expires_at or "")
        if visit.form.get("version", version) != version:
            problem = "Nothing was done, because somebody replaced this key since you opened the page."
            raise Refused(409, {"key": problem})
        hours = visit.form.get("overlap")
        overlap = timedelta(hours=int(hours) if hours in OVERLAPS else 0)
        try:
            new = visit.storage.keys.rotate(key.id, overlap=overlap, by=visit.access)
        except UnknownAPIKey:
            raise Refused(409, {"key": "This key is no longer valid."}) from None
        return show_keys(visit.showing(new_key=new, done=f"Here is the new key {key.name}."))
    if visit.form.get("confirm") != "yes":
        raise Refused(422, {"confirm": "Nothing was revoked. Tick the box to revoke the key."})
    visit.storage.keys.revoke(key.id, by=visit.access)
    return redirect(visit, "/keys?done=revoked")


def _key(visit: Visit) -> APIKeyInfo:
    try:
        return visit.storage.keys.get(visit.access.site, visit.part("key"))
    except UnknownAPIKey:
        raise Problem(404, "not-found", "This key does not exist") from None
