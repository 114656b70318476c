"""A small host page with a held FAQ, against the same page with the same text typed into its template."""

from collections.abc import Callable

from flask import Flask, render_template
from jinja2 import DictLoader

from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.testing import fake_embed
from tests.benchmarks.sidebyside import Timing, compare

HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title></head><body>'
    "<nav><ul>{% for name in names %}<li><a href='/{{ name }}'>{{ name }}</a></li>{% endfor %}</ul></nav>"
    "<main><h1>{{ title }}</h1><p>{{ lead }}</p>"
)
TAIL = "</main><footer>{{ title }} &middot; {{ year }}</footer></body></html>"
VALUES = {
    "title": "Bikes & more",
    "lead": "Everything about prices.",
    "names": ["home", "shop", "rent", "faq", "about"],
    "year": 2026,
}


def app_with(count: int) -> Flask:
    """Return a Flask application with one page in three ways."""
    items = [
        {
            "question": f"What about question number {n}?",
            "answer": f"It is like this & that, number {n}.\n\nAnd a second paragraph, also of number {n}.",
        }
        for n in range(count)
    ]
    embed = fake_embed({"pricing": {"title": "Pricing", "lang": "en", "items": items}})
    app = Flask("benchmark")
    FAQExtension(app, embed=embed)
    typed = str(embed.render("pricing"))
    app.jinja_env.loader = DictLoader(
        {
            "typed.html": HEAD + "{% raw %}" + typed + "{% endraw %}" + TAIL,
            "tag.html": HEAD + '{% faq "pricing" %}' + TAIL,
            "expression.html": HEAD + '{{ faq("pricing") }}' + TAIL,
        }
    )
    for name in ("typed", "tag", "expression"):
        app.add_url_rule(f"/{name}", name, lambda name=name: render_template(f"{name}.html", **VALUES))
    return app


def render(count: int = 20) -> list[Timing]:
    """Compare `render_template` within a request."""
    app = app_with(count)

    def page(name: str) -> Callable[[], str]:
        return lambda: render_template(f"{name}.html", **VALUES)

    with app.test_request_context():
        assert page("typed")() == page("tag")() == page("expression")()
        return compare(
            {
                "typed into the template": page("typed"),
                "{% faq %}": page("tag"),
                "{{ faq() }}": page("expression"),
            }
        )


def whole_request(count: int = 20) -> list[Timing]:
    """Compare whole requests in process, from the WSGI environment to the last byte."""
    app = app_with(count)
    client = app.test_client()

    def get(name: str) -> Callable[[], bytes]:
        return lambda: client.get(f"/{name}").data

    assert get("typed")() == get("tag")() == get("expression")()
    return compare(
        {"typed into the template": get("typed"), "{% faq %}": get("tag"), "{{ faq() }}": get("expression")},
        calls=30,
    )
