"""A host whose own code fails while an FAQ asks it something: its page stays whole, and the log says so."""

import asyncio
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, g, render_template_string
from jinja2 import Environment, Template
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.asgi import get
from tests.support.blocks import alone, block, script

A = FAQ.from_dict(samples.pricing())
SOURCES = {
    "function": '{{ faq("pricing") }}',
    "tag": '{% faq "pricing" %}',
    "schema": '{% faq "pricing", schema=false %}{{ faq_schema() }}',
    "state": '{{ faq_schema(use_faq("pricing")) }}',
}
sources = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


class HostError(Exception):
    pass


def fail(*_: object) -> str:
    raise HostError("no")


def environment(embed: FAQEmbed, **options: Any) -> Environment:
    host = Environment(autoescape=True, **options)
    install(host, embed)
    return host


def jinja(embed: FAQEmbed, source: str) -> str:
    """The nonce of a template global."""
    host = environment(embed)
    host.globals["csp_nonce"] = fail
    return host.from_string(source).render()


def async_jinja(embed: FAQEmbed, source: str) -> str:
    host = environment(embed, enable_async=True)
    host.globals["csp_nonce"] = fail
    return asyncio.run(host.from_string(source).render_async())


def flask_nonce(embed: FAQEmbed, source: str) -> str:
    def set_nonce() -> None:
        g.csp_nonce = fail

    return flask(embed, source, before=set_nonce)


def flask_language(embed: FAQEmbed, source: str) -> str:
    return flask(embed, source, extensions={"babel": object()})


def flask(
    embed: FAQEmbed, source: str, before: Callable[[], None] = lambda: None, extensions: Any = ()
) -> str:
    app = Flask("host")
    app.extensions.update(extensions)
    app.before_request(before)
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", view_func=lambda: render_template_string(source))
    app.testing = True  # what is raised comes out
    return app.test_client().get("/").text


def starlette_nonce(embed: FAQEmbed, source: str) -> str:
    return starlette(embed, source, csp_nonce=fail)


def starlette_language(embed: FAQEmbed, source: str) -> str:
    return starlette(embed, source, locale=fail)


def starlette(embed: FAQEmbed, source: str, **state: Any) -> str:
    template = environment(embed).from_string(source)

    async def endpoint(request: Request) -> Response:
        request.state._state.update(state)
        return HTMLResponse(template.render())

    return get(FAQMiddleware(Starlette(routes=[Route("/", endpoint)]), embed=embed)).text


HOSTS = {
    "jinja": (jinja, "nonce"),
    "async jinja": (async_jinja, "nonce"),
    "flask nonce": (flask_nonce, "nonce"),
    "flask language": (flask_language, "language"),
    "starlette nonce": (starlette_nonce, "nonce"),
    "starlette language": (starlette_language, "language"),
}
hosts = pytest.mark.parametrize(("host", "what"), HOSTS.values(), ids=HOSTS)


@pytest.fixture(autouse=True)
def foreign_babel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flask_babel", None)  # as if it were not installed


@hosts
@sources
def test_its_page_is_whole_and_the_log_says_it_once(
    host: Callable[[FAQEmbed, str], str], what: str, source: str, caplog: pytest.LogCaptureFixture
) -> None:  # R4, R10, C6
    embed = fake_embed({"pricing": A})
    expected = alone(A) if "faq_schema(use" not in source else script(A)
    assert [host(embed, source) for _ in range(3)] == [expected] * 3
    (said,) = (record.getMessage() for record in caplog.records if record.name == "faqsvc_embed")
    assert said.startswith(f"the {what} of a page could not be told by the host")


