"""FAQs in a plain Jinja environment: functions, tag and macros, in whatever way the host uses Jinja."""

import asyncio
import json
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from itertools import count
from pathlib import Path
from typing import Any

import html5lib
import pytest
from jinja2 import (
    ChainableUndefined,
    ChoiceLoader,
    DictLoader,
    Environment,
    FileSystemBytecodeCache,
    StrictUndefined,
    TemplateSyntaxError,
    Undefined,
)
from jinja2.nativetypes import NativeEnvironment
from jinja2.sandbox import SandboxedEnvironment
from markdown_it import MarkdownIt

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed, FAQNotFound, Theme
from faqsvc_embed.api.reading import CachePolicy, Found, Validators
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.jinja import install
from faqsvc_embed.rendering.answers import Answers
from faqsvc_embed.rendering.assets import stylesheet, theme_rule
from faqsvc_embed.rendering.json_ld import page_node, serialise
from faqsvc_embed.rendering.renderer import Block, Look, Renderer
from faqsvc_embed.testing import fake_embed
from tests.support import samples

STYLE = f"<style>{stylesheet()}</style>\n"
A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Who?", "We <are>."), title="Legal & more"))
NASTY = FAQ.from_dict(samples.nasty())

MACROS = '{% from "faqsvc/macros.html" import faq, use_faq, faq_schema %}'
MACROS_WITH_CONTEXT = '{% from "faqsvc/macros.html" import faq, use_faq, faq_schema with context %}'


def embed(**settings: Any) -> FAQEmbed:
    return fake_embed({"pricing": A, "legal": B, "nasty": NASTY}, **settings)


def environment(
    templates: dict[str, str] | None = None, *, kind: type[Environment] = Environment, **options: Any
) -> Environment:
    """Return a host's environment with FAQs in it; `options` are Jinja's."""
    host = kind(**{"autoescape": True, "loader": DictLoader(templates or {}), **options})
    install(host, embed())
    return host


def render(source: str, templates: dict[str, str] | None = None, **options: Any) -> str:
    return environment(templates, **options).from_string(source).render()


def block(faq: FAQ, ordinal: int = 1, **look: Any) -> str:
    look = {"theme": Theme(), "show_title": True, "heading_level": 2, **look}
    rendered: Block | None = Renderer().block(faq, Look(**look), ordinal)
    assert rendered is not None
    return rendered.html


def script(*faqs: FAQ, nonce: str = "") -> str:
    return f'\n<script type="application/ld+json"{nonce}>{serialise(page_node(faqs))}</script>'


def alone(faq: FAQ) -> str:
    return f"{STYLE}{block(faq)}{script(faq)}"


def nodes(html: str) -> list[Any]:
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    return [json.loads(e.text) for e in tree.iter("script") if e.get("type") == "application/ld+json"]


WAYS: dict[str, Callable[[str], str]] = {
    "function": lambda call: f"{{{{ {call} }}}}",
    "tag": lambda call: re.sub(r"faq\((.*)\)", r"{% faq \1 %}", call),
    "macro": lambda call: f"{MACROS}{{{{ {call} }}}}",
    "macro with context": lambda call: f"{MACROS_WITH_CONTEXT}{{{{ {call} }}}}",
    "namespace": lambda call: f"{{{{ faqsvc.{call} }}}}",
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


@ways
@pytest.mark.parametrize("faq", [A, B, NASTY], ids=["pricing", "legal", "nasty"])
@pytest.mark.parametrize("autoescape", [True, False])
def test_every_way_prints_the_same_block(
    way: Callable[[str], str], faq: FAQ, autoescape: bool
) -> None:  # E5, E6
    call = way(f'faq("{faq.slug}")')
    html = render(f"<p>{call}</p>", autoescape=autoescape)
    assert html == f"<p>{alone(faq)}</p>"


@ways
def test_every_way_takes_every_option(way: Callable[[str], str]) -> None:
    theme = Theme(accent_color="teal", question_size=18)
    call = (
        'faq("legal", lang="de", theme={"accentColor": "teal", "questionSize": 18}, show_title=false, '
        "heading_level=4, schema=false, nonce='a\"b')"
    )
    assert render(way(call)) == (
        f'<style nonce="a&#34;b">{stylesheet()}{theme_rule(theme)[1]}</style>\n'
        f"{block(B, theme=theme, show_title=False, heading_level=4)}"
    )


@ways
def test_arguments_are_expressions(way: Callable[[str], str]) -> None:
    source = way('faq(slugs[0] ~ "", heading_level=6 / 2, lang="", show_title=not false)')
    html = environment().from_string("{% set slugs = ['legal'] %}" + source).render()
    assert html == alone(B).replace(block(B), block(B, heading_level=3))


@ways
@pytest.mark.parametrize("slug", ["unknown", "a/b", ""])
def test_what_there_is_not_prints_nothing(way: Callable[[str], str], slug: str) -> None:  # R4, J16
    call = way(f'faq("{slug}")')
    assert render(f"<p>{call}</p>") == "<p></p>"


@ways
@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("language", "did you mean 'lang'?"),
        (
            "colour",
            "there are lang, theme, show_title, heading_level, schema, nonce, variant, exclusive",
        ),
    ],
)
def test_an_option_that_there_is_not_costs_nothing_but_a_warning(
    way: Callable[[str], str], option: str, hint: str, caplog: pytest.LogCaptureFixture
) -> None:  # R4
    source = way(f'faq("pricing", {option}="red")')
    template = environment().from_string(source)
    assert [template.render(), template.render()] == [alone(A), alone(A)]
    assert caplog.messages == [f"faq() has no option '{option}'; {hint}"]
    host = Environment(autoescape=True)
    install(host, embed(strict=True))
    with pytest.raises(ConfigurationError, match=option):
        host.from_string(way(f'faq("pricing", {option}="red")')).render()


