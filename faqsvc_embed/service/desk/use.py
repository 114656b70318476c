"""The page with the code that shows an FAQ on a website, and with links that show a draft for an hour."""

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from starlette.responses import Response

from faqsvc_embed.api.contract import PREVIEW_PARAMETER
from faqsvc_embed.api.fields import WebsiteURL
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.service.config import npm_package
from faqsvc_embed.service.desk.draft import ADDRESS, Draft
from faqsvc_embed.service.desk.forms import completed
from faqsvc_embed.service.desk.pages import render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.wire import Publication


def show(
    visit: Visit, status: int = 200, *, links: dict[str, str] | None = None, page: str = "", **context: Any
) -> Response:
    """GET …/use: the code."""
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    lang = links["lang"] if links else visit.query("lang")
    draft = Draft.of_revision(visit.revision(faq.slug, faq.lang))
    context |= {
        "faq": faq,
        "lang": lang if faq.translation(lang) else faq.lang,
        "base": visit.urls.base,
        "code": Publication(faq.slug),
        "package": npm_package(),  # only if the operator names one: npm has none of the specified name
        "links": links,
        "page": page or draft.page_url or draft.website_url,
        "hosted": visit.urls.page(faq.slug),
    }
    return render(visit, "use.html", status, **context)


def create_preview(visit: Visit) -> Response:
    """POST …/use: links that show the newest revisions, drafts included, for an hour."""
    lang = visit.form.get("lang")
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    if faq.translation(lang) is None:
        lang = faq.lang
    token, _ = visit.storage.history.create_preview(visit.access, faq.slug, lang)
    parameters = {PREVIEW_PARAMETER: token}
    hosted = f"{visit.urls.page(faq.slug)}?{urlencode(parameters | {'lang': lang})}"
    page = completed(visit.form.get("page").strip())
    host = _with_parameters(page, parameters | {"lang": lang}) if page else ""
    links = {"hosted": hosted, "host": host, "lang": lang}
    problems = {} if host or not page else {"page": ADDRESS}
    return show(visit, 422 if problems else 200, links=links, page=page, problems=problems)


def _with_parameters(url: str, parameters: dict[str, str]) -> str:
    """Return the address of a page with parameters added; empty if it is not a web address."""
    if field_problems("", url, WebsiteURL):
        return ""
    parts = urlsplit(url)
    pairs = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in parameters]
    return urlunsplit(parts._replace(query=urlencode([*pairs, *parameters.items()])))
