"""Which messages leave for those that an ASGI application sends."""

import asyncio
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed import FAQEmbed
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support.asgi import Sent, aget, get
from tests.support.pages import FAQS, A, B, Make, embeds
from tests.support.parsed import page_of, summary
from tests.support.slow import slow_embed

HTML = (b"content-type", b"text/html; charset=utf-8")


def start(*headers: tuple[bytes, bytes], status: int = 200) -> Message:
    return {"type": "http.response.start", "status": status, "headers": [HTML, *headers]}


def body(content: bytes = b"", *, more: bool = False) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": more}


def two(embed: FAQEmbed) -> bytes:
    with embed.page():
        return f"{embed.render('pricing')}<hr>{embed.render('legal')}".encode()


def app_of(embed: FAQEmbed, messages: Callable[[], Iterable[Message]]) -> ASGIApp:
    """Return an application that sends messages, which are made one by one."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        for message in messages():
            await send(message)

    return FAQMiddleware(app, embed=embed)


def sent(embed: FAQEmbed, *messages: Message, **options: Any) -> Sent:
    return get(app_of(embed, lambda: messages), **options)


# A response without an FAQ


@pytest.mark.parametrize(
    "messages",
    [
        [start((b"content-length", b"3")), body(b"abc")],
        [start((b"etag", b"x")), body(b"<p>\xff</p>")],
        [start(), body(b"abc", more=True), body(b"\xff", more=True), body()],
        [start(), body(b"a" * 300_000)],
        [start(status=404), body()],
        [{"type": "http.response.start", "status": 200}, {"type": "http.response.body"}],
        [start()],
        [start(), body(b"x"), {"type": "http.response.trailers", "headers": []}],
        [{"type": "http.response.debug", "info": {}}, start(), body(b"x")],
    ],
    ids=str,
)
def test_a_response_without_an_faq_is_the_same_messages(messages: list[Message]) -> None:
    left = sent(fake_embed(FAQS), *messages).messages
    assert left == messages
    assert all(one is other for one, other in zip(left, messages, strict=True))


@embeds
def test_a_body_that_does_not_say_whether_more_comes_is_the_whole(make: Make) -> None:  # ASGI 3
    embed = make(FAQS)

    def messages() -> list[Message]:
        content = two(embed)
        return [start(), {"type": "http.response.body", "body": content}]

    response = get(app_of(embed, messages))
    assert len(response.messages) == 2
    assert not response.messages[-1].get("more_body")
    assert summary(response.body) == page_of(A, B)


def test_headers_may_be_any_iterable_that_can_be_read_once() -> None:
    embed = slow_embed(FAQS)

    def messages() -> Iterable[Message]:
        yield {
            "type": "http.response.start",
            "status": 200,
            "headers": iter([(b"content-type", b"text/html")]),
        }
        yield {"type": "http.response.body", "body": two(embed)}

    response = get(app_of(embed, messages))
    assert summary(response.body) == page_of(A, B)
    assert ("content-type", "text/html") in response.headers


# Headers of a body that changed


@embeds
def test_headers_of_the_body_before_are_dropped_where_it_was_filled_and_others_stay(make: Make) -> None:
    embed = make(FAQS)
    dropped = [
        (name, b"x") for name in (b"ETag", b"content-md5", b"digest", b"Content-Digest", b"repr-digest")
    ]
    kept = [
        (b"last-modified", b"Sat, 21 Nov 2026 08:00:00 GMT"),
        *((b"set-cookie", value) for value in (b"a=1", b"b=2", b"a=3")),
    ]

    def messages() -> Iterable[Message]:
        content = two(embed)
        yield start(*dropped, *kept, (b"Content-Length", b"%d" % len(content)))
        yield body(content)

    response = get(app_of(embed, messages))
    assert summary(response.body) == page_of(A, B)
    length = b"%d" % len(response.body)
    of_body = [(b"content-length", length)] if make is slow_embed else [*dropped, (b"Content-Length", length)]
    assert sorted(response.start["headers"]) == sorted([HTML, *kept, *of_body, (b"vary", b"Accept-Language")])
    assert len(response.messages) == 2


def test_a_single_cached_faq_leaves_the_body_and_its_headers_alone() -> None:
    embed, bodies = fake_embed(FAQS), list[bytes]()
    embed.render("pricing")

    def messages() -> Iterable[Message]:
        bodies.append(f"<p>{embed.render('pricing')}</p>".encode())
        yield start((b"etag", b'"mine"'), (b"content-length", b"%d" % len(bodies[0])))
        yield body(bodies[0])

    response = get(app_of(embed, messages))
    assert response.messages[1]["body"] is bodies[0]
    assert response.all("etag") == ['"mine"']
    assert summary(response.body) == page_of(A)


@embeds
def test_a_page_that_renders_faqs_and_prints_none_keeps_its_headers(make: Make) -> None:
    embed = make(FAQS)

    def messages() -> Iterable[Message]:
        two(embed)
        yield start((b"etag", b'"mine"'), (b"content-length", b"9"))
        yield body(b"<p>no</p>")

    response = get(app_of(embed, messages))
    assert (response.text, response.all("etag")) == ("<p>no</p>", ['"mine"'])
    assert response.all("content-length") == ["9"]


# HEAD (RFC 9110, 8.6)


@embeds
@pytest.mark.parametrize("with_body", [True, False])
def test_a_head_response_has_no_other_length_and_etag_than_the_get(make: Make, with_body: bool) -> None:
    embed = make(FAQS)

    def messages() -> Iterable[Message]:
        content = two(embed)
        yield start((b"etag", b'"mine"'), (b"content-length", b"%d" % len(content)))
        yield body(content if with_body or not is_head else b"")

    is_head = False
    full = get(app_of(embed, messages))
    is_head = True
    head = get(app_of(embed, messages), method="HEAD")
    assert full.all("etag") == ([] if make is slow_embed else ['"mine"'])  # it is cached at the second time
    assert head.all("content-length") in ([], full.all("content-length"))
    if make is not slow_embed:
        assert head.all("content-length") == full.all("content-length")


def test_a_head_response_does_not_wait_for_the_faqs_of_its_page() -> None:
    embed = slow_embed({}, hanging=["pricing"], wait=30)

    def messages() -> Iterable[Message]:
        embed.render("pricing")
        yield start((b"content-length", b"7"))
        yield body()

    async def without_waiting() -> Sent:
        return await asyncio.wait_for(aget(app_of(embed, messages), method="HEAD"), 20)

    assert asyncio.run(without_waiting()).all("content-length") == []


# Streams


def test_the_start_of_a_stream_has_no_length_if_its_body_changes() -> None:
    embed = slow_embed(FAQS)

    def messages() -> Iterable[Message]:
        content = two(embed)
        yield start((b"etag", b"x"))
        yield body(content[:50], more=True)
        yield body(content[50:])

    response = get(app_of(embed, messages))
    assert response.all("etag") == []
    assert summary(response.body) == page_of(A, B)
    assert [m.get("more_body", False) for m in response.messages[1:]][-2:] == [True, False]


@embeds
@pytest.mark.parametrize("cuts", [[], [50], [0, 3000, 3001]], ids=str)
@pytest.mark.parametrize("ends_empty", [True, False])
def test_a_body_in_parts_that_says_its_length_is_completed_as_a_whole(
    make: Make, cuts: list[int], ends_empty: bool
) -> None:
    embed = make(FAQS)

    def messages() -> Iterable[Message]:
        embed.render("pricing")  # in an email
        with embed.page():
            content = f"<p>ä</p>{embed.render('legal')}<hr>{embed.render('legal')}".encode()
        yield start((b"content-length", b"%d" % len(content)))
        edges = [0, *cuts, len(content)]
        for at, end in pairwise(edges):
            yield body(content[at:end], more=ends_empty or end < len(content))
        if ends_empty:
            yield body()

    response = get(app_of(embed, messages))
    assert summary(response.body) == page_of(B, B)
    assert response.all("content-length") in ([], [str(len(response.body))])
    assert not response.messages[-1].get("more_body")


@pytest.mark.parametrize("length", [b"4", b"x", b""])
def test_a_length_that_is_wrong_loses_nothing_of_the_body(length: bytes) -> None:
    embed = fake_embed(FAQS)

    def messages() -> Iterable[Message]:
        embed.render("legal")
        embed.render("pricing")
        yield start((b"content-length", length))
        yield from (body(part, more=True) for part in (b"<p>", b"ab", b"cd"))
        yield body(b"ef")

    assert get(app_of(embed, messages)).body == b"<p>abcdef"


@pytest.mark.parametrize("cut", range(12))
def test_a_piece_before_the_first_faq_may_end_within_a_character(cut: int) -> None:
    embed, host = slow_embed(FAQS), "<p>ä€👍</p>".encode()

    def messages() -> Iterable[Message]:
        yield start()
        yield body(host[: cut + 1], more=True)
        yield body(host[cut + 1 :] + two(embed), more=True)
        yield body(b"", more=False)

    response = get(app_of(embed, messages))
    assert response.body.startswith(host)
    assert summary(response.body) == page_of(A, B)


@pytest.mark.parametrize(
    "headers",
    [
        [HTML, (b"content-length", b"9")],
        [(b"content-type", b"text/event-stream")],
        [(b"content-type", b"application/json")],
    ],
)
def test_headers_that_cannot_change_are_sent_at_once(headers: list[tuple[bytes, bytes]]) -> None:
    left = list[str]()

    def messages() -> Iterable[Message]:
        yield {"type": "http.response.start", "status": 200, "headers": headers}
        assert left == ["http.response.start"]
        yield body(b"data: x\n\n")

    get(app_of(slow_embed(FAQS), messages), on_send=lambda m: left.append(m["type"]))
    assert len(left) == 2


# Other messages


BETWEEN: list[Message] = [
    {"type": "http.response.push", "path": "/style.css", "headers": []},
    {"type": "http.response.early_hint", "links": []},
    {"type": "http.response.debug", "info": {}},
]


@pytest.mark.parametrize("between", BETWEEN, ids=lambda message: message["type"])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_hints_may_come_between_the_start_and_a_body_of_any_kind(
    between: Message, kind: Callable[[bytes], bytes]
) -> None:
    embed = slow_embed(FAQS)

    def messages() -> Iterable[Message]:
        yield start()
        yield between
        yield body(kind(two(embed)))

    response = get(app_of(embed, messages))
    assert response.messages[0] == between
    assert summary(response.body) == page_of(A, B)


@pytest.mark.parametrize("kind", ["pathsend", "zerocopysend"])
@pytest.mark.parametrize("before", [[], [b"<p><"], [b"<!--faqsvc "]], ids=["alone", "behind a part", "cut"])
@embeds
def test_a_file_that_the_server_sends_comes_after_all_that_came_before(
    kind: str, before: list[bytes], make: Make
) -> None:
    embed = make(FAQS)
    file = {"type": f"http.response.{kind}", "path": "/page.html"}

    def messages() -> Iterable[Message]:
        embed.render("pricing")
        yield start()
        yield from (body(part, more=True) for part in before)
        yield file

    response = get(app_of(embed, messages))
    assert (response.messages[0]["type"], response.messages[-1]) == ("http.response.start", file)
    assert response.body == b"".join(before)
