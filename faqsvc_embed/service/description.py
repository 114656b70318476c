"""GET /openapi.json: what the service is, for programs that read that (OpenAPI 3.1)."""

from functools import cache
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.service.accepting import accepted
from faqsvc_embed.service.reading import cacheable

MEDIA_TYPE: Final = "application/json"
CACHE_CONTROL: Final = "public, max-age=3600"


async def describe(request: Request) -> Response:
    """Answer with the description, which is written by hand and tested against the service."""
    accepted(request, MEDIA_TYPE)
    return cacheable(request, _document(), MEDIA_TYPE, CACHE_CONTROL, {})


@cache
def _document() -> bytes:
    return (Path(__file__).parent / "openapi.json").read_bytes()