@pytest.mark.parametrize("call", ["use_faq", "faqsvc.use_faq"])
def test_an_option_that_use_faq_has_not_is_told(call: str, caplog: pytest.LogCaptureFixture) -> None:  # R4
    assert render(f'{{{{ {call}("legal", language="de").data.title }}}}') == "Legal &amp; more"
    assert caplog.messages == ["use_faq() has no option 'language'; did you mean 'lang'?"]


@pytest.mark.parametrize("undefined", [Undefined, StrictUndefined, ChainableUndefined])
def test_an_option_that_is_not_defined_is_as_if_it_were_not_there(undefined: type[Undefined]) -> None:  # R4
    names = ("lang", "theme", "show_title", "heading_level", "schema", "nonce", "variant", "exclusive")
    call = f'{{{{ faq("pricing", {", ".join(f"{name}=site.{name}" for name in names)}) }}}}'
    host = environment(undefined=undefined)
    host.globals["site"] = {}
    assert host.from_string(call).render() == alone(A)
    hook = host.from_string('{{ use_faq("pricing", lang=site.lang).data.title }}')
    assert hook.render() == A.title


def test_an_option_that_faq_schema_has_not_is_told(caplog: pytest.LogCaptureFixture) -> None:  # R4
    assert render('{{ faq("pricing", schema=none) }}{{ faq_schema(none="x") }}') == alone(A)
    assert caplog.messages == ["faq_schema() has no option 'none'; did you mean 'nonce'?"]


@pytest.mark.parametrize("value", ['"no"', '"false"', '"0"', '""', "0", "false"])
def test_what_is_false_in_a_setting_is_false_in_a_template(value: str) -> None:
    said = f"show_title={value}, schema={value}"
    assert render(f'{{{{ faq("pricing", {said}) }}}}') == f"{STYLE}{block(A, show_title=False)}"


def test_a_truth_that_is_none_gives_the_default_and_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert render('{{ faq("pricing", show_title="perhaps", schema="perhaps") }}') == alone(A)
    assert sorted(caplog.messages) == [
        "schema is 'perhaps': true or false is accepted",
        "show_title is 'perhaps': true or false is accepted",
    ]


@ways
def test_strict_raises_what_went_wrong(way: Callable[[str], str]) -> None:  # R4
    host = Environment(autoescape=True)
    install(host, embed(strict=True))
    with pytest.raises(FAQNotFound, match="unknown"):
        host.from_string(way('faq("unknown")')).render()
    with pytest.raises(ConfigurationError, match="accentColor"):
        host.from_string(way('faq("pricing", theme={"accentColor": "no colour"})')).render()


@pytest.mark.parametrize(
    "source", ["{% faq %}", '{% faq "a" lang="de" %}', '{% faq "a", lang %}', '{% faq "a", 1 %}']
)
def test_a_tag_that_is_written_wrongly_is_a_syntax_error_of_its_line(source: str) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        render(f"\n\n{source}")
    assert caught.value.lineno == 3


