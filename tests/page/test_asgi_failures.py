"""What happens to a response when the application, its client or its server fails."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.page.test_asgi import app_of, body, start, two
from tests.support.asgi import aget, get
from tests.support.pages import FAQS, Make, embeds
from tests.support.slow import slow_embed


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("headers", [[], [(b"content-length", b"6")]], ids=["no length", "length"])
@embeds
def test_an_exception_propagates_and_an_error_page_can_follow_a_start_without_body(
    make: Make, after: int, headers: Any
) -> None:
    embed, messages = make(FAQS), [start(*headers), body(b"abc", more=True)]

    def failing() -> Iterable[Message]:
        yield from messages[:after]
        raise ZeroDivisionError

    left = list[Message]()
    with pytest.raises(ZeroDivisionError):
        get(app_of(embed, failing), on_send=left.append)
    assert left == (messages[:after] if headers or after > 1 else [])


@embeds
def test_the_application_learns_that_its_client_has_left(make: Make) -> None:
    embed, caught = make(FAQS), list[Exception]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        content = two(embed)
        try:
            await send(start())
            await send(body(content))
        except OSError as error:
            caught.append(error)
            raise

    def disconnect(message: Message) -> None:
        raise OSError("disconnected")

    with pytest.raises(OSError, match="disconnected") as raised:
        get(FAQMiddleware(app, embed=embed), on_send=disconnect)
    assert caught == [raised.value]


def test_a_request_that_is_cancelled_while_it_waits_ends_at_once() -> None:
    embed = slow_embed(FAQS, hanging=FAQS, wait=30)
    waits = asyncio.Event()

    def messages() -> Iterable[Message]:
        content = two(embed)
        yield start()
        waits.set()
        yield body(content)

    async def main() -> None:
        request = asyncio.create_task(aget(app_of(embed, messages)))
        await waits.wait()
        await asyncio.sleep(0)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(request, 20)

    asyncio.run(main())


# Other protocols


@pytest.mark.parametrize("scope_type", ["lifespan", "unheard-of"])
def test_other_scopes_are_untouched(scope_type: str) -> None:
    scopes, left = list[Scope](), list[Message]()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        scopes.append(dict(scope))
        assert await receive() == {"type": "x"}
        await send({"type": f"{scope_type}.anything"})

    async def receive() -> Message:
        return {"type": "x"}

    async def send(message: Message) -> None:
        left.append(message)

    scope = {"type": scope_type, "path": "/"}
    asyncio.run(FAQMiddleware(app, embed=fake_embed(FAQS))(scope, receive, send))
    assert (scopes, left) == ([{"type": scope_type, "path": "/"}], [{"type": f"{scope_type}.anything"}])
