"""Attaching FAQs to Flask applications: configuration, factories, blueprints, wrong objects."""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Blueprint, Flask, render_template, render_template_string
from starlette.applications import Starlette

from faqsvc_embed import ConfigurationError
from faqsvc_embed.flask import FAQExtension, faqs_from
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.pages import ONE, A, embed, flask_app
from tests.support.parsed import page_of, summary, text_of

KEY = "fs_live_0123456789abcdef"


def get(app: Flask, path: str = "/") -> str:
    return app.test_client().get(path).text


# Configuration


def test_a_keyword_beats_the_configuration_which_beats_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://environment.example.com")
    monkeypatch.setenv("FAQSVC_LANG", "ko")
    monkeypatch.setenv("FAQSVC_WAIT", "3")
    app = Flask("host")
    app.config.update(FAQSVC_LANG="ja", FAQSVC_BASE_URL="https://config.example.com")
    FAQExtension(app, lang="fr")
    settings = faqs_from(app).settings
    assert (settings.base_url, settings.lang, settings.wait) == ("https://config.example.com", "fr", 3.0)


def test_an_extension_that_was_made_before_serves_every_application_of_a_factory() -> None:
    extension = FAQExtension(wait=0.25)

    def create_app(base_url: str) -> Flask:
        app = Flask("host")
        app.config["FAQSVC_BASE_URL"] = base_url
        extension.init_app(app)
        return app

    one, two = create_app("https://one.example.com"), create_app("https://two.example.com")
    assert [(faqs_from(app).settings.base_url, faqs_from(app).settings.wait) for app in (one, two)] == [
        ("https://one.example.com", 0.25),
        ("https://two.example.com", 0.25),
    ]
    assert faqs_from(one) is not faqs_from(two)


def test_a_reading_site_never_sends_a_key_that_is_configured(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    app = Flask("host")
    FAQExtension(app, base_url=faulty.base_url, api_key=KEY)
    with app.app_context(), faqs_from() as faqs:
        assert faqs.get_faq("pricing") == A
    assert KEY not in str([request.headers for request in faulty.log])


# Mistakes


class Quart:
    """Like that of the framework, which is not installed here."""

    __module__ = "quart.app"
    extensions: dict[str, object] = {}  # noqa: RUF012


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("https://faq.example.com", "base_url="),
        (Quart(), "FAQMiddleware"),
        (Starlette(), "Starlette"),
        (Flask, "type"),
    ],
    ids=["address", "Quart", "Starlette", "class"],
)
@pytest.mark.parametrize("attach", [FAQExtension, FAQExtension(base_url="https://faq.example.com").init_app])
def test_a_wrong_object_is_refused_with_a_hint(attach: Callable[[Any], Any], wrong: Any, right: str) -> None:
    with pytest.raises(ConfigurationError, match="Flask") as caught:
        attach(wrong)
    assert right in str(caught.value)


def test_a_mistake_in_the_settings_is_an_error_before_there_is_an_application() -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'wait'"):
        FAQExtension(wat=1)  # type: ignore[call-arg]
    with pytest.raises(ConfigurationError, match="timeout"):
        FAQExtension(timeout=0)


def test_the_faqs_of_something_else_than_an_application_are_refused() -> None:
    for wrong in ("https://faq.example.com", Starlette()):
        with pytest.raises(ConfigurationError, match=f"Flask application, not {type(wrong).__name__}"):
            faqs_from(wrong)  # type: ignore[arg-type]


def test_an_application_takes_the_extension_once() -> None:
    app = flask_app()
    with pytest.raises(ConfigurationError, match="already"):
        FAQExtension(app, base_url="https://faq.example.com")


@pytest.mark.parametrize("module", ["flask", "fastapi"])
def test_a_missing_framework_is_named_with_its_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith(module):
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"faqsvc_embed.{module}", raising=False)
    with pytest.raises(ImportError, match=rf"faqsvc-embed\[{module}\]"):
        importlib.import_module(f"faqsvc_embed.{module}")


# The embed of an application


def test_the_embed_is_found_in_a_request_and_outside_of_one() -> None:
    faqs = embed()
    app = flask_app(faqs=faqs)
    assert faqs_from(app) is faqs
    with app.app_context():
        assert faqs_from() is faqs
    with app.test_request_context():
        assert faqs_from() is faqs


