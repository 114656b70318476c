"""The page of a Flask request, and the ways in which its response may leave: streamed, failed, compressed."""

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import Context
from typing import Any

import pytest
from flask import (
    Flask,
    Response,
    abort,
    copy_current_request_context,
    g,
    render_template_string,
    request,
    stream_template_string,
    stream_with_context,
)
from flask_babel import Babel
from flask_caching import Cache
from werkzeug.test import create_environ, run_wsgi_app

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed import flask as leaf
from faqsvc_embed.flask import FAQExtension, faqs_from
from faqsvc_embed.page import context as pages
from faqsvc_embed.rendering.assets import stylesheet
from faqsvc_embed.rendering.renderer import problem_element
from faqsvc_embed.testing import fake_embed
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.blocks import STYLE, alone, block, script
from tests.support.faulty import FaultyServer

A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Wer?", "Wir."), title="Legal"))
TWO = '{% faq "pricing" %}{{ faq("legal") }}'
BOTH = f"{STYLE}{block(A)}{script(A, B)}{block(B)}"

View = Callable[[], Any]


def make_app(view: View, faqs: FAQEmbed | None = None) -> Flask:
    app = Flask("host")
    FAQExtension(app, embed=faqs or fake_embed({"pricing": A, "legal": B}))
    app.add_url_rule("/", "home", view)
    return app


def get(app: Flask, **headers: str) -> str:
    return app.test_client().get("/", headers=headers).text


# Streamed


@pytest.mark.parametrize(
    "source",
    [
        '{{ faq("pricing")|indent(4) }}{{ faq("legal") }}',
        '{% filter indent %}{{ faq("pricing") }}{% endfilter %}{{ faq("legal") }}',
        '{% filter trim %}{{ faq("pricing") }}{% endfilter %}{{ faq("legal") }}',
    ],
)
def test_white_space_around_what_was_printed_may_change(source: str) -> None:  # J1, J10
    html = get(make_app(lambda: render_template_string(source)))
    assert html.count("ld+json") == 1
    assert script(A, B).strip() in html


def by_template(source: str) -> Any:
    return stream_template_string(source)


def by_parts(source: str) -> Any:
    return stream_with_context(render_template_string(part) for part in source.split("|"))


def by_parts_without_context(source: str) -> Any:
    app = leaf.current_app._get_current_object()  # type: ignore[attr-defined]
    return (app.jinja_env.from_string(part).render() for part in source.split("|"))


Streams = Callable[[str], Any]
STREAMS = pytest.mark.parametrize("stream", [by_template, by_parts, by_parts_without_context])


def bare(source: str) -> str:
    return source.replace("|", "")


@STREAMS
def test_a_streamed_page_has_its_styles_once_its_nonce_and_one_faq_page(
    stream: Streams,
) -> None:  # J1, C6, T6
    def view() -> Any:
        g.csp_nonce = "x"
        source = '{% faq "pricing", schema=false %}|{{ faq("legal", schema=false) }}|{{ faq_schema() }}'
        return stream(source if stream is not by_template else bare(source))

    schema = script(A, B, nonce=' nonce="x"')
    expected = f'<style nonce="x">{stylesheet()}</style>\n{block(A)}{block(B)}{schema}'
    assert get(make_app(view)) == expected
    assert pages.current() is None


@STREAMS
def test_a_stream_that_the_server_reads_when_the_request_is_over_is_of_its_page(stream: Streams) -> None:
    source = '{% faq "pricing" %}|{% faq "pricing" %}'
    app = make_app(lambda: stream(source if stream is not by_template else bare(source)))
    parts, _, _ = run_wsgi_app(app, create_environ("/"))
    assert b"".join(parts).decode() == f"{alone(A)}{block(A, 2)}"
    assert pages.current() is None


def test_what_is_shown_before_a_stream_and_in_it_is_of_one_page() -> None:
    def view() -> Any:
        first = render_template_string('{% faq "pricing", schema=false %}')

        def parts() -> Iterator[str]:
            yield first
            yield faqs_from().render("legal", schema=False)
            yield faqs_from().render(A)

        return stream_with_context(parts())

    assert get(make_app(view)) == f"{STYLE}{block(A)}{block(B)}{block(A, 2)}{script(A)}"


