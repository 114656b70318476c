"""Templates of a host in the place of ours: what they render is held only if it is the same for everyone."""

import pytest
from flask import Flask, g, render_template_string, request, session
from jinja2 import ChoiceLoader, DictLoader, Environment, FunctionLoader, PackageLoader

from faqsvc_embed import FAQ, FAQEmbed, Theme
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.rendering.renderer import Block, Look, Renderer
from faqsvc_embed.runtime.steps import Steps
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.blocks import alone

A = FAQ.from_dict(samples.pricing())
FAQ_HTML = "faqsvc/faq.html"


def host(templates: dict[str, str]) -> Environment:
    extensions = ["jinja2.ext.i18n", "jinja2.ext.debug"]
    return Environment(autoescape=True, loader=DictLoader(templates), extensions=extensions)


def may_be_held(templates: dict[str, str], environment: Environment | None = None) -> bool:
    return Renderer(environment or host(templates)).overrides().may_be_held


HELD = [
    {},
    {FAQ_HTML: "{{ title }}{% for item in items %}{{ loop.index }}{{ item.answer }}{% endfor %}"},
    {FAQ_HTML: '{% extends "faqsvc/block.html" %}{% block items %}{{ super() }}{% endblock %}'},
    {FAQ_HTML: '{% include "part.html" %}', "part.html": "{{ faq.title|upper }}{{ faq.cta is none }}"},
    {FAQ_HTML: '{% from "m.html" import m %}{{ m(faq) }}', "m.html": "{% macro m(x) %}{{ x }}{% endmacro %}"},
    {"faqsvc/details.html": "{% set n = items|length %}{{ n }}{{ group }}"},
    {FAQ_HTML: "{{ items|map(attribute='question')|map('upper')|select('string')|reject|join }}"},
    {FAQ_HTML: "{{ items|selectattr('text')|rejectattr('text', 'eq', title)|map(attribute='id')|list }}"},
    {
        FAQ_HTML: '{% from "m.html" import m with context %}{{ m() }}',
        "m.html": "{% macro m() %}{{ title }}{% endmacro %}",
    },
]
NOT_HELD = [
    {FAQ_HTML: "{{ request.args.user }}"},
    {FAQ_HTML: "{% if session.user %}{{ title }}{% endif %}"},
    {FAQ_HTML: "{{ g.user }}"},
    {FAQ_HTML: "{{ now() }}"},
    {FAQ_HTML: "{{ items|random }}"},
    {FAQ_HTML: "{{ title|translated }}"},
    {FAQ_HTML: "{{ items|map('translated')|join }}"},
    {FAQ_HTML: "{{ items|map('random')|join }}"},
    {FAQ_HTML: "{{ [[title]]|map('map', 'translated')|join }}"},
    {FAQ_HTML: "{{ items|map('trans' ~ 'lated')|join }}"},
    {FAQ_HTML: "{{ items|map(*[title])|join }}"},
    {FAQ_HTML: "{{ items|select('mine')|list }}"},
    {FAQ_HTML: "{{ items|reject('mine')|list }}"},
    {FAQ_HTML: "{{ items|selectattr('text', 'mine')|list }}"},
    {FAQ_HTML: "{{ items|rejectattr('text', title)|list }}"},
    {FAQ_HTML: "{{ items|selectattr('text', *[title])|list }}"},
    {FAQ_HTML: "{% filter map('translated') %}x{% endfilter %}"},
    {FAQ_HTML: '{% include "part.html" without context %}', "part.html": "{{ group }}"},
    {FAQ_HTML: '{% import "m.html" as m %}{{ m.v }}', "m.html": "{% set v = title ~ '' %}"},
    {FAQ_HTML: '{% from "m.html" import m %}{{ m() }}', "m.html": "{% macro m() %}{{ faq }}{% endmacro %}"},
    {
        FAQ_HTML: '{% include "part.html" %}{% import "m.html" as m %}',
        "m.html": '{% include "part.html" %}',
        "part.html": "{{ title }}",
    },
    {FAQ_HTML: '{% include "faqsvc/details.html" without context %}'},
    {FAQ_HTML: "{% if title is mine %}{% endif %}"},
    {FAQ_HTML: "{% trans %}Questions{% endtrans %}"},
    {FAQ_HTML: "{% debug %}"},
    {FAQ_HTML: '{% include "part.html" %}', "part.html": "{{ current_user }}"},
    {FAQ_HTML: '{% extends "base.html" %}', "base.html": '{% include "part.html" %}', "part.html": "{{ u }}"},
    {FAQ_HTML: '{% from "m.html" import m %}', "m.html": "{% macro m() %}{{ request }}{% endmacro %}"},
    {FAQ_HTML: "{% include 'part-' ~ variant ~ '.html' %}"},
    {"faqsvc/details.html": "{{ request.path }}"},
    {"faqsvc/block.html": "{{ request.path }}"},
    {FAQ_HTML: "{% for %}"},
]


