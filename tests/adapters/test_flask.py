"""FAQs in Flask: configured like the rest of the application, and one page for each request."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import html5lib
import pytest
from flask import Blueprint, Flask, Response, abort, g, render_template, render_template_string, request
from flask import stream_template_string as stream_string
from werkzeug.test import TestResponse

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed, FAQNotFound, Settings, Theme
from faqsvc_embed.flask import FAQExtension, faqs_from
from faqsvc_embed.page import context as pages
from faqsvc_embed.rendering.assets import stylesheet, stylesheet_name
from faqsvc_embed.rendering.json_ld import page_node, serialise
from faqsvc_embed.rendering.renderer import Look, Renderer, problem_element
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.faulty import FaultyServer

STYLE = f"<style>{stylesheet()}</style>\n"
A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Wer?", "Wir – „wir“ & <du>."), title="Legal"))
FIRST = '{% faq "pricing" %}<hr>'
TWO = '{% faq "pricing" %}<hr>{{ faq("legal") }}'

MakeApp = Callable[..., Flask]


def embed(**settings: Any) -> FAQEmbed:
    return fake_embed({"pricing": A, "legal": B}, **settings)


def make_app(
    source: str = TWO, *, config: dict[str, Any] | None = None, faqs: FAQEmbed | None = None, **options: Any
) -> Flask:
    """Return an application whose page at / is `source`."""
    app = Flask("host", **options)
    app.config.update(config or {})
    FAQExtension(app, embed=faqs or embed())

    @app.get("/")
    def index() -> str:
        return render_template_string(source)

    return app


def get(app: Flask, path: str = "/", **options: Any) -> TestResponse:
    return app.test_client().get(path, **options)


def block(faq: FAQ, ordinal: int = 1) -> str:
    rendered = Renderer().block(faq, Look(Theme(), True, 2), ordinal)
    assert rendered is not None
    return rendered.html


def script(*faqs: FAQ, nonce: str = "") -> str:
    return f'\n<script type="application/ld+json"{nonce}>{serialise(page_node(faqs))}</script>'


def unmerged(first: FAQ = A, second: FAQ = B) -> str:
    return f"{STYLE}{block(first)}{script(first)}<hr>{block(second)}"


def merged(first: FAQ = A, second: FAQ = B) -> str:
    return f"{STYLE}{block(first)}{script(first, second)}<hr>{block(second)}"


def nodes(html: str) -> list[Any]:
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    return [json.loads(e.text) for e in tree.iter("script") if e.get("type") == "application/ld+json"]


# Configuration


def test_settings_are_read_from_the_configuration_of_the_application() -> None:
    app = Flask("host")
    app.config.update(
        FAQSVC_BASE_URL="https://faq.example.com/",
        FAQSVC_LANG="de",
        FAQSVC_THEME={"accentColor": "teal"},
        FAQSVC_WAIT=0.5,
        FAQSVC_SHOW_TITLE=False,
    )
    FAQExtension(app)
    assert faqs_from(app).settings == Settings(
        base_url="https://faq.example.com",
        lang="de",
        theme=Theme(accent_color="teal"),
        wait=0.5,
        show_title=False,
    )


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


def test_a_factory_attaches_later_what_was_made_before() -> None:
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
    assert faqs_from(one) is not faqs_from(two)  # F7


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "FAQSVC_BASE_URL"),
        ({"FAQSVC_BASE_URL": "faq.example.com"}, r"base_url is 'faq\.example\.com'"),
        ({"FAQSVC_BASE_URL": "https://faq.example.com", "FAQSVC_LANG": "nl"}, "lang is 'nl'"),
        ({"FAQSVC_BASE_URL": "https://faq.example.com", "FAQSVC_WAIT": "soon"}, "wait is 'soon'"),
    ],
)
def test_a_bad_setting_is_one_clear_error_when_the_application_is_made(
    config: dict[str, Any], message: str
) -> None:
    app = Flask("host")
    app.config.update(config)
    with pytest.raises(ConfigurationError, match=message):
        FAQExtension(app)
    assert "faqsvc" not in app.extensions


def test_a_keyword_that_is_no_setting_is_an_error_with_the_nearest_name() -> None:
    app = Flask("host")
    with pytest.raises(ConfigurationError, match="did you mean 'base_url'"):
        FAQExtension(app, base_ulr="https://faq.example.com")


def test_an_embed_that_is_made_already_takes_no_settings() -> None:
    with pytest.raises(ConfigurationError, match="got an embed and also wait, lang: give these to the embed"):
        FAQExtension(embed=embed(), wait=0.5, lang="ko")


def test_an_application_takes_the_extension_once() -> None:
    app = make_app()
    with pytest.raises(ConfigurationError, match="attached to this application already"):
        FAQExtension(app, base_url="https://faq.example.com")


def test_the_embed_is_found_again_in_a_request_and_outside_of_one() -> None:
    faqs = embed()
    app = make_app(faqs=faqs)
    assert faqs_from(app) is faqs
    with app.app_context():
        assert faqs_from() is faqs
    with app.test_request_context():
        assert faqs_from() is faqs


def test_without_the_extension_the_embed_is_a_clear_error() -> None:
    app = Flask("host")
    with pytest.raises(ConfigurationError, match="call FAQExtension"):
        faqs_from(app)
    with app.app_context(), pytest.raises(ConfigurationError, match="call FAQExtension"):
        faqs_from()
    with pytest.raises(RuntimeError, match="Working outside of application context"):
        faqs_from()


def test_two_applications_of_one_process_share_nothing() -> None:  # F7
    with FaultyServer() as one, FaultyServer() as two:
        apps = []
        for server, answer in ((one, "First."), (two, "Second.")):
            server.serve(samples.record("pricing", ("Which?", answer)))
            app = Flask("host")
            FAQExtension(app, base_url=server.base_url)
            app.add_url_rule("/", view_func=lambda: render_template_string('{% faq "pricing" %}'))
            apps.append(app)
        pages_of = [get(app).text for app in (*apps, *apps)]
        assert [("First." in html, "Second." in html) for html in pages_of] == [
            (True, False),
            (False, True),
        ] * 2
        assert [len(one.log), len(two.log)] == [1, 1]
        faqs_from(apps[0]).forget()
        assert len(faqs_from(apps[1]).health()) == 1
        for app in apps:
            faqs_from(app).close()


# One page a response


def test_one_faq_is_printed_as_it_stands() -> None:
    response = get(make_app('<p>{% faq "pricing" %}</p>'))
    assert response.text == f"<p>{STYLE}{block(A)}{script(A)}</p>"


def test_two_faqs_of_a_page_share_one_faq_page_and_one_stylesheet() -> None:  # J1, J12, T6
    response = get(make_app(f"<p>ä</p>{TWO}<p>ö</p>"))
    assert response.text == f"<p>ä</p>{merged()}<p>ö</p>"
    assert response.headers["Content-Length"] == str(len(response.data))  # S3


def test_faqs_of_template_and_view_are_of_one_page() -> None:  # J1
    app = make_app()

    @app.get("/view")
    def view() -> str:
        return f"{render_template_string(FIRST)}{faqs_from().render('legal')}"

    assert get(app, "/view").text == merged()


def test_faqs_of_several_templates_are_of_one_page() -> None:  # J1
    app = make_app()

    @app.get("/view")
    def view() -> str:
        return "<hr>".join(
            render_template_string("{% faq slug %}", slug=slug) for slug in ("pricing", "legal")
        )

    assert get(app, "/view").text == merged()


def test_what_a_view_awaits_is_of_its_page() -> None:  # J1
    app = make_app()

    @app.get("/view")
    def view() -> str:
        return f"{render_template_string(FIRST)}{asyncio.run(faqs_from().arender('legal'))}"

    assert get(app, "/view").text == merged()


def test_head_answers_like_get_without_a_body() -> None:
    app = make_app()
    head, whole = app.test_client().head("/"), get(app)
    assert (head.status, head.data, head.headers) == (whole.status, b"", whole.headers)


def test_headers_that_spoke_of_the_body_before_are_dropped_and_others_stay() -> None:  # S2, S3
    app = make_app()

    @app.get("/view")
    def view() -> Response:
        response = Response(render_template_string(TWO))
        response.add_etag()
        for name in ("Content-MD5", "Digest", "Content-Digest", "Repr-Digest"):
            response.headers[name] = "x"
        response.headers["Last-Modified"] = "Sat, 21 Nov 2026 08:00:00 GMT"
        response.set_cookie("a", "1")
        response.set_cookie("b", "2")
        return response

    response = get(app, "/view")
    assert response.text == merged()
    assert response.headers.to_wsgi_list() == [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Length", str(len(response.data))),
        ("Last-Modified", "Sat, 21 Nov 2026 08:00:00 GMT"),
        ("Set-Cookie", "a=1; Path=/"),
        ("Set-Cookie", "b=2; Path=/"),
        ("Vary", "Accept-Language"),
    ]


def test_the_etag_of_a_page_that_needs_no_merging_stays() -> None:  # S1
    app = make_app()

    @app.get("/view")
    def view() -> Response:
        response = Response(render_template_string('{% faq "pricing" %}'))
        response.set_etag("mine")
        return response

    assert get(app, "/view").headers["ETag"] == '"mine"'


UNTOUCHED: dict[str, Callable[[str], Response]] = {
    "plain text": lambda html: Response(html, mimetype="text/plain"),
    "JSON": lambda html: Response(json.dumps(html), mimetype="application/json"),
    "XHTML": lambda html: Response(html, mimetype="application/xhtml+xml"),
    "encoded": lambda html: Response(html, headers={"Content-Encoding": "x-mine"}),
    "partial": lambda html: Response(html, status=206, headers={"Content-Range": "bytes 0-9/10"}),
    "streamed": lambda html: Response(iter([html])),
    "passed through": lambda html: Response([html.encode()], direct_passthrough=True),
}


@pytest.mark.parametrize("make", UNTOUCHED.values(), ids=UNTOUCHED.keys())
def test_a_response_that_is_not_whole_html_passes_byte_for_byte(
    make: Callable[[str], Response],
) -> None:  # S1
    app, plain = make_app(), Flask("plain")

    @app.get("/view")
    def view() -> Response:
        assert render_template_string(TWO) == unmerged()
        return make(unmerged())

    plain.add_url_rule("/view", "view", lambda: make(unmerged()))
    response, expected = get(app, "/view"), get(plain, "/view")
    assert (response.status, response.data) == (expected.status, expected.data)
    expected.vary.add("Accept-Language")  # the view did ask for FAQs, if not for this body (L7)
    assert sorted(response.headers) == sorted(expected.headers)


def test_a_streamed_page_has_one_stylesheet_and_one_faq_page_by_faq_schema() -> None:  # J1, S4
    app = make_app()
    source = '{% faq "pricing", schema=false %}<hr>{% faq "legal", schema=false %}{{ faq_schema() }}'
    app.add_url_rule("/view", "view", lambda: Response(stream_string(source)))
    response = get(app, "/view")
    assert response.text == f"{STYLE}{block(A)}<hr>{block(B)}{script(A, B)}"
    assert pages.current() is None


def test_error_pages_show_their_faqs() -> None:  # J1
    app = make_app()
    app.register_error_handler(404, lambda error: (render_template_string(TWO), 404))
    app.add_url_rule("/gone", "gone", lambda: abort(404))
    for path in ("/gone", "/nowhere"):
        response = get(app, path)
        assert (response.status_code, response.text) == (404, merged())


# Templates of the host


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """A folder of templates of the application, and one of a blueprint of it."""
    (tmp_path / "app" / "faqsvc").mkdir(parents=True)
    (tmp_path / "blueprint" / "faqsvc").mkdir(parents=True)
    return tmp_path


def with_blueprint(templates: Path) -> Flask:
    app = make_app('{% faq "pricing" %}', template_folder=str(templates / "app"))
    blueprint = Blueprint("part", "part", template_folder=str(templates / "blueprint"))
    blueprint.add_url_rule("/part", "page", lambda: render_template("part.html"))
    app.register_blueprint(blueprint)
    return app


def test_a_blueprint_shows_and_overrides_and_the_application_overrides_it(templates: Path) -> None:  # T7
    root = '<section class="faqsvc" id="faq-pricing" lang="en" dir="ltr">'
    (templates / "blueprint" / "part.html").write_text('{% faq "pricing" %}', encoding="utf-8")
    assert get(with_blueprint(templates), "/part").text == f"{STYLE}{block(A)}{script(A)}"
    override = templates / "blueprint" / "faqsvc" / "faq.html"
    override.write_text("<b>{{ title }}</b>", encoding="utf-8")
    expected = f"{STYLE}{root}<b>Pricing</b>\n</section>{script(A)}"
    assert get(with_blueprint(templates), "/part").text == expected
    assert get(with_blueprint(templates)).text == expected
    (templates / "app" / "faqsvc" / "faq.html").write_text(
        '{% extends "faqsvc/block.html" %}{% block items %}{{ config.NAME }}{% endblock %}', encoding="utf-8"
    )
    app = with_blueprint(templates)
    app.config["NAME"] = "<Host>"
    title = '\n<h2 class="faqsvc-title">Pricing</h2>'
    assert get(app).text == f"{STYLE}{root}{title}&lt;Host&gt;\n</section>{script(A)}"


# The nonce


@pytest.mark.parametrize("nonce", ['a"b', lambda: 'a"b'], ids=["text", "callable"])
def test_the_nonce_of_g_is_on_everything_of_ours(nonce: Any) -> None:  # C4, C6, E7
    app = make_app()

    @app.before_request
    def set_nonce() -> None:
        g.csp_nonce = nonce

    attribute = ' nonce="a&#34;b"'
    expected = merged().replace("<style>", f"<style{attribute}>")
    assert get(app).text == expected.replace(script(A, B), script(A, B, nonce=attribute))


def test_the_nonce_of_a_template_global_is_found() -> None:  # C6
    app = make_app('{% faq "pricing", schema=false %}')
    app.jinja_env.globals["csp_nonce"] = lambda: "x"
    assert get(app).text == f'<style nonce="x">{stylesheet()}</style>\n{block(A)}'


@pytest.mark.parametrize("nonce", [None, "", lambda: None])
def test_a_missing_nonce_is_no_error(nonce: Any) -> None:  # C4, C6
    app = make_app()

    @app.before_request
    def set_nonce() -> None:
        g.csp_nonce = nonce

    assert get(app).text == merged()


# Problems


def test_in_production_an_faq_that_is_missing_is_not_there() -> None:  # R4
    assert get(make_app('<p>{% faq "unknown" %}</p>')).text == "<p></p>"


def test_in_development_the_page_says_what_went_wrong() -> None:  # R4
    faqs = embed()
    app = make_app('<p>{% faq "<unknown>" %}</p>', faqs=faqs)
    app.debug = True
    problem = problem_element(str(faqs.use_faq("<unknown>").error))
    assert "&lt;unknown&gt;" in problem
    assert get(app).text == f"<p>{problem}</p>"


def test_strict_raises_in_the_view() -> None:  # R4
    app = make_app('<p>{% faq "unknown" %}</p>', faqs=embed(strict=True), config={"TESTING": True})
    with pytest.raises(FAQNotFound, match="unknown"):
        get(app)
    assert pages.current() is None


def test_a_dead_service_costs_the_faq_and_not_the_page(faulty: FaultyServer) -> None:  # R1
    faulty.refuse()
    with FAQEmbed(faulty.base_url) as faqs:
        response = get(make_app(f"<p>{TWO}</p>", faqs=faqs))
    assert (response.status_code, response.text) == (200, "<p><hr></p>")


# Styles


def test_a_linked_stylesheet_is_served_for_ever_by_its_digest() -> None:  # C3
    app = make_app(faqs=embed(styles="linked"))
    address = f"/faqsvc/{stylesheet_name()}"
    link = f'<link rel="stylesheet" href="{address}">\n'
    assert get(app).text == merged().replace(STYLE, link)
    response = get(app, address)
    assert (response.status_code, response.text) == (200, stylesheet())
    assert response.headers.to_wsgi_list() == [
        ("Content-Type", "text/css; charset=utf-8"),
        ("Content-Length", str(len(response.data))),
        ("Cache-Control", "public, max-age=31536000, immutable"),
    ]
    head = app.test_client().head(address)
    assert (head.status_code, head.headers, head.data) == (200, response.headers, b"")
    assert get(app, "/faqsvc/faqsvc.000000000000.css").status_code == 404


def test_the_link_follows_the_path_under_which_the_application_is_mounted() -> None:
    app = make_app(faqs=embed(styles="linked"))
    response = get(app, environ_overrides={"SCRIPT_NAME": "/shop"})
    assert f'<link rel="stylesheet" href="/shop/faqsvc/{stylesheet_name()}">' in response.text


@pytest.mark.parametrize("styles", ["inline", "none"])
def test_only_linked_styles_have_a_route(styles: str) -> None:  # T8
    app = make_app(faqs=embed(styles=styles))
    assert [rule.endpoint for rule in app.url_map.iter_rules()] == ["static", "index"]
    assert get(app).text == (merged() if styles == "inline" else merged().replace(STYLE, ""))


# Outside of a request, and between requests


@pytest.mark.parametrize("context", ["app_context", "test_request_context"])
def test_a_template_renders_in_a_context_without_a_request(context: str) -> None:
    app = make_app()
    for _ in range(2):
        with getattr(app, context)():
            assert render_template_string('{% faq "pricing" %}') == f"{STYLE}{block(A)}{script(A)}"
        assert pages.current() is None


def test_a_preprocessed_test_request_is_a_request() -> None:
    app = make_app()
    with app.test_request_context():
        app.preprocess_request()
        first = render_template_string('{% faq "pricing" %}<hr>')
        assert first + render_template_string('{% faq "legal" %}') == unmerged()
    assert pages.current() is None


def test_nothing_of_a_page_is_left_for_the_next_request() -> None:
    app = make_app()
    client = app.test_client()
    assert {client.get("/").text for _ in range(5)} == {merged()}
    with client:
        assert client.get("/").text == merged()
        assert client.get("/").text == merged()
    assert pages.current() is None


def test_a_view_that_fails_leaves_nothing_behind() -> None:
    app = make_app()

    @app.get("/fails")
    def fails() -> str:
        render_template_string(TWO)
        raise ZeroDivisionError

    assert get(app, "/fails").status_code == 500
    assert pages.current() is None
    assert get(app).text == merged()


def test_requests_of_many_threads_do_not_mix() -> None:
    app = make_app("{% for _ in range(3) %}{% faq slug() %}{% if not loop.last %}<hr>{% endif %}{% endfor %}")
    app.jinja_env.globals["slug"] = lambda: g.slug

    @app.before_request
    def choose() -> None:
        g.slug = request.args["slug"]

    def ask(number: int) -> bool:
        faq = (A, B)[number % 2]
        expected = f"{STYLE}{block(faq)}{script(faq)}<hr>{block(faq, 2)}<hr>{block(faq, 3)}"
        return get(app, f"/?slug={faq.slug}").text == expected

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(64)))


def test_the_page_of_a_request_is_seen_by_that_request_only() -> None:
    app, seen = make_app(), list[object]()

    @app.get("/inner")
    def inner() -> str:
        seen.append(pages.current())
        return render_template_string(TWO)

    @app.get("/outer")
    def outer() -> str:
        seen.append(pages.current())
        first = render_template_string('{% faq "pricing" %}<hr>')
        assert get(app, "/inner").text == merged()
        seen.append(pages.current())
        return first + render_template_string('{% faq "legal" %}')

    assert get(app, "/outer").text == merged()
    assert seen[0] is seen[2] is not seen[1]
    assert None not in seen