def test_streams_that_are_read_in_turn_do_not_mix() -> None:
    source = '{% faq "pricing" %}|{% faq "legal" %}|{% faq "pricing" %}'
    app = make_app(lambda: by_parts_without_context(source))
    streams = [run_wsgi_app(app, create_environ("/"))[0] for _ in range(3)]
    read = [b"".join(parts).decode() for parts in zip(*zip(*streams, strict=True), strict=True)]
    assert read == [f"{alone(A)}{block(B)}{block(A, 2)}"] * 3


@STREAMS
def test_all_faqs_of_a_streamed_page_wait_together(stream: Streams, faulty: FaultyServer) -> None:  # R2
    faulty.behave(behaviours.hang)
    with FAQEmbed(faulty.base_url, wait=0.1) as faqs:
        waited = list[float]()

        def noted() -> str:
            page = pages.current()
            assert page is not None
            waited.append(page.left(0.1))
            return ""

        def view() -> Any:
            source = "|".join(f'{{% faq "{n}" %}}' for n in range(4)) + "|{{ noted() }}"
            return stream(source if stream is not by_template else bare(source))

        app = make_app(view, faqs)
        app.jinja_env.globals["noted"] = noted
        assert get(app) == ""
        assert waited == [0.0]


@STREAMS
def test_a_streamed_page_is_in_the_language_of_the_host(stream: Streams, faulty: FaultyServer) -> None:  # L4
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url) as faqs:
        app = make_app(lambda: stream('{% faq "pricing" %}'), faqs)
        Babel(app, locale_selector=lambda: "ko")
        response = app.test_client().get("/", headers={"Accept-Language": "ja"})
        assert (response.data != b"", "Vary" in response.headers) == (True, False)
        assert [asked.target for asked in faulty.log] == ["/api/v1/faq/pricing?lang=ko"]


@STREAMS
def test_a_streamed_page_is_in_the_language_of_the_visitor_and_says_so_in_time(
    stream: Streams, faulty: FaultyServer
) -> None:  # L4, L7
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url) as faqs:
        app = make_app(lambda: stream('{% faq "pricing" %}'), faqs)
        response = app.test_client().get("/", headers={"Accept-Language": "ja"})
        assert (response.data != b"", response.headers["Vary"]) == (True, "Accept-Language")
        assert [asked.target for asked in faulty.log] == ["/api/v1/faq/pricing?lang=ja"]


@STREAMS
def test_in_development_a_streamed_page_says_what_went_wrong(stream: Streams) -> None:  # R4
    faqs = fake_embed({})
    app = make_app(lambda: stream('{% faq "unknown" %}'), faqs)
    app.debug = True
    assert get(app) == problem_element(str(faqs.use_faq("unknown").error))


def test_a_stream_is_closed_and_a_file_is_left_alone() -> None:
    closed = list[str]()

    class Parts:
        def __iter__(self) -> Iterator[str]:
            return iter(["a"])

        def close(self) -> None:
            closed.append("Parts")

    for read in (True, False):
        parts, _, _ = run_wsgi_app(make_app(lambda: Response(Parts())), create_environ("/"))
        if read:
            assert list(parts) == [b"a"]
        parts.close()  # type: ignore[attr-defined]
    assert closed == ["Parts"] * 2
    file = [b"a"]
    passed = Response(file, direct_passthrough=True)
    assert (get(make_app(lambda: passed)), passed.response) == ("a", file)


# Errors


def fails_in_a_template() -> str:
    return render_template_string(f"{TWO}{{{{ 1 // 0 }}}}")


def fails_behind_a_template() -> str:
    faqs_from().render("pricing", schema=False)
    render_template_string(TWO)
    raise ZeroDivisionError


def is_refused_behind_a_template() -> str:
    render_template_string(TWO)
    abort(403)


