"""The people of a site: add, change and remove them, and create sign-in links."""

from typing import Any, Final, cast

from starlette.responses import Response

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.site import NAME
from faqsvc_embed.service.desk.versions import changed_fields, of_values
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.people import ROLES, LastAdmin, Person, PersonExists, Role, UnknownPerson
from faqsvc_embed.service.storage.values import Access

ROLE_TEXTS: Final = {
    "editor": "Editor: writes drafts",
    "publisher": "Publisher: also publishes and unpublishes",
    "admin": "Admin: also manages people, keys and the site, and deletes FAQs",
}
SENT: Final = "This form was sent before, and the person is in the list. Their page makes a new sign-in link."
CHANGED: Final = "Nobody was removed, because somebody changed this person since you opened the page."
EMAIL: Final = "Write an email address such as mia@example.com."


def show_own(visit: Visit) -> Response:
    """GET /desk/you: the signed-in person, and a form for a link to sign in on another device."""
    return render(visit, "you.html", roles=ROLE_TEXTS, link="")


def renew(visit: Visit) -> Response:
    """POST /desk/you: create a link that signs the same person in on another device."""
    return render(visit, "you.html", roles=ROLE_TEXTS, link=_link(visit, visit.person))


def show(visit: Visit) -> Response:
    """GET /desk/people: the people, and a form for a new one."""
    visit.require_admin()
    return _page(visit, done="The person is removed." if visit.query("done") == "removed" else "")


def submit(visit: Visit) -> Response:
    """POST /desk/people: add a person, and show the first sign-in link."""
    visit.require_admin()
    name, email, role = _fields(visit)
    if problems := _problems(name, role):
        return _page(visit, 422, problems=problems)
    if visit.is_sent_again():
        return _page(visit, 409, problems={"name": SENT})
    try:
        person = visit.storage.people.add(
            name,
            email=email or None,
            role=cast("Role", role),
            site=visit.access.site,
            by=visit.access,
        )
    except ConfigurationError as error:
        return _page(visit, 422, problems=_refused(error))
    except PersonExists:
        return _page(visit, 409, problems={"email": "There is already a person with this email address."})
    return _page(visit, added=person, link=_link(visit, person))


def show_one(visit: Visit) -> Response:
    """GET /desk/people/{person}: a person, to change or remove."""
    visit.require_admin()
    return _one(visit, done="Saved." if visit.query("done") == "saved" else "")


def change(visit: Visit) -> Response:
    """POST /desk/people/{person}: save the person, create a sign-in link, or remove the person."""
    visit.require_admin()
    person = _person(visit)
    action = visit.form.get("action")
    try:
        if action == "link":
            return _one(visit, link=_link(visit, person, by=visit.access))
        if action == "remove":
            return _remove(visit, person)
        return _save(visit, person)
    except LastAdmin as error:
        return _one(visit, 409, problems={"role" if action == "save" else "confirm": f"{error}."})


def _save(visit: Visit, person: Person) -> Response:
    changed, problems = changed_fields(visit.form, _values(person))
    if problems:
        return _one(visit, 409, problems=problems, typed=changed)
    name, _, role = _fields(visit)
    if problems := _problems(name, role):
        return _one(visit, 422, problems=problems, typed=changed)
    given: dict[str, Any] = {field: value for field, value in changed.items() if value}
    try:
        visit.storage.people.change(person.id, **given, by=visit.access)
    except ConfigurationError as error:
        return _one(visit, 422, problems=_refused(error), typed=changed)
    except PersonExists:
        return _one(visit, 409, problems={"email": "Another person has this email address."}, typed=changed)
    return redirect(visit, f"/people/{person.id}?done=saved")


def _remove(visit: Visit, person: Person) -> Response:
    if visit.form.get("confirm") != "yes":
        return _one(
            visit, 422, problems={"confirm": "Nobody was removed. Tick the box to remove the person."}
        )
    now = of_values(_values(person))
    if visit.form.get("version", now) != now:
        return _one(visit, 409, problems={"confirm": CHANGED})
    with_keys = visit.form.get("with_keys") == "yes"
    visit.storage.people.remove(person.id, with_keys=with_keys, by=visit.access)
    return redirect(visit, "/people?done=removed")


def _fields(visit: Visit) -> tuple[str, str, str]:
    name, email, role = (visit.form.get(field).strip() for field in ("name", "email", "role"))
    return name, email, role


def _values(person: Person) -> dict[str, str]:
    """Return the values of the form."""
    return {"name": person.name, "email": person.email or "", "role": person.role}


def _problems(name: str, role: str) -> dict[str, str]:
    problems = dict[str, str]()
    if not name:
        problems["name"] = NAME
    if role not in ROLES:
        problems["role"] = "Choose what the person may do."
    return problems


def _refused(error: ConfigurationError) -> dict[str, str]:
    return {"email": EMAIL} if str(error).startswith("email") else {"name": NAME}


def _person(visit: Visit) -> Person:
    """Return the person in the path, who must be of this site."""
    try:
        return visit.storage.people.find(visit.part("person"), site=visit.access.site)
    except UnknownPerson:
        raise Problem(404, "not-found", "There is no such person, or the person was removed") from None


def _link(visit: Visit, person: Person, by: Access | None = None) -> str:
    return visit.urls.sign_in(visit.storage.sign_ins.create_link(person, by))


def _page(visit: Visit, status: int = 200, **context: Any) -> Response:
    typed = visit.form.get if "problems" in context else {"role": "editor"}.get
    context = {
        "people": visit.storage.people.list(visit.access.site),
        "fields": {name: typed(name, "") for name in ("name", "email", "role")},
        "link": "",
        **context,
    }
    return render(visit, "people.html", status, roles=ROLE_TEXTS, **context)


def _one(visit: Visit, status: int = 200, *, typed: dict[str, str] | None = None, **context: Any) -> Response:
    person = _person(visit)
    now = _values(person)
    context = {
        "person": person,
        "fields": now | (typed or {}),
        "version": of_values(now),
        "keys": len(visit.storage.keys.made_by_person(person.id, person.site)),
        "link": "",
        **context,
    }
    return render(visit, "person.html", status, roles=ROLE_TEXTS, **context)
