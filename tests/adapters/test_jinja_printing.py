"""What templates print is not copied as Jinja copies it, and means what it means in Jinja all the same."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from jinja2 import (
    DictLoader,
    Environment,
    StrictUndefined,
    Template,
    TemplateSyntaxError,
    UndefinedError,
    pass_context,
)
from jinja2.nativetypes import NativeEnvironment, NativeTemplate
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from markupsafe import Markup

from faqsvc_embed.jinja import install
from faqsvc_embed.page import context as pages
from faqsvc_embed.page.context import Page
from faqsvc_embed.testing import fake_embed
from tests.support import samples

MACROS = {
    "macros.html": "{% macro faq(what, loud=false) %}<b>{{ what }}{{ '!' if loud }}</b>{% endmacro %}"
    "{% macro bare(what) %}{{ faq(what) }}{% endmacro %}"
}


def environment(kind: type[Environment] = Environment, **options: Any) -> Environment:
    """Return a host's environment with FAQs in it; `options` are Jinja's."""
    host = kind(**{"autoescape": True, "loader": DictLoader(MACROS), **options})
    install(
        host, fake_embed({"pricing": samples.pricing(), "legal": samples.record("legal", ("Who?", "We."))})
    )
    return host


def rendered(host: Environment, source: str, given: Mapping[str, Any], *, by_jinja: bool = False) -> Any:
    """Return what a page is rendered to, by templates as they are or by Jinja's own."""
    if by_jinja:
        host = host.overlay()
        host.template_class = NativeTemplate if isinstance(host, NativeEnvironment) else Template
    token = pages.begin(Page())
    try:
        return host.from_string(source).render(**given)
    finally:
        pages.end(token)


@pass_context
def reading(context: Context, *_: object) -> object:
    """Return what a function of the host's sees of a variable of the template's."""
    return context.get("v", "nothing")


@pytest.mark.parametrize(
    "source",
    [
        '{{ faq("pricing") }}',
        '{{ faq(slug="pricing", heading_level=3) }}',
        "{{ faq('pricing', **{'show_title': false}) }} {{ faq(*['legal']) }}",
        '<p>  {{- faq("pricing") -}}  </p>',
        '{{ faq("pricing") }}{{ faq("pricing") }}{{ faq("legal") }}',
        '{{ faq("pricing") if true else faq("legal") }} {{ faq("legal") if false }}',
        '{{ faq("pricing") ~ "<i>" }} {{ faq("pricing")|length }} {{ faq("legal")|upper }}',
        '{{ faq("legal"), 1 }} {{ faq("legal").striptags() }}',
        '{% for slug in ["pricing", "legal"] %}{{ faq(slug) }}{{ loop.index }}{% endfor %}',
        '{% set html %}{{ faq("legal") }}{% endset %}[{{ html }}]',
        '{% filter upper %}{{ faq("legal") }}{% endfilter %}',
        '{% autoescape false %}{{ faq("legal") }}{% set faq = cycle %}{{ faq("<i>") }}{% endautoescape %}',
        '{% set faq = cycle %}{{ faq("<i>") }}{% macro f() %}{{ faq("x") }}{% endmacro %}{{ f() }}',
        '{% for faq in [cycle] %}{{ faq("<i>") }}{% endfor %}{{ faq("legal") }}',
        '{% macro m(faq) %}{{ faq("<i>") }}{% endmacro %}{{ m(cycle) }}',
        '{% from "macros.html" import faq, bare %}{{ faq("<i>", loud=true) }}{{ bare("x") }}',
        '{% from "faqsvc/macros.html" import faq %}{{ faq("pricing", theme={"accent": "#006655"}) }}',
        '{% block main %}{{ faq("pricing") }}{% endblock %}{{ self.main() }}',
        "{{ cycle(1) }}{{ bold }}{{ n }}{{ '<i>' }}{{ none }}{{ bold ~ '<' }}{{ [bold, '<'] }}{{ '\\'' }}",
        "{% set faq = cycle %}{% macro m(x) %}{{ faq(x) }}{% endmacro %}"
        '{% autoescape false %}{{ m("<b>") }}{% block b %}{{ cycle("b") }}{% endblock %}{% endautoescape %}',
        '{% for i in [1] %}{% set v = "<b>" %}{{ reading() }}{{ faq(reading()) }}{% endfor %}',
        '{% block b %}{% set v = "pricing" %}{{ faq(reading()) }}{% endblock %}',
        '{% block b %}{% set csp_nonce = "n" %}{{ faq("legal") }}{% endblock %}',
        "{% set faq = reading %}{% for i in [1] %}{% set v = 3 %}{{ faq() }}{% endfor %}",
        '{{ faqsvc.faq("pricing") }}{{ faqsvc.use_faq("legal").data.title }}{{ faqsvc.faq_schema() }}',
    ],
)
@pytest.mark.parametrize("autoescape", [True, False])
def test_a_template_prints_what_jinja_prints(source: str, autoescape: bool) -> None:
    given = {"cycle": lambda text: f"<u>{text}</u>", "reading": reading, "bold": Markup("<b>"), "n": 7}
    host = environment(autoescape=autoescape)
    shown = rendered(host, source, given)
    assert (type(shown), shown) == (str, rendered(host, source, given, by_jinja=True))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (SandboxedEnvironment, {}),
        (NativeEnvironment, {}),
        (Environment, {"finalize": lambda value: f"[{value}]"}),
        (Environment, {"enable_async": True}),
        (Environment, {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}),
        (
            Environment,
            {"variable_start_string": "${", "variable_end_string": "}", "line_statement_prefix": "%"},
        ),
        (Environment, {"extensions": ["jinja2.ext.i18n", "jinja2.ext.do", "jinja2.ext.loopcontrols"]}),
    ],
)
def test_a_template_prints_what_jinja_prints_in_any_environment(
    kind: type[Environment], options: Mapping[str, Any]
) -> None:
    host = environment(kind, **options)
    source = '<main>\n  {{ faq("pricing") }}\n  {{ faq("legal") }}\n {{ text }} {{ 7 }}</main>\n'
    if "variable_start_string" in options:
        source = source.replace("{{", "${").replace("}}", "}")
    given = {"text": "<i>"}
    assert rendered(host, source, given) == rendered(host, source, given, by_jinja=True)


