"""A page with cached FAQs against the same text typed in, once and twice: the best of rotated rounds."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse
from django.template import engines
from jinja2 import DictLoader, Environment
from starlette.responses import Response
from starlette.types import ASGIApp

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.benchmarks.hostpage import HEAD, TAIL, VALUES, record
from tests.benchmarks.hosts import django_request, flask_app, requests, respond, starlette_app
from tests.benchmarks.sidebyside import Contestant, calling, compare, in_rounds
from tests.benchmarks.tables import Table
from tests.support import django_project

COUNTS = (20, 200)

Contestants = dict[str, Contestant]


def typed_in(is_short: bool) -> Iterator[Table]:
    """Measure a template of Jinja, whole requests of each framework in process, and pages without an FAQ."""
    rounds = 2 if is_short else 120
    for count in COUNTS[: 1 if is_short else None]:
        embed = fake_embed({slug: record(count, slug) for slug in ("one", "two")}, lang="en")
        columns = {"typed in, µs": ".1f", "tag, µs": ".1f", "tag": ".2f", "expression": ".2f", "two": ".2f"}
        notes = ("tag, expression: ratio to the same text typed in; two: two tags, to it typed in twice",)
        table = Table(f"{count} questions, best of {rounds} rounds", columns, notes=notes)
        hosts: dict[str, Callable[[FAQEmbed], Iterator[Contestants]]] = {
            "Jinja": _jinja,
            "Flask": _flask,
            "Starlette": _starlette,
            "Django": _django,
        }
        for host, contestants in hosts.items():
            for pages in contestants(embed):
                seconds = in_rounds(pages, rounds)
                best = {name: min(seconds[name]) * 1e6 for name in pages}
                table.add(
                    host,
                    best["typed"],
                    best["tag"],
                    best["tag"] / best["typed"],
                    best.get("expression", float("nan")) / best["typed"],
                    best["two"] / best["typed-twice"],
                )
        yield table
    yield _without_faqs(rounds)


def _sources(embed: FAQEmbed, raw: str = "raw") -> dict[str, str]:
    """Return the page in every way, as templates."""
    with embed.page():
        typed = [str(embed.render(slug)) for slug in ("one", "two")]
    parts = {
        "typed": f"{{% {raw} %}}{typed[0]}{{% end{raw} %}}",
        "tag": '{% faq "one" %}',
        "typed-twice": f"{{% {raw} %}}{typed[0]}{typed[1]}{{% end{raw} %}}",
        "two": '{% faq "one" %}{% faq "two" %}',
        "expression": '{{ faq("one") }}',
    }
    return {name: HEAD + part + TAIL for name, part in parts.items()}


def _jinja(embed: FAQEmbed) -> Iterator[Contestants]:
    environment = Environment(autoescape=True, loader=DictLoader(_sources(embed)))
    install(environment, embed)
    templates = {name: environment.get_template(name) for name in _sources(embed)}
    assert templates["two"].render(VALUES) == templates["typed-twice"].render(VALUES)
    yield {name: calling(partial(template.render, **VALUES)) for name, template in templates.items()}


def _flask(embed: FAQEmbed) -> Iterator[Contestants]:
    app = flask_app(embed, _sources(embed))
    yield {name: calling(partial(respond, app, name)) for name in _sources(embed)}


def _starlette(embed: FAQEmbed) -> Iterator[Contestants]:
    app = starlette_app(embed, _sources(embed))
    with asyncio.Runner() as runner:
        yield {name: requests(runner, app, f"/{name}") for name in _sources(embed)}


def _django(embed: FAQEmbed) -> Iterator[Contestants]:
    sources = {name: source for name, source in _sources(embed, "verbatim").items() if name != "expression"}
    engine = engines["django"]
    pages = {name: engine.from_string("{% load faqsvc %}" + source) for name, source in sources.items()}

    def view(asked: HttpRequest, kind: str) -> HttpResponse:
        return HttpResponse(pages[kind].render(dict(VALUES), asked))

    with django_project.project(view, embed):
        handler = WSGIHandler()
        yield {name: calling(partial(django_request, handler, name)) for name in sources}


def _without_faqs(rounds: int) -> Table:
    """Measure what the middleware costs a page without an FAQ."""
    response = Response("<h1>Prices</h1>", media_type="text/html")
    with asyncio.Runner() as runner:
        apps: dict[str, ASGIApp] = {
            "none": response,
            "FAQMiddleware": FAQMiddleware(response, embed=fake_embed({})),
        }
        title = "A page without an FAQ: one response, behind which middleware"
        return compare(title, {name: requests(runner, app) for name, app in apps.items()}, rounds=rounds)
