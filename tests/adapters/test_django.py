"""The Django application: its settings, system checks, template tags and commands."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.template import Template, TemplateSyntaxError
from django.test import Client, RequestFactory, override_settings

from faqsvc_embed import ConfigurationError, FAQEmbed
from faqsvc_embed.django import FAQMiddleware, faqs_from
from tests.support import samples
from tests.support.django_project import MIDDLEWARE, page, project, render
from tests.support.faulty import FaultyServer
from tests.support.pages import A, B, embed
from tests.support.parsed import json_ld, page_of, summary, text_of


def get(source: str, faqs: FAQEmbed | None = None, **options: Any) -> str:
    """Return the body of a page with this template."""
    with project(page(source, **options), faqs or embed()):
        return Client().get("/").content.decode()


# Settings


@pytest.mark.parametrize(
    "settings",
    [
        {"FAQSVC": {"BASE_URL": "https://a.example.com", "LANG": "ko", "WAIT": 0.5}},
        {"FAQSVC": {"base_url": "https://a.example.com", "lang": "ko", "wait": 0.5}},
        {"FAQSVC": {}, "FAQSVC_BASE_URL": "https://a.example.com", "FAQSVC_LANG": "ko", "FAQSVC_WAIT": 0.5},
        {"FAQSVC": {"BASE_URL": "https://a.example.com", "WAIT": 2}, "FAQSVC_WAIT": 0.5, "FAQSVC_LANG": "ko"},
    ],
)
def test_settings_are_a_dictionary_or_single_names(settings: dict[str, Any]) -> None:
    with override_settings(**settings):
        found = faqs_from().settings
    assert (found.base_url, found.lang, found.wait) == ("https://a.example.com", "ko", 0.5)


def test_the_environment_sets_what_the_project_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_WAIT", "0.25")
    with override_settings(FAQSVC={"BASE_URL": "https://a.example.com"}):
        assert faqs_from().settings.wait == 0.25


def test_a_setting_that_a_test_overrides_makes_a_new_embed() -> None:
    with override_settings(FAQSVC={"BASE_URL": "https://a.example.com"}):
        before = faqs_from()
        with override_settings(FAQSVC_WAIT=0.125):
            assert faqs_from().settings.wait == 0.125
        assert faqs_from().settings == before.settings


def test_an_invalid_file_of_a_folder_is_a_system_check(tmp_path: Path) -> None:
    (tmp_path / "pricing.json").write_text("[")
    with override_settings(FAQSVC={"DIRECTORY": str(tmp_path)}):
        assert [message.id for message in run_checks()] == ["faqsvc.E001"]


def test_a_slug_without_a_file_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "pricing.md").write_text("## How much?\n\n€5\n")
    with override_settings(FAQSVC={"DIRECTORY": str(tmp_path)}):
        assert render('{% faq "pricng" %}') == ""
        assert "pricng.md" in render('{% use_faq "pricng" as state %}{{ state.error }}')
    assert "there is no file" in caplog.text


def test_the_embed_is_the_same_for_the_whole_process() -> None:
    assert faqs_from() is faqs_from(RequestFactory().get("/"))


@pytest.mark.parametrize(
    ("faqsvc", "check"),
    [
        ({"BASE_URL": "https://a.example.com"}, None),
        ({}, "faqsvc.E002"),
        ({"BASE_URL": "ftp://x"}, "faqsvc.E001"),
        ({"BASE_URL": "https://a.example.com", "THEME": {"accentColor": "url(x)"}}, "faqsvc.E001"),
        ({"BASE_URL": "https://a.example.com", "HEADING_LEVEL": 9}, "faqsvc.E001"),
        ("https://a.example.com", "faqsvc.E001"),
    ],
    ids=str,
)
def test_an_invalid_setting_is_a_system_check_and_stops_the_start(faqsvc: Any, check: str | None) -> None:
    with override_settings(FAQSVC=faqsvc):
        found = [message for message in run_checks() if (message.id or "").startswith("faqsvc")]
        assert [message.id for message in found] == ([check] if check else [])
        assert all(message.hint for message in found)
        if check:
            with pytest.raises(ConfigurationError):
                FAQMiddleware(lambda request: None)


@pytest.mark.parametrize(
    "settings",
    [
        {"FAQSVC": {"BASE_URL": "https://a.example.com", "STLYES": "linked"}},
        {"FAQSVC": {"BASE_URL": "https://a.example.com"}, "FAQSVC_STLYES": "linked"},
    ],
)
def test_a_misspelled_setting_is_a_warning_that_names_the_right_one(settings: dict[str, Any]) -> None:
    with override_settings(**settings):
        (message,) = run_checks()
    assert (message.id, "FAQSVC_STYLES" in (message.hint or "")) == ("faqsvc.W003", True)


@pytest.mark.parametrize(
    "name", ["gzip.GZipMiddleware", "cache.UpdateCacheMiddleware", "http.ConditionalGetMiddleware"]
)
def test_an_order_of_middleware_in_which_pages_go_wrong_is_a_system_check(name: str) -> None:
    other = f"django.middleware.{name}"
    for middleware, expected in (
        ([other, MIDDLEWARE], []),
        ([MIDDLEWARE, other], ["faqsvc.W002"]),
        ([other], ["faqsvc.W001"]),
    ):
        with override_settings(MIDDLEWARE=middleware):
            assert [message.id for message in run_checks()] == expected


def test_without_the_application_the_error_names_what_to_add() -> None:
    with (
        override_settings(INSTALLED_APPS=[]),
        pytest.raises(ConfigurationError, match=re.escape("faqsvc_embed.django")),
    ):
        faqs_from()


# Tags


def test_the_tag_takes_every_option_and_variables() -> None:
    source = '{% faq slug lang="ko" theme=theme show_title=False heading_level=4 nonce="n" variant="open" %}'
    theme = {"accentColor": "teal"}
    html = get(source, slug="pricing", theme=theme)
    assert html == embed().render(
        "pricing", lang="ko", theme=theme, show_title=False, heading_level=4, nonce="n", variant="open"
    )


@pytest.mark.parametrize("autoescape", ["on", "off"])
def test_the_tag_prints_html_whatever_is_escaped_around_it(autoescape: str) -> None:
    source = f'{{% autoescape {autoescape} %}}{{% faq "pricing" %}}{{% endautoescape %}}'
    assert get(source) == embed().render("pricing")


def test_a_variable_that_does_not_exist_counts_as_left_out() -> None:
    source = '{% faq "pricing" lang=no theme=no show_title=no heading_level=no nonce=no %}'
    assert get(source) == embed().render("pricing")


@pytest.mark.parametrize("source", ["{% faq no %}", "{% faq %}", '{% faq "unknown" %}', '{% faq "a/b" %}'])
def test_an_faq_that_does_not_exist_prints_nothing(source: str) -> None:
    assert get(f"<p>{source}</p>") == "<p></p>"


def test_an_unknown_option_is_ignored_with_one_warning_that_names_the_template(
    caplog: pytest.LogCaptureFixture,
) -> None:
    faqs = embed()
    for _ in range(2):
        assert get('{% faq "pricing" heading="h4" %}', faqs) == embed().render("pricing")
    (message,) = [record.getMessage() for record in caplog.records if record.name == "faqsvc_embed"]
    assert "heading_level" in message


def test_a_mistake_in_a_tag_is_a_syntax_error() -> None:
    with pytest.raises(TemplateSyntaxError):
        render('{% faq "pricing" lang= %}')


def test_a_host_prints_an_faq_with_its_own_markup() -> None:
    source = (
        '{% use_faq "pricing" as state %}{% if state.data %}<h1>{{ state.data.title }}</h1>'
        "{% for item in state.data.items %}<h2>{{ item.question }}</h2><p>{{ item.answer }}</p>{% endfor %}"
        "{% faq_schema %}{% endif %}"
    )
    html = get(source)
    assert text_of(html, "h2") == [item.question for item in A.items]
    assert text_of(html, "p")[0] == A.items[0].answer
    assert len(json_ld(html)) == 1
    assert get(source.replace("{% faq_schema %}", "{% faq_schema state %}")) == html


def test_faq_schema_has_the_faqs_with_schema_false() -> None:
    source = '{% faq "pricing" schema=False %}{% faq "legal" schema=False %}{% faq_schema %}'
    assert summary(get(source)) == page_of(A, B)
    assert get("{% faq_schema %}{% faq_schema no %}") == ""


@pytest.mark.parametrize("debug", [True, False])
def test_what_went_wrong_is_visible_in_development_only(debug: bool) -> None:
    with project(page('{% faq "unknown" %}'), embed(), DEBUG=debug):
        html = Client().get("/").content.decode()
    assert bool(text_of(html, ".faqsvc-problem")) is debug


def test_a_template_rendered_without_a_request_has_one_faq_page_and_one_stylesheet() -> None:
    schema_apart = '{% faq "pricing" schema=False %}{% faq "legal" schema=False %}{% faq_schema %}'
    with project(page(""), embed()):
        for _ in range(2):
            assert summary(render('{% faq "pricing" %}<p>{% faq "legal" %}</p>')) == page_of(A, B)
            assert summary(render(schema_apart)) == page_of(A, B)


def test_what_is_rendered_without_a_request_can_be_joined_to_one_page() -> None:
    faqs = embed()
    with project(page(""), faqs):
        with faqs.page():
            parts = [render('{% faq "pricing" %}'), faqs.render("legal"), render('{% faq "pricing" %}')]
        assert summary("".join(parts)) == page_of(A, B, A)
        with faqs.page():
            html = render('{% faq "pricing" %}', using="jinja") + render('{% faq "legal" %}')
        assert summary(html) == page_of(A, B)
        assert summary(render('{% faq "legal" %}')) == page_of(B)


def test_an_included_template_is_on_the_joined_page_too() -> None:
    faqs = embed()
    with project(page(""), faqs), faqs.page():
        part = Template('{% load faqsvc %}{% faq "legal" %}')
        html = render('{% include part %}{% faq "pricing" %}{% include part only %}', part=part)
    assert summary(html) == page_of(B, A, B)


def test_a_template_within_one_of_jinja_is_complete_by_itself() -> None:
    with project(page(""), embed()):
        source = '{{ faq("pricing") }}{{ part() | safe }}'
        html = render(source, using="jinja", part=lambda: render('{% faq "legal" %}'))
    assert summary(html) == page_of(A, B)._replace(styles=2)


# Commands


def run(*arguments: str) -> tuple[int, str]:
    """Return the exit status and the output of `manage.py faq`."""
    output, status = io.StringIO(), 0
    with redirect_stdout(output):
        try:
            call_command("faq", *arguments)
        except CommandError as error:
            status = error.returncode
    return status, output.getvalue()


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """A folder with templates of the project."""
    folder = tmp_path / "templates"
    (folder / "shop").mkdir(parents=True)
    (folder / "home.html").write_text(
        '{% load faqsvc %}\n{% faq "pricing" lang="ko" %}{# {% faq "no" %} #}\n'
    )
    (folder / "shop" / "item.html").write_text(
        "{{ faq('pricing') }}\n\n{% use_faq \"legal\" as s %}"
        "{% comment %}{% faq 'no' %}{% endcomment %}{% raw %}{% faq 'no' %}{% endraw %}faq \"no\""
    )
    (folder / "picture.png").write_bytes(b"\x89PNG\xff")
    return folder


def test_the_command_checks_that_every_faq_is_published(templates: Path, faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    settings = {"FAQSVC": {"BASE_URL": faulty.base_url}, "TEMPLATES": [{"BACKEND": "x", "DIRS": [templates]}]}
    with override_settings(**settings):
        status, output = run("check")
        assert (status, "pricing: published" in output, "shop/item.html:3" in output) == (1, True, True)
        faulty.serve(samples.record("legal"))
        faqs_from().forget()
        assert run("check")[0] == 0
