"""The site: name, listing, quotas."""

from starlette.responses import Response

from faqsvc_embed.api.fields import WebsiteURL
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.desk.draft import ADDRESS
from faqsvc_embed.service.desk.pages import redirect, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.storage.sites import MAX_NAME
from faqsvc_embed.theme import Theme

NAME = "A name must have 1 to 100 characters, without line breaks."


def show(visit: Visit) -> Response:
    """GET /desk/site: the site."""
    return _page(visit, done="Saved." if visit.query("done") == "saved" else "")


def submit(visit: Visit) -> Response:
    """POST /desk/site: save the site."""
    visit.require_admin()
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
    visit.storage.sites.update(visit.access, name=name, listed=listed, website_url=url, accent_color=color)
    return redirect(visit, "/site?done=saved")


def _page(
    visit: Visit, status: int = 200, *, problems: dict[str, str] | None = None, done: str = ""
) -> Response:
    site = visit.storage.sites.get(visit.access.site)
    default = visit.storage.writer.quota
    return render(
        visit,
        "site.html",
        status,
        site=site,
        max_faqs=site.quota.faqs or default.faqs,
        max_bytes=site.quota.bytes or default.bytes,
        problems=problems or {},
        done=done,
    )
