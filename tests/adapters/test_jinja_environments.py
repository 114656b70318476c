"""Every kind of Jinja environment: its options and delimiters, its own templates for an FAQ, two embeds."""

from pathlib import Path
from typing import Any

import pytest
from jinja2 import (
    ChoiceLoader,
    DictLoader,
    Environment,
    FileSystemBytecodeCache,
    StrictUndefined,
    Template,
    TemplateNotFound,
)
from jinja2.nativetypes import NativeEnvironment
from jinja2.sandbox import SandboxedEnvironment

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.parsed import contents, page_of, summary, text_of

A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Who?", "We <are>."), title="Legal & more"))
NASTY = FAQ.from_dict(samples.nasty())

CALLS = {
    "function": '{{ faq("nasty") }}',
    "tag": '{% faq "nasty" %}',
    "macro": '{% from "faqsvc/macros.html" import faq %}{{ faq("nasty") }}',
}
calls = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())

ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "async": {"enable_async": True},
    "strict undefined": {"undefined": StrictUndefined},
    "native": {"kind": NativeEnvironment},
    "sandbox": {"kind": SandboxedEnvironment},
    "trimmed": {"trim_blocks": True, "lstrip_blocks": True},
    "finalize": {"finalize": lambda value: value},
    "extensions": {"extensions": ["jinja2.ext.i18n", "jinja2.ext.do", "jinja2.ext.loopcontrols"]},
    "line statements": {"line_statement_prefix": "%%", "line_comment_prefix": "##"},
    "statements like tags": {"line_statement_prefix": "<"},
    "comments of HTML": {"comment_start_string": "<!--", "comment_end_string": "-->"},
    "no cache": {"cache_size": 0},
    "no loader": {"loader": None},
    "autoescape by name": {"autoescape": lambda name: name is None},
}
DELIMITERS: dict[str, Any] = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


def embed(**settings: Any) -> FAQEmbed:
    return fake_embed({"pricing": A, "legal": B, "nasty": NASTY}, **settings)


def environment(
    templates: dict[str, str] | None = None, *, kind: type[Environment] = Environment, **options: Any
) -> Environment:
    """Return an environment of a host, with FAQs; `options` are Jinja's."""
    host = kind(**{"autoescape": True, "loader": DictLoader(templates or {}), **options})
    install(host, embed())
    return host


def render(source: str, templates: dict[str, str] | None = None, **options: Any) -> str:
    return environment(templates, **options).from_string(source).render()


def with_delimiters(source: str) -> str:
    """Return a template in the delimiters of a host."""
    for usual, own in {"{%": "<%", "%}": "%>", "{{": "<<", "}}": ">>"}.items():
        source = source.replace(usual, own)
    return source


@calls
@pytest.mark.parametrize("options", ENVIRONMENTS.values(), ids=ENVIRONMENTS.keys())
def test_every_call_works_in_every_environment(call: str, options: dict[str, Any]) -> None:
    assert render(call, **options) == embed().render("nasty")


@calls
def test_every_call_works_with_other_delimiters(call: str) -> None:
    assert render(with_delimiters(call), **DELIMITERS) == embed().render("nasty")


@pytest.mark.parametrize("call", ['{{ faq("legal") }}', '{% faq "legal" %}'])
@pytest.mark.parametrize(
    "source",
    [
        "{% extends base %}CALL{% block main %}<p>{% endblock %}CALL",
        "{% if base %}{% extends base %}{% endif %}CALL",
        "{% extends base %}{% block main %}{% block inner %}CALL{% endblock %}CALL{% endblock %}",
        "{% extends base %}{% macro m() %}CALL{% endmacro %}{% block main %}{{ m() }}{% endblock %}",
        "{% extends base %}{% for n in [1] %}CALL{% endfor %}{% if true %}CALL{% endif %}",
    ],
)
def test_the_tag_prints_where_an_expression_would(source: str, call: str) -> None:
    templates = {"base": "<!doctype html>{% block main %}{% endblock %}<footer>"}
    plain = Environment(loader=DictLoader(templates)).from_string(source.replace("CALL", "FAQ"))
    html = environment(templates).from_string(source.replace("CALL", call)).render(base="base")
    assert len(text_of(html, "section.faqsvc")) == plain.render(base="base").count("FAQ")


# The host's own templates for an FAQ


def test_a_host_may_change_its_environment_after_install() -> None:
    host = environment({"faqsvc/faq.html": "{% do none %}[[ faq.slug ]]"})
    host.add_extension("jinja2.ext.do")
    host.variable_start_string, host.variable_end_string = "[[", "]]"
    html = host.from_string('[[ faq("legal") ]]').render()
    assert contents(html) == ["legal\n"]


