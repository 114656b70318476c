"""The page with the code that shows an FAQ on a website, and with links that show a draft for an hour."""

from typing import Final
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

_APPLICATION: Final = "Once, where the application is created:"
_JINJA: Final = "In the template, where the FAQ belongs:"


def show(visit: Visit) -> Response:
    """GET …/use: the code."""
    return _page(visit)


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
    problem, host = "", ""
    if page:
        host = _with_parameters(page, parameters | {"lang": lang})
        problem = "" if host else ADDRESS
    links = {"hosted": hosted, "host": host, "lang": lang}
    return _page(visit, 422 if problem else 200, links=links, page=page, problem=problem)


def snippets(base: str, slug: str) -> dict[str, dict[str, str]]:
    """Return the code for every framework, by the step to which it belongs."""
    published = Publication(slug)
    call = published.template
    found = {
        "Flask": {
            _APPLICATION: "from faqsvc_embed.flask import FAQExtension\n\n"
            f'FAQExtension(app, base_url="{base}")',
            _JINJA: call,
        },
        "FastAPI and Starlette": {
            _APPLICATION: "from faqsvc_embed import FAQEmbed\n"
            "from faqsvc_embed.fastapi import FAQMiddleware\n"
            "from faqsvc_embed.jinja import install\n\n"
            f'embed = FAQEmbed("{base}")\n'
            "app.add_middleware(FAQMiddleware, embed=embed)\n"
            "install(templates.env, embed)",
            _JINJA: call,
        },
        "Django": {
            "Once, in settings.py:": 'INSTALLED_APPS += ["faqsvc_embed.django"]\n'
            'MIDDLEWARE += ["faqsvc_embed.django.FAQMiddleware"]\n'
            f'FAQSVC = {{"BASE_URL": "{base}"}}',
            _JINJA: published.django_template,
        },
        "Jinja": {
            "Once, where the environment is created:": "from faqsvc_embed import FAQEmbed\n"
            "from faqsvc_embed.jinja import install\n\n"
            f'install(environment, FAQEmbed("{base}"))',
            _JINJA: call,
        },
    }
    if package := npm_package():  # only if the operator names one: npm has none of the specified name
        found["React"] = {
            "Once:": f"npm install {package}",
            "In the page:": f'import {{ FAQ }} from "{package}";\n\n<FAQ slug={{{_quoted(slug)}}} />',
        }
    found["An assistant (MCP)"] = {
        "Once, in its list of servers; it needs an API key to write:": _mcp(base),
        "Then ask the assistant:": f"Read the FAQ {_quoted(slug)} and suggest what is missing.",
    }
    return found


def _mcp(base: str) -> str:
    return (
        "{\n"
        '  "mcpServers": {\n'
        '    "faqsvc": {\n'
        '      "command": "faqsvc",\n'
        '      "args": ["mcp"],\n'
        f'      "env": {{"FAQSVC_BASE_URL": "{base}"}}\n'
        "    }\n"
        "  }\n"
        "}"
    )


def _quoted(text: str) -> str:
    """Return a string literal of Python, Jinja and JavaScript; a slug contains no backslash."""
    return '"' + text.replace('"', '\\"') + '"'


def _with_parameters(url: str, parameters: dict[str, str]) -> str:
    """Return the address of a page with parameters added; empty if it is not a web address."""
    if field_problems("", url, WebsiteURL):
        return ""
    parts = urlsplit(url)
    pairs = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in parameters]
    return urlunsplit(parts._replace(query=urlencode([*pairs, *parameters.items()])))


def _page(
    visit: Visit,
    status: int = 200,
    *,
    links: dict[str, str] | None = None,
    page: str = "",
    problem: str = "",
) -> Response:
    faq = visit.storage.overview.faq(visit.access, visit.slug)
    lang = links["lang"] if links else visit.query("lang")
    draft = Draft.of_publication(faq.slug, visit.storage.history.revision(visit.access, faq.slug, faq.lang))
    return render(
        visit,
        "use.html",
        status,
        faq=faq,
        lang=lang if faq.translation(lang) else faq.lang,
        snippets=snippets(visit.urls.base, faq.slug),
        links=links,
        page=page or draft.page_url or draft.website_url,
        problem=problem,
        hosted=visit.urls.page(faq.slug),
    )
