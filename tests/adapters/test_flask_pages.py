"""One page for each Flask request, whatever renders its FAQs and whichever response leaves."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context

import pytest
from flask import (
    Flask,
    abort,
    copy_current_request_context,
    current_app,
    g,
    render_template_string,
    request,
)
from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Response

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension, faqs_from
from faqsvc_embed.testing import fake_embed
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.pages import TWO, A, B, flask_app
from tests.support.parsed import nonces, page_of, summary
from tests.support.waiting import wait_until


def get(app: Flask) -> str:
    return app.test_client().get("/").text


@pytest.mark.parametrize(
    "parts",
    [
        lambda: [render_template_string('{% faq "pricing" %}'), render_template_string('{% faq "legal" %}')],
        lambda: [render_template_string('{% faq "pricing" %}'), faqs_from().render("legal")],
        lambda: [faqs_from().render("pricing"), asyncio.run(faqs_from().arender("legal"))],
        lambda: [faqs_from().render(A), current_app.jinja_env.from_string('{% faq "legal" %}').render()],
    ],
    ids=["two templates", "template and view", "awaited", "environment"],
)
def test_all_that_is_rendered_in_a_request_is_one_faq_page(parts: Callable[[], list[str]]) -> None:
    html = get(flask_app(lambda: "".join(map(str, parts()))))
    assert summary(html) == page_of(A, B)._replace(styles=2)  # of two documents


def test_an_event_loop_in_a_view_waits_for_an_faq_as_the_view_would(faulty: FaultyServer) -> None:
    """An async view of Flask has a loop that serves one request alone, which may be blocked."""
    faulty.serve(samples.pricing())

    async def view() -> str:
        return render_template_string('{% faq "pricing" %}')

    with FAQEmbed(faulty.base_url, wait=10) as faqs:
        assert summary(get(flask_app(lambda: asyncio.run(view()), faqs))) == page_of(A)


def test_what_a_hook_renders_before_the_view_is_on_its_page() -> None:
    app = flask_app(lambda: g.first + render_template_string('{% faq "legal" %}'))
    app.before_request(lambda: setattr(g, "first", render_template_string('{% faq "pricing" %}')))
    assert summary(get(app)) == page_of(A, B)._replace(styles=2)


def test_a_hook_that_appends_to_the_response_is_on_its_page() -> None:
    app = flask_app('{% faq "pricing" %}')

    @app.after_request
    def append(response: Response) -> Response:
        response.set_data(response.get_data(as_text=True) + render_template_string('{% faq "legal" %}'))
        return response

    assert summary(get(app)) == page_of(A, B)._replace(styles=2)


# Error pages and mails


def test_an_email_in_another_language_does_not_change_that_of_the_page() -> None:
    app = Flask(__name__)
    FAQExtension(app, embed=fake_embed(dict.fromkeys(("a", "b"), A)))
    state = "{{{{ use_faq('{}').lang_requested }}}}"

    def view() -> str:
        g.lang = "de"
        mail = render_template_string(state.format("a"))
        g.lang = "fr"
        return mail + render_template_string(state.format("b"))

    app.add_url_rule("/", view_func=view)
    assert app.test_client().get("/").text == "defr"


def test_a_page_does_not_wait_a_second_time_for_its_error_page(faulty: FaultyServer) -> None:
    faulty.behave(behaviours.hang)
    waited = list[float]()
    with FAQEmbed(faulty.base_url, wait=0.3) as faqs:

        def wait() -> str:
            started = time.monotonic()
            assert faqs.render("pricing") == faqs.render("legal") == ""
            waited.append(time.monotonic() - started)
            return ""

        app = flask_app(lambda: wait() or abort(404), faqs)
        app.register_error_handler(404, lambda error: wait())

        def waits_once() -> bool:  # on a busy machine, the second may take as long without a wait
            waited.clear()
            assert get(app) == ""
            assert waited[0] >= 0.27
            return waited[1] < 0.27

        wait_until(waits_once)


# Between requests, and in threads


@pytest.mark.parametrize("context", ["app_context", "test_request_context"])
def test_a_template_renders_in_a_context_without_a_request(context: str) -> None:
    app = flask_app()
    for _ in range(2):
        with getattr(app, context)():
            assert summary(render_template_string('{% faq "pricing" %}')) == page_of(A)


def test_requests_of_many_threads_do_not_mix() -> None:
    app = flask_app(
        lambda: render_template_string("{% for n in range(3) %}{% faq slug %}{% endfor %}", **request.args)
    )

    def is_right(number: int) -> bool:
        faq = (A, B)[number % 2]
        html = app.test_client().get(f"/?slug={faq.slug}").text
        return summary(html) == page_of(faq, faq, faq)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(is_right, range(24)))


def test_a_request_within_a_request_has_a_page_of_its_own() -> None:
    app, inner = flask_app('{% faq "legal" %}'), list[str]()

    @app.get("/outer")
    def outer() -> str:
        first = render_template_string('{% faq "pricing" %}')
        inner.append(get(app))
        return first + render_template_string('{% faq "legal" %}')

    assert summary(app.test_client().get("/outer").data) == page_of(A, B)._replace(styles=2)
    assert summary(inner[0]) == page_of(B)


def test_a_view_may_pass_its_environment_on_to_another_application() -> None:
    inner, responses = flask_app('{% faq "legal" %}{% faq "legal" %}'), list[bytes]()

    def view() -> str:
        responses.append(b"".join(run_wsgi_app(inner, request.environ)[0]))
        return render_template_string('{% faq "pricing" %}{% faq "pricing" %}')

    response = flask_app(view).test_client().get("/")
    assert (summary(responses[0]), summary(response.data)) == (page_of(B, B), page_of(A, A))
    assert response.headers["Vary"] == "Accept-Language"


def test_a_thread_of_a_request_has_the_page_of_the_request() -> None:
    def view() -> str:
        @copy_current_request_context
        def work() -> None:
            parts.append(render_template_string('{% faq "legal" %}'))

        parts = [render_template_string('{% faq "pricing" %}')]
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return "".join(parts)

    response = flask_app(view).test_client().get("/", headers={"Accept-Language": "ko"})
    assert summary(response.data) == page_of(A, B)._replace(styles=2)
    assert response.headers["Vary"] == "Accept-Language"


def test_python_code_finds_the_nonce_that_an_extension_gives_to_templates() -> None:
    app = flask_app(lambda: str(faqs_from().render("pricing")))
    app.jinja_env.globals["csp_nonce"] = lambda: "x"  # as Flask-Talisman does
    assert nonces(get(app)) == ["x"] * 2


def test_a_nonce_of_a_view_counts_where_the_function_of_an_extension_has_none() -> None:
    app = flask_app(lambda: render_template_string(TWO, csp_nonce="x"))
    app.jinja_env.globals["csp_nonce"] = lambda: ""  # as Flask-Talisman does without a nonce in its policy
    assert nonces(get(app)) == ["x"] * 3


def test_a_mail_has_no_nonce_and_logs_nothing_where_templates_get_it_from_the_request(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = flask_app(lambda: "")
    app.jinja_env.globals["csp_nonce"] = lambda: request.environ["nonce"]
    with app.app_context():
        assert nonces(render_template_string(TWO)) == [None] * 3
    assert not caplog.records


def test_a_context_that_was_copied_in_a_request_is_outside_of_its_page_afterwards() -> None:
    contexts = list[Context]()

    def view() -> str:
        contexts.append(copy_context())
        g.csp_nonce = "x"
        return render_template_string(TWO)

    app = flask_app(view)
    assert nonces(get(app)) == ["x"] * 3
    with ThreadPoolExecutor(1) as pool:  # I4, I14
        for _ in range(2):
            mail = pool.submit(contexts[0].run, render_template_string, TWO).result()
            assert (summary(mail), nonces(mail)) == (page_of(A, B), [None] * 3)
            mail = pool.submit(contexts[0].run, faqs_from(app).render, "pricing").result()
            assert (summary(mail), nonces(mail)) == (page_of(A), [None] * 2)


# The nonce
