"""FAQs in a Jinja environment: the functions, the tag and the macros, their options and their mistakes."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest
from jinja2 import (
    ChainableUndefined,
    DictLoader,
    Environment,
    StrictUndefined,
    TemplateSyntaxError,
    Undefined,
)
from markupsafe import Markup
from starlette.templating import Jinja2Templates

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed, FAQNotFound
from faqsvc_embed.jinja import install
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.cases import sampled
from tests.support.embeds import SLACK, warnings_of
from tests.support.faulty import FaultyServer
from tests.support.parsed import json_ld, nonces, summary

A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Who?", "We <are>."), title="Legal & more"))
NASTY = FAQ.from_dict(samples.nasty())

MACROS = '{% from "faqsvc/macros.html" import faq, use_faq, faq_schema %}'
MACROS_WITH_CONTEXT = '{% from "faqsvc/macros.html" import faq, use_faq, faq_schema with context %}'
WAYS: dict[str, Callable[[str], str]] = {
    "function": lambda call: f"{{{{ {call} }}}}",
    "tag": lambda call: re.sub(r"faq\((.*)\)", r"{% faq \1 %}", call),
    "macro": lambda call: f"{MACROS}{{{{ {call} }}}}",
    "macro with context": lambda call: f"{MACROS_WITH_CONTEXT}{{{{ {call} }}}}",
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
Way = Callable[[str], str]


def embed(**settings: Any) -> FAQEmbed:
    return fake_embed({"pricing": A, "legal": B, "nasty": NASTY}, **settings)


def environment(faqs: FAQEmbed | None = None, **options: Any) -> Environment:
    """Return an environment of a host, with FAQs; `options` are Jinja's."""
    host = Environment(**{"autoescape": True, **options})
    install(host, faqs or embed())
    return host


def render(source: str, faqs: FAQEmbed | None = None, **options: Any) -> str:
    return environment(faqs, **options).from_string(source).render()


@ways
@pytest.mark.parametrize("slug", sampled(["pricing", "legal", "nasty"], ("nasty",)))
@pytest.mark.parametrize("autoescape", [True, False])
def test_every_way_prints_the_same_html(way: Way, slug: str, autoescape: bool) -> None:
    call = way(f'faq("{slug}")')
    assert render(f"<p>{call}</p>", autoescape=autoescape) == f"<p>{embed().render(slug)}</p>"


@ways
def test_every_way_takes_every_option(way: Way) -> None:
    call = way(
        'faq("legal", lang="de", theme={"accentColor": "teal", "questionSize": 18}, show_title=false, '
        'heading_level=4, schema=false, nonce="ab==", variant="open", exclusive=true)'
    )
    assert render(call) == embed().render(
        "legal",
        lang="de",
        theme={"accentColor": "teal", "questionSize": 18},
        show_title=False,
        heading_level=4,
        schema=False,
        nonce="ab==",
        variant="open",
        exclusive=True,
    )


@ways
def test_arguments_are_expressions(way: Way) -> None:
    source = way('faq(slugs[0] ~ "", heading_level=6 / 2, lang="", show_title=not false)')
    html = environment().from_string("{% set slugs = ['legal'] %}" + source).render()
    assert html == embed().render("legal", heading_level=3)


def test_a_slug_and_a_record_can_be_given_as_a_keyword_and_as_a_value() -> None:
    assert render('{{ faq(slug="legal") }}') == embed().render(B)
    assert environment().from_string("{% faq record %}").render(record=B) == embed().render(B)


