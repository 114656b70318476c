"""The change feed of the service: its request, and the changes that its server-sent events report."""

from collections.abc import Iterable
from typing import Final

import msgspec

from faqsvc_embed.api.contract import FollowBody
from faqsvc_embed.api.requests import Request

FEED_PATH: Final = "/api/v1/events"
EVENT_STREAM: Final = "text/event-stream"


class Change(msgspec.Struct, frozen=True):
    """A published change of an FAQ, as the feed reports it."""

    slug: str
    lang: str | None = None
    revision: int | None = None
    state: str | None = None
    """`published` or `unpublished`; None if it is not known whether anything has changed."""


_changes: Final = msgspec.json.Decoder(Change)  # at import, as in `wire`


def feed_request(base_url: str, slugs: Iterable[str], last_id: str = "") -> Request:
    """Return the request for the changes of `slugs` after the event `last_id`."""
    headers = {
        "accept": EVENT_STREAM,
        "accept-encoding": "identity",
        "cache-control": "no-cache",
        "content-type": "application/json",
    }
    if last_id:
        headers["last-event-id"] = last_id
    body = msgspec.json.encode(FollowBody(list(slugs)))
    return Request(f"{base_url}{FEED_PATH}", headers, "POST", body)


def parse_change(data: str) -> Change | None:
    """Return the change in the data of an event; None if the data is invalid."""
    try:
        return _changes.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
