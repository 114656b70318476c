"""Held FAQs as bytes (`splice`): whole requests in process, in English and in a language beyond ASCII."""

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Final

from jinja2 import DictLoader, Environment
from starlette.types import ASGIApp, Receive, Scope, Send

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.benchmarks.asgi import body_of, requests, starlette_app
from tests.benchmarks.hostpage import COUNTS, SLUG, VALUES, record, templates
from tests.benchmarks.pages import answer, flask_app
from tests.benchmarks.sidebyside import calling, compare
from tests.benchmarks.tables import Table

LANGUAGES: Final = {"en": "English", "ko": "Korean"}
NOTES: Final = ("goal: spliced at most 0.85 at 20 and 0.35 at 200 questions",)
TYPED: Final = "typed into the template"
TAG: Final = "{% faq %}"
SPLICED: Final = "{% faq %}, spliced"


def splicing() -> Iterator[Table]:
    """Measure an ASGI application without a framework, Starlette, and Flask."""
    for lang, language in LANGUAGES.items():
        for count in COUNTS:
            faqs = {SLUG: record(count, lang=lang)}
            plain, spliced = fake_embed(faqs), fake_embed(faqs, splice=True)
            what = f"a whole request in process, {count} questions in {language}"
            yield _asgi(f"ASGI without a framework: {what}", bare_app(plain), bare_app(spliced))
            yield _asgi(f"Starlette: {what}", starlette_app(plain), starlette_app(spliced))
            yield _flask(f"Flask: {what}", plain, spliced)


def bare_app(embed: FAQEmbed) -> ASGIApp:
    """Return an application that renders the page of its path, and does nothing else."""
    environment = Environment(autoescape=True, loader=DictLoader(templates(str(embed.render(SLUG)))))
    install(environment, embed)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = environment.get_template(scope["path"][1:]).render(**VALUES).encode()
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return FAQMiddleware(app, embed=embed)


def _asgi(title: str, plain: ASGIApp, spliced: ASGIApp) -> Table:
    ways = {TYPED: (plain, "/typed.html"), TAG: (plain, "/tag.html"), SPLICED: (spliced, "/tag.html")}
    with asyncio.Runner() as runner:
        assert len({runner.run(body_of(app, path)) for app, path in ways.values()}) == 1
        return compare(
            title, {name: requests(runner, app, path) for name, (app, path) in ways.items()}, notes=NOTES
        )


def _flask(title: str, plain: FAQEmbed, spliced: FAQEmbed) -> Table:
    ways = {
        TYPED: partial(answer, flask_app(plain), "typed.html"),
        TAG: partial(answer, flask_app(plain), "tag.html"),
        SPLICED: partial(answer, flask_app(spliced), "tag.html"),
    }
    assert len({b"".join(way()) for way in ways.values()}) == 1
    return compare(title, {name: calling(way) for name, way in ways.items()}, notes=NOTES)