@ways
@pytest.mark.parametrize("slug", ["unknown", "a/b", ""])
def test_an_faq_that_does_not_exist_prints_nothing(way: Way, slug: str) -> None:
    call = way(f'faq("{slug}")')
    assert render(f"<p>{call}</p>") == "<p></p>"


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize("call", ["{{ faq() }}", "{{ faq(['a']) }}", "{% faq {} %}", "{{ faq(missing) }}"])
def test_a_call_without_a_valid_slug_prints_nothing_and_is_logged_once(
    call: str, enable_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    template = environment(enable_async=enable_async).from_string(f"<p>{call}{{{{ use_faq().data }}}}")
    assert [template.render() for _ in range(2)] == ["<p>None"] * 2
    assert len(warnings_of(caplog)) == 1
    with pytest.raises(FAQNotFound):
        render(call, embed(strict=True), enable_async=enable_async)


@ways
@pytest.mark.parametrize(("option", "suggestion"), [("language", "'lang'"), ("colour", "theme")])
def test_an_unknown_option_is_ignored_with_one_warning_that_names_the_place(
    way: Way, option: str, suggestion: str, caplog: pytest.LogCaptureFixture
) -> None:
    source = way(f'faq("pricing", {option}="red")')
    template = environment(loader=DictLoader({"prices.html": source})).get_template("prices.html")
    assert [template.render() for _ in range(2)] == [embed().render("pricing")] * 2
    (warning,) = warnings_of(caplog)
    assert all(part in warning for part in (f"'{option}'", suggestion, "'pricing'"))
    assert "prices.html" in warning or "macros.html" in warning
    with pytest.raises(ConfigurationError, match=option):
        render(source, embed(strict=True))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ('{{ use_faq("legal", language="de").data.slug }}', ("'language'", "'lang'", "'legal'")),
        ('legal{{ faq_schema(none="x") }}', ("'none'", "'nonce'")),
    ],
)
def test_an_unknown_option_of_the_other_functions_is_ignored_with_a_warning(
    call: str, words: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    template = environment(loader=DictLoader({"prices.html": call})).get_template("prices.html")
    assert template.render() == "legal"
    (warning,) = warnings_of(caplog)
    assert all(word in warning for word in (*words, "prices.html"))


@pytest.mark.parametrize("macros", ["", MACROS])
def test_the_language_can_be_the_second_argument(macros: str, faulty: FaultyServer) -> None:
    for lang in ("de", "ko"):
        faulty.serve(samples.record("pricing", title=lang, lang=lang), lang=lang)
    with FAQEmbed(faulty.base_url, wait=SLACK) as faqs:
        assert "<h2" in (html := render(macros + '{{ faq("pricing", "de") }}', faqs))
        assert ">de<" in html
    with FAQEmbed(faulty.base_url, wait=SLACK) as faqs:
        assert render('{{ use_faq("pricing", "ko").data.title }}', faqs) == "ko"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ('{{ faq("pricing", "de", true) }}', ("'pricing'", "'argument 3'", "show_title")),
        ('{{ faq("pricing", "de", lang="ko") }}', ("'pricing'", "'argument 2'")),
        ('{{ faq("pricing", slug="legal") }}', ("'pricing'", "'slug'")),
        ('{{ faq("pricing", context=1) }}', ("'pricing'", "'context'")),
        ('{{ use_faq("pricing", "de", 1) and faq("pricing") }}', ("'pricing'", "'argument 3'", "lang")),
        ('{{ use_faq("pricing", slug="legal") and faq("pricing") }}', ("'pricing'", "'slug'")),
        ('{{ faq_schema(none, "x") }}{{ faq("pricing") }}', ("the page", "'argument 2'", "nonce")),
        (MACROS + '{{ faq("pricing", "de", true) }}', ("'pricing'", "'argument 3'")),
        (MACROS + '{{ faq_schema(none, "x") }}{{ faq("pricing") }}', ("'argument 2'",)),
    ],
)
@pytest.mark.parametrize("enable_async", [False, True])
def test_a_surplus_argument_is_ignored_with_one_warning_and_raises_if_strict(
    call: str, words: tuple[str, ...], enable_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    faqs = embed()
    for _ in range(2):
        assert render(call, faqs, enable_async=enable_async) == embed().render("pricing")
    (warning,) = warnings_of(caplog)
    assert all(word in warning for word in words)
    with pytest.raises(ConfigurationError):
        render(call, embed(strict=True), enable_async=enable_async)


@pytest.mark.parametrize("undefined", [Undefined, StrictUndefined, ChainableUndefined])
def test_an_undefined_option_counts_as_left_out(undefined: type[Undefined]) -> None:
    names = ("lang", "theme", "show_title", "heading_level", "schema", "nonce", "variant", "exclusive")
    host = environment(undefined=undefined)
    host.globals["site"] = {}
    call = f'{{{{ faq("pricing", {", ".join(f"{name}=site.{name}" for name in names)}) }}}}'
    assert host.from_string(call).render() == embed().render("pricing")
    hook = '{{ use_faq("pricing", lang=site.lang).data.slug }}{{ faq_schema(site.faq, nonce=site.nonce) }}'
    assert summary(host.from_string(hook).render()).faq_pages == summary(embed().schema(A)).faq_pages


@pytest.mark.parametrize("value", ['"no"', '"false"', '"0"', '""', "0", "[]", "false"])
def test_false_is_written_as_in_a_setting(value: str) -> None:
    call = f'{{{{ faq("pricing", show_title={value}, schema={value}) }}}}'
    assert render(call) == embed().render("pricing", show_title=False, schema=False)


def test_the_valid_part_of_a_theme_counts() -> None:
    html = render('{{ faq("pricing", theme={"accentColor": "no colour", "questionSize": 20}) }}')
    assert html == embed().render("pricing", theme={"questionSize": 20})


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("{% faq %}", "slug"),
        ('{% faq lang="de" %}', "slug"),
        ('{% faq "a" lang="de" %}', "commas"),
        ('{% faq "a", lang %}', "="),
        ('{% faq "a", "de" %}', 'lang="de"'),
    ],
)
def test_a_mistake_in_a_tag_is_a_syntax_error_with_its_line(source: str, named: str) -> None:
    with pytest.raises(TemplateSyntaxError, match=named) as caught:
        render(f"\n\n{source}")
    assert caught.value.lineno == 3


@pytest.mark.parametrize("source", ["{{ faq(pricing) }}", "{% faq pricing %}", '{{ faq("") }}'])
def test_the_message_for_a_slug_without_quotes_asks_for_them(source: str) -> None:
    with pytest.raises(FAQNotFound, match="quotes"):
        render(source, embed(strict=True))


