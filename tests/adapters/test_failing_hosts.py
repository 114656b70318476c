"""Hosts whose own code fails, or returns nonsense, when a page needs its nonce or language."""

import asyncio
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, g, render_template_string
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from faqsvc_embed import ConfigurationError, FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support.asgi import get
from tests.support.pages import A, environment
from tests.support.parsed import nonces, page_of, summary

SOURCES = {
    "function": '{{ faq("pricing") }}',
    "tag": '{% faq "pricing" %}',
    "schema": '{% faq "pricing", schema=false %}{{ faq_schema() }}',
    "state": '{{ faq(use_faq("pricing").data) }}',
}
sources = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)

Host = Callable[[FAQEmbed, str], str]


class HostError(Exception):
    pass


def fail(*_: object) -> str:
    raise HostError("no")


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
    return flask(embed, source, before=lambda: setattr(g, "csp_nonce", fail))


def flask_language(embed: FAQEmbed, source: str) -> str:
    return flask(embed, source, before=lambda: setattr(g, "lang", fail))


def flask_babel(embed: FAQEmbed, source: str) -> str:
    """An extension of the host by the name of Flask-Babel, which is not installed."""
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
        for name, value in state.items():
            setattr(request.state, name, value)
        return HTMLResponse(template.render())

    return get(FAQMiddleware(Starlette(routes=[Route("/", endpoint)]), embed=embed)).text


HOSTS = [jinja, async_jinja, flask_nonce, flask_language, flask_babel, starlette_nonce, starlette_language]
hosts = pytest.mark.parametrize("host", HOSTS)


@pytest.fixture(autouse=True)
def no_babel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flask_babel", None)


@hosts
@sources
def test_the_page_is_complete_and_the_log_says_why_once(
    host: Host, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    embed = fake_embed({"pricing": A})
    assert [summary(host(embed, source)) for _ in range(3)] == [page_of(A)] * 3
    (record,) = (record for record in caplog.records if record.name == "faqsvc_embed")
    assert (record.levelname, record.exc_info is None) == ("ERROR", False)


@hosts
@sources
def test_strict_raises_what_the_host_raised(host: Host, source: str) -> None:
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
def test_a_nonce_may_be_a_function_wherever_it_is_given(source: str, enable_async: bool) -> None:
    host = environment(fake_embed({"pricing": A}), enable_async=enable_async)
    assert nonces(host.from_string(source).render(new=lambda: "x")) == ["x", "x"]


@pytest.mark.parametrize(
    "nonce",
    [7, b"x", ["x"], lambda: object(), "a b", 'a"b'],
    ids=["number", "bytes", "list", "function", "blank", "quote"],
)
def test_a_nonce_that_is_not_base64_is_left_out_with_one_warning(
    nonce: Any, caplog: pytest.LogCaptureFixture
) -> None:
    source = '{% faq "pricing", nonce=nonce %}{% faq "pricing", nonce=nonce %}'
    html = environment(fake_embed({"pricing": A})).from_string(source).render(nonce=nonce)
    assert (summary(html), nonces(html)) == (page_of(A, A), [None] * 3)
    (record,) = caplog.records
    assert (record.levelname, "nonce" in record.getMessage()) == ("WARNING", True)
    with pytest.raises(ConfigurationError, match="nonce"):
        environment(fake_embed({"pricing": A}, strict=True)).from_string(source).render(nonce=nonce)


def test_a_traceback_with_local_variables_has_no_headers_of_the_request() -> None:
    app, kept = Flask(__name__), list[str]()
    FAQExtension(app, embed=fake_embed({"pricing": A}))

    @app.errorhandler(HostError)
    def keep(error: HostError) -> str:
        kept.extend(traceback.TracebackException.from_exception(error, capture_locals=True).format())
        return ""

    def view() -> str:
        return render_template_string("{{ faq('pricing', nonce=fail) }}{{ fail() }}", fail=fail)

    app.add_url_rule("/", view_func=view)
    app.test_client().get("/", headers={"Authorization": "Bearer topsecret"})
    assert "HostError" in "".join(kept)
    assert "topsecret" not in "".join(kept)


class Globals:
    """A class of the host in the place of Flask's `g`."""

    __slots__ = ("csp_nonce", "lang")

    def __init__(self) -> None:
        self.csp_nonce, self.lang = "n", "de"

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self, name, default)


def test_a_class_of_the_host_may_stand_in_for_g() -> None:
    app = Flask(__name__)
    app.app_ctx_globals_class = Globals  # type: ignore[assignment]
    FAQExtension(app, embed=fake_embed({"pricing": A}))
    app.add_url_rule("/", view_func=lambda: render_template_string("{{ faq('pricing') }}"))
    response = app.test_client().get("/", headers={"Accept-Language": "fr"})
    assert (nonces(response.data), response.headers.get("Vary")) == (["n", "n"], None)


def test_a_function_that_returns_the_nonce_is_called_once_for_each_faq() -> None:
    app, calls = Flask(__name__), list[str]()
    FAQExtension(app, embed=fake_embed({"pricing": A}))

    def new_nonce() -> str:
        calls.append("n")
        return "n"

    app.before_request(lambda: setattr(g, "csp_nonce", new_nonce))
    app.add_url_rule("/", view_func=lambda: render_template_string("{{ faq('pricing') }}"))
    for visit in range(1, 4):
        assert nonces(app.test_client().get("/").data) == ["n", "n"]
        assert len(calls) == visit