# Headless


@pytest.mark.parametrize("autoescape", [True, False])
def test_a_host_shows_an_faq_with_markup_of_its_own(autoescape: bool) -> None:  # E5
    source = (
        '{% set state = use_faq("legal") %}<h1>{{ state.data.title | e }}</h1>'
        "{% for i in state.data['items'] %}<p>{{ i.question | e }} {{ i.answer | e }}</p>{% endfor %}"
        "{{ faq_schema() }}"
    )
    html = render(source, autoescape=autoescape)
    assert html == f"<h1>Legal &amp; more</h1><p>Who? We &lt;are&gt;.</p>{script(B)}"


def test_a_field_of_a_record_is_escaped_where_the_host_prints_it() -> None:  # E5
    assert render('{{ use_faq("legal").data.title }}') == "Legal &amp; more"


@pytest.mark.parametrize("macros", [MACROS, MACROS_WITH_CONTEXT])
def test_the_macro_of_the_hook_hands_the_state_to_its_caller(macros: str) -> None:
    source = (
        macros + '{% call(state) use_faq("legal") %}{{ state.data.title }}{% endcall %}{{ faq_schema() }}'
    )
    assert render(source) == f"Legal &amp; more{script(B)}"


@pytest.mark.parametrize("macros", ["", MACROS, MACROS_WITH_CONTEXT])
@pytest.mark.parametrize("argument", ['use_state("legal")', 'use_state("legal").data'])
def test_schema_takes_a_state_or_a_record(macros: str, argument: str) -> None:
    host = environment()
    host.globals["use_state"] = embed().use_faq
    assert host.from_string(f"{macros}{{{{ faq_schema({argument}) }}}}").render() == script(B)


def test_a_slug_that_is_none_is_said_once_and_raised_if_strict(caplog: pytest.LogCaptureFixture) -> None:
    host, strict = Environment(), Environment()  # R4, R10
    install(host, embed())
    install(strict, embed(strict=True))
    source = '{{ faq(["a"]) }}{% faq {} %}{{ faq_schema(use_faq(["a"])) }}'
    assert [host.from_string(source).render() for _ in range(2)] == ["", ""]
    said = [(r.levelname, r.getMessage().partition(":")[0]) for r in caplog.records]
    assert said == [("WARNING", "['a'] is no slug"), ("WARNING", "{} is no slug")]
    with pytest.raises(FAQNotFound, match=r"\['a'\] is no slug"):
        strict.from_string(source).render()


def test_a_copy_that_is_missing_offline_is_said_once(caplog: pytest.LogCaptureFixture) -> None:  # R8, R10
    host = Environment()
    install(host, FAQEmbed("https://faq.example", offline=True))
    page = host.from_string('{{ faq("a") }}{% faq "a" %}{{ faq("b") }}')
    assert [page.render() for _ in range(2)] == ["", ""]
    said = [f"offline, and no copy of '{slug}' is held without store=\"file:DIRECTORY\"" for slug in "ab"]
    assert [r.getMessage() for r in caplog.records] == said


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize("argument", ["'legal'", "5", "{'a': 1}", "missing"])
def test_what_is_no_faq_is_said_once_by_schema_and_raised_if_strict(
    argument: str, enable_async: bool, caplog: pytest.LogCaptureFixture
) -> None:  # R4, R10
    host, strict = Environment(enable_async=enable_async), Environment(enable_async=enable_async)
    install(host, embed())
    install(strict, embed(strict=True))
    source = f"<p>{{{{ faq_schema({argument}) }}}}"
    assert [host.from_string(source).render() for _ in range(2)] == ["<p>", "<p>"]
    (said,) = (r.getMessage() for r in caplog.records)
    value = "Undefined" if argument == "missing" else argument
    assert said == f"faq_schema() got {value}: an FAQ, what use_faq() returned, or nothing is accepted"
    with pytest.raises(ConfigurationError, match="faq_schema"):
        strict.from_string(source).render()


def test_schema_of_a_state_without_data_prints_nothing() -> None:  # J16
    assert render('{{ faq_schema(use_faq("unknown")) }}{{ faq_schema() }}') == ""


# One page


