"""A guest in its host: attaching changes nothing about templates and pages that show no FAQ."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, render_template_string
from jinja2 import DictLoader, Environment
from jinja2.nativetypes import NativeEnvironment
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.testing import fake_embed
from tests.support import samples

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "no autoescape": {"autoescape": False},
    "async": {"enable_async": True},
    "finalize": {"finalize": lambda value: f"[{value}]"},
    "trimmed": {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True},
    "extensions": {"extensions": ["jinja2.ext.i18n", "jinja2.ext.do", "jinja2.ext.loopcontrols"]},
    "sandbox": {"kind": SandboxedEnvironment},
    "native": {"kind": NativeEnvironment},
}
SOURCE = """
{% extends "base.html" %}{% from "macros.html" import box %}
{% block main %}
  {{ super() }} {{ box("<i>") }} {{ markup }} {{ value }} {{ value|upper }} {{ none }} {{ [markup, "<"] }}
  {% for item in items if item %}{{ loop.index }}{{ item ~ "<" }}{% else %}-{% endfor %}
  {% set html %}<b>{{ value }}</b>{% endset %}{{ html }}
  {% filter upper %}{{ value }}{% endfilter %}{% include "part.html" without context %}
{% endblock %}
"""
TEMPLATES = {
    "base.html": "<!doctype html>{% block main %}{{ value }}{% endblock %}",
    "macros.html": "{% macro box(text) %}<u>{{ text }}{{ caller is defined }}</u>{% endmacro %}",
    "part.html": "<p>{{ value }}</p>",
    "page.html": SOURCE,
}
VALUES = {"value": "<a> & b", "items": [1, 0, "<"], "markup": Markup("<em>")}


def embed() -> FAQEmbed:
    return fake_embed({"pricing": samples.pricing()})


def environment(kind: type[Environment] = Environment, **options: Any) -> Environment:
    return kind(**{"autoescape": True, "loader": DictLoader(TEMPLATES), **options})


def methods(subject: object) -> dict[str, object]:
    """Return every public method of an object, as it is now."""
    values = {name: getattr(type(subject), name) for name in dir(type(subject)) if name[0] != "_"}
    return {
        name: getattr(subject, name)
        for name, value in values.items()
        if callable(value) and not isinstance(value, type)
    }


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_a_template_without_an_faq_compiles_and_prints_as_before(options: dict[str, Any]) -> None:
    before, after = environment(**options), environment(**options)
    install(after, embed())
    for name in TEMPLATES:
        assert after.compile(TEMPLATES[name], name, raw=True) == before.compile(
            TEMPLATES[name], name, raw=True
        )
    pages = [host.get_template("page.html").render(VALUES) for host in (before, after)]
    assert (pages[0], type(pages[0])) == (pages[1], type(pages[1]))


def test_install_replaces_no_method_and_changes_only_what_jinja_offers_for_it() -> None:
    host = environment()
    before, calls = dict(vars(host)), methods(host)
    install(host, embed())
    assert (type(host), methods(host)) == (Environment, calls)
    changed = {name for name, value in vars(host).items() if before.get(name) is not value}
    assert changed == {"loader", "template_class"}


@pytest.mark.parametrize("styles", ["inline", "linked"])
def test_the_flask_extension_replaces_no_method_of_the_application(styles: str) -> None:
    app = Flask("host")
    calls, wsgi_app, handlers = methods(app), app.wsgi_app, dict(app.error_handler_spec)
    FAQExtension(app, base_url="https://faq.example", styles=styles)  # type: ignore[arg-type]
    assert methods(app) == calls
    assert (app.wsgi_app, app.error_handler_spec) == (wsgi_app, handlers)
    assert not vars(app).keys() & calls.keys()


def test_a_flask_page_without_an_faq_is_as_before() -> None:
    def make_app() -> Flask:
        app = Flask("host")
        app.jinja_env.globals.update(VALUES)
        app.add_url_rule("/", view_func=lambda: render_template_string("<p>{{ value }}</p>{{ markup }}"))
        return app

    before, after = make_app(), make_app()
    FAQExtension(after, embed=embed())
    pages = [app.test_client().get("/") for app in (before, after)]
    assert pages[0].data == pages[1].data
    assert pages[0].headers == pages[1].headers


@pytest.mark.parametrize(
    "attach",
    [
        lambda: FAQEmbed("https://faq.example"),
        lambda: install(Environment(autoescape=True), FAQEmbed("https://faq.example")),
        lambda: FAQExtension(Flask("host"), base_url="https://faq.example"),
    ],
    ids=["embed", "jinja", "flask"],
)
def test_attaching_starts_no_thread(attach: Callable[[], object]) -> None:
    before = threading.enumerate()
    kept = attach()
    assert threading.enumerate() == before
    del kept
