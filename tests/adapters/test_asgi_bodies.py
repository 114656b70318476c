"""What FAQMiddleware does to a response: fills in what it must, as it streams, and nothing else."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import html5lib
import pytest
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed import starlette as leaf
from faqsvc_embed.page import asgi as delivery
from faqsvc_embed.page import context as pages
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.asgi import Answer, ask, get
from tests.support.blocks import STYLE, alone, block, nodes, script
from tests.support.slow import slow_embed

A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Wer?", "Wir – „wir“ & <du>."), title="Legal"))
FAQS = {"pricing": A, "legal": B}
MERGED = f"{STYLE}{block(A)}{script(A, B)}<hr>{block(B)}"

Make = Callable[..., FAQEmbed]
Endpoint = Callable[[Request], Any]


def held(**settings: Any) -> FAQEmbed:
    return fake_embed(FAQS, **settings)


def cold(**settings: Any) -> FAQEmbed:
    return slow_embed(FAQS, **settings)


embeds = pytest.mark.parametrize("make", [held, cold])


def two(embed: FAQEmbed) -> str:
    return f"{embed.render('pricing')}<hr>{embed.render('legal')}"


def app_of(embed: FAQEmbed, endpoint: Endpoint) -> Starlette:
    app = Starlette(routes=[Route("/", endpoint, methods=["GET", "HEAD"])])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


def answering(embed: FAQEmbed, make: Callable[[str], Response]) -> Starlette:
    """Return an application that answers with a response around two FAQs."""

    async def endpoint(request: Request) -> Response:
        return make(two(embed))

    return app_of(embed, endpoint)


# What is not ours, byte for byte


UNTOUCHED: dict[str, Callable[[str], Response]] = {
    "plain text": PlainTextResponse,
    "JSON": lambda html: JSONResponse({"html": html}),
    "XHTML": lambda html: Response(html, media_type="application/xhtml+xml"),
    "no type": Response,
    "event stream": lambda html: StreamingResponse(iter([html]), media_type="text/event-stream"),
    "encoded": lambda html: HTMLResponse(gzip.compress(html.encode()), headers={"Content-Encoding": "gzip"}),
    "partial": lambda html: HTMLResponse(html, 206, {"Content-Range": "bytes 0-9/10"}),
    "a range of its own": lambda html: HTMLResponse(html, 200, {"Content-Range": "bytes 0-9/10"}),
    "no content": lambda html: Response(status_code=204, media_type="text/html"),
    "not modified": lambda html: Response(status_code=304, headers={"ETag": '"x"'}, media_type="text/html"),
    "unknown charset": lambda html: Response(html, media_type="text/html; charset=klingon"),
    "a codec that is no charset": lambda html: Response(html, media_type="text/html; charset=base64"),
    "no UTF-8": lambda html: HTMLResponse(b"<p>\xff\xfe</p>" + html.encode() + b"\xc3"),
    "cut UTF-8": lambda html: HTMLResponse(html.encode() + b"\xe2\x82"),
}


@embeds
@pytest.mark.parametrize("make_response", UNTOUCHED.values(), ids=UNTOUCHED.keys())
def test_a_response_that_is_no_page_passes_byte_for_byte(
    make: Make, make_response: Callable[[str], Response]
) -> None:  # S1, S5
    made = list[str]()

    def keep(html: str) -> Response:
        made.append(html)
        response = make_response(html)
        response.headers["ETag"] = '"mine"'
        response.set_cookie("a", "1")
        response.set_cookie("b", "2")
        return response

    answer = get(answering(make(), keep))

    async def plain(request: Request) -> Response:
        response = make_response(made[0])
        response.headers["ETag"] = '"mine"'
        response.set_cookie("a", "1")
        response.set_cookie("b", "2")
        return response

    expected = get(Starlette(routes=[Route("/", plain)]))
    assert (answer.status, answer.body) == (expected.status, expected.body)
    # The handler did ask for FAQs in the visitor's language, if not for this body (L7).
    assert answer.headers == [*expected.headers, ("vary", "Accept-Language")]


@embeds
def test_an_answer_to_head_passes_as_it_is(make: Make) -> None:  # S1
    made = list[Response]()

    def keep(html: str) -> Response:
        made.append(HTMLResponse(html, headers={"ETag": '"mine"'}))
        return made[0]

    answer = get(answering(make(), keep), method="HEAD")
    assert answer.headers == [
        *((n.decode(), v.decode()) for n, v in made[0].raw_headers),
        ("vary", "Accept-Language"),
    ]
    assert answer.body == made[0].body


@pytest.mark.parametrize("body", [b"", b"<p>\xff</p>", b"a" * 300_000])
def test_a_page_without_an_faq_is_the_very_same_messages(body: bytes) -> None:  # S1
    response = HTMLResponse(body, headers={"ETag": '"mine"'})

    async def endpoint(request: Request) -> Response:
        return response

    answer = get(app_of(held(), endpoint))
    assert answer.messages[0]["headers"] is response.raw_headers
    assert [m.get("body") for m in answer.messages] == [None, body]


def test_a_file_passes_and_so_does_its_path(tmp_path: Path) -> None:  # S1
    path = tmp_path / "page.html"
    path.write_bytes(b"<p>\xc3\xa4</p>" * 10_000)
    embed = slow_embed({}, hanging=["pricing"], wait=0.01)

    async def endpoint(request: Request) -> Response:
        embed.render("pricing")  # and drops it
        return FileResponse(path)

    plain = get(Starlette(routes=[Route("/", endpoint)]))
    extensions: dict[str, Any]
    for extensions in ({}, {"http.response.pathsend": {}}):
        answer = get(app_of(embed, endpoint), extensions=extensions)
        sent = [m for m in answer.messages if m["type"] == "http.response.pathsend"]
        assert sent == ([{"type": "http.response.pathsend", "path": str(path)}] if extensions else [])
        assert b"".join(answer.chunks) == (b"" if extensions else path.read_bytes())
        headers = [h for h in answer.headers if h[0] != "vary"]
        if extensions:
            assert headers == plain.headers
        else:  # what may change in a stream has no length
            assert headers == [h for h in plain.headers if h[0] not in ("content-length", "etag")]


@pytest.mark.parametrize("scope_type", ["lifespan", "unheard-of"])
def test_other_scopes_are_untouched(scope_type: str) -> None:  # S7
    seen = list[Any]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((dict(scope), receive, pages.current()))
        await send({"type": f"{scope_type}.anything"})

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        seen.append(message)

    scope = {"type": scope_type, "path": "/"}
    asyncio.run(FAQMiddleware(app, embed=held())(scope, receive, send))
    assert seen == [({"type": scope_type, "path": "/"}, receive, None), {"type": f"{scope_type}.anything"}]


# What is filled in


@embeds
def test_headers_that_spoke_of_the_body_before_are_dropped_and_others_stay(make: Make) -> None:  # S2, S3
    def response(html: str) -> Response:
        made = HTMLResponse(html, headers={"ETag": '"x"', "Last-Modified": "Sat, 21 Nov 2026 08:00:00 GMT"})
        for name in ("Content-MD5", "Digest", "Content-Digest", "Repr-Digest"):
            made.headers[name] = "x"
        made.set_cookie("a", "1")
        made.set_cookie("b", "2")
        made.set_cookie("a", "3")
        return made

    answer = get(answering(make(), response))
    assert answer.text == MERGED
    assert answer.headers == [
        ("last-modified", "Sat, 21 Nov 2026 08:00:00 GMT"),
        ("content-length", str(len(answer.body))),
        ("content-type", "text/html; charset=utf-8"),
        ("set-cookie", "a=1; Path=/; SameSite=lax"),
        ("set-cookie", "b=2; Path=/; SameSite=lax"),
        ("set-cookie", "a=3; Path=/; SameSite=lax"),
        ("vary", "Accept-Language"),
    ]


@pytest.mark.parametrize("around", ["<p>ä\r\n\t</p>", "<b a='1'B=2 >", "<!-- -->", "\0\x0b", "<p"])
def test_the_markup_of_the_host_stays_as_it_is(around: str) -> None:  # S6
    answer = get(answering(cold(), lambda html: HTMLResponse(around + html + around)))
    assert answer.text == around + MERGED + around


def test_a_raw_application_need_not_tell_headers_or_a_length() -> None:  # S3
    embed = cold()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": iter([(b"Content-Type", b"text/html")])}
        )
        await send({"type": "http.response.body", "body": two(embed).encode()})

    answer = get(FAQMiddleware(app, embed=embed))
    assert (answer.text, answer.headers) == (
        MERGED,
        [("Content-Type", "text/html"), ("vary", "Accept-Language")],
    )

    async def bare(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body"})

    assert get(FAQMiddleware(bare, embed=embed)).messages == [
        {"type": "http.response.start", "status": 200},
        {"type": "http.response.body"},
    ]


CHARSETS = ["utf-8", "latin-1", "windows-1252", "shift_jis", "euc-kr", "gb18030", "utf-16", "utf-16be"]


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_page_in_another_character_set_gets_its_faqs_in_it(charset: str) -> None:  # S5
    yen = FAQ.from_dict(samples.record("pricing", ("Wie viel? ¥€", "¥100 – „viel“ 서울 👍 ~\\"), lang="de"))
    embed = slow_embed({"pricing": yen})

    def response(html: str) -> Response:
        made = HTMLResponse(f"<p>a</p>{html}<p>b</p>".encode(charset))
        made.headers["Content-Type"] = f'text/html; charset="{charset}"'
        return made

    async def endpoint(request: Request) -> Response:
        return response(str(embed.render("pricing")))

    answer = get(app_of(embed, endpoint))
    # What a browser would make of it: the standard's decoders, which differ from Python's here and there.
    tree = html5lib.parse(answer.body, transport_encoding=charset, namespaceHTMLElements=False)
    (json_ld,) = (e.text for e in tree.iter("script"))
    assert json.loads(json_ld) == nodes(script(yen))[0]
    paragraphs = ["".join(e.itertext()) for e in tree.iter("p")]
    assert paragraphs == ["a", "¥100 – „viel“ 서울 👍 ~\\", "b"]
    assert answer.all("content-length") == [str(len(answer.body))]


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "utf-32"])
def test_two_faqs_are_merged_in_a_page_of_any_unicode(charset: str) -> None:  # J1, S5
    def response(html: str) -> Response:
        return Response(html.encode(charset), media_type=f"text/html; charset={charset}")

    for make in (held, cold):
        assert get(answering(make(), response)).body.decode(charset) == MERGED


# Streams


def test_a_stream_that_is_not_in_its_character_set_passes_from_there_on() -> None:  # S5
    embed, made = cold(), list[bytes]()

    async def chunks() -> AsyncIterator[bytes]:
        made.extend([b"<p>", b"\xff", embed.render("pricing").encode()])
        for chunk in made:
            yield chunk

    assert get(streaming(embed, chunks)).chunks == [*made, b""]


def streaming(embed: FAQEmbed, chunks: Callable[[], AsyncIterator[str | bytes]], **options: Any) -> Starlette:
    async def endpoint(request: Request) -> Response:
        return StreamingResponse(chunks(), media_type="text/html", **options)

    return app_of(embed, endpoint)


def test_the_first_chunk_leaves_before_the_second_is_made() -> None:  # S4
    embed, events = cold(), list[str]()

    async def chunks() -> AsyncIterator[str]:
        for name in ("one", "two", "six"):
            events.append(f"make {name}")
            yield f"<p>{name}</p>{embed.render('pricing') if name == 'two' else ''}"

    def on_send(message: Message) -> None:
        if message.get("body"):
            events.append(f"send {message['body'][:10].decode()}")

    answer = get(streaming(embed, chunks), on_send=on_send)
    assert answer.text == f"<p>one</p><p>two</p>{alone(A)}<p>six</p>"
    order = [e for e in events if e.startswith("make") or "<p>" in e]
    assert order == [
        "make one", "send <p>one</p>", "make two", "send <p>two</p>", "make six", "send <p>six</p>"
    ]  # fmt: skip
    assert answer.all("content-length") == []


def test_what_stands_before_a_slot_leaves_before_its_faq_is_there() -> None:  # S4
    embed = slow_embed(FAQS, hanging=["pricing"], wait=0.3)
    embed.get_ready()  # which would count as a wait

    async def chunks() -> AsyncIterator[str]:
        yield f"<p>before</p>{embed.render('pricing')}<p>after</p>"

    answer = get(streaming(embed, chunks))
    assert answer.text == "<p>before</p><p>after</p>"
    parts = dict(zip(answer.chunks, answer.times[1:], strict=True))
    assert parts[b"<p>after</p>"] - parts[b"<p>before</p>"] > 0.15


@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le"])
def test_a_slot_is_found_wherever_it_is_cut(charset: str) -> None:  # S4
    embed = cold()
    embed.forget()
    slot = 43 * len("a".encode(charset))

    async def one(cut: int) -> str:
        async def chunks() -> AsyncIterator[bytes]:
            body = f"<{embed.render('pricing')}<!--".encode(charset)
            yield body[:cut]
            yield body[cut : cut + 1]
            yield body[cut + 1 :]

        app = streaming(embed, chunks, headers={"Content-Type": f"text/html; charset={charset}"})
        embed.forget()
        return (await ask(app)).body.decode(charset)

    async def everywhere() -> set[str]:
        return {await one(cut) for cut in range(slot + 10)}

    assert asyncio.run(everywhere()) == {f"<{alone(A)}<!--"}


@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_body_of_tiny_chunks_is_filled_in(size: int) -> None:  # S4, J1
    embed = cold()

    async def chunks() -> AsyncIterator[bytes]:
        body = f"<p>ä</p>{two(embed)}<p>ö</p>".encode()
        for at in range(0, len(body), size):
            yield body[at : at + size]

    assert get(streaming(embed, chunks)).text == f"<p>ä</p>{MERGED}<p>ö</p>"


@pytest.mark.parametrize("size", [1000, 4096])
def test_a_held_page_that_comes_in_chunks_has_one_faq_page_too(size: int) -> None:  # J1
    embed = held()
    body = list[bytes]()

    async def endpoint(request: Request) -> Response:
        body.append(two(embed).encode())
        return StreamingResponse(
            iter([body[0][at : at + size] for at in range(0, len(body[0]), size)]), media_type="text/html"
        )

    assert get(app_of(embed, endpoint)).text == MERGED


ENDS = ["", "<", "<!--", "<!--faqsvc ", "{slot}", "{half}"]


@pytest.mark.parametrize("end", ENDS)
def test_the_end_of_a_stream_holds_nothing_back(end: str) -> None:  # S4
    embed, made = cold(), list[str]()

    async def chunks() -> AsyncIterator[str]:
        slot = embed.render("pricing")
        made.append({"{slot}": str(slot), "{half}": str(slot[:-2])}.get(end, end))
        yield "<p>"
        yield made[0]

    expected = alone(A) if end == "{slot}" else None
    text = get(streaming(embed, chunks)).text
    assert text == f"<p>{expected or made[0]}"


@pytest.mark.parametrize("spec_version", ["2.0", "2.3", "2.4"])
def test_streams_of_older_servers_are_filled_in(spec_version: str) -> None:
    embed, gone = cold(), asyncio.Event()

    async def chunks() -> AsyncIterator[str]:
        yield two(embed)

    async def receive_never(app: ASGIApp) -> Answer:
        async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
            async def wait() -> Message:
                await asyncio.sleep(3600)
                raise AssertionError

            await app(scope, wait, send)

        return await ask(wrapped, asgi={"version": "3.0", "spec_version": spec_version})

    assert asyncio.run(receive_never(streaming(embed, chunks))).text == MERGED
    assert not gone.is_set()


def test_the_start_of_an_event_stream_does_not_wait_for_the_first_event() -> None:  # S4
    sent = list[str]()

    async def events() -> AsyncIterator[str]:
        assert sent == ["http.response.start"]
        yield "data: x\n\n"

    async def endpoint(request: Request) -> Response:
        return StreamingResponse(events(), media_type="text/event-stream")

    get(app_of(held(), endpoint), on_send=lambda m: sent.append(m["type"]))
    assert len(sent) == 3


def test_the_start_of_a_page_that_cannot_change_is_not_held_back() -> None:
    sent = list[str]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/html"), (b"content-length", b"1")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        assert sent == ["http.response.start"]
        await send({"type": "http.response.body", "body": b"x"})

    get(FAQMiddleware(app, embed=held()), on_send=lambda m: sent.append(m["type"]))
    assert len(sent) == 2


def test_a_later_faq_of_a_stream_adds_no_second_faq_page() -> None:  # J1
    embed = held()

    async def chunks() -> AsyncIterator[str]:
        yield embed.render("pricing")
        yield embed.render("legal")

    assert get(streaming(embed, chunks)).text == f"{STYLE}{block(A)}{script(A)}{block(B)}"


def test_faq_schema_at_the_end_of_a_stream_marks_up_all() -> None:  # J1
    embed = cold()

    async def chunks() -> AsyncIterator[str]:
        yield embed.render("pricing", schema=False)
        yield await embed.arender("legal", schema=False)
        page = pages.current()
        assert page is not None
        yield page.schema()

    expected = f"{STYLE}{block(A)}{block(B)}{script(A, B)}"
    assert get(streaming(embed, chunks)).text == expected


# With other middlewares


class Passing(BaseHTTPMiddleware):
    """What `@app.middleware("http")` makes: it turns every response into a stream."""

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = await call_next(request)
        response.headers["X-Passed"] = "yes"
        return response


def stacked(embed: FAQEmbed, endpoint: Endpoint, outside: Any, inside: Any) -> Starlette:
    """Return an application with our middleware between two others; each is a class and its options."""
    app = Starlette(routes=[Route("/", endpoint)])
    for kind, options in filter(None, (inside, (FAQMiddleware, {"embed": embed}), outside)):
        app.add_middleware(kind, **options)
    return app


GZIP = (GZipMiddleware, {"minimum_size": 10})
SESSION = (SessionMiddleware, {"secret_key": "secret"})
CORS = (CORSMiddleware, {"allow_origins": ["*"], "allow_credentials": True, "expose_headers": ["X"]})
PASSING: tuple[Any, dict[str, Any]] = (Passing, {})
OTHERS = {"session": SESSION, "cors": CORS, "base": PASSING}
HEADERS = [("Origin", "https://other.test"), ("Accept-Encoding", "gzip")]


@embeds
@pytest.mark.parametrize("side", ["outside", "inside"])
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_other_middlewares_work_before_and_after(make: Make, side: str, other: Any) -> None:  # S9
    def endpoint_for(embed: FAQEmbed | None) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            if "session" in request.scope:
                request.session["seen"] = 1
            response = HTMLResponse(two(embed) if embed else "plain")
            response.set_cookie("a", "1")
            response.set_cookie("b", "2")
            return response

        return endpoint

    embed = make()
    answer = get(stacked(embed, endpoint_for(embed), **{"outside": None, "inside": None, side: other}),
                 headers=HEADERS)  # fmt: skip
    assert answer.text == MERGED
    plain = Starlette(routes=[Route("/", endpoint_for(None))])
    plain.add_middleware(other[0], **other[1])
    expected = get(plain, headers=HEADERS)

    def comparable(answer: Answer) -> list[tuple[str, str]]:
        cookies = [(n, v.partition("=")[0] if "session" in v else v) for n, v in answer.headers]
        return sorted(h for h in cookies if h[0] not in ("content-length", "vary"))

    assert comparable(answer) == comparable(expected)
    assert [v for v in answer.all("set-cookie") if v[:2] in ("a=", "b=")] == [
        "a=1; Path=/; SameSite=lax",
        "b=2; Path=/; SameSite=lax",
    ]  # S2
    assert answer.all("content-length") in ([], [str(len(answer.body))])
    vary = ",".join(answer.all("vary")).replace(" ", "").split(",")
    assert sorted(vary) == sorted({*vary})
    assert "Accept-Language" in vary


@embeds
def test_gzip_outside_compresses_the_page_with_its_faqs(make: Make) -> None:  # S9
    embed = make()

    async def endpoint(request: Request) -> Response:
        return HTMLResponse(two(embed))

    answer = get(stacked(embed, endpoint, GZIP, None), headers=HEADERS)
    assert gzip.decompress(answer.body).decode() == MERGED
    assert answer.all("content-encoding") == ["gzip"]


@embeds
def test_gzip_inside_leaves_a_page_that_passes_and_one_warning(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:  # S1, S9
    delivery._warn_of_compression.cache_clear()
    embed, made = make(), list[str]()

    async def endpoint(request: Request) -> Response:
        embed.forget()
        made.append(two(embed))
        return HTMLResponse(made[-1])

    app = stacked(embed, endpoint, None, GZIP)
    for _ in range(2):
        answer = get(app, headers=HEADERS)
        assert gzip.decompress(answer.body).decode() == made[-1]
        assert answer.all("content-length") == [str(len(answer.body))]
    slots = sum("<!--faqsvc" in html for html in made)
    warnings = [r.getMessage() for r in caplog.records if "compress" in r.getMessage()]
    assert (slots, len(warnings)) == (2 if make is cold else 0, 1)


def test_what_is_no_html_keeps_its_slots_and_one_warning_says_so(caplog: pytest.LogCaptureFixture) -> None:
    delivery._warn_of_form.cache_clear()
    embed, made = cold(), list[str]()

    async def endpoint(request: Request) -> Response:
        embed.forget()
        made.append(two(embed))
        return JSONResponse({"html": made[-1]})

    app = app_of(embed, endpoint)
    for _ in range(2):
        assert json.loads(get(app).text) == {"html": made[-1]}
    assert caplog.messages == [
        "an FAQ that was not held yet is left out of a response that is no text/html, which cannot be filled "
        "in: await faqs_from(request).aprefetch() before such a template"
    ]


# Background tasks, disconnects, exceptions


@embeds
def test_background_tasks_start_after_the_whole_response_was_sent(make: Make) -> None:  # S7
    embed, events = make(), list[str]()

    async def endpoint(request: Request) -> Response:
        return HTMLResponse(two(embed), background=BackgroundTask(lambda: events.append("task")))

    get(app_of(embed, endpoint), on_send=lambda m: events.append(m["type"]))
    assert events == ["http.response.start", "http.response.body", "task"]


@embeds
def test_an_exception_before_the_response_propagates(make: Make) -> None:  # S7
    embed = make()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        two(embed)
        raise ZeroDivisionError

    messages = list[Message]()
    with pytest.raises(ZeroDivisionError):
        get(FAQMiddleware(app, embed=embed), on_send=messages.append)
    assert messages == []
    assert pages.current() is None


def failing(embed: FAQEmbed, after: int, response: list[Message]) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        for message in response[:after]:
            await send(message)
        raise ZeroDivisionError

    return app


@pytest.mark.parametrize("after", [1, 2])
@pytest.mark.parametrize("length", [[], [(b"content-length", b"6")]])
def test_an_exception_within_a_response_leaves_what_was_sent(after: int, length: list[Any]) -> None:  # S7
    start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]}
    start["headers"] = [(b"content-type", b"text/html"), *length]
    response: list[Message] = [start, {"type": "http.response.body", "body": b"abc", "more_body": True}]
    messages = list[Message]()
    with pytest.raises(ZeroDivisionError):
        get(FAQMiddleware(failing(held(), after, response), embed=held()), on_send=messages.append)
    assert messages == response[:after]


def test_an_application_that_sends_no_body_sends_its_start() -> None:  # S7
    start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(start)

    assert get(FAQMiddleware(app, embed=held())).messages == [start]


@embeds
def test_a_client_that_is_gone_is_told_to_the_application(make: Make) -> None:  # S7
    embed, events = make(), list[str]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = two(embed).encode()
        try:
            await send(
                {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]}
            )
            await send({"type": "http.response.body", "body": body})
        except OSError:
            events.append("told")
            raise

    def gone(message: Message) -> None:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        get(FAQMiddleware(app, embed=embed), on_send=gone)
    assert events == ["told"]


def test_a_request_that_is_cancelled_while_it_waits_ends_at_once() -> None:  # R5, S7
    embed = slow_embed(FAQS, hanging=FAQS, wait=30)
    app = answering(embed, HTMLResponse)

    async def main() -> None:
        task = asyncio.create_task(ask(app))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 1)
        assert pages.current() is None

    asyncio.run(main())


def test_what_comes_between_is_passed_in_order() -> None:
    kinds = ["http.response.debug", "http.response.start", "http.response.body", "http.response.trailers"]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": kinds[0], "info": {}})
        await send(
            {"type": kinds[1], "status": 200, "headers": [(b"content-type", b"text/html")], "trailers": True}
        )
        await send({"type": kinds[2], "body": b"x"})
        await send({"type": kinds[3], "headers": []})

    answer = get(FAQMiddleware(app, embed=held()))
    assert [m["type"] for m in answer.messages] == kinds


BETWEEN: list[Message] = [
    {"type": "http.response.push", "path": "/style.css", "headers": []},
    {"type": "http.response.early_hint", "links": []},
    {"type": "http.response.debug", "info": {}},
]


@pytest.mark.parametrize("between", BETWEEN, ids=lambda message: message["type"])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
@embeds
def test_what_comes_before_a_body_does_not_keep_it_from_being_filled(
    make: Make, between: Message, kind: Callable[[bytes], bytes]
) -> None:
    embed = make()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/html; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send(between)
        await send({"type": "http.response.body", "body": kind(two(embed).encode())})

    answer = get(FAQMiddleware(app, embed=embed))
    assert between in answer.messages
    assert answer.text == MERGED


@pytest.mark.parametrize("kind", ["pathsend", "zerocopysend"])
@pytest.mark.parametrize("before", [[], [b"<p><"]], ids=["alone", "behind a part"])
def test_a_file_that_the_server_sends_passes_behind_all_that_came_before(
    kind: str, before: list[bytes]
) -> None:  # S1
    embed = cold()
    messages: list[Message] = [
        {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]},
        *({"type": "http.response.body", "body": part, "more_body": True} for part in before),
        {"type": f"http.response.{kind}", "path": "/page.html"},
    ]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        embed.render("pricing")
        for message in messages:
            await send(message)

    answer = get(FAQMiddleware(app, embed=embed))
    assert (answer.messages[0]["type"], answer.messages[-1]) == ("http.response.start", messages[-1])
    assert answer.body == b"".join(before)


def test_no_base_http_middleware_is_used() -> None:  # S8
    source = Path(leaf.__file__).read_text(encoding="utf-8")
    assert "middleware.base" not in source
    assert not issubclass(FAQMiddleware, BaseHTTPMiddleware)