@pytest.mark.parametrize("first", ["host", "faq"])
def test_a_bytecode_cache_keeps_escaped_and_unescaped_templates_apart(first: str, tmp_path: Path) -> None:
    """One source is compiled for the host without escaping, and for an FAQ with it."""
    templates = {"faqsvc/faq.html": '{% include "part" %}', "part": "{{ title }}"}
    for _ in range(2):
        cache = FileSystemBytecodeCache(str(tmp_path))
        host = environment(templates, autoescape=False, bytecode_cache=cache)
        faq, part = host.from_string('{{ faq("legal") }}'), host.get_template("part")
        if first == "host":
            assert part.render(title="<b>") == "<b>"
        assert "Legal &amp; more" in faq.render()
        assert part.render(title="<b>") == "<b>"


# Two embeds, two environments


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize("has_loader", [False, True])
@calls
def test_a_second_embed_replaces_the_first(call: str, has_loader: bool, enable_async: bool) -> None:
    loader = DictLoader({"own": "own"}) if has_loader else None
    host = Environment(autoescape=True, loader=loader, enable_async=enable_async)
    install(host, fake_embed({}))
    before = host.from_string(call)
    assert before.render() == ""
    template_class, names = host.template_class, host.list_templates()
    for records in ({"nasty": B}, {"nasty": A}):
        install(host, fake_embed(records))
    assert [summary(page.render()) for page in (before, host.from_string(call))] == [page_of(A)] * 2
    assert (host.template_class, host.list_templates()) == (template_class, names)
    assert isinstance(host.loader, ChoiceLoader)
    assert len(host.loader.loaders) == 1 + has_loader


def test_an_embed_shows_the_templates_of_the_environment_that_was_installed_last() -> None:
    faqs = embed()
    assert summary(faqs.render("legal")) == page_of(B)
    for text in ("first", "second"):
        install(Environment(autoescape=True, loader=DictLoader({"faqsvc/faq.html": text})), faqs)
        assert contents(faqs.render("legal")) == [f"{text}\n"]
    install(Environment(autoescape=True), faqs)
    assert summary(faqs.render("legal")) == page_of(B)


def test_a_loader_that_the_host_sets_later_is_used_after_another_install() -> None:
    host = environment()
    host.loader = DictLoader({"faqsvc/faq.html": "mine"})
    install(host, embed())
    assert [text.strip() for text in contents(host.from_string(CALLS["macro"]).render())] == ["mine"]


@pytest.mark.parametrize("order", ["parent first", "overlay first"])
def test_an_overlay_and_its_parent_both_have_faqs(order: str) -> None:
    parent = Environment(autoescape=True, loader=DictLoader({}))
    if order == "parent first":
        install(parent, embed())
        overlay = parent.overlay(line_statement_prefix="%%")
    else:
        overlay = parent.overlay(line_statement_prefix="%%")
        install(overlay, embed())
        assert parent.template_class is Environment.template_class
    assert summary(overlay.from_string('{{ faq("pricing") }}{% faq "legal" %}').render()) == page_of(A, B)


def test_a_template_that_is_included_without_context_keeps_its_faq_and_a_warning_names_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    parts = {"page": "{% include 'footer' without context %}", "footer": "{{ faq('pricing') }}"}
    host = environment(parts)
    for _ in range(2):
        assert summary(host.get_template("page").render()) == page_of(A)
    (record,) = caplog.records
    assert (record.levelname, "'footer'" in record.getMessage()) == ("WARNING", True)


def test_macros_that_are_imported_without_context_log_nothing(caplog: pytest.LogCaptureFixture) -> None:
    host = environment({"macros": "{% macro show(slug) %}{{ faq(slug) }}{% endmacro %}"})
    template = host.from_string("{% import 'macros' as macros %}{{ macros.show('pricing') }}")
    assert summary(template.render()) == page_of(A)
    assert not caplog.records


def test_a_native_environment_returns_its_own_types() -> None:
    native, faqs = NativeEnvironment(autoescape=True), embed()
    install(native, faqs)
    template = native.from_string('{% set x = faq("pricing") %}{% set y = faq("pricing") %}{{ 3 + 4 }}')
    results = list[Any]([template.render()])
    with faqs.page():
        results.append(template.render())
    assert results == [7, 7]


def test_a_host_finds_what_it_has_added_to_its_loader() -> None:
    class HostLoader(DictLoader):
        folders = ("theme",)

        def get_source(self, environment: Environment, template: str) -> Any:
            if template not in self.mapping:
                raise TemplateNotFound(template, f"not in {environment.loader.folders}")  # type: ignore[union-attr]
            return super().get_source(environment, template)

    host = Environment(autoescape=True, loader=HostLoader({"page": '{{ faq("pricing") }}'}))
    install(host, embed())
    assert summary(host.get_template("page").render()) == page_of(A)


def test_a_subclass_of_template_stays_one() -> None:
    class HostTemplate(Template):
        def greeting(self) -> str:
            return "hello"

    host = Environment(autoescape=True)
    host.template_class = HostTemplate
    install(host, embed())
    template: Any = host.from_string('{% faq "pricing" %}{% faq "legal" %}')
    assert template.greeting() == "hello"
    assert summary(template.render()) == page_of(A, B)
