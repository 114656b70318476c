"""A streamed page of 5,000 parts with a cached FAQ in the first, against the same text typed in."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, StreamingHttpResponse
from flask import Flask, Response, stream_template
from jinja2 import DictLoader, Environment, Template
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from faqsvc_embed.wsgi import FAQMiddleware as WSGIMiddleware
from tests.benchmarks.hostpage import SLUG, record
from tests.benchmarks.hosts import django_request, requests, respond
from tests.benchmarks.sidebyside import Contestant, calling, compare
from tests.benchmarks.tables import Table
from tests.support import django_project

ROWS = 2_500
"""Jinja yields the text and the number of each row apart."""
TABLE = "<table>{% for row in rows %}<tr><td>{{ row }}{% endfor %}</table>"
NAMES = ("typed", "faq")


def streams(is_short: bool) -> Iterator[Table]:
    """Measure a stream in each host."""
    embed, rounds = fake_embed({SLUG: record(20)}), 2 if is_short else 60
    with asyncio.Runner() as runner:
        hosts: dict[str, Callable[[], Iterator[Contestant]]] = {
            "template.generate()": partial(_jinja, embed),
            "Flask": partial(_flask, embed),
            "WSGI": partial(_wsgi, embed),
            "Starlette": partial(_starlette, embed, runner),
        }
        for name, host in hosts.items():
            yield _table(name, host(), rounds)
        with _django_project(embed):
            yield _table("Django", _django(), rounds)


def _table(host: str, contestants: Iterator[Contestant], rounds: int) -> Table:
    names = ("typed into the template", "{% faq %}")
    return compare(
        f"{host}: a stream of 5,000 parts",
        dict(zip(names, contestants, strict=True)),
        rounds=rounds,
        notes=("goal: at most 1.10",),
    )


def _pages(embed: FAQEmbed) -> DictLoader:
    typed = "{% raw %}" + str(embed.render(SLUG)) + "{% endraw %}"
    return DictLoader({"typed": typed + TABLE, "faq": f'{{% faq "{SLUG}" %}}{TABLE}'})


def _templates(embed: FAQEmbed) -> dict[str, Template]:
    environment = Environment(autoescape=True, loader=_pages(embed))
    install(environment, embed)
    return {name: environment.get_template(name) for name in NAMES}


def _parts(template: Template) -> Iterator[bytes]:
    return map(str.encode, template.generate(rows=range(ROWS)))


def _jinja(embed: FAQEmbed) -> Iterator[Contestant]:
    for template in _templates(embed).values():
        yield calling(lambda template=template: b"".join(_parts(template)))  # type: ignore[misc]


def _flask(embed: FAQEmbed) -> Iterator[Contestant]:
    app = Flask("benchmark")
    app.jinja_loader = _pages(embed)
    FAQExtension(app, embed=embed)
    for name in NAMES:
        app.add_url_rule(
            f"/{name}", name, lambda name=name: Response(stream_template(name, rows=range(ROWS)))
        )
        yield calling(partial(respond, app, name))


def _wsgi(embed: FAQEmbed) -> Iterator[Contestant]:
    templates = _templates(embed)

    def app(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
        return _parts(templates[environ["PATH_INFO"][1:]])

    behind = Flask("benchmark")
    behind.wsgi_app = WSGIMiddleware(app, embed=embed)  # type: ignore[method-assign]
    for name in NAMES:
        yield calling(partial(respond, behind, name))


def _starlette(embed: FAQEmbed, runner: asyncio.Runner) -> Iterator[Contestant]:
    templates = _templates(embed)

    async def parts(template: Template) -> Any:
        for part in template.generate(rows=range(ROWS)):
            yield part

    async def page(request: Request) -> StreamingResponse:
        return StreamingResponse(parts(templates[request.path_params["name"]]), media_type="text/html")

    app = Starlette(routes=[Route("/{name}", page)])
    app.add_middleware(FAQMiddleware, embed=embed)
    for name in NAMES:
        yield requests(runner, app, f"/{name}")


def _django_project(embed: FAQEmbed) -> Any:
    templates = _templates(embed)

    def view(request: HttpRequest, kind: str) -> StreamingHttpResponse:
        return StreamingHttpResponse(_parts(templates[kind]))

    return django_project.project(view, embed)


def _django() -> Iterator[Contestant]:
    handler = WSGIHandler()
    for name in NAMES:
        yield calling(partial(django_request, handler, name))