BODIES = {
    "twice": '{{ faq("pricing") }}{{ faq("legal") }}{{ faq("pricing") }}',
    "tag and function": '{% faq "pricing" %}{{ faq("legal") }}{% faq "pricing" %}',
    "macros": MACROS + '{{ faq("pricing") }}{{ faq("legal") }}{{ faq("pricing") }}',
    "macro, function and tag": '{% import "faqsvc/macros.html" as m %}{{ m.faq("pricing") }}'
    '{{ faq("legal") }}{% faq "pricing" %}',
    "function, macro and tag": '{% import "faqsvc/macros.html" as m %}{{ faq("pricing") }}'
    '{{ m.faq("legal") }}{% faq "pricing" %}',
    "loop": '{% for slug in ["pricing", "legal", "pricing"] %}{{ faq(slug) }}{% endfor %}',
    "tag in a loop": '{% for slug in ["pricing", "legal", "pricing"] %}{% faq slug %}{% endfor %}',
    "include": '{{ faq("pricing") }}{% include "part" %}{{ faq("pricing") }}',
    "included tag": '{% include "first" %}{% include "part" %}{% faq "pricing" %}',
    "extends": '{% extends "base" %}{% block body %}{{ faq("legal") }}{% endblock %}',
    "own macro": "{% macro m(slug) %}{{ faq(slug) }}{% endmacro %}"
    '{{ m("pricing") }}{{ m("legal") }}{{ m("pricing") }}',
    "imported macro": '{% from "mine" import m %}{{ m("pricing") }}{{ m("legal") }}{{ faq("pricing") }}',
    "set and printed": '{% set x %}{{ faq("pricing") }}{% endset %}'
    '{{ x }}{{ faq("legal") }}{% faq "pricing" %}',
}
TEMPLATES = {
    "first": '{% faq "pricing" %}',
    "part": '{{ faq("legal") }}',
    "base": '{{ faq("pricing") }}{% block body %}{% endblock %}{{ faq("pricing") }}',
    "mine": "{% macro m(slug) %}{{ faq(slug) }}{% endmacro %}",
}


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize("source", BODIES.values(), ids=BODIES.keys())
def test_one_rendering_has_one_stylesheet_and_one_faq_page(
    source: str, enable_async: bool
) -> None:  # J1, T6, A14
    host = environment(TEMPLATES, enable_async=enable_async)
    for _ in range(2):  # and the next rendering begins anew
        assert host.from_string(source).render() == f"{alone(A)}{block(B)}{block(A, 2)}"


@pytest.mark.parametrize("last", ["{{ faq_schema() }}", MACROS + "{{ faq_schema() }}"])
def test_an_explicit_schema_marks_up_all_that_was_left_to_it(last: str) -> None:  # J12
    source = '{{ faq("pricing", schema=false) }}{% faq "legal", schema=false %}' + last
    assert render(source) == f"{STYLE}{block(A)}{block(B)}{script(A, B)}"


def test_a_rendering_inside_a_rendering_leaves_the_outer_one_its_page() -> None:
    host = environment(TEMPLATES)
    host.globals["other"] = lambda: host.get_template("part").render().count("<style>")
    html = host.from_string('{{ faq("pricing") }}{{ other() }}{{ faq("pricing") }}').render()
    assert html == f"{alone(A)}1{block(A, 2)}"


def test_renderings_of_many_threads_do_not_mix() -> None:
    host = environment()
    template = host.from_string('{% for _ in range(3) %}{% faq "pricing" %}{% endfor %}')
    with ThreadPoolExecutor(8) as pool:
        pages = set(pool.map(lambda _: template.render(), range(64)))
    assert pages == {f"{alone(A)}{block(A, 2)}{block(A, 3)}"}


def test_a_streamed_rendering_is_one_page_too() -> None:
    source = '{% faq "pricing", schema=false %}{% faq "legal", schema=false %}{{ faq_schema() }}'
    pieces = environment().from_string(source).stream()
    assert "".join(pieces) == f"{STYLE}{block(A)}{block(B)}{script(A, B)}"


def test_a_request_has_one_page_for_all_its_renderings() -> None:
    from faqsvc_embed.page import context as pages

    host = environment()
    token = pages.begin(pages.Page())
    try:
        first = host.from_string('{% faq "pricing" %}').render()
        assert first + host.from_string('{% faq "pricing" %}').render() == f"{alone(A)}{block(A, 2)}"
    finally:
        pages.end(token)


