"""Streamed pages in ASGI: each part leaves before the next is made, and the head that has left stays true."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from faqsvc_embed import FAQEmbed
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support.asgi import aget, get
from tests.support.garbage import own_garbage
from tests.support.pages import FAQS, A, B, Make, embeds
from tests.support.parsed import page_of, summary
from tests.support.slow import slow_embed
from tests.support.starlette_host import app_of, templates

Parts = Callable[[], AsyncIterator[str | bytes]]


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Log again what was logged once in this process."""
    monkeypatch.setattr("faqsvc_embed.page.page._log", LogOnce())


def streaming(embed: FAQEmbed, parts: Parts, **options: Any) -> Starlette:
    async def endpoint(request: Request) -> Response:
        return StreamingResponse(parts(), media_type="text/html", **options)

    return app_of(embed, endpoint)


@embeds
def test_each_part_is_sent_before_the_next_is_produced(make: Make) -> None:
    embed, events = make(FAQS), list[str]()

    async def parts() -> AsyncIterator[str]:
        for name in ("one", "two", "six"):
            events.append(f"make {name}")
            yield f"<p>{name}</p>{embed.render('pricing') if name == 'two' else ''}"

    def on_send(message: Message) -> None:
        if message.get("body", b"").startswith(b"<p>"):
            events.append(f"send {message['body'][3:6].decode()}")

    response = get(streaming(embed, parts), on_send=on_send)
    assert summary(response.body) == page_of(A)
    assert events == ["make one", "send one", "make two", "send two", "make six", "send six"]
    assert response.all("content-length") == []


def test_the_parts_of_a_stream_are_the_messages_that_the_host_sent() -> None:
    embed, sent = slow_embed(FAQS), list[Message]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def keep(message: Message) -> None:
            sent.append(message)
            await send(message)

        html = str(embed.render("pricing"))
        parts = ["<p>", html, "</p>", "<p>", "</p>"]
        await StreamingResponse(iter(parts), media_type="text/html")(scope, receive, keep)

    response = get(FAQMiddleware(app, embed=embed))
    assert summary(response.body) == page_of(A)
    # After the placeholder is filled, nothing is looked at.
    assert all(ours is theirs for ours, theirs in zip(response.messages[-4:], sent[-4:], strict=True))
    again = get(FAQMiddleware(app, embed=embed))
    assert all(ours is theirs for ours, theirs in zip(again.messages[1:], sent[-6:], strict=True))


def test_streams_of_older_servers_are_filled_in() -> None:
    """Starlette waits for a disconnect beside them, which never comes here."""
    embed = slow_embed(FAQS)

    async def parts() -> AsyncIterator[str]:
        with embed.page():
            yield f"{embed.render('pricing')}<hr>{embed.render('legal')}"

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async def never() -> Message:
            await asyncio.Event().wait()
            raise AssertionError

        await streaming(embed, parts)(scope, never, send)

    response = asyncio.run(aget(app, asgi={"version": "3.0", "spec_version": "2.3"}))
    assert summary(response.body) == page_of(A, B)


def test_a_part_with_an_uncached_faq_does_not_delay_the_parts_before_it() -> None:
    embed = slow_embed({}, hanging=["pricing"], wait=0.05)
    left = list[bytes]()

    async def parts() -> AsyncIterator[str]:
        yield f"<p>before</p>{embed.render('pricing')}"
        assert left == [b"<p>before</p>"]
        yield "<p>after</p>"

    def on_send(message: Message) -> None:
        left.extend(part for part in [message.get("body")] if part)

    assert get(streaming(embed, parts), on_send=on_send).text == "<p>before</p><p>after</p>"


# A head that has left


def languages(
    headers: dict[str, str], *, use_before: bool = False, **scope: Any
) -> tuple[list[str | None], list[str]]:
    """Return in which languages a stream requests its FAQ, and what its response varies by."""
    embed, requested = fake_embed(FAQS), list[str | None]()

    def use() -> None:
        requested.append(embed.use_faq("pricing").lang_requested)

    async def parts() -> AsyncIterator[str]:
        yield "<p>"
        use()
        yield str(embed.render("pricing"))

    async def endpoint(request: Request) -> Response:
        if use_before:
            use()
        return StreamingResponse(parts(), media_type="text/html", headers=headers)

    response = get(app_of(embed, endpoint), headers=[("Accept-Language", "ko")], **scope)
    return requested, response.all("vary")


@pytest.mark.parametrize("vary", [[], ["Cookie"]])
def test_a_stream_that_visitors_may_share_is_not_in_the_language_of_one(
    vary: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    headers = {"ETag": '"1"', **({"Vary": vary[0]} if vary else {})}
    assert [languages(headers) for _ in range(2)] == [([None], vary)] * 2
    (record,) = caplog.records
    assert "Vary: Accept-Language" in record.getMessage()


@pytest.mark.parametrize("headers", [{}, {"Cache-Control": "no-store"}, {"ETag": "1", "Vary": "*"}], ids=str)
def test_a_stream_of_one_visitor_is_in_the_visitors_language(
    headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    vary = [headers["Vary"]] if "Vary" in headers else []
    assert languages(headers) == (["ko"], vary)
    assert caplog.records == []


def test_a_stream_whose_language_was_negotiated_before_varies() -> None:
    expected = (["ko", "ko"], ["Cookie, Accept-Language"])
    assert languages({"ETag": '"1"', "Vary": "Cookie"}, use_before=True) == expected


def test_the_choice_of_the_host_needs_no_vary(caplog: pytest.LogCaptureFixture) -> None:
    assert languages({"ETag": '"1"'}, state={"lang": "de"}) == (["de"], [])
    assert caplog.records == []


@pytest.mark.parametrize("method", ["generate", "stream"])
def test_a_template_that_a_view_in_a_thread_streams_is_one_document(method: str) -> None:
    embed = fake_embed(FAQS)
    source = '{{ faq("pricing") }}<hr>{{ faq("legal") }}<hr>{{ faq("pricing") }}'
    made = templates(embed, page=source)

    def endpoint(request: Request) -> Response:
        parts = getattr(made.get_template("page"), method)()
        return StreamingResponse(iter(parts), media_type="text/html")

    assert get(app_of(embed, endpoint)).text == made.get_template("page").render()


def test_a_streamed_template_leaves_nothing_in_reference_cycles() -> None:  # I14
    embed = fake_embed(FAQS)
    made = templates(embed, page='{{ faq("pricing") }}<hr>')

    async def endpoint(request: Request) -> Response:
        return StreamingResponse(made.get_template("page").generate(), media_type="text/html")

    app = app_of(embed, endpoint)
    # Starlette leaves the context of the thread that reads the parts, and so the page, but not its documents.
    assert not {"Document", "_Stream"} & set(own_garbage(lambda: get(app)))
