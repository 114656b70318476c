"""The people of a site: add, change and remove them, and create sign-in links."""

from typing import Any, Final, cast

from starlette.responses import Response

from faqsvc_embed.errors import ConfigurationError, FAQError
from faqsvc_embed.service.desk.messages import EMAIL, NAME
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.versions import of_values, save_settings
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.storage.people import LastAdmin, Person, PersonExists, Role, UnknownPerson
from faqsvc_embed.service.storage.values import Access

ROLE_TEXTS: Final = {
    "editor": "Editor: writes drafts",
    "publisher": "Publisher: also publishes and unpublishes",
    "admin": "Admin: also manages people, keys and the site, and deletes FAQs",
}
SENT: Final = "This form was sent before, and the person is in the list. Their page makes a new sign-in link."
CHANGED: Final = "Nobody was removed, because somebody changed this person since you opened the page."
UNCONFIRMED: Final = "Nobody was removed. Tick the box to remove the person."
_REFUSALS: Final = (ConfigurationError, PersonExists, LastAdmin)


def show_own(visit: Visit) -> Response:
    """GET and POST /desk/you: the signed-in person; POST creates a link for another device."""
    link = _link(visit, visit.person) if visit.request.method == "POST" else ""
    return render(visit, "you.html", roles=ROLE_TEXTS, link=link)


def show(visit: Visit, status: int = 200, *, link: str = "", **context: Any) -> Response:
    """GET /desk/people: the people, and a form for a new one."""
    visit.require("admin")
    typed = visit.form.get if "problems" in context else {"role": "editor"}.get
    context["fields"] = {name: typed(name, "") for name in ("name", "email", "role")}
    people = visit.storage.people.list(visit.access.site)
    return render(visit, "people.html", status, people=people, link=link, roles=ROLE_TEXTS, **context)


def submit(visit: Visit) -> Response:
    """POST /desk/people: add a person, and show the first sign-in link."""
    visit.require("admin")
    name, email, role = (visit.form.get(field).strip() for field in ("name", "email", "role"))
    if visit.is_sent_again():
        return show(visit, 409, problems={"name": SENT})
    try:
        person = visit.storage.people.add(
            name, email=email or None, role=cast("Role", role), site=visit.access.site, by=visit.access
        )
    except _REFUSALS as error:
        return show(visit, 422, problems=_refused(error))
    return show(visit, added=person, link=_link(visit, person))


def show_one(
    visit: Visit, status: int = 200, *, typed: dict[str, str] | None = None, **context: Any
) -> Response:
    """GET /desk/people/{person}: a person, to change or remove."""
    visit.require("admin")
    person = _person(visit)
    now = _values(person)
    keys = len(visit.storage.keys.made_by_person(person.id, person.site))
    context = {"link": "", "version": of_values(now), "fields": now | (typed or {}), "keys": keys, **context}
    return render(visit, "person.html", status, person=person, roles=ROLE_TEXTS, **context)


def change(visit: Visit) -> Response:
    """POST /desk/people/{person}: save the person, create a sign-in link, or remove the person."""
    visit.require("admin")
    person, action = _person(visit), visit.form.get("action")
    if action == "link":
        return show_one(visit, link=_link(visit, person, by=visit.access))
    if action == "remove":
        return _remove(visit, person)

    def write(changed: dict[str, Any]) -> dict[str, str]:
        try:
            visit.storage.people.change(person.id, **changed, by=visit.access)
        except _REFUSALS as error:
            return _refused(error)
        return {}

    return save_settings(visit, _values(person), write, show_one)


def _remove(visit: Visit, person: Person) -> Response:
    now = of_values(_values(person))
    if visit.form.get("confirm") != "yes":
        return show_one(visit, 422, problems={"confirm": UNCONFIRMED})
    if visit.form.get("version", now) != now:
        return show_one(visit, 409, problems={"confirm": CHANGED})
    try:
        visit.storage.people.remove(
            person.id, with_keys=visit.form.get("with_keys") == "yes", by=visit.access
        )
    except LastAdmin as error:
        return show_one(visit, 409, problems={"confirm": f"{error}."})
    return redirect(visit, "/people?done=removed")


def _values(person: Person) -> dict[str, str]:
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
        raise Problem(404, "not-found", "There is no such person, or the person was removed") from None


def _link(visit: Visit, person: Person, by: Access | None = None) -> str:
    return visit.urls.sign_in(visit.storage.sign_ins.create_link(person, by))