PARTS = {
    "part": '<p>{{ faq("pricing") }}</p>',
    "tagged": '<p>{% faq "pricing" %}</p>',
    "set": '{% set block = faq("pricing") %}',
    "box": '{% macro box() %}<p>{{ faq("pricing") }}</p>{% endmacro %}',
    "macro": '{% from "faqsvc/macros.html" import faq %}<p>{{ faq("pricing") }}</p>',
    "macro of theirs": '{% import "box" as box %}{{ box.box() }}',
    "set by macro": '{% from "faqsvc/macros.html" import faq %}{% set block = faq("pricing") %}',
    "nested": '{% include "part" without context %}',
    "nested twice": '{% include "nested" without context %}',
    "extending": '{% extends "macro" %}',
}


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize(
    "source",
    [
        '{% include "part" without context %}',
        '{% include "tagged" without context %}',
        '<p>{% from "set" import block %}{{ block }}</p>',
        '<p>{% import "set" as module %}{{ module.block }}</p>',
        '<p>{% from "set by macro" import block %}{{ block }}</p>',
        *(
            f'{{% include "{part}" without context %}}'
            for part in ("macro", "macro of theirs", "nested", "nested twice", "extending")
        ),
    ],
)
def test_a_part_without_context_is_made_for_each_page(source: str, enable_async: bool) -> None:  # J1, T6
    host = Environment(autoescape=True, loader=DictLoader(PARTS), enable_async=enable_async)
    install(host, faqs := fake_embed({}))
    page = host.from_string(source)
    assert page.render() == "<p></p>"
    faqs.cache.apply(Key("pricing", None), Found(A, CachePolicy(), Validators()))
    assert page.render() == f"<p>{alone(A)}</p>"
    assert host.from_string(source + source).render() == f"<p>{alone(A)}</p><p>{block(A, 2)}</p>"


def test_a_part_without_context_and_without_an_faq_is_made_once() -> None:
    host = environment({"part": "{{ count() }}"})
    host.globals["count"] = count().__next__
    page = host.from_string('{% include "part" without context %}')
    assert [page.render() for _ in range(2)] == ["0", "0"]


def test_a_macro_that_is_called_from_python_belongs_to_no_rendering_that_is_over() -> None:  # J1, T6
    host = environment(PARTS)
    module: Any = host.get_template("box").make_module()

    def boxes() -> list[str]:
        host.from_string('{{ faq("legal") }}').render()
        return [str(module.box()) for _ in range(2)]

    assert Context().run(boxes) == [f"<p>{alone(A)}</p>"] * 2


# The nonce


@ways
@pytest.mark.parametrize("nonce", ["x", lambda: "x"], ids=["text", "callable"])
def test_a_global_csp_nonce_is_used(way: Callable[[str], str], nonce: Any) -> None:  # C4, C6
    host = environment()
    host.globals["csp_nonce"] = nonce
    expected = (
        alone(A).replace("<style>", '<style nonce="x">').replace(script(A), script(A, nonce=' nonce="x"'))
    )
    assert host.from_string(way('faq("pricing")')).render() == expected
    with_own = expected.replace('nonce="x"', 'nonce="y"')
    assert host.from_string(way('faq("pricing", nonce="y")')).render() == with_own


def test_a_csp_nonce_of_the_rendering_is_used() -> None:  # C6
    host = environment()
    html = host.from_string('{% faq "pricing", schema=false %}').render(csp_nonce="<x>")
    assert html == f'<style nonce="&lt;x&gt;">{stylesheet()}</style>\n{block(A)}'


@pytest.mark.parametrize("nonce", [None, "", lambda: None, lambda: ""])
def test_a_missing_nonce_is_no_error(nonce: Any) -> None:  # C4
    host = environment()
    host.globals["csp_nonce"] = nonce
    assert host.from_string('{% faq "pricing" %}').render() == alone(A)


# Environments


ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "strict undefined": {"undefined": StrictUndefined},
    "native": {"kind": NativeEnvironment},
    "sandbox": {"kind": SandboxedEnvironment},
    "trimmed": {"trim_blocks": True, "lstrip_blocks": True},
    "line statements": {"line_statement_prefix": "%%", "line_comment_prefix": "##"},
    "no cache": {"cache_size": 0},
    "no loader": {"loader": None},
    "autoescape by name": {"autoescape": lambda name: name is None},
}


@ways
@pytest.mark.parametrize("options", ENVIRONMENTS.values(), ids=ENVIRONMENTS.keys())
def test_every_way_works_in_every_environment(way: Callable[[str], str], options: dict[str, Any]) -> None:
    assert render(way('faq("nasty")'), **options) == alone(NASTY)


