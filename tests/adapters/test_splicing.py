"""Held FAQs as bytes: the response is the same, and a host that cannot have it loses it on one page at most.

That the bytes are the same, in every way to render, is part of `test_conformance`.
"""

import logging
import os
from collections.abc import Callable
from typing import Any, Final

import pytest
from flask import Flask, Response, jsonify, render_template_string, stream_template_string
from flask.views import MethodView
from flask_caching import Cache
from jinja2 import Environment
from markupsafe import Markup
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    StreamingResponse,
)
from starlette.responses import Response as ASGIResponse
from starlette.routing import Route

from faqsvc_embed import FAQ, FAQEmbed, splicing
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.rendering import Block
from faqsvc_embed.slots import _tokens, new_token
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.asgi import get
from tests.support.slow import slow_embed

PAGE: Final = "<title>Preise – „alle“</title>{% faq 'pricing' %}<footer>{{ said }}</footer>"
LOST: Final = "splice is switched off, for a page went without its FAQ: "
NOT_IN_BODY: Final = f"{LOST}what its template printed is not in the body of its response"


@pytest.fixture(autouse=True)
def short_blocks_are_spliced_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splicing, "MUCH", 0)
    monkeypatch.setattr(splicing, "MUCH_ASCII", 0)


def embed_of(**settings: Any) -> FAQEmbed:
    return fake_embed({"pricing": samples.pricing()}, **settings)


def flask_host(embed: FAQEmbed, view: Callable[[str], Any] = str, **options: Any) -> Flask:
    """A host whose view makes of the rendered page what it will."""
    app = Flask("host")
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", "page", lambda: view(render_template_string(PAGE)), **options)
    return app


def asgi_host(embed: FAQEmbed, view: Callable[[str], ASGIResponse] = HTMLResponse) -> Starlette:
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(PAGE)

    async def page(request: Request) -> ASGIResponse:
        return view(template.render())

    app = Starlette(routes=[Route("/", page)])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def asked_of_flask(app: Flask, method: str = "GET") -> tuple[int, list[tuple[str, str]], bytes]:
    response = app.test_client().open("/", method=method)
    return response.status_code, [*response.headers], response.data


def asked_of_asgi(app: Any, method: str = "GET") -> tuple[int, list[tuple[str, str]], bytes]:
    answer = get(app, method=method)
    return answer.status, answer.headers, answer.body


WHOLE: Final = asked_of_flask(flask_host(embed_of()))[2]


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD"])
def test_a_flask_response_is_the_same_to_the_last_header(method: str) -> None:
    plain, spliced = (
        flask_host(embed_of(splice=splice), methods=["GET", "POST"]) for splice in (False, True)
    )
    for _ in range(2):
        assert asked_of_flask(spliced, method) == asked_of_flask(plain, method)
    assert asked_of_flask(plain, method)[2] == (b"" if method == "HEAD" else WHOLE)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_an_asgi_response_is_the_same_to_the_last_header(method: str) -> None:
    plain, spliced = asgi_host(embed_of()), asgi_host(embed_of(splice=True))
    for _ in range(2):
        assert asked_of_asgi(spliced, method) == asked_of_asgi(plain, method)


@pytest.mark.parametrize("charset", ["latin-1", "utf-16", "utf-8-sig", "shift_jis"])
def test_other_character_sets_get_the_text_in_theirs(charset: str) -> None:
    def encoded(html: str) -> ASGIResponse:
        body = html.encode(charset, "xmlcharrefreplace")
        return ASGIResponse(body, media_type=f"text/html; charset={charset}")

    def for_flask(html: str) -> Response:
        return Response(bytes(encoded(html).body), content_type=f"text/html; charset={charset}")

    for splice in (False, True):
        bodies = {
            asked_of_asgi(asgi_host(embed_of(splice=splice), encoded))[2],
            asked_of_flask(flask_host(embed_of(splice=splice), for_flask))[2],
        }
        assert [body.decode(charset).count("<details") for body in bodies] == [3] * len(bodies)


