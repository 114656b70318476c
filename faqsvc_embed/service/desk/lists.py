"""The lists: the FAQs of a site, and for admins its audit log: who did what, and when."""

from typing import Final, cast

from starlette.responses import Response

from faqsvc_embed.api.contract import State
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.desk.pages import PAGE_SIZE, render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.storage.logs import Action, Wanted
from faqsvc_embed.service.storage.overview import Filter

STATES: Final = {"published": "Published", "draft": "Draft", "unpublished": "Unpublished"}
ACTIONS: Final[dict[Action, str]] = {
    "draft": "Saved a draft",
    "discard": "Discarded a draft",
    "publish": "Published",
    "unpublish": "Unpublished",
    "purge": "Deleted for ever",
    "restore": "Published again",
    "sign-in": "Signed in",
    "sign-in-link": "Made a sign-in link",
    "key-create": "Made a key",
    "key-rotate": "Replaced a key",
    "key-revoke": "Revoked a key",
    "person-create": "Added a person",
    "person-set": "Changed a person",
    "person-remove": "Removed a person",
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


def show_faqs(visit: Visit) -> Response:
    """GET: the FAQs of the site, the last changed first, fifty on a page."""
    lang, state = visit.query("lang"), visit.query("state")
    wanted = Filter(
        search=visit.query("q")[:200].strip(),
        lang=cast("Lang", lang) if lang in LANGUAGES else None,
        state=cast("State", state) if state in STATES else None,
    )
    site, overview = visit.storage.sites.get(visit.access.site), visit.storage.overview
    found, next_ = overview.page(site.id, wanted, limit=PAGE_SIZE, after=visit.after)
    is_filtered = wanted != Filter()
    return render(
        visit,
        "list.html",
        site_name=site.given_name,
        faqs=found,
        wanted=wanted,
        total=site.faq_count if not is_filtered else 0 if visit.after else len(found),
        is_more=is_filtered and next_,
        known=overview.published_languages(site.id) if found else [],
        is_filtered=is_filtered,
        states=STATES,
        next=next_,
    )


def show_log(visit: Visit) -> Response:
    """GET /desk/log: the entries, newest first. The query may name one person, key or slug."""
    names = {name: visit.query(name)[:300].strip() for name in ("person", "key", "slug")}
    wanted = Wanted(visit.access.site, **{name: value for name, value in names.items() if value})
    found, next_ = visit.storage.audit.entries(wanted, limit=PAGE_SIZE, after=visit.after)
    site = visit.access.site
    keys = {key.id: key.name or key.id for key in visit.storage.keys.list(site)}
    people = visit.storage.people.names(site)
    choices = {"person": ("Person", people), "key": ("Key", keys)}
    return render(
        visit,
        "log.html",
        entries=found,
        next=next_,
        names=names,
        choices=choices,
        actions=ACTIONS,
        special=SPECIAL,
        people=people,
        keys=keys,
    )