def test_without_the_extension_there_is_no_embed() -> None:
    app = Flask("host")
    with pytest.raises(ConfigurationError, match="FAQExtension"):
        faqs_from(app)
    with app.app_context(), pytest.raises(ConfigurationError, match="FAQExtension"):
        faqs_from()
    with pytest.raises(RuntimeError, match="application context"):
        faqs_from()


def test_two_applications_of_one_process_share_nothing() -> None:
    with FaultyServer() as one, FaultyServer() as two:
        apps = []
        for server, text in ((one, "First."), (two, "Second.")):
            server.serve(samples.record("pricing", ("Which?", text)))
            app = Flask("host")
            FAQExtension(app, base_url=server.base_url)
            app.add_url_rule("/", view_func=lambda: render_template_string('{% faq "pricing" %}'))
            apps.append(app)
        pages = [get(app) for app in (*apps, *apps)]
        assert ["First." in page for page in pages] == [True, False] * 2
        assert ["Second." in page for page in pages] == [False, True] * 2
        assert [len(one.log), len(two.log)] == [1, 1]
        faqs_from(apps[0]).forget()
        assert len(faqs_from(apps[1]).health()) == 1
        for app in apps:
            faqs_from(app).close()


def test_an_embed_works_in_a_request_of_an_application_that_has_none() -> None:
    faqs, other = embed(), Flask("other")
    flask_app(faqs=faqs)
    other.add_url_rule("/", "home", lambda: str(faqs.render("pricing")))
    assert summary(get(other)) == page_of(A)


# Templates of the host


def test_a_blueprint_overrides_the_template_and_the_application_overrides_that(tmp_path: Path) -> None:
    for folder in ("app", "part"):
        (tmp_path / folder / "faqsvc").mkdir(parents=True)
    (tmp_path / "part" / "part.html").write_text('{% faq "pricing" %}', encoding="utf-8")

    def pages() -> list[str]:
        app = flask_app(ONE, template_folder=str(tmp_path / "app"))
        app.config["NAME"] = "<Host>"
        part = Blueprint("part", "part", template_folder=str(tmp_path / "part"))
        part.add_url_rule("/part", "page", lambda: render_template("part.html"))
        app.register_blueprint(part)
        return [get(app), get(app, "/part")]

    assert [summary(page) for page in pages()] == [page_of(A)] * 2
    (tmp_path / "part" / "faqsvc" / "faq.html").write_text("<b>{{ title }}</b>", encoding="utf-8")
    assert [text_of(page, "section > b") for page in pages()] == [["Pricing"]] * 2
    (tmp_path / "app" / "faqsvc" / "faq.html").write_text("<i>{{ config.NAME }}</i>", encoding="utf-8")
    assert [text_of(page, "section > b, section > i") for page in pages()] == [["<Host>"]] * 2


# Problems


@pytest.mark.parametrize("debug", [False, True])
def test_what_went_wrong_is_visible_in_development_only(debug: bool) -> None:
    app = flask_app('<p>{% faq "<unknown>" %}</p>')
    app.debug = debug
    problems = text_of(get(app), ".faqsvc-problem")
    assert len(problems) == debug
    assert all("<unknown>" in problem for problem in problems)
    if not debug:
        assert get(app) == "<p></p>"


@pytest.mark.parametrize("debug", [False, True])
def test_the_hidden_parts_of_an_answer_are_reported_in_development_only(debug: bool) -> None:
    record = samples.pricing() | {"answerFormat": "markdown"}
    record["items"][0]["answer"] = "[Help](help.html)"
    app = flask_app('{{ faq("pricing") }}', fake_embed({"pricing": record}))
    app.debug = debug
    problems = text_of(get(app), ".faqsvc-problem")
    assert len(problems) == debug
    assert all("help.html" in problem for problem in problems)


def test_an_invalid_option_is_visible_in_development_beside_the_faq() -> None:
    app = flask_app('{{ faq("pricing", heading_level=9, colour="red") }}')
    app.debug = True
    html = get(app)
    assert summary(html) == page_of(A)
    problems = " ".join(text_of(html, ".faqsvc-problem"))
    assert ("heading_level" in problems, "'colour'" in problems) == (True, True)