@pytest.mark.parametrize("templates", HELD)
def test_what_depends_on_what_it_is_given_is_held(templates: dict[str, str]) -> None:
    assert may_be_held(templates)


@pytest.mark.parametrize("templates", NOT_HELD)
def test_what_may_depend_on_the_request_is_rendered_for_each_page(templates: dict[str, str]) -> None:
    environment = host(templates)
    environment.globals.update(request=object(), now=object())
    environment.filters["translated"] = environment.tests["mine"] = repr
    assert not may_be_held(templates, environment)


def test_a_filter_that_the_host_replaced_is_the_hosts() -> None:
    templates = {FAQ_HTML: "{{ title|title }}"}
    environment = host(templates)
    assert may_be_held(templates, environment)
    environment.filters["title"] = repr
    assert not may_be_held(templates, environment)


def flask_host(templates: dict[str, str], faqs: FAQEmbed | None = None) -> Flask:
    app = Flask("host")
    app.secret_key = "x"
    app.jinja_loader = DictLoader(templates)
    FAQExtension(app, embed=faqs or fake_embed({"pricing": A}))
    app.add_url_rule("/", "home", lambda: render_template_string('{% faq "pricing", schema=false %}'))
    return app


def inside(html: str) -> str:
    """Return what the template of the host made."""
    return html[html.index('dir="ltr">') + 10 : html.index("\n</section>")]


@pytest.mark.parametrize(
    "source",
    [
        "{{ request.args.user }}",
        "{{ session.user }}",
        "{{ g.user }}",
        "{{ [title]|map('user')|join }}",
        '{% from "macros.html" import m %}{{ m() }}',
    ],
)
def test_what_one_visitor_sees_no_other_does(source: str) -> None:
    app = flask_host({FAQ_HTML: source, "macros.html": "{% macro m() %}{{ group.user }}{% endmacro %}"})
    app.jinja_env.filters["user"] = lambda _: g.user
    app.jinja_env.globals["group"] = g

    @app.before_request
    def log_in() -> None:
        session["user"] = g.user = request.args["user"]

    seen = [inside(app.test_client().get(f"/?user={user}").text) for user in ("ann", "bob", "ann")]
    assert seen == ["ann", "bob", "ann"]


def test_a_block_of_the_host_that_is_the_same_for_all_is_rendered_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rendered, steps = list[str](), Renderer.steps

    def counting(self: Renderer, faq: FAQ, look: Look, ordinal: int = 1) -> Steps[Block | None]:
        rendered.append(faq.slug)
        return steps(self, faq, look, ordinal)

    monkeypatch.setattr(Renderer, "steps", counting)
    app = flask_host({FAQ_HTML: "{{ faq.slug }}"})
    assert {inside(app.test_client().get("/").text) for _ in range(3)} == {"pricing"}
    assert rendered == ["pricing"]


# Edited while the host runs


@pytest.mark.parametrize("edited", [FAQ_HTML, "part.html"])
@pytest.mark.parametrize("turned_on", ["by configuration", "after the extension was attached"])
def test_in_development_an_edited_template_is_shown_at_once(edited: str, turned_on: str) -> None:
    templates = {FAQ_HTML: 'A{% include "part.html" %}', "part.html": "B"}
    app = Flask("host")
    app.jinja_loader = DictLoader(templates)
    app.config["TEMPLATES_AUTO_RELOAD"] = True if turned_on == "by configuration" else None
    FAQExtension(app, embed=fake_embed({"pricing": A}))
    app.debug = turned_on != "by configuration"
    app.add_url_rule("/", "home", lambda: render_template_string('{% faq "pricing", schema=false %}'))
    app.add_url_rule("/plain", "plain", lambda: render_template_string('{{ faq("pricing") }}'))
    client = app.test_client()
    assert [inside(client.get(path).text) for path in ("/", "/plain", "/")] == ["AB", "AB", "AB"]
    templates[edited] = "C" if edited == "part.html" else 'C{% include "part.html" %}'
    after = "AC" if edited == "part.html" else "CB"
    assert [inside(client.get(path).text) for path in ("/plain", "/", "/")] == [after, after, after]


