"""Flask responses that are made while they leave: by a template or a generator, with a context or without."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from typing import Any

import pytest
from flask import (
    Flask,
    Response,
    current_app,
    g,
    render_template,
    render_template_string,
    stream_template,
    stream_template_string,
    stream_with_context,
)
from flask_babel import Babel
from jinja2 import DictLoader
from werkzeug.test import create_environ, run_wsgi_app

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.garbage import own_garbage
from tests.support.pages import A, B, flask_app
from tests.support.parsed import nonces, page_of, summary, text_of

THREE = '{% faq "pricing" %}|{{ faq("legal") }}|{% faq "pricing" %}'
WITH_SCHEMA = '{% faq "pricing", schema=false %}|{{ faq("legal", schema=false) }}|{{ faq_schema() }}'

Stream = Callable[[str], Any]


def by_template(source: str) -> Any:
    return stream_template_string(source.replace("|", ""))


def by_parts(source: str) -> Any:
    return stream_with_context(render_template_string(part) for part in source.split("|"))


def by_parts_without_context(source: str) -> Any:
    environment = current_app.jinja_env
    return (environment.from_string(part).render() for part in source.split("|"))


def by_bytes(source: str) -> Any:
    return stream_with_context(render_template_string(part).encode() for part in source.split("|"))


streams = pytest.mark.parametrize("stream", [by_template, by_parts, by_parts_without_context, by_bytes])


def get(app: Flask, **headers: str) -> str:
    return app.test_client().get("/", headers=headers).text


@streams
def test_a_streamed_page_is_one_faq_page_and_each_document_has_its_stylesheet(stream: Stream) -> None:
    html = get(flask_app(lambda: stream(THREE.rpartition("|")[0])))
    assert summary(html) == page_of(A, B)._replace(styles=1 if stream is by_template else 2)


def test_a_streamed_page_has_its_nonce_and_every_question_by_faq_schema() -> None:
    app = flask_app(lambda: by_template(WITH_SCHEMA))
    app.before_request(lambda: setattr(g, "csp_nonce", "x"))
    html = get(app)
    assert (summary(html), nonces(html)) == (page_of(A, B), ["x"] * 2)


def test_a_stream_that_is_read_after_the_request_is_of_its_page() -> None:
    parts, _, _ = run_wsgi_app(flask_app(lambda: by_template(WITH_SCHEMA)), create_environ("/"))
    assert summary(b"".join(parts)) == page_of(A, B)


@pytest.mark.parametrize("count", [1, 10])
def test_a_stream_and_its_headers_stay_as_the_view_made_them(count: int) -> None:  # I9
    made = list[tuple[Response, Any]]()

    def view() -> Response:
        html = render_template_string('{% faq "pricing" %}' * count).encode()
        headers = {"Content-Length": str(len(html)), "ETag": '"1"'}
        body = iter([html[:100], html[100:]])
        made.append((Response(body, mimetype="text/html", headers=headers), body))
        return made[-1][0]

    sent = flask_app(view).test_client().get("/")
    ((response, body),) = made
    assert response.response is body
    assert len(summary(sent.data).faqs) == count
    assert (sent.headers["Content-Length"], sent.headers["ETag"]) == (str(len(sent.data)), '"1"')


@pytest.mark.parametrize("stream", [by_template, by_parts, by_bytes])
@pytest.mark.parametrize("chosen", ["ko", None])
@pytest.mark.parametrize("cached", [False, True])
def test_a_streamed_page_is_in_the_language_of_the_host_or_else_of_the_visitor(
    stream: Stream, chosen: str | None, faulty: FaultyServer, cached: bool
) -> None:
    """A stream that visitors may share is not in the language of one, because its headers were sent."""
    faulty.serve(samples.pricing())
    headers = {"Cache-Control": "public, max-age=60"} if cached else {}
    with FAQEmbed(faulty.base_url, wait=20) as faqs:
        app = flask_app(lambda: Response(stream('{% faq "pricing" %}'), headers=headers), faqs)
        if chosen:
            Babel(app, locale_selector=lambda: chosen)
        response = app.test_client().get("/", headers={"Accept-Language": "ja"})
        assert summary(response.data).faqs == page_of(A).faqs
        assert "Vary" not in response.headers
        assert [request.lang for request in faulty.log] == [chosen or (None if cached else "ja")]


def test_in_development_a_streamed_page_shows_what_went_wrong() -> None:
    app = flask_app(lambda: by_template('{% faq "unknown" %}'))
    app.debug = True
    (problem,) = text_of(get(app), ".faqsvc-problem")
    assert "unknown" in problem


def test_a_streamed_page_may_fail_and_the_next_is_as_ever() -> None:
    app = flask_app(lambda: by_parts(THREE + "|{{ 1 // 0 }}"))
    app.add_url_rule("/next", "next", lambda: by_template(WITH_SCHEMA))
    for _ in range(2):
        parts, _, _ = run_wsgi_app(app, create_environ("/"))
        with pytest.raises(ZeroDivisionError):
            list(parts)
    assert summary(app.test_client().get("/next").data) == page_of(A, B)


@pytest.mark.parametrize("query", ["", "?faq_preview=pppppppp"], ids=["published", "preview"])
@pytest.mark.parametrize(
    "view",
    [
        lambda: stream_template("page"),
        lambda: stream_with_context(render_template("page") for _ in range(2)),
        lambda: Response(current_app.jinja_env.get_template("page").generate()),
    ],
    ids=["template", "parts", "parts without context"],
)
def test_a_streamed_response_leaves_no_reference_cycle(view: Callable[[], Any], query: str) -> None:  # I14
    app = flask_app(view)
    app.jinja_loader = DictLoader({"page": THREE})  # a template from a string is a cycle itself
    assert own_garbage(lambda: app.test_client().get(f"/{query}")) == []


def test_a_context_that_was_copied_in_a_stream_is_outside_of_its_page_afterwards() -> None:  # I14
    contexts = list[Context]()
    app = flask_app(lambda: by_template('{% faq "pricing" %}{{ copy() }}'))
    app.before_request(lambda: setattr(g, "csp_nonce", "x"))
    app.jinja_env.globals["copy"] = lambda: contexts.append(copy_context()) or ""  # type: ignore[func-returns-value]
    with app.test_client().get("/") as response:
        assert nonces(response.data) == ["x"] * 2
    with ThreadPoolExecutor(1) as pool:
        html = pool.submit(contexts[0].run, app.extensions["faqsvc"].render, "pricing").result()
    assert (summary(html), nonces(html)) == (page_of(A), [None] * 2)


def test_a_language_that_the_host_cannot_choose_breaks_no_stream() -> None:
    app = Flask(__name__)
    FAQExtension(app, embed=fake_embed({}))

    @app.before_request
    def choose() -> None:
        g.lang = lambda: 1 / 0

    app.add_url_rule("/", view_func=lambda: Response(iter(["<p>no ", "faq</p>"]), mimetype="text/html"))
    response = app.test_client().get("/")
    assert (response.status_code, response.data) == (200, b"<p>no faq</p>")
