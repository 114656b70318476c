"""Errors: a page in the reader's language for browsers, a problem document for programs."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http import problems
from faqsvc_embed.service.http.conditional import best_media_type, preferred_language
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.pages.html import content_security_policy, render_error
from faqsvc_embed.service.pages.translations import MESSAGES

HTML: Final = "text/html"
PAGE_OFFERS: Final = (HTML, "text/markdown", problems.MEDIA_TYPE)
"""The media types of an address that is a page."""
OTHER_OFFERS: Final = (problems.MEDIA_TYPE, HTML)
"""The media types of any other address: a page only for clients that name HTML, as browsers do."""

PAGE_STATUSES: Final = (404, 410, 429, 500, 503)


def error_response(
    service: ServiceContext, offers: tuple[str, ...], request: Request, problem: Problem
) -> Response:
    """Return a problem as a page if the client prefers HTML among the offers, else as a document."""
    try:
        is_page = best_media_type(request, *offers) == HTML
        base = service.urls(request).base
    except Problem:  # the client accepts none of the offers, or its Host header is invalid
        is_page, base = False, ""
    if not is_page or problem.status not in PAGE_STATUSES:
        return problem.response()
    lang = lookup(request.query_params.get("lang", "")) or preferred_language(request, LANGUAGES)
    headers = {
        "cache-control": "no-store",
        "content-language": lang,
        "content-security-policy": content_security_policy(),
        "vary": "Accept, Accept-Language",
        "x-content-type-options": "nosniff",
        **problem.headers,
    }
    texts = MESSAGES[lang]
    message = {
        404: (texts.not_found, texts.not_found_reason),
        410: (texts.gone, texts.gone_reason),
    }.get(problem.status, (texts.unavailable, texts.unavailable_reason))
    page = render_error(base, lang, problem.status, message, problem.website_url)
    return Response(page, problem.status, headers, HTML)
