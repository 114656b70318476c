"""The site: name, listing, quotas."""

from typing import Any

from starlette.responses import Response

from faqsvc_embed.api.fields import WebsiteURL
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.desk.draft import ADDRESS
from faqsvc_embed.service.desk.forms import completed
from faqsvc_embed.service.desk.messages import COLOR, NAME
from faqsvc_embed.service.desk.pages import render
from faqsvc_embed.service.desk.versions import of_values, save_settings
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.storage.sites import DEFAULT_NAME, MAX_NAME, Site
from faqsvc_embed.text import is_name
from faqsvc_embed.theme import Theme


def submit(visit: Visit) -> Response:
    """POST /desk/site: save the site."""
    visit.require("admin")

    def write(changed: dict[str, str]) -> dict[str, str]:
        problems, values = dict[str, str](), dict[str, Any](changed)
        if (name := changed.get("name")) is not None and not (0 < len(name) <= MAX_NAME and is_name(name)):
            problems["name"] = NAME
        if url := completed(changed.get("website_url", "")):
            values["website_url"] = url
            problems |= {"website_url": ADDRESS} if field_problems("", url, WebsiteURL) else {}
        try:
            if color := changed.get("accent_color"):
                values["accent_color"] = Theme(color).accent_color
        except ConfigurationError:
            problems["accent_color"] = COLOR
        if not problems:
            values |= {"listed": values["listed"] == "yes"} if "listed" in values else {}
            visit.storage.sites.update(visit.access, **values)
        return problems

    return save_settings(visit, _fields(visit.storage.sites.get(visit.access.site)), write, show)


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


def show(visit: Visit, status: int = 200, *, typed: dict[str, str] | None = None, **context: Any) -> Response:
    """GET /desk/site: the site."""
    site = visit.storage.sites.get(visit.access.site)
    default, now = visit.storage.writer.quota, _fields(site)
    return render(
        visit,
        "site.html",
        status,
        site=site,
        fields=now | (typed or {}),
        version=of_values(now),
        max_faqs=site.max_faqs or default.faqs,
        max_bytes=site.max_bytes or default.bytes,
        **context,
    )
