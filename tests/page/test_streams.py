"""The body of a response that is made while it leaves, in WSGI and in ASGI."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator

import pytest

from faqsvc_embed import FAQ
from faqsvc_embed.page.context import Page, enter_request, leave_request, request_page
from faqsvc_embed.page.streams import AsyncStreamedBody, StreamedBody
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.parsed import page_of, summary

A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Wer?", "Wir – „wir“.")))
EMBED = fake_embed({"pricing": A, "legal": B})


def two_faqs() -> Iterator[str]:
    yield "<h1>Ü</h1>"
    yield EMBED.render("pricing")
    yield EMBED.render("legal", schema=False)


class Body:
    """An iterable that can be closed, as PEP 3333 has it."""

    def __init__(self, *parts: bytes) -> None:
        self.parts = parts
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.parts)

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "utf-16-le"])
def test_each_part_is_made_on_the_page_and_in_its_charset(charset: str) -> None:
    page = Page()
    body = b"".join(StreamedBody(page, charset, two_faqs())).decode(charset)
    found = summary(body)
    assert found == page_of(A, B)._replace(faq_pages=page_of(A).faq_pages)
    assert body.startswith("<h1>Ü</h1>")


def test_the_context_of_the_server_has_no_page_between_the_parts() -> None:
    for _ in StreamedBody(Page(), "utf-8", two_faqs()):
        assert request_page() is None


@pytest.mark.parametrize("is_read", [True, False])
def test_the_body_of_the_host_is_closed_and_the_page_is_over(is_read: bool) -> None:
    page, parts = Page(), Body(b"a", b"b")
    body = StreamedBody(page, "utf-8", parts)
    if is_read:
        assert list(body) == [b"a", b"b"]
    body.close()
    assert (parts.closed, page.is_over) == (1, True)


def test_a_body_that_cannot_be_closed_is_fine() -> None:
    StreamedBody(Page(), "utf-8", [b"a"]).close()


def test_an_exception_in_a_body_is_raised_and_ends_the_page() -> None:
    def parts() -> Iterator[str]:
        yield EMBED.render("pricing")
        raise KeyError("host")

    body, got = StreamedBody(Page(), "utf-8", parts()), list[bytes]()
    with pytest.raises(KeyError):
        got += body
    assert summary(b"".join(got)) == page_of(A)
    assert request_page() is None


async def awaited(parts: Iterable[str]) -> AsyncIterator[str]:
    for part in parts:
        await asyncio.sleep(0)
        yield part


def read(page: Page, parts: Iterable[str], is_async: bool) -> str:
    """Return the body as it leaves."""

    async def read_all() -> bytes:
        return b"".join([piece async for piece in AsyncStreamedBody(page, "utf-8", awaited(parts))])

    body = asyncio.run(read_all()) if is_async else b"".join(StreamedBody(page, "utf-8", parts))
    return body.decode()


@pytest.mark.parametrize("is_async", [False, True], ids=["WSGI", "ASGI"])
def test_a_body_is_sent_completely_however_it_ends(is_async: bool) -> None:
    parts = ["<h1>Ü</h1>", str(EMBED.render("pricing")), str(EMBED.render("pricing"))[:40]]
    page = Page()
    token = enter_request(page)
    EMBED.render("pricing")  # so that the end of the body may be the beginning of one of its elements
    leave_request(token)
    assert read(page, parts, is_async) == "".join(parts)
    assert page.is_over


@pytest.mark.parametrize("is_async", [False, True], ids=["WSGI", "ASGI"])
def test_the_faq_page_of_a_stream_has_no_question_of_an_email_that_was_rendered_before(
    is_async: bool,
) -> None:
    def parts() -> Iterator[str]:
        EMBED.render("legal")  # the email
        yield "<h1>Ü</h1>"
        yield EMBED.render("pricing")

    assert summary(read(Page(), parts(), is_async)) == page_of(A)


def test_parts_that_are_awaited_are_made_on_the_page() -> None:
    assert read(Page(), [], True) == ""
    html = read(page := Page(), two_faqs(), True)
    assert len(page.printed) == 2
    assert summary(html) == page_of(A, B)._replace(faq_pages=page_of(A).faq_pages)