@pytest.mark.parametrize("kind", [500, ZeroDivisionError])
@pytest.mark.parametrize("view", [fails_in_a_template, fails_behind_a_template])
def test_the_page_of_an_error_is_whole_whatever_was_rendered_before_it(view: View, kind: Any) -> None:  # J1
    app = make_app(view)
    app.register_error_handler(kind, lambda error: (render_template_string(TWO), 500))
    assert get(app) == BOTH
    assert pages.current() is None


def test_the_page_of_a_refusal_is_whole_whatever_was_rendered_before_it() -> None:  # J1
    app = make_app(is_refused_behind_a_template)
    app.register_error_handler(403, lambda error: (render_template_string('{% faq "legal" %}'), 403))
    assert get(app) == alone(B)


def test_a_view_may_show_another_template_than_the_one_that_failed() -> None:  # J1
    def view() -> str:
        try:
            return fails_in_a_template()
        except ZeroDivisionError:
            return render_template_string(TWO)

    assert get(make_app(view)) == BOTH


def test_a_template_that_fails_takes_nothing_from_what_was_rendered_before() -> None:  # J1, T6
    def view() -> str:
        with suppress(ZeroDivisionError):
            return render_template_string(TWO) + fails_in_a_template()
        return render_template_string('{% faq "pricing" %}')

    assert "<style" not in get(make_app(view))


def test_a_view_may_pass_its_environ_on_to_another_application() -> None:
    inner = make_app(lambda: render_template_string('{% faq "legal" %}'))

    def view() -> str:
        parts, _, _ = run_wsgi_app(inner, request.environ)
        return render_template_string('{% faq "pricing" %}|') + b"".join(parts).decode()

    assert get(make_app(view)) == f"{alone(A)}|{alone(B)}"
    assert pages.current() is None


def test_a_page_waits_no_second_time_for_its_error(faulty: FaultyServer) -> None:  # R2, U4
    faulty.behave(behaviours.hang)
    states = list[object]()
    with FAQEmbed(faulty.base_url, wait=0.05) as faqs:

        def view() -> str:
            states.append(faqs.use_faq("pricing"))
            raise ZeroDivisionError

        def handler(error: Exception) -> str:
            states.append(faqs.use_faq("pricing"))
            return ""

        app = make_app(view, faqs)
        app.register_error_handler(ZeroDivisionError, handler)
        assert get(app) == ""
    assert states[0] is states[1]


def test_a_gate_of_the_host_that_answers_before_its_views_has_a_page() -> None:  # J1
    app = Flask("host")
    app.before_request(lambda: render_template_string(TWO))
    FAQExtension(app, embed=fake_embed({"pricing": A, "legal": B}))
    assert get(app) == BOTH


# What changes or keeps a body before it leaves


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    leaf._warn.cache_clear()
    yield lambda: [r.getMessage() for r in caplog.records if r.name == "faqsvc_embed"]
    leaf._warn.cache_clear()


def compressed(response: Response) -> Response:
    response.set_data(gzip.compress(response.get_data()))
    response.headers["Content-Encoding"] = "gzip"
    return response


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_host_may_compress_its_responses(when: str, warnings: Callable[[], list[str]]) -> None:  # J1, S9
    app = Flask("host")
    if when == "before":
        app.after_request(compressed)
    FAQExtension(app, embed=fake_embed({"pricing": A, "legal": B}))
    if when == "after":
        app.after_request(compressed)
    app.add_url_rule("/", "home", lambda: render_template_string(TWO))
    assert gzip.decompress(app.test_client().get("/").data).decode() == BOTH
    assert warnings() == []


def test_a_view_that_compresses_its_page_of_two_faqs_is_told_once_what_to_do(
    warnings: Callable[[], list[str]],
) -> None:
    app = make_app(lambda: compressed(Response(render_template_string(TWO))))
    one = make_app(lambda: compressed(Response(render_template_string('{% faq "pricing" %}'))))
    for _ in range(2):
        assert gzip.decompress(one.test_client().get("/").data).decode() == alone(A)
    assert warnings() == []
    for _ in range(2):
        app.test_client().get("/")
    (warning,) = warnings()
    assert "was compressed before that" in warning
    assert "schema=False" in warning
    assert "{{ faq_schema() }}" in warning


