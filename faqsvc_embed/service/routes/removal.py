"""DELETE /api/v1/faq/{slug} and POST /api/v1/faq/{slug}/restore: unpublish, delete and restore an FAQ."""

from functools import partial
from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.contract import FAQSummary
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.conditional import preconditions, private_response
from faqsvc_embed.service.http.operation import FAQ_PATH, IF_MATCH, WRITES, Operation
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.requests import lang_of, slug_of
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.routes.list_faqs import summary
from faqsvc_embed.service.storage.values import Access

Purge = Literal["false", "true", "now"]


@Operation(
    "delete",
    FAQ_PATH,
    WRITES,
    statuses=(204,),
    scope="publish",
    query=("lang", "purge"),
    note=f"`purge=true` moves it to the bin for 30 days; `purge=now` deletes every text. {IF_MATCH}",
)
async def unpublish_faq(service: ServiceContext, request: Request, access: Access) -> Response:
    """Unpublish an FAQ or one translation; with `purge`, delete it.

    Unpublishing again succeeds and changes nothing; deleting again fails.
    """
    removal = service.storage.removal
    purge = request.query_params.get("purge", "false")
    if problems := field_problems("purge", purge, Purge):
        raise Problem.invalid(*problems, code="invalid-parameter")
    remove = {"false": removal.unpublish, "true": removal.bin, "now": removal.purge}[purge]
    arguments = (access, slug_of(request), lang_of(request), preconditions(request))
    await run_blocking(partial(remove, *arguments), limiter=service.writers)
    return Response(status_code=204, headers={"cache-control": "no-store"})


@Operation("post", f"{FAQ_PATH}/restore", WRITES, scope="publish", response=FAQSummary, note=IF_MATCH)
async def restore_faq(service: ServiceContext, request: Request, access: Access) -> Response:
    """Restore an FAQ from the bin, or publish the translations that were unpublished last."""
    slug = slug_of(request)
    restore = partial(service.storage.removal.restore, access, slug, preconditions(request))
    await run_blocking(restore, limiter=service.writers)
    faq = await run_blocking(partial(service.storage.overview.faq, access, slug))
    return private_response(summary(faq))