DELIMITERS: dict[str, Any] = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


def with_delimiters(source: str) -> str:
    """Return a template in these delimiters."""
    for usual, own in {"{%": "<%", "%}": "%>", "{{": "<<", "}}": ">>"}.items():
        source = source.replace(usual, own)
    return source


@ways
def test_every_way_works_with_delimiters_of_the_host(way: Callable[[str], str]) -> None:
    assert render(with_delimiters(way('faq("nasty")')), **DELIMITERS) == alone(NASTY)


def test_a_block_is_overridden_in_the_delimiters_of_the_host() -> None:  # T7, E6
    override = '{% extends "faqsvc/block.html" %}{% block title %}<b>{{ title }}</b>{% endblock %}'
    html = render('<< faq("legal") >>', {"faqsvc/faq.html": with_delimiters(override)}, **DELIMITERS)
    usual = '\n<h2 class="faqsvc-title">Legal &amp; more</h2>'
    assert html == alone(B).replace(usual, "<b>Legal &amp; more</b>")


@ways
@pytest.mark.parametrize("autoescape", [True, False])
def test_an_async_environment_awaits(way: Callable[[str], str], autoescape: bool) -> None:  # E6, F5
    host = environment(enable_async=True, autoescape=autoescape)
    template = host.from_string(way('faq("nasty")'))
    assert asyncio.run(template.render_async()) == alone(NASTY)


@pytest.mark.parametrize("macros", ["", MACROS, MACROS_WITH_CONTEXT])
def test_the_hook_is_awaited_in_an_async_environment(macros: str) -> None:
    macro = '{% call(state) use_faq("legal") %}{{ state.data.title }}{% endcall %}'
    source = macros + (macro if macros else '{{ use_faq("legal").data.title }}') + "{{ faq_schema() }}"
    host = environment(enable_async=True)
    assert asyncio.run(host.from_string(source).render_async()) == f"Legal &amp; more{script(B)}"


@pytest.mark.parametrize("source", ['{{ use_faq("long").data.title }}', "{{ faq_schema(record) }}"])
def test_an_async_environment_lets_a_thread_parse_markdown_once(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # F5
    threads: list[threading.Thread] = []
    Answers("markdown").shown("*The parser is made.*", 3)
    render = MarkdownIt.render

    def rendered(self: MarkdownIt, *args: Any) -> Any:
        threads.append(threading.current_thread())
        return render(self, *args)

    monkeypatch.setattr(MarkdownIt, "render", rendered)
    record = FAQ.from_dict(samples.record("long", ("What?", f"A *long* answer of {source}. " * 100)))
    host = Environment(autoescape=True, enable_async=True)
    install(host, fake_embed({"long": record}, answer_format="markdown"))
    template = host.from_string(source + "{{ faq_schema() }}")
    first, second = (asyncio.run(template.render_async(record=record)) for _ in range(2))
    assert first == second
    assert first.count("<em>long</em>".replace("<", "\\u003c").replace(">", "\\u003e")) == 100
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


def test_async_renderings_at_the_same_time_do_not_mix() -> None:
    host = environment(enable_async=True)

    async def pause() -> str:
        await asyncio.sleep(0)
        return ""

    host.globals["pause"] = pause
    template = host.from_string(
        f'{MACROS}{{% for _ in range(2) %}}{{{{ faq("pricing") }}}}{{{{ pause() }}}}{{% endfor %}}'
    )

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(template.render_async() for _ in range(20)))

    assert set(asyncio.run(all_at_once())) == {f"{alone(A)}{block(A, 2)}"}


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize("loader", [None, DictLoader({"mine": TEMPLATES["mine"]})], ids=["none", "a loader"])
@ways
def test_a_second_embed_takes_the_place_of_the_first(
    way: Callable[[str], str], loader: DictLoader | None, enable_async: bool
) -> None:
    host = Environment(autoescape=True, loader=loader, enable_async=enable_async)
    own = '{% from "mine" import m %}{{ m("pricing") }}' if loader else ""
    install(host, fake_embed({}))
    before = host.from_string(way('faq("pricing")') + own)
    assert before.render() == ""
    template_class, names = host.template_class, host.list_templates()
    for records in ({"pricing": B}, {"pricing": A}):
        install(host, fake_embed(records))
    after = host.from_string(way('faq("pricing")') + own)
    assert [page.render() for page in (before, after)] == [alone(A) + (block(A, 2) if own else "")] * 2
    assert (host.template_class, host.list_templates()) == (template_class, names)
    assert isinstance(host.loader, ChoiceLoader)
    assert len(host.loader.loaders) == (2 if own else 1)