# With markup of the host's own


@pytest.mark.parametrize("autoescape", [True, False])
def test_a_host_prints_an_faq_with_its_own_markup(autoescape: bool) -> None:
    source = (
        '{% set state = use_faq("legal") %}<h1>{{ state.data.title | e }}</h1>'
        "{% for i in state.data['items'] %}<p>{{ i.question | e }} {{ i.answer | e }}</p>{% endfor %}"
        "{{ faq_schema() }}"
    )
    html = render(source, autoescape=autoescape)
    assert html == f"<h1>Legal &amp; more</h1><p>Who? We &lt;are&gt;.</p>{embed().schema(B)}"


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize("macros", [MACROS, MACROS_WITH_CONTEXT])
def test_the_macro_of_use_faq_passes_the_state_to_its_caller(macros: str, enable_async: bool) -> None:
    source = f'{macros}{{% call(state) use_faq("legal") %}}{{{{ state.data.title }}}}{{% endcall %}}'
    html = render(source + "{{ faq_schema() }}", enable_async=enable_async)
    assert html == f"Legal &amp; more{embed().schema(B)}"


@pytest.mark.parametrize("macros", ["", MACROS, MACROS_WITH_CONTEXT])
def test_faq_schema_takes_a_state_or_a_record(macros: str) -> None:
    template = environment().from_string(f'{macros}{{{{ faq_schema(faq=one, nonce="n") }}}}')
    for one in (embed().use_faq("legal"), B):
        assert template.render(one=one) == embed().schema(B, nonce="n")


def test_faq_schema_prints_the_faqs_with_schema_false_once_and_in_order() -> None:
    source = '{{ faq("pricing", schema=false) }}{% faq "legal", schema=false %}'
    html = render(source + "{{ faq_schema() }}{{ faq_schema() }}")
    assert summary(html).faq_pages == [[item.question for item in (*A.items, *B.items)]]


@pytest.mark.parametrize("source", ["{{ faq_schema() }}", '{{ faq_schema(use_faq("unknown")) }}'])
def test_faq_schema_of_nothing_prints_nothing(source: str) -> None:
    assert render(source) == ""


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize("argument", ["'legal'", "5", "{'a': 1}"])
def test_faq_schema_of_something_else_prints_nothing_and_is_logged_once(
    argument: str, enable_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    source = f"<p>{{{{ faq_schema({argument}) }}}}"
    template = environment(enable_async=enable_async).from_string(source)
    assert [template.render() for _ in range(2)] == ["<p>", "<p>"]
    assert len(warnings_of(caplog)) == 1
    with pytest.raises(ConfigurationError, match="faq_schema"):
        render(source, embed(strict=True), enable_async=enable_async)


def test_without_autoescape_the_host_is_warned_once_that_its_own_markup_is_not_escaped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for autoescape in (True, lambda name: False):
        environment(autoescape=autoescape).from_string('{{ use_faq("pricing").data.title }}').render()
    host = environment(autoescape=False)
    host.from_string('{{ faq("pricing") }}').render()
    assert warnings_of(caplog) == []
    for _ in range(2):
        host.from_string('{{ use_faq("pricing").data.title }}').render()
    (warning,) = warnings_of(caplog)
    assert "autoescape" in warning


# The nonce


@ways
@pytest.mark.parametrize("nonce", ["x", lambda: "x", Markup("x")], ids=["text", "function", "markup"])
def test_the_nonce_is_a_global_or_an_argument(way: Way, nonce: Any) -> None:
    host = environment()
    host.globals["csp_nonce"] = nonce
    assert host.from_string(way('faq("pricing")')).render() == embed().render("pricing", nonce="x")
    assert host.from_string(way('faq("pricing", nonce="y")')).render() == embed().render("pricing", nonce="y")


def test_the_nonce_may_be_a_variable_of_the_rendering() -> None:
    source = '{% faq "pricing", schema=false %}{{ faq_schema() }}'
    assert nonces(environment().from_string(source).render(csp_nonce="x")) == ["x"] * 2


# Wrong objects


def test_install_refuses_wrong_objects_and_names_the_right_one() -> None:
    templates = Jinja2Templates(env=Environment(autoescape=True))
    with pytest.raises(ConfigurationError, match=r"jinja2\.Environment.*Jinja2Templates.*env"):
        install(templates, embed())  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"jinja2\.Environment.*str"):
        install("templates", embed())  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=r"FAQEmbed.*str"):
        install(Environment(), "https://faq.example.com")  # type: ignore[arg-type]


def test_a_hosts_async_environment_awaits_every_function() -> None:
    template = environment(enable_async=True).from_string(
        '{{ faq("pricing", schema=false) }}{{ use_faq("legal").data.slug }}{{ faq_schema() }}'
    )
    html = asyncio.run(template.render_async())
    assert "coroutine" not in html
    assert [len(node["mainEntity"]) for node in json_ld(html)] == [4]