def test_in_production_nobody_looks_at_files_again() -> None:
    templates = {FAQ_HTML: "A"}
    app = flask_host(templates)
    before = inside(app.test_client().get("/").text)
    templates[FAQ_HTML] = "B"
    assert (before, inside(app.test_client().get("/").text)) == ("A", "A")


# Broken


@pytest.mark.parametrize("source", ["{{ 1 // 0 }}", "{% for %}", '{% include "nowhere.html" %}'])
def test_a_broken_template_is_told_of_once_until_it_changes(
    source: str, caplog: pytest.LogCaptureFixture
) -> None:  # R4, R10
    templates = {FAQ_HTML: source}
    app = flask_host(templates, fake_embed({"pricing": A, "legal": A}))
    app.jinja_env.auto_reload = True
    app.add_url_rule("/legal", "legal", lambda: render_template_string('{{ faq("legal") }}'))
    client = app.test_client()

    def told() -> int:
        pages = [client.get(path).text for path in ("/", "/legal", "/")]
        number = len([record for record in caplog.records if record.name == "faqsvc_embed"])
        caplog.clear()
        assert pages == [""] * 3
        return number

    assert [told(), told()] == [1, 0]
    templates[FAQ_HTML] = "{{ 1 // 0 }}{{ title }}"
    assert [told(), told()] == [1, 0]
    templates[FAQ_HTML] = "fine"
    assert inside(client.get("/").text) == "fine"
    templates[FAQ_HTML] = source
    assert [told(), told()] == [1, 0]


def test_our_own_templates_are_neither_looked_at_again_nor_known_to_change() -> None:
    embed, environment = fake_embed({"pricing": A}), Environment(autoescape=True)
    install(environment, embed)
    assert environment.from_string('{{ faq("pricing") }}').render() == alone(A)
    overrides = Renderer(environment).overrides()
    assert (overrides.may_be_held, overrides.may_change) == (True, False)
    environment.loader = ChoiceLoader([DictLoader({FAQ_HTML: "x"})])
    assert Renderer(environment).overrides().may_change


def test_the_templates_of_a_host_are_read_in_the_delimiters_of_the_host() -> None:
    templates = {FAQ_HTML: "<%= request.path %>"}
    environment = Environment(
        autoescape=True,
        loader=DictLoader(templates),
        variable_start_string="<%=",
        variable_end_string="%>",
        block_start_string="<%",
        block_end_string="%>",
    )
    assert not may_be_held(templates, environment)
    templates[FAQ_HTML] = "<%= faq.slug %>"
    assert may_be_held(templates, environment)


def test_a_copy_of_ours_is_the_hosts_and_shows_what_is_edited() -> None:  # T7
    ours = PackageLoader("faqsvc_embed")
    name = "faqsvc/block.html"
    templates = {name: ours.get_source(Environment(), name)[0]}  # nothing is rendered with it
    embed, environment = fake_embed({"pricing": A}), Environment(autoescape=True)
    environment.loader = DictLoader(templates)
    install(environment, embed)
    page = environment.from_string('{{ faq("pricing") }}')
    assert page.render() == alone(A)
    templates[name] = "edited"
    assert inside(page.render()) == "edited"


def test_a_host_that_keeps_no_templates_is_asked_for_each_block() -> None:  # T7
    """Its loader may know another template for each tenant."""
    tenants: list[dict[str, str]] = [{}, {FAQ_HTML: "theirs"}]
    environment = Environment(autoescape=True, cache_size=0)
    environment.loader = FunctionLoader(lambda name: tenants[0].get(name))
    renderer = Renderer(environment)
    for shown in ('\n<h2 class="faqsvc-title">', "theirs\n</section>"):
        block = renderer.block(A, Look(Theme(), True, 2))
        assert block is not None
        assert block.html.partition(">")[2].startswith(shown)
        tenants.pop(0)
