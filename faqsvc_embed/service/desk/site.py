"""The site: name, listing, quotas."""

from typing import Any

from starlette.responses import Response

from faqsvc_embed.api.fields import WebsiteURL
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.desk.draft import ADDRESS
from faqsvc_embed.service.desk.forms import completed
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.versions import changed_fields, of_values
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.storage.sites import DEFAULT_NAME, MAX_NAME, Site
from faqsvc_embed.text import is_name
from faqsvc_embed.theme import Theme

NAME = "Write a name of 1 to 100 characters, without line breaks."


def show(visit: Visit) -> Response:
    """GET /desk/site: the site."""
    return _page(visit, done="Saved." if visit.query("done") == "saved" else "")


def submit(visit: Visit) -> Response:
    """POST /desk/site: save the site."""
    visit.require_admin()
    changed, problems = changed_fields(visit.form, _fields(visit.storage.sites.get(visit.access.site)))
    if problems:
        return _page(visit, 409, problems=problems, typed=changed)
    name, url, color = (changed.get(field) for field in ("name", "website_url", "accent_color"))
    url = url and completed(url)
    if name is not None and (not name or len(name) > MAX_NAME or not is_name(name)):
        problems["name"] = NAME
    if url and field_problems("", url, WebsiteURL):
        problems["website_url"] = ADDRESS
    try:
        color = Theme(color).accent_color if color else color
    except ConfigurationError:
        problems["accent_color"] = (
            "Write a colour such as #0a7a5c or rgb(10 122 92), or a CSS name such as teal."
        )
    if problems:
        return _page(visit, 422, problems=problems, typed=changed)
    listed = changed["listed"] == "yes" if "listed" in changed else None
    visit.storage.sites.update(visit.access, name=name, listed=listed, website_url=url, accent_color=color)
    return redirect(visit, "/site?done=saved")


def name_of(site: Site) -> str:
    """Return the name of a site; it is empty before somebody gives the site one."""
    return "" if site.name == DEFAULT_NAME else site.name


def _fields(site: Site) -> dict[str, str]:
    """Return the values of the form."""
    return {
        "name": name_of(site),
        "website_url": site.website_url,
        "accent_color": site.accent_color,
        "listed": "yes" if site.is_listed else "",
    }


def _page(
    visit: Visit, status: int = 200, *, typed: dict[str, str] | None = None, **context: Any
) -> Response:
    site = visit.storage.sites.get(visit.access.site)
    default, now = visit.storage.writer.quota, _fields(site)
    context = {
        "site": site,
        "fields": now | (typed or {}),
        "version": of_values(now),
        "max_faqs": site.max_faqs or default.faqs,
        "max_bytes": site.max_bytes or default.bytes,
        **context,
    }
    return render(visit, "site.html", status, **context)