def test_a_block_is_encoded_once_and_forgotten_with_the_record() -> None:
    embed = embed_of(splice=True)
    app = flask_host(embed)
    spliced = embed.showing.splicing
    assert spliced is not None
    made = list[Block]()
    encoded = spliced.encoded
    spliced.encoded = lambda block: made.append(block) or encoded(block)  # type: ignore[method-assign, func-returns-value]
    for _ in range(3):
        asked_of_flask(app)
    assert encoded(made[1]) is encoded(made[2])
    made.clear()
    embed.forget()
    assert spliced._encoded == {}


def test_a_page_with_a_nonce_is_printed_in_place() -> None:
    embed = embed_of(splice=True)
    app = Flask("host")
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", "page", lambda: render_template_string("{{ faq('pricing', nonce='n') }}"))
    body = asked_of_flask(app)[2]
    assert (body.count(b'nonce="n"'), body.count(b"<details"), b"<!--faqsvc" in body) == (2, 3, False)


# What a host must not do with what its templates print: one page shows it, and none after it


def not_html(kind: str) -> str:
    return f"{LOST}its response is {kind}, and not HTML that is text"


def discarded(html: str) -> str:
    return "<p>Thank you; we have sent you a mail.</p>"


def changed(html: str) -> str:
    return html.replace("<!--", "<!-- ")


FLASK_HOSTS: Final[dict[str, tuple[Callable[[str], Any], str]]] = {
    "as JSON": (
        lambda html: jsonify(html=html),
        not_html("application/json"),
    ),
    "as text": (
        lambda html: Response(html, mimetype="text/plain"),
        not_html("text/plain; charset=utf-8"),
    ),
    "discarded": (discarded, NOT_IN_BODY),
    "changed": (changed, NOT_IN_BODY),
    "in a stream": (lambda html: Response(part for part in (html,)), NOT_IN_BODY),
    "compressed": (
        lambda html: Response(b"\x1f\x8b", content_type="text/html", headers={"Content-Encoding": "gzip"}),
        not_html("gzip text/html"),
    ),
}


