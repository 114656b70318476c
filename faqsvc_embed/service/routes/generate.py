"""POST /api/v1/faq/generate: questions and answers from a website. Nothing is stored."""

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.contract import GenerateBody, GenerateResponse
from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.operation import BODIES, KEYED, Operation
from faqsvc_embed.service.storage.values import Access


@Operation(
    "post",
    f"{API_PATH}/generate",
    (400, 501, 502, 504, *KEYED, *BODIES),
    scope="draft",
    body=GenerateBody,
    response=GenerateResponse,
)
async def generate_faq(service: ServiceContext, request: Request, access: Access) -> Response:
    """Extract questions and answers from a website; nothing is stored."""
    return await service.installed_generator().respond(request, access, service.generations)
