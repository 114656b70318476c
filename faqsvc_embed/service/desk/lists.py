"""The lists: the FAQs of a site, and for admins its audit log: who did what, and when."""

from typing import Final, cast

from starlette.responses import Response

from faqsvc_embed.api.contract import State
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.desk.forms import number_of
from faqsvc_embed.service.desk.pages import render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.storage.logs import Action, Wanted
from faqsvc_embed.service.storage.overview import MAX_COUNTED, Filter

PAGE_SIZE: Final = 50
"""FAQs, or entries of the log, on a page."""
MAX_PAGES: Final = 10_000
STATES: Final = {"published": "Published", "draft": "Draft", "unpublished": "Unpublished"}
MAX_CHOICES: Final = 100
"""Maximum number of FAQs to choose from, the last changed ones. The history of each FAQ links to its log."""
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
    page = min(number_of(visit.query("page")) or 1, MAX_PAGES)
    offset = (page - 1) * PAGE_SIZE
    found, total = visit.storage.overview.counted(
        visit.access.site, wanted, limit=PAGE_SIZE + 1, offset=offset
    )
    return render(
        visit,
        "list.html",
        site_name=visit.storage.sites.get(visit.access.site).given_name,
        faqs=found[:PAGE_SIZE],
        wanted=wanted,
        total=min(total, MAX_COUNTED),
        is_more=total > MAX_COUNTED,
        known=visit.storage.overview.published_languages(visit.access.site),
        is_filtered=wanted != Filter(),
        states=STATES,
        page=page,
        has_next=len(found) > PAGE_SIZE,
    )


def show_log(visit: Visit) -> Response:
    """GET /desk/log: the entries, newest first. The query may name one person, key or slug."""
    names = {name: visit.query(name)[:300].strip() for name in ("person", "key", "slug")}
    wanted = Wanted(visit.access.site, **{name: value for name, value in names.items() if value})
    before = number_of(visit.query("before"))
    found = visit.storage.audit.entries(wanted, limit=PAGE_SIZE + 1, before=before)
    site = visit.access.site
    keys = {key.id: key.name or key.id for key in visit.storage.keys.list(site)}
    unnamed = {one.name: one.name for one in visit.storage.people.list(site) if one.email is None}
    people = visit.storage.people.names(site) | unnamed
    faqs = visit.storage.overview.page(site, limit=MAX_CHOICES)[0]
    titles = {faq.slug: f"{faq.title.strip() or faq.slug} ({faq.slug})" for faq in faqs}
    choices = {"person": ("Person", people), "key": ("Key", keys), "slug": ("FAQ", titles)}
    return render(
        visit,
        "log.html",
        entries=found[:PAGE_SIZE],
        has_older=len(found) > PAGE_SIZE,
        names=names,
        choices=choices,
        actions=ACTIONS,
        special=SPECIAL,
        people=people,
        keys=keys,
    )
