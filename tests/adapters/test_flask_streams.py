"""Flask responses that are made while they leave: by a template or a generator, with a context or without."""

import json
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from flask import (
    Flask,
    Response,
    current_app,
    g,
    render_template_string,
    stream_template_string,
    stream_with_context,
)
from flask_babel import Babel
from werkzeug.test import create_environ, run_wsgi_app

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.flask import FAQExtension, faqs_from
from faqsvc_embed.testing import fake_embed
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.parsed import nonces, page_of, summary, text_of
from tests.support.slow import slow_embed

A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Wer?", "Wir – „wir“."), title="Legal"))
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


def make_app(view: Callable[[], Any], faqs: FAQEmbed | None = None) -> Flask:
    app = Flask("host")
    FAQExtension(app, embed=faqs or fake_embed({"pricing": A, "legal": B}))
    app.add_url_rule("/", "home", view)
    return app


def get(app: Flask, **headers: str) -> str:
    return app.test_client().get("/", headers=headers).text


@streams
def test_a_streamed_page_has_its_styles_once_and_the_faq_page_of_its_first_faq(stream: Stream) -> None:
    html = get(make_app(lambda: stream(THREE)))
    assert summary(html) == page_of(A, B, A)._replace(faq_pages=page_of(A).faq_pages)


@streams
def test_a_streamed_page_has_its_nonce_and_every_question_by_faq_schema(stream: Stream) -> None:
    app = make_app(lambda: stream(WITH_SCHEMA))
    app.before_request(lambda: setattr(g, "csp_nonce", "x"))
    html = get(app)
    assert (summary(html), nonces(html)) == (page_of(A, B), ["x"] * 2)


@streams
def test_a_stream_that_is_read_after_the_request_is_of_its_page(stream: Stream) -> None:
    parts, _, _ = run_wsgi_app(make_app(lambda: stream(WITH_SCHEMA)), create_environ("/"))
    assert summary(b"".join(parts)) == page_of(A, B)


def test_what_is_printed_before_a_stream_and_in_it_is_one_page() -> None:
    def view() -> Any:
        first = render_template_string('{% faq "pricing", schema=false %}')

        def parts() -> Iterator[str]:
            yield first
            yield faqs_from().render("legal", schema=False)
            yield faqs_from().render(A)

        return stream_with_context(parts())

    assert summary(get(make_app(view))) == page_of(A, B, A)._replace(faq_pages=page_of(A).faq_pages)


def test_a_changed_stream_has_neither_the_content_length_nor_the_etag_of_the_host() -> None:
    def view() -> Response:
        parts = [render_template_string(part).encode() for part in THREE.split("|")]
        headers = {"Content-Length": str(sum(map(len, parts))), "ETag": '"1"'}
        return Response(iter(parts), mimetype="text/html", headers=headers)

    response = make_app(view).test_client().get("/")
    assert response.text.count("<style>") == 1
    assert {"Content-Length", "ETag"}.isdisjoint(response.headers.keys())


def test_streams_that_are_read_in_turn_do_not_mix() -> None:
    app = make_app(lambda: by_parts_without_context(THREE))
    bodies = [run_wsgi_app(app, create_environ("/"))[0] for _ in range(3)]
    read = [b"".join(parts) for parts in zip(*zip(*bodies, strict=True), strict=True)]
    assert [summary(html).styles for html in read] == [1] * 3
    assert len(set(read)) == 1


def test_an_element_that_is_cut_anywhere_is_recognised() -> None:
    def view() -> Any:
        whole = "".join(str(faqs_from().render(slug)) for slug in ("pricing", "legal")) + "<p>ü</p>"
        body = whole.encode()
        return Response(iter([body[at : at + 7] for at in range(0, len(body), 7)]))

    html = get(make_app(view))
    assert summary(html) == page_of(A, B)
    assert html.endswith("<p>ü</p>")


