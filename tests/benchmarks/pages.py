"""A page with a cached FAQ, against the same page with the same text typed into its template."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from wsgiref.util import setup_testing_defaults

from flask import Flask, render_template
from jinja2 import DictLoader, Environment

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.testing import fake_embed
from tests.benchmarks.hostpage import COUNTS, NAMES, SLUG, VALUES, record, templates
from tests.benchmarks.sidebyside import calling, compare
from tests.benchmarks.tables import Table

GOALS = ("goal: {% faq %} at most 1.30 with 20 questions",)


def flask_app(embed: FAQEmbed) -> Flask:
    """Return a Flask application with the page in every way."""
    app = Flask("benchmark")
    app.jinja_loader = _pages(embed)
    FAQExtension(app, embed=embed)
    for name in NAMES:
        app.add_url_rule(f"/{name}", name, partial(render_template, name, **VALUES))
    return app


def pages() -> Iterator[Table]:
    """Measure rendering alone in plain Jinja, and whole requests of Flask."""
    for count in COUNTS:
        embed = fake_embed({SLUG: record(count)})
        yield _jinja(embed, count)
        yield _whole_request(embed, count)


def _pages(embed: FAQEmbed) -> DictLoader:
    return DictLoader(templates(str(embed.render(SLUG))))


def _jinja(embed: FAQEmbed, count: int) -> Table:
    environment = Environment(autoescape=True, loader=_pages(embed))
    install(environment, embed)
    bare = Environment(autoescape=True, loader=_pages(embed))
    calls: dict[str, Callable[[], str]] = {
        NAMES[name]: partial(environment.get_template(name).render, **VALUES) for name in NAMES
    }
    calls["typed in, without faqsvc_embed"] = partial(bare.get_template("typed.html").render, **VALUES)
    assert len({call() for call in calls.values()}) == 1
    return compare(
        f"Jinja: template.render(), {count} questions",
        {name: calling(call) for name, call in calls.items()},
        notes=GOALS,
    )


def _whole_request(embed: FAQEmbed, count: int) -> Table:
    app = flask_app(embed)
    bodies = {name: b"".join(respond(app, name)) for name in NAMES}
    assert len(set(bodies.values())) == 1
    return compare(
        f"Flask: a whole request in process, from the environ to the last byte, {count} questions",
        {text: calling(partial(respond, app, name)) for name, text in NAMES.items()},
        notes=("goal: at most 1.25 with 20 questions, 1.15 with 200",),
    )


def respond(app: Flask, name: str) -> list[bytes]:
    """Return the body of a page, requested from the application in process."""
    environ: dict[str, Any] = {"PATH_INFO": f"/{name}", "HTTP_ACCEPT_LANGUAGE": "de-CH,de;q=0.9,en;q=0.8"}
    setup_testing_defaults(environ)
    response = app.wsgi_app(environ, lambda status, headers, error=None: bytes)
    try:
        return list(response)
    finally:
        response.close()  # type: ignore[attr-defined]
