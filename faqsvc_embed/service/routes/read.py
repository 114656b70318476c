"""GET /api/v1/faq/{slug}: read a published FAQ. The response is public and cacheable for an hour."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.contract import PREVIEW_HEADER, REVISION_HEADER, Record
from faqsvc_embed.errors import quoted
from faqsvc_embed.languages import lookup
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.conditional import best_media_type, conditional_response
from faqsvc_embed.service.http.operation import FAQ_PATH, READS, Operation
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.requests import lang_of, slug_of
from faqsvc_embed.service.http.response_cache import Selection
from faqsvc_embed.service.http.threads import run_blocking

CACHE_CONTROL: Final = "public, max-age=3600"  # like the default of the setting `fresh_for`
MEDIA_TYPE: Final = "application/json"


@Operation(
    "get",
    FAQ_PATH,
    (403, *READS),
    response=Record,
    query=("lang",),
    headers=(PREVIEW_HEADER,),
    cached=Selection((MEDIA_TYPE,), {"lang": lambda lang: lookup(lang) or lang}, has_urls=False),
)
async def read_faq(service: ServiceContext, request: Request) -> Response:
    """Read an FAQ, in its default language unless `lang` is available."""
    best_media_type(request, MEDIA_TYPE)
    slug, lang = slug_of(request), lang_of(request)
    if (token := request.headers.get(PREVIEW_HEADER)) is not None:
        return await _preview(service, token, slug, lang)
    publication = await run_blocking(service.storage.publications.get, slug, lang)
    if publication is None:
        raise Problem(404, "not-found", f"No FAQ has the slug {quoted(slug)}")
    headers = {"cache-control": CACHE_CONTROL, "content-language": publication.lang, "vary": PREVIEW_HEADER}
    headers[REVISION_HEADER] = str(publication.number)
    headers |= service.tags(slug)
    body = publication.record.encode()
    return conditional_response(request, body, MEDIA_TYPE, headers, digest=publication.digest)


async def _preview(service: ServiceContext, token: str, slug: str, lang: str | None) -> Response:
    """Return the newest revision, which may be a draft."""
    draft = await run_blocking(service.storage.history.preview, token, slug, lang)
    if draft is None:
        raise Problem(403, "invalid-preview", "The preview token has expired, or is for another FAQ")
    headers = {
        "cache-control": "no-store",
        "vary": PREVIEW_HEADER,
        "content-language": draft.lang,
        "x-robots-tag": "noindex",
        "x-content-type-options": "nosniff",
    }
    return Response(draft.record.encode(), 200, headers, MEDIA_TYPE)