@pytest.mark.parametrize(("view", "said"), FLASK_HOSTS.values(), ids=FLASK_HOSTS.keys())
def test_a_flask_host_that_takes_the_page_elsewhere_loses_one_faq_at_most(
    view: Callable[[str], Any], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    embed = embed_of(splice=True)
    seen = list[str]()
    app = flask_host(embed, lambda html: seen.append(html) or view(html))  # type: ignore[func-returns-value]
    for _ in range(3):
        asked_of_flask(app)
    assert ["<details" in html for html in seen] == [False, True, True]
    assert warnings(caplog) == [said]


ASGI_HOSTS: Final[dict[str, tuple[Callable[[str], ASGIResponse], str]]] = {
    "as JSON": (
        lambda html: JSONResponse({"html": html}),
        not_html("application/json"),
    ),
    "as text": (
        PlainTextResponse,
        not_html("text/plain; charset=utf-8"),
    ),
    "discarded": (lambda html: HTMLResponse(discarded(html)), NOT_IN_BODY),
    "changed": (lambda html: HTMLResponse(changed(html)), NOT_IN_BODY),
    "redirected": (
        lambda html: RedirectResponse("/"),
        not_html("of no type"),
    ),
}


@pytest.mark.parametrize(("view", "said"), ASGI_HOSTS.values(), ids=ASGI_HOSTS.keys())
def test_an_asgi_host_that_takes_the_page_elsewhere_loses_one_faq_at_most(
    view: Callable[[str], ASGIResponse], said: str, caplog: pytest.LogCaptureFixture
) -> None:
    seen = list[str]()
    app = asgi_host(embed_of(splice=True), lambda html: seen.append(html) or view(html))  # type: ignore[func-returns-value]
    for _ in range(3):
        asked_of_asgi(app)
    assert ["<details" in html for html in seen] == [False, True, True]
    assert warnings(caplog) == [said]


def test_a_middleware_that_compresses_inside_costs_one_page(caplog: pytest.LogCaptureFixture) -> None:
    app = FAQMiddleware(
        GZipMiddleware(asgi_host(embed := embed_of(splice=True)).router, minimum_size=0), embed=embed
    )
    bodies = [get(app, headers=[("Accept-Encoding", "gzip")]).body for _ in range(2)]
    assert warnings(caplog)[0].startswith(f"{LOST}its response is gzip text/html")
    assert len(bodies[1]) > len(bodies[0])


def test_not_modified_costs_nothing() -> None:
    app = asgi_host(embed := embed_of(splice=True), lambda html: ASGIResponse(status_code=304))
    assert asked_of_asgi(app)[0] == 304
    assert embed.showing.splicing is not None


def test_what_is_rendered_after_the_response_is_printed_in_place() -> None:
    mails = list[str]()
    embed = embed_of(splice=True)
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(PAGE)

    def answer(html: str) -> ASGIResponse:
        return HTMLResponse(html, background=BackgroundTask(lambda: mails.append(template.render())))

    assert asked_of_asgi(asgi_host(embed, answer))[2] == WHOLE
    assert [mail.encode() for mail in mails] == [WHOLE]


def test_a_flask_page_that_is_streamed_is_printed_in_place(caplog: pytest.LogCaptureFixture) -> None:
    app = Flask("host")
    FAQExtension(app, embed=embed_of(splice=True))
    app.add_url_rule("/", "page", lambda: Response(stream_template_string(PAGE)))
    assert [asked_of_flask(app)[2] for _ in range(2)] == [WHOLE, WHOLE]
    assert warnings(caplog) == []


def test_a_view_that_flask_caching_keeps_is_printed_in_place(caplog: pytest.LogCaptureFixture) -> None:
    app = Flask("host")
    FAQExtension(app, embed=embed_of(splice=True))
    cache = Cache(app, config={"CACHE_TYPE": "SimpleCache"})
    app.add_url_rule("/", "page", cache.cached()(lambda: render_template_string(PAGE)))
    assert [asked_of_flask(app)[2] for _ in range(3)] == [WHOLE, WHOLE, WHOLE]
    assert warnings(caplog) == []


def test_the_page_of_an_error_has_its_faq_too(caplog: pytest.LogCaptureFixture) -> None:
    app = Flask("host")
    FAQExtension(app, embed=embed_of(splice=True))

    def fails() -> str:
        render_template_string(PAGE)
        raise LookupError

    app.add_url_rule("/", "page", fails)
    app.register_error_handler(LookupError, lambda error: (render_template_string(PAGE), 500))
    for _ in range(2):
        status, _, body = asked_of_flask(app)
        assert (status, body) == (500, WHOLE)
    assert warnings(caplog) == []


def test_text_that_looks_like_a_mark_is_left_alone() -> None:
    forged = "<!--faqsvc 000000000000000000000000 0000-->"
    app = asgi_host(
        embed_of(splice=True), lambda html: HTMLResponse(html.replace("</title>", f"</title>{forged}"))
    )
    body = asked_of_asgi(app)[2].decode()
    assert body == WHOLE.decode().replace("</title>", f"</title>{forged}")


def test_an_faq_that_is_not_held_follows_one_that_is() -> None:
    embed = slow_embed(
        {"pricing": FAQ.from_dict(samples.pricing()), "legal": FAQ.from_dict(samples.record("legal"))},
        splice=True,
    )
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string("{% faq 'pricing' %}<hr>{% faq 'legal' %}")

    async def page(request: Request) -> ASGIResponse:
        return HTMLResponse(template.render())

    app = Starlette(routes=[Route("/", page)])
    app.add_middleware(FAQMiddleware, embed=embed)
    whole = asked_of_asgi(app)[2]
    assert whole.count(b"<details") == 6
    for cold in ("legal", "pricing"):
        embed.forget(cold)
        assert asked_of_asgi(app)[2] == whole


def test_a_child_process_leaves_marks_of_its_own() -> None:
    new_token()
    held = [*_tokens]
    child = os.fork()
    if child == 0:
        os._exit(len(_tokens))
    assert (len(held) > 0, os.waitpid(child, 0)[1]) == (True, 0)


@pytest.mark.parametrize(
    ("text", "characters", "pays"),
    [("é", 20_000, True), ("é", 19_999, False), ("e", 500_000, True), ("e", 499_999, False)],
)
def test_only_what_takes_long_to_copy_and_encode_is_spliced(
    text: str, characters: int, pays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    embed = fake_embed({"x": samples.record("x", ("?", text))}, splice=True)
    embed.render("x")
    (block,) = next(iter(embed.cache.entries())).rendered.values()
    spliced = embed.showing.splicing
    assert spliced is not None
    long = text * (characters - len(block.alone))
    assert spliced.pays(replace(block, alone=Markup(block.alone + long))) is pays


def test_an_asgi_stream_whose_faq_comes_late_is_printed_in_place(caplog: pytest.LogCaptureFixture) -> None:
    embed = embed_of(splice=True)
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(PAGE)

    async def page(request: Request) -> ASGIResponse:
        return StreamingResponse((part for part in template.generate()), media_type="text/html")

    app = Starlette(routes=[Route("/", page)])
    app.add_middleware(FAQMiddleware, embed=embed)
    assert [asked_of_asgi(app)[2] for _ in range(2)] == [WHOLE, WHOLE]
    assert warnings(caplog) == []


@pytest.mark.parametrize("splice", [False, True])
def test_what_a_template_prints_twice_is_there_twice(splice: bool) -> None:
    source = "{% set shown = faq('pricing') %}{{ shown }}|{{ shown }}"
    app = Flask("host")
    FAQExtension(app, embed=embed_of(splice=splice))
    app.add_url_rule("/", "page", lambda: render_template_string(source))
    assert asked_of_flask(app)[2].count(b"<details") == 6

    def twice(html: str) -> ASGIResponse:
        return HTMLResponse(html + html)

    assert asked_of_asgi(asgi_host(embed_of(splice=splice), twice))[2] == WHOLE * 2


def test_a_body_may_be_a_view_of_memory() -> None:
    def answer(html: str) -> ASGIResponse:
        return ASGIResponse(memoryview(html.encode()), media_type="text/html")

    assert asked_of_asgi(asgi_host(embed_of(splice=True), answer))[2] == WHOLE


@pytest.mark.parametrize(
    ("status", "headers"),
    [(200, {"vary": "cookie"}), (404, {}), (200, {"etag": '"1"'}), (200, {"X-Upper": "1"})],
)
@pytest.mark.parametrize("of", [list, tuple, iter])
def test_headers_out_of_the_ordinary_stay(
    status: int, headers: dict[str, str], of: Callable[[list[tuple[bytes, bytes]]], Any]
) -> None:
    class Answering(HTMLResponse):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            start = {"type": "http.response.start", "status": self.status_code}
            await send({**start, "headers": of([*self.raw_headers])})
            await send({"type": "http.response.body", "body": self.body})

    def answer(html: str) -> ASGIResponse:
        return Answering(html, status, headers)

    found = asked_of_asgi(asgi_host(embed_of(splice=True), answer))
    plain = asked_of_asgi(asgi_host(embed_of(), answer))
    kept = [header for header in plain[1] if header[0] != "etag"]
    assert (found[0], sorted(found[1]), found[2]) == (status, sorted(kept), WHOLE)


def test_a_method_that_flask_caching_keeps_is_printed_in_place(caplog: pytest.LogCaptureFixture) -> None:
    app = Flask("host")
    FAQExtension(app, embed=embed_of(splice=True))
    cache = Cache(app, config={"CACHE_TYPE": "SimpleCache"})

    class Page(MethodView):
        @cache.cached()  # type: ignore[untyped-decorator, unused-ignore]
        def get(self) -> str:
            return render_template_string(PAGE)

    app.add_url_rule("/", view_func=Page.as_view("page"))
    assert [asked_of_flask(app)[2] for _ in range(3)] == [WHOLE, WHOLE, WHOLE]


@pytest.mark.parametrize("splice", [False, True])
def test_a_policy_names_the_styles_of_what_is_spliced(splice: bool) -> None:
    embed = embed_of(splice=splice)
    told = list[dict[str, list[str]]]()
    app = flask_host(embed, lambda html: told.append(embed.csp_sources(html)) or html)  # type: ignore[func-returns-value]
    asked_of_flask(app)
    assert [len(sources["style-src"]) for sources in told] == [1]


@pytest.mark.parametrize("status", [204, 404, 500])
def test_a_response_without_the_page_of_its_template_is_no_loss(status: int) -> None:
    embed = embed_of(splice=True)
    asked_of_asgi(asgi_host(embed, lambda html: ASGIResponse(status_code=status, media_type="text/html")))
    asked_of_flask(flask_host(embed, lambda html: ("", status)))
    assert embed.showing.splicing is not None
