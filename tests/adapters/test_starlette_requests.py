"""What a page takes from its request in Starlette: nonce and language."""

from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from faqsvc_embed.starlette import FAQMiddleware, faqs_from
from faqsvc_embed.testing import fake_embed
from tests.support.asgi import get
from tests.support.pages import FAQS, TWO, Make, embeds
from tests.support.parsed import nonces
from tests.support.slow import slow_embed
from tests.support.starlette_host import app_of, rendering, templates


def with_state(app: ASGIApp, **state: Any) -> ASGIApp:
    """Set `request.state`, as a middleware does."""

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        for name, value in state.items():
            setattr(Request(scope).state, name, value)
        await app(scope, receive, send)

    return outer


# The nonce


@embeds
def test_the_nonce_may_be_set_within_the_request(make: Make) -> None:
    made = templates(embed := make(FAQS), page=TWO)

    async def endpoint(request: Request) -> Response:
        request.state.csp_nonce = "x"
        return made.TemplateResponse(request, "page")

    assert nonces(get(app_of(embed, endpoint)).body) == ["x"] * 3


def test_a_state_that_is_set_on_a_copy_of_the_scope_is_found() -> None:
    embed = fake_embed(FAQS)
    inner = with_state(app_of(embed, rendering(embed, TWO)).router, csp_nonce="x")

    async def copying(scope: Scope, receive: Receive, send: Send) -> None:
        await inner(dict(scope), receive, send)

    async def stateless(scope: Scope, receive: Receive, send: Send) -> None:
        del scope["state"]
        await FAQMiddleware(copying, embed=embed)(scope, receive, send)

    assert nonces(get(stateless).body) == ["x"] * 3


# The language


LANGUAGE = '{{ use_faq("pricing").lang_requested }}'


def requested(
    app_options: dict[str, Any] | None = None, source: str = LANGUAGE, lang: str | None = None, **options: Any
) -> tuple[str, list[str]]:
    """Return the language that a page requests, and what its response varies by."""
    app = with_state(app_of(fake_embed(FAQS, lang=lang), source), **(app_options or {}))
    sent = get(app, **options)
    return sent.text, sent.all("vary")


@pytest.mark.parametrize("name", ["lang", "language", "locale"])
@pytest.mark.parametrize(
    "value", ["ko", "ko-KR", "ko_KR", lambda: "ko"], ids=["ko", "ko-KR", "ko_KR", "function"]
)
def test_the_language_of_the_request_beats_the_header_and_the_settings(name: str, value: Any) -> None:
    assert requested({name: value}, lang="fr", headers=[("Accept-Language", "de")]) == ("ko", [])


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("Accept-Language", "de-CH,fr;q=0.5")], "de"),
        ([("Accept-Language", "nl;q=1, fr;q=0.5")], "fr"),
        ([("Accept-Language", "nl"), ("Accept-Language", "es;q=0.3")], "es"),
        ([("Accept-Language", "nl")], "None"),
        ([("Accept-Language", "\xff;;;q=,")], "None"),
        ([("Accept-Language", "nl," * 100_000 + "de")], "None"),
        ([], "None"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_without_a_setting_the_header_decides_and_the_response_varies(
    headers: list[tuple[str, str]], expected: str
) -> None:
    assert requested(headers=headers) == (expected, ["Accept-Language"])
    assert requested(lang="zh", headers=headers) == ("zh", [])  # L10: the site is in that language


@pytest.mark.parametrize("state", ["nl", "", None, "nonsense!", 7])
def test_an_unsupported_language_is_ignored_and_the_header_decides(state: Any) -> None:
    assert requested({"lang": state}, headers=[("Accept-Language", "de")]) == ("de", ["Accept-Language"])


def test_a_server_may_have_headers_as_bytearrays() -> None:
    inside = app_of(fake_embed(FAQS), LANGUAGE)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, bytearray(value)) for name, value in scope["headers"]]
        await inside({**scope, "headers": headers}, receive, send)

    assert get(app, headers=[("Accept-Language", "nl"), ("Accept-Language", "de")]).text == "de"


def test_only_what_was_negotiated_varies() -> None:
    def data(lang: str | None) -> Any:
        async def endpoint(request: Request) -> Response:
            return JSONResponse((await faqs_from(request).aget_faq("pricing", lang=lang)).title)

        return endpoint

    assert get(app_of(slow_embed(FAQS), data("de"))).all("vary") == []
    assert get(app_of(slow_embed(FAQS), "<p>nothing</p>")).all("vary") == []
    assert get(app_of(slow_embed(FAQS), data(None))).all("vary") == ["Accept-Language"]
