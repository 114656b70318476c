"""A held FAQ in a language beyond ASCII, put in as bytes (`splice`): whole requests in process."""

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

NOTES: Final = ("goal: at most 0.85 at 20 and 0.35 at 200 questions",)
NAMES: Final = {
    "typed.html": "typed into the template",
    "tag.html": "{% faq %}",
    "expression.html": "{{ faq() }}",
}


def encoding() -> Iterator[Table]:
    """Measure an ASGI application without a framework, Starlette, and Flask, in Korean."""
    for count in COUNTS:
        embed = fake_embed({SLUG: record(count, lang="ko")}, splice=True)
        what = f"a whole request in process, {count} questions in Korean"
        yield _asgi(f"ASGI without a framework: {what}", bare_app(embed))
        yield _asgi(f"Starlette: {what}", starlette_app(embed))
        yield _flask(f"Flask: {what}", embed)


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


def _asgi(title: str, app: ASGIApp) -> Table:
    with asyncio.Runner() as runner:
        assert len({runner.run(body_of(app, f"/{name}")) for name in NAMES}) == 1
        return compare(
            title, {text: requests(runner, app, f"/{name}") for name, text in NAMES.items()}, notes=NOTES
        )


def _flask(title: str, embed: FAQEmbed) -> Table:
    app = flask_app(embed)
    assert len({b"".join(answer(app, name)) for name in NAMES}) == 1
    return compare(
        title, {text: calling(partial(answer, app, name)) for name, text in NAMES.items()}, notes=NOTES
    )
