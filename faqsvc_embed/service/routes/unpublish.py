"""DELETE /api/v1/faq/{slug}: unpublish an FAQ or one translation, or purge it with its history."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.conditional import preconditions
from faqsvc_embed.service.http.parameters import flag, lang_of, slug_of
from faqsvc_embed.service.http.threads import run_blocking


async def unpublish_faq(service: ServiceContext, request: Request) -> Response:
    """Unpublish or purge. Unpublishing again succeeds and changes nothing; purging again fails."""
    access = await service.auth.authenticate(request, "publish")
    writer = service.storage.writer
    remove = writer.purge if flag(request, "purge") else writer.unpublish
    arguments = (access, slug_of(request), lang_of(request), preconditions(request))
    await run_blocking(partial(remove, *arguments), limiter=service.writers)
    return Response(status_code=204, headers={"cache-control": "no-store"})
