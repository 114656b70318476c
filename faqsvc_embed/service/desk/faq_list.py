"""The list of FAQs."""

from typing import Final, cast

from starlette.responses import Response

from faqsvc_embed.api.contract import State
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.desk.forms import number_of
from faqsvc_embed.service.desk.messages import DONE
from faqsvc_embed.service.desk.pages import render
from faqsvc_embed.service.desk.site import name_of
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.storage.overview import MAX_COUNTED, Filter

PAGE_SIZE: Final = 50
MAX_PAGES: Final = 10_000
STATES: Final = {"published": "Published", "draft": "Draft", "unpublished": "Unpublished"}


def show(visit: Visit) -> Response:
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
        site_name=name_of(visit.storage.sites.get(visit.access.site)),
        faqs=found[:PAGE_SIZE],
        wanted=wanted,
        done=DONE["binned"] if visit.query("done") == "binned" else "",
        total=min(total, MAX_COUNTED),
        is_more=total > MAX_COUNTED,
        known=visit.storage.overview.published_languages(visit.access.site),
        is_filtered=wanted != Filter(),
        states=STATES,
        page=page,
        has_next=len(found) > PAGE_SIZE,
    )
