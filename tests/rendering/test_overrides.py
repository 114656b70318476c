"""Templates of a host in the place of the package's."""

import re
from typing import Any

import pytest
from flask import Flask, g, render_template_string, request
from jinja2 import DictLoader, Environment, PackageLoader

from faqsvc_embed import FAQ, FAQEmbed, Item
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.testing import fake_embed
from tests.rendering.support import faq
from tests.support.parsed import Parsed, json_ld

FAQ_HTML = "faqsvc/faq.html"


def host(templates: dict[str, str], embed: FAQEmbed | None = None, **options: Any) -> Environment:
    environment = Environment(autoescape=True, loader=DictLoader(templates), **options)
    install(environment, embed or fake_embed({"pricing": faq()}))
    return environment


def inside(html: str) -> str:
    """Return what the template made: the content of the section."""
    start = html.index("</style>", html.index("<section")) + len("</style>")
    return re.sub("<script>.*?</script>", "", html[start : html.index("\n<script type", start)]).strip()


def shown(environment: Environment, slug: str = "pricing") -> str:
    html: str = environment.from_string(f"{{{{ faq('{slug}') }}}}").render()
    return html


def test_a_host_replaces_the_content_and_keeps_root_styles_and_json_ld() -> None:
    record = FAQ("p", title="<T>", lang="ar", items=(Item(0, "<Q>", "A\nB"),))
    template = "<dl>{% for i in items %}<dt id={{ i.id }}>{{ i.question }}<dd>{{ i.answer }}{% endfor %}</dl>"
    html = shown(host({FAQ_HTML: template}, fake_embed({"p": record})), "p")
    assert inside(html) == "<dl><dt id=faq-p--q>&lt;Q&gt;<dd><p>A<br>\nB</p></dl>"
    assert [e.tag for e in Parsed(html).tagged("section", "style", "script")] == [
        "section",
        "style",
        "script",
    ]
    assert Parsed(html).tagged("section")[0].get("dir") == "rtl"
    assert json_ld(html)[0]["mainEntity"][0]["name"] == "<Q>"


def test_a_host_fills_one_block_and_keeps_the_others() -> None:
    template = '{% extends "faqsvc/block.html" %}{% block cta %}<a>{{ faq.cta.label }}</a>{% endblock %}'
    record = FAQ("pricing", title="Prices", items=faq().items, cta={"label": "<Buy>"})
    page = Parsed(shown(host({FAQ_HTML: template}, fake_embed({"pricing": record}))))
    assert page.texts("faqsvc-question") == ["What?", "How?"]
    assert [e.text for e in page.tagged("a")] == ["<Buy>"]


@pytest.mark.parametrize("variant", ["details", "disclosure", "open"])
def test_each_variant_has_a_template_that_a_host_can_replace(variant: str) -> None:
    name = "details" if variant == "details" else "open"
    mine = {f"faqsvc/{name}.html": "{% for item in items %}<hr>{{ item.question }}{% endfor %}"}
    html = shown(host(mine, fake_embed({"pricing": faq()}, variant=variant)))  # type: ignore[arg-type]
    assert inside(html).endswith("</h2><hr>What?<hr>How?")


def test_every_documented_variable_is_there() -> None:
    template = (
        "{{ faq.slug }}|{{ faq.website_name }}|{{ title }}|{{ title_level }}|{{ question_level }}|"
        "{{ variant }}|{{ group }}|{% for item in items %}{{ item.id }}={{ item.text }};{% endfor %}"
    )
    html = shown(host({FAQ_HTML: template}, fake_embed({"pricing": faq()}, exclusive=True, heading_level=4)))
    assert inside(html) == (
        "pricing||Prices|4|5|details|faq-pricing|faq-pricing--what=Nothing.;faq-pricing--how=So.;"
    )


def test_without_autoescape_an_override_is_escaped() -> None:
    environment = Environment(loader=DictLoader({FAQ_HTML: "{{ title }}{{ items[0].answer }}"}))
    install(environment, fake_embed({"pricing": faq(title="<T>")}))
    assert inside(shown(environment)) == "&lt;T&gt;<p>Nothing.</p>"


def test_filters_and_globals_of_the_host_work_in_its_override_and_its_finalize_function_does_not() -> None:
    def in_lower_case(value: object) -> object:
        return value.lower() if type(value) is str else value

    environment = host({FAQ_HTML: "{{ shout(title) | twice }}"}, finalize=in_lower_case)
    environment.globals["shout"] = str.upper
    environment.filters["twice"] = lambda text: text * 2
    assert inside(shown(environment)) == "PRICESPRICES"


