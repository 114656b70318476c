"""GET and POST /api/v1/events: the changes of some FAQs as server-sent events (HTML standard, 9.2).

The slugs are in the query of a GET, as browsers send it, or in the body of a POST, which has room for more.
"""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from faqsvc_embed.api.contract import MAX_SLUGS, Event, FollowBody
from faqsvc_embed.api.fields import MAX_BODY, Code
from faqsvc_embed.api.requests import EVENT_STREAM, FEED_PATH
from faqsvc_embed.api.validation import problems_of
from faqsvc_embed.service.http.changes import ChangeFeed, Subscriber
from faqsvc_embed.service.http.operation import Call, Operation
from faqsvc_embed.service.http.requests import client_network, parse_object, read_body
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.storage.logs import LoggedChange
from faqsvc_embed.text import normalized

HEARTBEAT: Final = 15.0
"""Seconds after which an empty comment shows that the connection works."""
RETRY: Final = 2_000
"""Milliseconds after which a browser connects again."""
MAX_PROBLEMS: Final = 10
"""Maximum number of wrong slugs that a response names, so that it is smaller than the request."""
HEADERS: Final = {
    "cache-control": "no-store, no-transform",  # otherwise proxies buffer events to compress them
    "x-accel-buffering": "no",  # otherwise nginx buffers the events
}

_follows: Final = partial(Operation, path=FEED_PATH, headers=("Last-Event-ID",), media_types=(EVENT_STREAM,))


class EventResponse(StreamingResponse):
    """The stream of a subscriber. When the server shuts down and cancels it, it ends with a last chunk."""

    def __init__(self, feed: ChangeFeed, subscriber: Subscriber, after: str | None) -> None:
        super().__init__(_stream(subscriber, after), 200, HEADERS, EVENT_STREAM)
        self._unsubscribe = partial(feed.unsubscribe, subscriber)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except asyncio.CancelledError:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._unsubscribe()


@_follows("get", problems=(422, 503), query=("slug:list",))
async def follow_changes(call: Call) -> Response:
    """Follow the changes of FAQs as server-sent events."""
    request = call.request
    stated = list(dict.fromkeys(request.query_params.getlist("slug")))
    slugs = _checked({"slugs": stated}, "slug", "invalid-parameter")
    if request.method == "HEAD":
        return Response(None, 200, HEADERS, EVENT_STREAM)
    return await _response(call.service.feed, request, slugs)


@_follows("post", problems=(400, 408, 413, 422, 503), body=FollowBody, reads_body=True)
async def follow_many_changes(call: Call) -> Response:
    """Follow the changes of up to 1,000 FAQs, whose slugs are in the body."""
    feed = call.service.feed
    with feed.reserved(client_network(call.request), MAX_SLUGS):  # limits the bodies in memory
        slugs = _checked(parse_object(await read_body(call.request, MAX_BODY)), "slugs", "invalid-body")
    return await _response(feed, call.request, slugs)


async def _response(feed: ChangeFeed, request: Request, slugs: list[str]) -> Response:
    """Return the changes of slugs, from `Last-Event-ID` or from now on."""
    after = request.headers.get("last-event-id")
    return EventResponse(feed, await feed.subscribe(slugs, client_network(request), after), after)


async def _stream(subscriber: Subscriber, after: str | None) -> AsyncIterator[bytes]:
    position = f"id: {subscriber.log.event_id()}\n" if after is None else ""
    yield f"retry: {RETRY}\n{position}\n".encode()
    while True:
        try:
            async with asyncio.timeout(HEARTBEAT):
                await subscriber.has_news.wait()
        except TimeoutError:
            yield b":\n\n"
            continue
        yield _news(subscriber)


def _checked(fields: dict[str, Any], name: str, code: Code) -> list[str]:
    """Return the slugs of a `FollowBody`, each once, in NFC. Raises Problem (422)."""
    if problems := problems_of(fields, FollowBody):
        named = (problem.replace("slugs", name, 1) for problem in problems[:MAX_PROBLEMS])
        raise Problem.invalid(*named, code=code)
    return list(dict.fromkeys(normalized("NFC", slug) for slug in fields["slugs"]))


def _news(subscriber: Subscriber) -> bytes:
    """Take the waiting changes from a subscriber, and return them as events."""
    changes = list(subscriber.waiting)
    subscriber.waiting.clear()
    subscriber.has_news.clear()
    if subscriber.has_missed:
        subscriber.has_missed = False
        position = subscriber.log.event_id(changes[-1].number if changes else None)
        return f"id: {position}\nevent: reset\ndata: {{}}\n\n".encode()
    return b"".join(_event(change, subscriber.log.event_id(change.number)) for change in changes)


def _event(change: LoggedChange, event_id: str) -> bytes:
    state = "unpublished" if change.revision is None else "published"
    data = msgspec.json.encode(Event(change.slug, change.lang, change.revision, state))  # type: ignore[arg-type]
    return b"id: %s\nevent: faq\ndata: %s\n\n" % (event_id.encode(), data)
