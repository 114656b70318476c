"""The choice of a site, for somebody who is signed in to several."""

from urllib.parse import quote

from starlette.responses import Response

from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.people import ROLE_TEXTS
from faqsvc_embed.service.desk.sign_in import local_path, path_of
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem

PATH = "/choose"


def ask(visit: Visit) -> Response:
    """Lead to the choice, before any page of a site.

    Raises:
        Problem: the request was a form, which can be sent again afterwards (409).
    """
    if visit.request.method == "POST":
        detail = "You are a person of several sites. Choose one in another tab, then send this again"
        raise Problem(409, "bad-request", detail)
    return redirect(visit, f"{PATH}?next={quote(path_of(visit), safe='')}")


def show(visit: Visit) -> Response:
    """GET /desk/choose: the sites of the person."""
    people = [session.person for session in visit.sessions.all(visit.request)]
    sites = [(visit.storage.sites.get(person.site), ROLE_TEXTS[person.role]) for person in people]
    return render(visit, "choose.html", sites=sites, next=visit.query("next"))


def submit(visit: Visit) -> Response:
    """POST /desk/choose: go to a page of the chosen site, whose address names the site."""
    site = visit.form.get("site")
    if site not in {session.person.site for session in visit.sessions.all(visit.request)}:
        raise Problem(404, "not-found", "You are not a person of this site")
    return redirect(visit.at(site), local_path(visit.form.get("next")))