def test_an_override_is_written_in_the_delimiters_of_the_host() -> None:
    environment = Environment(
        autoescape=True,
        loader=DictLoader(
            {FAQ_HTML: '<% include "part.html" %><%= faq.slug %>', "part.html": "<%= title %>"}
        ),
        variable_start_string="<%=",
        variable_end_string="%>",
        block_start_string="<%",
        block_end_string="%>",
    )
    install(environment, fake_embed({"pricing": faq()}))
    assert inside(environment.from_string("<%= faq('pricing') %>").render()) == "Pricespricing"


def test_what_an_override_captures_stays_markup() -> None:
    macro = "{% macro hr(text) %}<hr>{{ text }}{% endmacro %}{{ hr('<i>') }}{{ hr(items[0].answer) }}"
    capture = "{% set html %}<b>{{ title }}</b>{% endset %}{{ html }}{{ html ~ '<u>' }}{{ html | e }}"
    html = shown(host({FAQ_HTML: macro + capture}, fake_embed({"pricing": faq(title="<T>")})))
    title = "<b>&lt;T&gt;</b>"
    assert inside(html) == f"<hr>&lt;i&gt;<hr><p>Nothing.</p>{title}{title}&lt;u&gt;{title}"


def test_an_override_that_prints_a_lone_surrogate_can_be_encoded() -> None:
    environment = host({FAQ_HTML: "{{ x }}"})
    environment.globals["x"] = "\ud800"
    assert inside(shown(environment).encode().decode()) == "?"


# For each page, or cached


def flask_host(templates: dict[str, str], **settings: Any) -> Flask:
    app = Flask("host")
    app.jinja_loader = DictLoader(templates)
    FAQExtension(app, embed=fake_embed({"pricing": faq(), "legal": faq(slug="legal")}, **settings))
    for slug in ("pricing", "legal"):
        source = f'{{{{ faq("{slug}") }}}}'
        app.add_url_rule(f"/{slug}", slug, lambda source=source: render_template_string(source))
    return app


@pytest.mark.parametrize(
    "source",
    [
        "{{ request.args.user }}",
        "{{ g.user }}",
        "{{ [title]|map('user')|join }}",
        '{% include "part.html" %}',
        '{% from "macros.html" import m %}{{ m() }}',
    ],
)
def test_what_one_visitor_sees_no_other_does(source: str) -> None:
    parts = {"part.html": "{{ g.user }}", "macros.html": "{% macro m() %}{{ group.user }}{% endmacro %}"}
    app = flask_host({FAQ_HTML: source, **parts})
    app.jinja_env.filters["user"] = lambda _: g.user
    app.jinja_env.globals["group"] = g

    @app.before_request
    def log_in() -> None:
        g.user = request.args["user"]

    client = app.test_client()
    assert [inside(client.get(f"/pricing?user={user}").text) for user in ("ann", "bob")] == ["ann", "bob"]


@pytest.mark.parametrize(("cache_overrides", "count"), [(False, 3), (True, 1)])
def test_an_override_is_rendered_for_each_page_unless_the_host_lets_it_be_cached(
    cache_overrides: bool, count: int
) -> None:
    app = flask_host({FAQ_HTML: "{{ count(title) }}"}, cache_overrides=cache_overrides)
    calls = list[str]()
    app.jinja_env.globals["count"] = calls.append
    for _ in range(3):
        app.test_client().get("/pricing")
    assert len(calls) == count


@pytest.mark.parametrize("edited", [FAQ_HTML, "part.html"])
def test_in_development_an_edited_template_is_shown_at_once(edited: str) -> None:
    templates = {FAQ_HTML: 'A{% include "part.html" %}', "part.html": "B"}
    app = flask_host(templates)
    app.jinja_env.auto_reload = True
    client = app.test_client()
    assert inside(client.get("/pricing").text) == "AB"
    templates[edited] = "C"
    assert inside(client.get("/pricing").text) == {FAQ_HTML: "C", "part.html": "AC"}[edited]


def test_a_copy_of_the_packages_template_renders_the_same() -> None:
    package, plain = PackageLoader("faqsvc_embed"), shown(host({}))
    for name in ("block", "details"):
        source = package.get_source(Environment(autoescape=True), f"faqsvc/{name}.html")[0]
        assert shown(host({f"faqsvc/{name}.html": source})) == plain


# Broken


@pytest.mark.parametrize("source", ["{{ 1 // 0 }}", "{% for %}", '{% include "nowhere.html" %}'])
def test_a_broken_override_costs_the_faq_and_not_the_page(
    source: str, caplog: pytest.LogCaptureFixture
) -> None:
    templates = {FAQ_HTML: source}
    client = flask_host(templates).test_client()
    for path in ("/pricing", "/pricing", "/pricing"):
        response = client.get(path)
        assert (response.status_code, response.text) == (200, "")
    (record,) = [record for record in caplog.records if record.name == "faqsvc_embed"]
    assert record.exc_info is not None