def test_a_second_embed_is_found_behind_another_loader() -> None:
    host = environment()
    host.loader = DictLoader({"faqsvc/faq.html": "mine"})
    install(host, embed())
    assert "mine\n</section>" in host.from_string(WAYS["macro"]('faq("pricing")')).render()


# Templates of the host


def test_a_host_replaces_the_inside_and_keeps_root_style_and_script() -> None:  # T7
    override = "<dl>{% for item in items %}<dt id={{ item.id }}>{{ item.question }}{% endfor %}</dl>"
    html = render('{% faq "legal" %}', {"faqsvc/faq.html": override})
    inside = "<dl><dt id=faq-legal--who>Who?</dl>"
    root = '<section class="faqsvc" id="faq-legal" lang="en" dir="ltr">'
    assert html == f"{STYLE}{root}{inside}\n</section>{script(B)}"


def test_a_host_overrides_one_block_of_ours() -> None:  # T7
    override = (
        '{% extends "faqsvc/block.html" %}'
        "{% block title %}\n<b>{{ title }}</b>{% endblock %}"
        "{% block cta %}\n<i>{{ faq.website_name }}</i>{% endblock %}"
    )
    html = render('{% faq "legal" %}', {"faqsvc/faq.html": override})
    heading = '\n<h2 class="faqsvc-title">Legal &amp; more</h2>'
    expected = alone(B).replace(heading, "\n<b>Legal &amp; more</b>")
    assert html == expected.replace("\n</section>", "\n<i>Tea &amp; Sons</i>\n</section>")


@pytest.mark.parametrize("autoescape", [True, False])
def test_an_override_is_escaped_whatever_the_host_does(autoescape: bool) -> None:  # E6, T7
    override = (
        "{{ title }}{% for item in items %}{{ item.question }}{{ item.text }}{{ item.answer }}{% endfor %}"
    )
    html = render('{% faq "nasty" %}', {"faqsvc/faq.html": override}, autoescape=autoescape)
    parser = html5lib.HTMLParser(strict=False, namespaceHTMLElements=False)
    tags = {e.tag for e in parser.parseFragment(html).iter()} - {"DOCUMENT_FRAGMENT"}
    assert tags == {"style", "section", "p", "br", "script"}
    assert nodes(html) == [page_node([NASTY])]


def test_a_host_sets_its_environment_up_in_any_order() -> None:  # E6, T7
    override = '{% extends "faqsvc/block.html" %}{% block cta %}{% do none %}[[ faq.slug ]]{% endblock %}'
    host = environment({"faqsvc/faq.html": override})
    host.add_extension("jinja2.ext.do")
    host.variable_start_string, host.variable_end_string = "[[", "]]"
    html = host.from_string('[[ faq("legal") ]]').render()
    assert html == alone(B).replace("\n</section>", "legal\n</section>")


@pytest.mark.parametrize("first", ["host", "block"])
def test_a_bytecode_cache_does_not_mix_templates_of_a_host_with_those_of_a_block(
    first: str, tmp_path: Path
) -> None:  # E5, E6
    """Both are compiled from one source: the host's without escaping, in a block with it."""
    templates = {"faqsvc/faq.html": '{% include "part" %}', "part": "{{ title }}"}
    cache = FileSystemBytecodeCache(str(tmp_path))
    shown = '<section class="faqsvc" id="faq-legal" lang="en" dir="ltr">Legal &amp; more\n</section>'
    for _ in range(2):
        host = environment(templates, autoescape=False, bytecode_cache=cache)
        block = host.from_string('{{ faq("legal", schema=false) }}')
        part = host.get_template("part")
        if first == "host":
            assert part.render(title="<b>") == "<b>"
        assert block.render() == f"{STYLE}{shown}"
        assert part.render(title="<b>") == "<b>"


def test_a_broken_override_costs_the_block_and_not_the_page(caplog: pytest.LogCaptureFixture) -> None:  # R4
    html = render('<p>{% faq "legal" %}</p>', {"faqsvc/faq.html": "{% for %}"})
    assert html == "<p></p>"
    assert [(r.name, r.levelname) for r in caplog.records] == [("faqsvc_embed", "ERROR")]