def test_a_view_that_is_kept_by_flask_caching_is_told_once_what_to_do(
    warnings: Callable[[], list[str]],
) -> None:
    def app(source: str) -> Flask:
        app = Flask("host")
        FAQExtension(app, embed=fake_embed({"pricing": A, "legal": B}))
        cache = Cache(app, config={"CACHE_TYPE": "SimpleCache"})
        app.add_url_rule("/", "home", cache.cached(60)(lambda: render_template_string(source)))
        return app

    advised = app('{% faq "pricing", schema=false %}{% faq "legal", schema=false %}{{ faq_schema() }}')
    expected = f"{STYLE}{block(A)}{block(B)}{script(A, B)}"
    assert [get(advised), get(advised), warnings()] == [expected, expected, []]
    for _ in range(2):
        assert get(app(TWO)) == BOTH
    (warning,) = warnings()
    assert "is kept by Flask-Caching" in warning
    assert "{{ faq_schema() }}" in warning


# Threads


def test_a_thread_with_a_copy_of_the_context_takes_no_page_and_ends_none() -> None:
    def view() -> str:
        @copy_current_request_context
        def work() -> None:
            assert render_template_string('{% faq "pricing" %}') == alone(A)  # a page of its own
            seen.append(pages.current())

        first = render_template_string('{% faq "pricing" %}')
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return first + render_template_string('{% faq "legal" %}')

    def request() -> None:
        assert get(make_app(view)) == BOTH
        seen.append(pages.current())

    seen = list[object]()
    Context().run(request)
    assert seen == [None, None]


# In which language


@pytest.mark.parametrize("name", ["lang", "language", "locale", "lang_code"])
@pytest.mark.parametrize("choice", ["ko-KR", lambda: "ko"], ids=["text", "callable"])
def test_the_language_that_the_site_has_chosen_beats_the_visitors(
    name: str, choice: Any, faulty: FaultyServer
) -> None:  # L4, L7
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, lang="fr") as faqs:
        app = make_app(lambda: render_template_string('{% faq "pricing" %}'), faqs)
        Babel(app, locale_selector=lambda: "es")
        app.before_request(lambda: setattr(g, name, choice))
        response = app.test_client().get("/", headers={"Accept-Language": "ja"})
        assert "Vary" not in response.headers
        assert [asked.target for asked in faulty.log] == ["/api/v1/faq/pricing?lang=ko"]


@pytest.mark.parametrize(
    ("setting", "header", "query"),
    [
        (None, "ja", "?lang=ja"),
        ("fr", "ja", "?lang=ja"),
        ("fr", "nl", "?lang=fr"),
        ("fr", "", "?lang=fr"),
        (None, "nl", ""),
        (None, "", ""),
    ],
)
def test_the_visitors_language_beats_the_setting_and_without_either_none_is_sent(
    setting: str | None, header: str, query: str, faulty: FaultyServer
) -> None:  # L4, L7
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, lang=setting) as faqs:
        app = make_app(lambda: render_template_string('{% faq "pricing" %}'), faqs)
        response = app.test_client().get("/", headers={"Accept-Language": header})
        assert response.headers["Vary"] == "Accept-Language"
        faqs.use_faq("pricing")  # outside of a request nobody prefers anything
        own = "?lang=fr" if setting else ""
        assert [asked.target.removeprefix("/api/v1/faq/pricing") for asked in faulty.log] == (
            [query] if query == own else [query, own]
        )


@pytest.mark.parametrize("source", ["<p>", '{% faq "pricing" %}'])
def test_a_stream_whose_host_cannot_tell_the_language_is_whole(
    source: str, caplog: pytest.LogCaptureFixture
) -> None:  # R4
    app = make_app(lambda: by_parts(source))

    @app.before_request
    def fail() -> None:
        g.lang = lambda: 1 // 0

    expected = source if source == "<p>" else alone(A)
    assert [get(app) for _ in range(2)] == [expected, expected]
    (record,) = caplog.records
    assert "the language of a page could not be told by the host" in record.getMessage()
