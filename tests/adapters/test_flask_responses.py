"""What leaves a Flask application: bodies and headers, languages, compressed and cached responses."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import (
    Flask,
    Response,
    after_this_request,
    g,
    render_template_string,
    stream_template_string,
)
from flask_babel import Babel
from flask_caching import Cache
from werkzeug.test import TestResponse

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.feed_service import feed_service
from tests.support.pages import ONE, TWO, A, B, flask_app
from tests.support.parsed import page_of, summary


def get(app: Flask, **headers: str) -> TestResponse:
    return app.test_client().get("/", headers=headers)


# Bodies


# Headers


@pytest.mark.parametrize("count", [1, 10])
def test_the_body_and_its_headers_stay_as_the_view_made_them(count: int) -> None:  # I9
    made = list[tuple[Response, Any, list[tuple[str, str]]]]()

    def view() -> Response:
        response = Response(render_template_string("".join(f'{{% faq "faq{n}" %}}' for n in range(count))))
        for name in ("ETag", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest"):
            response.headers[name] = '"x"'
        response.headers["Last-Modified"] = "Sat, 21 Nov 2026 08:00:00 GMT"
        response.set_cookie("a", "1")
        response.set_cookie("b", "2")
        made.append((response, response.response, list(response.headers)))
        return response

    sent = get(flask_app(view, fake_embed({f"faq{n}": A for n in range(count)})))
    ((response, body, headers),) = made
    assert response.response is body
    assert len(summary(sent.data).faqs) == count
    assert sorted(sent.headers) == sorted([*headers, ("Vary", "Accept-Language")])


PREVIEW = "/?faq_preview=pppppppp"


@pytest.fixture
def drafts() -> Iterator[FAQEmbed]:
    with feed_service() as service, FAQEmbed(service.url, push=False) as faqs:
        service.answers["pricing"], service.drafts["pricing", "pppppppp"] = "Published.", "Draft."
        yield faqs


@pytest.mark.parametrize("render", [render_template_string, stream_template_string])
def test_no_hook_of_the_host_makes_a_preview_cacheable(
    render: Callable[[str], Any], drafts: FAQEmbed
) -> None:  # I13
    names = ("ETag", "Last-Modified", "Expires", "CDN-Cache-Control", "Surrogate-Control")

    def publish(response: Response) -> Response:
        response.headers.update({**dict.fromkeys(names, "x"), "Cache-Control": "public, max-age=600"})
        return response

    def view() -> Any:
        after_this_request(publish)
        body = render(ONE)
        after_this_request(publish)
        return body

    app = Flask("host")
    app.after_request(publish)
    FAQExtension(app, embed=drafts)
    app.after_request(publish)
    app.add_url_rule("/", "home", view)
    response = app.test_client().get(PREVIEW)
    assert (response.text.count("Draft."), response.text.count("Published.")) == (1, 0)
    assert response.headers.getlist("Cache-Control") == ["no-store"]
    assert set(names).isdisjoint(response.headers.keys())


def test_a_preview_shows_the_draft_of_an_faq_that_a_hook_appends(drafts: FAQEmbed) -> None:
    app = flask_app(ONE, drafts)

    @app.after_request
    def append(response: Response) -> Response:
        response.set_data(response.get_data(as_text=True) + render_template_string(ONE))
        return response

    html = app.test_client().get(PREVIEW).text
    assert (html.count("Draft."), html.count("Published.")) == (2, 0)


# Languages


@pytest.mark.parametrize(
    ("name", "choice", "lang"),
    [
        ("lang", "ko-KR", "ko"),
        ("language", lambda: "ko", "ko"),
        ("locale", "ko", "ko"),
        ("lang_code", "ko", "ko"),
        ("lang", None, "es"),  # that of Flask-Babel
    ],
)
def test_the_language_that_the_site_chose_beats_the_visitors(
    name: str, choice: Any, lang: str, faulty: FaultyServer
) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, lang="fr") as faqs:
        app = flask_app(ONE, faqs)
        Babel(app, locale_selector=lambda: "es_MX")
        app.before_request(lambda: setattr(g, name, choice))
        assert "Vary" not in get(app, **{"Accept-Language": "ja"}).headers
        assert [request.lang for request in faulty.log] == [lang]


@pytest.mark.parametrize(("header", "lang"), [("nl, ja;q=0.5", "ja"), ("", None)])
def test_without_a_setting_the_visitors_language_is_asked_for_and_the_response_varies(
    header: str, lang: str | None, faulty: FaultyServer
) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url) as faqs:
        response = get(flask_app(ONE, faqs), **{"Accept-Language": header})
        assert response.headers["Vary"] == "Accept-Language"
        assert [request.lang for request in faulty.log] == [lang]


# What compresses or caches a response


def test_a_page_that_flask_caching_keeps_is_complete() -> None:
    app = Flask("host")
    FAQExtension(app, embed=fake_embed({"pricing": A, "legal": B}))
    cache = Cache(app, config={"CACHE_TYPE": "SimpleCache"})
    app.add_url_rule("/", "cached", cache.cached(60)(lambda: render_template_string(TWO)))
    assert [summary(get(app).data) for _ in range(2)] == [page_of(A, B)] * 2