@pytest.mark.parametrize("wait", [0.0, 10.0])
def test_a_streamed_page_waits_for_its_faqs_as_any_page_does(wait: float, faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    faulty.behave(behaviours.healthy if wait else behaviours.hang)
    with FAQEmbed(faulty.base_url, wait=wait) as faqs:
        html = get(make_app(lambda: by_parts_without_context(THREE.replace("legal", "pricing")), faqs))
        assert len(summary(html).faqs) == (3 if wait else 0)


def test_faqs_of_a_stream_that_arrive_late_are_shown() -> None:
    app = make_app(lambda: by_parts(THREE), slow_embed({"pricing": A, "legal": B}))
    assert summary(get(app)).faqs == page_of(A, B, A).faqs


@streams
@pytest.mark.parametrize("chosen", ["ko", None])
def test_a_streamed_page_is_in_the_language_of_the_host_or_else_of_the_visitor(
    stream: Stream, chosen: str | None, faulty: FaultyServer
) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url) as faqs:
        app = make_app(lambda: stream('{% faq "pricing" %}'), faqs)
        if chosen:
            Babel(app, locale_selector=lambda: chosen)
        response = app.test_client().get("/", headers={"Accept-Language": "ja"})
        assert summary(response.data).faqs == page_of(A).faqs
        assert response.headers.get("Vary") == (None if chosen else "Accept-Language")
        assert [request.lang for request in faulty.log] == [chosen or "ja"]


def test_an_faq_of_a_body_that_is_no_generator_is_in_the_visitors_language(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())

    with FAQEmbed(faulty.base_url, lang="de") as faqs:
        app = make_app(lambda: Response(map(faqs.render, ["pricing"])), faqs)
        response = app.test_client().get("/", headers={"Accept-Language": "ja"})
        assert summary(response.data).faqs == page_of(A).faqs
        assert response.headers["Vary"] == "Accept-Language"
        assert [request.lang for request in faulty.log] == ["ja"]


@streams
def test_in_development_a_streamed_page_shows_what_went_wrong(stream: Stream) -> None:
    app = make_app(lambda: stream('{% faq "unknown" %}'))
    app.debug = True
    (problem,) = text_of(get(app), ".faqsvc-problem")
    assert "unknown" in problem


def test_a_streamed_page_may_fail_and_the_next_is_as_ever() -> None:
    app = make_app(lambda: by_parts(THREE + "|{{ 1 // 0 }}"))
    app.add_url_rule("/next", "next", lambda: by_parts(WITH_SCHEMA))
    for _ in range(2):
        parts, _, _ = run_wsgi_app(app, create_environ("/"))
        with pytest.raises(ZeroDivisionError):
            list(parts)
    assert summary(app.test_client().get("/next").data) == page_of(A, B)


# What passes as it is


class Parts:
    """A body that counts how often it is closed."""

    closed = 0

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("is_read", [True, False])
def test_the_body_of_the_host_is_closed_once(is_read: bool) -> None:  # PEP 3333
    body = Parts()
    parts, _, _ = run_wsgi_app(make_app(lambda: Response(body)), create_environ("/"))
    if is_read:
        assert list(parts) == [b"a"]
    parts.close()  # type: ignore[attr-defined]
    assert body.closed == 1


def test_a_file_is_passed_on_as_the_object_that_it_is() -> None:
    file = [b"a"]
    response = Response(file, direct_passthrough=True)
    assert (get(make_app(lambda: response)), response.response) == ("a", file)


def test_a_stream_that_is_not_html_passes_as_it_is() -> None:
    body = (json.dumps(part) for part in ("<section>", 1))
    response = Response(body, mimetype="application/json")
    assert get(make_app(lambda: response)) == '"<section>"1'
    assert response.response is body


def test_a_language_that_the_host_cannot_choose_breaks_no_stream() -> None:
    app = Flask(__name__)
    FAQExtension(app, embed=fake_embed({}))

    @app.before_request
    def choose() -> None:
        g.lang = lambda: 1 / 0

    app.add_url_rule("/", view_func=lambda: Response(iter(["<p>no ", "faq</p>"]), mimetype="text/html"))
    response = app.test_client().get("/")
    assert (response.status_code, response.data) == (200, b"<p>no faq</p>")


def test_a_stream_without_an_faq_passes_part_by_part() -> None:
    parts, _, _ = run_wsgi_app(
        make_app(lambda: Response(iter(cast("list[str]", ["a", b"b\xff", "ü"])))), create_environ("/")
    )
    assert list(parts) == [b"a", b"b\xff", "ü".encode()]