@hosts
@sources
def test_if_strict_it_hears_of_it(host: Callable[[FAQEmbed, str], str], what: str, source: str) -> None:
    if what == "nonce" and "use_faq" in source:
        source += SOURCES["tag"]  # a nonce is asked for when something is printed
    with pytest.raises((HostError, ImportError)):
        host(fake_embed({"pricing": A}, strict=True), source)


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize(
    "source",
    [
        '{{ faq("pricing", nonce=new) }}',
        '{% faq "pricing", nonce=new %}',
        '{% faq "pricing", nonce=new, schema=false %}{{ faq_schema(nonce=new) }}',
    ],
)
def test_a_nonce_may_be_a_function_wherever_it_is_given(source: str, enable_async: bool) -> None:  # C4
    host = environment(embed := fake_embed({"pricing": A}), enable_async=enable_async)
    given = script(A, nonce=' nonce="x"')
    expected = alone(A).replace("<style>", '<style nonce="x">').replace(script(A), given)
    assert host.from_string(source).render(new=lambda: "x") == expected
    assert embed.schema(A, nonce=lambda: "x") == given.lstrip()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "nonce", [7, b"x", ["x"], lambda: object()], ids=["number", "bytes", "list", "function"]
)
def test_what_is_no_nonce_is_said_once_and_left_away(nonce: Any, caplog: pytest.LogCaptureFixture) -> None:
    source = '{% faq "pricing", nonce=nonce %}{% faq "pricing", nonce=nonce %}'  # E7
    html = environment(fake_embed({"pricing": A})).from_string(source).render(nonce=nonce)
    assert html == alone(A) + block(A, 2)
    (said,) = (record.getMessage() for record in caplog.records)
    assert said.endswith("text, or a function that returns text, is accepted")
    with pytest.raises(ConfigurationError, match="nonce is"):
        environment(fake_embed({"pricing": A}, strict=True)).from_string(source).render(nonce=nonce)


# What a host does with its pages


def test_a_rendering_that_fails_after_an_empty_schema_leaves_nothing_behind() -> None:
    app = Flask(__name__)
    FAQExtension(app, embed=fake_embed({"pricing": A}))

    @app.get("/")
    def page() -> str:
        assert render_template_string("{{ faq_schema() }}") == ""
        with pytest.raises(ZeroDivisionError):
            render_template_string("{{ faq('pricing') }}{{ 1/0 }}")
        return render_template_string("{{ faq('pricing') }}")

    assert app.test_client().get("/").text == alone(A)


def test_nobody_who_writes_down_the_locals_of_a_failing_template_gets_the_headers() -> None:
    app, kept = Flask(__name__), list[str]()
    FAQExtension(app, embed=fake_embed({"pricing": A}))

    @app.errorhandler(ZeroDivisionError)
    def fail(error: ZeroDivisionError) -> str:
        kept.extend(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        return ""

    app.add_url_rule("/", view_func=lambda: render_template_string("{{ faq('pricing') }}{{ 1/0 }}"))
    app.test_client().get("/", headers={"Authorization": "Bearer topsecret"})
    written = "".join(kept)
    assert ("_RequestPage" in written, "topsecret" in written) == (True, False)


@pytest.mark.parametrize("splice", [False, True])
def test_who_looks_on_at_templates_that_are_rendered_sees_them_all(
    splice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, seen, render = Environment(autoescape=True), list[str | None](), Template.render
    install(environment, fake_embed({"pricing": A}, splice=splice))

    def watched(template: Template, *args: Any, **kwargs: Any) -> str:
        seen.append(template.name)
        return render(template, *args, **kwargs)

    monkeypatch.setattr(Template, "render", watched)
    assert environment.from_string("{% faq 'pricing' %}").render() == alone(A)
    assert seen == [None]


class Told:
    """A host's own `g`."""

    __slots__ = ("csp_nonce", "lang")

    def __init__(self) -> None:
        self.csp_nonce, self.lang = "n", "de"

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)


def test_a_g_of_the_hosts_own_is_asked_as_flasks_is() -> None:
    app = Flask(__name__)
    app.app_ctx_globals_class = Told  # type: ignore[assignment]
    FAQExtension(app, embed=fake_embed({"pricing": A}))
    app.add_url_rule("/", view_func=lambda: render_template_string("{{ faq('pricing') }}"))
    for _ in range(2):
        answer = app.test_client().get("/", headers={"Accept-Language": "fr"})
        assert (answer.text.count('nonce="n"'), answer.headers.get("Vary")) == (2, None)


def test_a_function_that_tells_the_nonce_is_called_once_for_each_faq() -> None:
    app, calls = Flask(__name__), list[str]()
    FAQExtension(app, embed=fake_embed({"pricing": A}))

    @app.before_request
    def tell() -> None:
        g.csp_nonce = lambda: calls.append("n") or "n"  # type: ignore[func-returns-value]

    app.add_url_rule("/", view_func=lambda: render_template_string("{{ faq('pricing') }}"))
    for visit in range(1, 4):
        assert app.test_client().get("/").text.count('nonce="n"') == 2
        assert len(calls) == visit
