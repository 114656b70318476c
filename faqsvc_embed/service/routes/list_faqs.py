"""GET /api/v1/faqs: the FAQs of a site."""

from functools import partial
from typing import cast

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.contract import LIST_PATH, FAQList, FAQSummary, State, TranslationSummary
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.conditional import etag_of, private_response
from faqsvc_embed.service.http.operation import KEYED, Operation
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.requests import lang_of, page_of
from faqsvc_embed.service.storage.overview import FAQInfo, Filter
from faqsvc_embed.service.storage.values import Access

MAX_SEARCH = 200
"""Characters of `q` that are searched for."""


@Operation(
    "get",
    LIST_PATH,
    KEYED,
    scope="read",
    response=FAQList,
    query=("q", "state", "lang", "limit", "after:faq"),
    note="`state=draft` lists every FAQ that has a draft; `state=binned` lists the bin.",
)
async def list_faqs(service: ServiceContext, request: Request, access: Access) -> Response:
    """List the FAQs of the site, the last changed first."""
    state, search = (request.query_params.get(name) for name in ("state", "q"))
    if problems := field_problems("state", state, State | None):
        raise Problem.invalid(*problems, code="invalid-parameter")
    wanted = Filter(
        search=(search or "")[:MAX_SEARCH], lang=lang_of(request), state=cast("State | None", state)
    )
    read = partial(service.storage.overview.page, access.site, wanted, **page_of(request))
    found, next_ = await service.browse(read)
    return private_response(FAQList([summary(faq) for faq in found], next_))


def summary(faq: FAQInfo) -> FAQSummary:
    """Return an FAQ as the API describes it."""
    default = faq.translations[0]
    return FAQSummary(
        slug=faq.slug,
        title=default.title,
        languages=faq.languages,
        state=faq.state,
        has_draft=faq.has_draft,
        revision=default.newest,
        etag=etag_of(default.tag),
        updated_at=faq.updated_at,
        translations=[
            TranslationSummary(one.lang, one.newest, etag_of(one.tag), one.translation_state, one.is_draft)
            for one in faq.translations
        ],
    )