@pytest.mark.parametrize(
    "source",
    ['{{ faq("a" }}', '{{ faq("a") %}', "{{ faq( }}", '\n{{ faq("a"', '{{ faq("a") b }}', "{{ faq(a=) }}"],
)
def test_a_mistake_in_a_call_is_told_in_the_words_of_jinja(source: str) -> None:
    with pytest.raises(TemplateSyntaxError) as plain:
        Environment(autoescape=True).from_string(source)
    with pytest.raises(TemplateSyntaxError) as ours:
        environment().from_string(source)
    assert (str(ours.value), ours.value.lineno) == (str(plain.value), plain.value.lineno)


def test_what_a_call_of_the_hosts_own_raises_names_its_line() -> None:
    source = "<p>\n\n{{ faq(missing.part) }}"
    with pytest.raises(UndefinedError, match="'missing' is undefined") as raised:
        environment(undefined=StrictUndefined).from_string(source).render()
    in_template = [
        entry for entry in raised.traceback if str(entry.frame.code.raw.co_filename) == "<template>"
    ]
    assert [entry.lineno + 1 for entry in in_template] == [3]


@pytest.mark.parametrize("call", ['{{ faq("legal") }}', '{% faq "legal" %}', '{{ faqsvc.faq("legal") }}'])
@pytest.mark.parametrize(
    "source",
    [
        "{% extends base %}CALL",
        "{% extends base %}CALL{% block main %}<p>{% endblock %}CALL",
        "{% if base %}{% extends base %}{% endif %}CALL",
        "{% if not base %}{% extends base %}{% endif %}CALL{% block main %}CALL{% endblock %}",
        "CALL{% extends base %}",
        "{% extends base %}{% block main %}{% block inner %}CALL{% endblock %}CALL{% endblock %}",
        "{% extends base %}{% macro m() %}CALL{% endmacro %}{% block main %}{{ m() }}{% endblock %}",
        "{% extends base %}{% set html %}CALL{% endset %}{% block main %}{{ super() }}{% endblock %}",
        "{% extends base %}{% for n in [1] %}CALL{% endfor %}{% if true %}CALL{% endif %}",
    ],
)
@pytest.mark.parametrize("is_async", [False, True])
def test_a_template_that_extends_another_prints_nothing_outside_of_its_blocks(
    source: str, call: str, is_async: bool
) -> None:
    templates = {"base": "<!doctype html>{% block main %}{% endblock %}<footer>"}
    host = environment(loader=DictLoader(templates), enable_async=is_async)
    plain = Environment(autoescape=True, loader=DictLoader(templates))
    plain.globals["faq"] = lambda slug: "FAQ"
    expected = plain.from_string(source.replace("CALL", '{{ faq("legal") }}')).render(base="base")
    assert in_short(host.from_string(source.replace("CALL", call)).render(base="base")) == expected


def in_short(html: str) -> str:
    """Write an FAQ as `FAQ`, without its styles and its JSON-LD."""
    html = re.sub(r"<style>.*?</style>\n|\n<script[^>]*>.*?</script>", "", html, flags=re.DOTALL)
    return re.sub(r"<section .*?</section>", "FAQ", html, flags=re.DOTALL)


def test_what_is_no_expression_stays_as_it_is() -> None:
    source = '{% raw %}{{ faq("pricing") }}{% endraw %}{# {{ faq("pricing") }} #}'
    assert environment().from_string(source).render() == '{{ faq("pricing") }}'


def test_a_function_of_the_hosts_own_by_this_name_is_called_and_escaped() -> None:
    template = environment().from_string('{{ faq("<i>") }}')
    assert template.render(faq=lambda text: f"<{text}>") == "&lt;&lt;i&gt;&gt;"
    assert template.render(faq=lambda text: Markup("<b>")) == "<b>"
    assert template.render(faq=lambda text: None) == "None"


@pytest.mark.parametrize("nonce", ['a"b', Markup("c"), lambda: "d", "", None, 7, lambda: 1 / 0])
def test_a_page_is_the_same_when_its_faqs_were_rendered_before(nonce: object) -> None:
    host = environment()
    template = host.from_string('{% faq "pricing" %}{{ faq("pricing") }}{{ faq("legal") }}')
    pages = [template.render(csp_nonce=nonce) for _ in range(3)]
    given = host.from_string(
        '{{ faq("pricing", nonce=n) }}{{ faq("pricing", nonce=n) }}{{ faq("legal", nonce=n) }}'
    )
    assert pages == [given.render(n=nonce)] * 3
