"""The meaning of the responses to a read, and of the change feed. Nothing here does I/O, and nothing raises.

How long a response may be reused is in Cache-Control, Expires, Age and Retry-After (RFC 9111, RFC 9110).
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import msgspec

from faqsvc_embed.api.contract import REVISION_HEADER
from faqsvc_embed.api.fields import is_same_slug
from faqsvc_embed.api.requests import NO_VALIDATORS, REDIRECTS, Request, Validators
from faqsvc_embed.errors import (
    Details,
    FAQError,
    FAQGone,
    FAQNotFound,
    FAQUnavailable,
    InvalidFAQ,
    RateLimited,
    quoted,
)
from faqsvc_embed.models import FAQ

JSON_TYPES: Final = ("application/json", "application/problem+json")
NOT_OFFERED: Final = (404, 405, 410, 501)
"""The statuses of a service that does not offer an optional route, such as the change feed."""
CONTENT_HEADERS: Final = ("content-type", "content-encoding")
MAX_VALIDATOR: Final = 1000
MAX_RETRY_AFTER: Final = 3600.0
"""Seconds."""
MAX_LIFETIME: Final = 31_536_000.0
"""Seconds."""
MAX_HEADER: Final = 4096
"""Characters of a Cache-Control header that are read."""

_LIST_MEMBER: Final = r'(?:[^,"]|"[^"]*"?)+'  # a comma within quotes does not separate directives
_CODE: Final = re.compile("[a-z][a-z0-9-]{0,63}")


class Response(msgspec.Struct, frozen=True):
    """An HTTP response: header names in lower case, the body decompressed and within its limit."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_complete: bool = True
    """False if the body of an error response did not arrive whole."""


class CacheControl(msgspec.Struct, frozen=True):
    """The freshness of a response in seconds (RFC 9111, 4.2); `lifetime` is None if it states none."""

    lifetime: float | None = None
    """Counted from when the service made the response."""
    age: float = 0.0
    """Seconds since the service made the response."""
    no_store: bool = False
    private: bool = False

    @property
    def fresh_for(self) -> float | None:
        """Seconds for which the response stays fresh from now on, or None if it states no lifetime."""
        return None if self.lifetime is None else max(0.0, self.lifetime - self.age)


NO_CACHE_CONTROL: Final = CacheControl()


class Fetched(msgspec.Struct, frozen=True):
    """A record of the FAQ that was requested (200), or the cached record, which is still current (304)."""

    faq: FAQ
    cache_control: CacheControl = NO_CACHE_CONTROL
    validators: Validators = NO_VALIDATORS
    revision: int | None = None
    """The revision of the record, if the service states it."""
    date: datetime | None = None
    """When the service made the response, by its own clock."""


class NotFound(msgspec.Struct, frozen=True):
    """The source knows no such FAQ (404)."""

    error: FAQError
    is_direct: bool = False
    """Whether the 404 comes from the source itself, not from a proxy in front of it."""


class Gone(msgspec.Struct, frozen=True):
    """The FAQ was unpublished (410)."""

    error: FAQError
    date: datetime | None = None
    """When the service said so, by its own clock."""
    is_direct: bool = False
    """Whether no cache in front of the source can have an older record."""


class Failed(msgspec.Struct, frozen=True):
    """No usable response; a cached record stays."""

    error: FAQError
    was_sent: bool = True
    """Whether a request was made. Otherwise the failure says nothing about the service."""


Outcome = Fetched | NotFound | Gone | Failed


class FAQChange(msgspec.Struct, frozen=True):
    """A published change of an FAQ, as the feed reports it."""

    slug: str
    lang: str | None = None
    revision: int | None = None
    state: str | None = None
    """`published` or `unpublished`; None if it is not known whether anything has changed."""


_decoder: Final = msgspec.json.Decoder(
    FAQChange
)  # at import: a child forked during its first use would crash


def parse_change(data: str) -> FAQChange | None:
    """Return the change in the data of an event of the feed; None if the data is invalid."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def parse_response(
    response: Response, request: Request, slug: str, now: datetime, cached: Fetched | None = None
) -> Outcome:
    """Return what the response to `request` for the FAQ `slug` means.

    `now` is the wall clock, for dates in Retry-After and Expires. `cached` is the response whose validators
    the request has.
    """
    status = response.status
    if status == 200:
        return _parse_record(response, request, slug, now)
    if status == 304 and cached is not None:
        return _not_modified(response, request, cached, now)
    details = Details(status=status, code=error_code(response.body), body=excerpt(response.body))
    if status == 410:  # final, even if its body does not arrive
        gone = FAQGone(f"FAQ {slug!r} was unpublished (410)", **details)
        return Gone(gone, parse_date(response.headers.get("date")))
    if status == 404 and _is_json(response):
        return NotFound(FAQNotFound(f"there is no FAQ {slug!r} at {request.url} (404)", **details))
    message = f"{request.url} returned {status}"
    if status == 404:  # a proxy sends it while the service restarts
        message += ", but not in JSON, as an FAQ service does; is base_url the address of an FAQ service?"
    if status in REDIRECTS:
        target = quoted(response.headers.get("location", ""))
        message += (
            f", a redirect to {target}, which is not followed: set base_url to the address of the service"
        )
    details["retry_after"] = parse_retry_after(response.headers.get("retry-after"), now)
    kind = RateLimited if status == 429 else FAQUnavailable
    return Failed(kind(message, **details))


def excerpt(body: bytes) -> str:
    """Return the beginning of a body as text, for an error to keep."""
    return body[:2000].decode("utf-8", "replace")


def error_code(body: bytes) -> str | None:
    """Return the stable code of a problem document (RFC 9457), such as `gone`, or None."""
    fields = json_value(body)
    code = fields.get("code") if isinstance(fields, dict) else None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


def json_value(body: bytes) -> Any:
    """Return the JSON value of a body, or None."""
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON (RFC 8259)")


def _parse_record(response: Response, request: Request, slug: str, now: datetime) -> Outcome:
    try:
        faq = FAQ.from_json(response.body)
    except InvalidFAQ as error:
        message = f"the response of {request.url} for FAQ {slug!r} is invalid: {error}"
        if not error.path:  # a login page, or an encoding that was not accepted
            message += "".join(f"; {name}: {quoted(response.headers.get(name))}" for name in CONTENT_HEADERS)
        return Failed(InvalidFAQ(message, path=error.path, status=200, body=excerpt(response.body)))
    if not is_same_slug(faq.slug, slug):
        message = f"the response for FAQ {slug!r} is the record of {faq.slug[:200]!r}"
        return Failed(InvalidFAQ(message, path="slug", status=200))
    cache_control = parse_cache_control(response.headers, now)
    date = parse_date(response.headers.get("date"))
    return Fetched(faq, cache_control, _validators(response), _revision(response), date)


def _not_modified(response: Response, request: Request, cached: Fetched, now: datetime) -> Outcome:
    """Return the cached record with what a 304 states anew (RFC 9111, 4.3.4)."""
    etag, expected = response.headers.get("etag"), cached.validators.etag
    if etag and expected and _opaque(etag) != _opaque(expected):
        error = FAQUnavailable(f"{request.url} confirmed another record than the cached one", status=304)
        return Failed(error)
    cache_control, stated = parse_cache_control(response.headers, now), _validators(response)
    if response.headers.keys().isdisjoint(("cache-control", "expires")):
        cache_control = msgspec.structs.replace(cached.cache_control, age=cache_control.age)
    validators = Validators(
        stated.etag or cached.validators.etag, stated.last_modified or cached.validators.last_modified
    )
    date = parse_date(response.headers.get("date"))
    return Fetched(cached.faq, cache_control, validators, _revision(response), date)


def _revision(response: Response) -> int | None:
    value = response.headers.get(REVISION_HEADER.lower(), "")
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 16 else None


def _is_json(response: Response) -> bool:
    """Return whether a response is whole and JSON, by its media type and its content."""
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type in JSON_TYPES and response.is_complete and json_value(response.body) is not None


def _opaque(etag: str) -> str:
    """Return the part of an entity tag that is compared (RFC 9110, 8.8.3.2: weak comparison)."""
    return etag.strip().removeprefix("W/")


def _validators(response: Response) -> Validators:
    return Validators(validator(response, "etag"), validator(response, "last-modified"))


def validator(response: Response, name: str) -> str | None:
    """Return the validator in a header; None if there is none, or a request cannot send it back."""
    value = response.headers.get(name, "")
    return value if 0 < len(value) <= MAX_VALIDATOR and value.isascii() and value.isprintable() else None


# How long a response may be reused (RFC 9111)


def parse_cache_control(headers: Mapping[str, str], now: datetime) -> CacheControl:
    """Return what Cache-Control, Expires and Age state; `now` is used for an Expires without a Date."""
    directives = _directives(headers.get("cache-control", ""))
    lifetime = None
    stated = [directives[name] for name in ("s-maxage", "max-age") if name in directives]
    if stated:
        readable = (seconds for value in stated if (seconds := _seconds(value)) is not None)
        lifetime = next(readable, 0.0)  # a value that is no number counts as stale (RFC 9111, 4.2.1)
    if lifetime is None and (expires := headers.get("expires")) is not None:
        lifetime = _expires_in(expires, headers.get("date"), now)
    if "no-cache" in directives or "no-store" in directives:
        lifetime = 0.0
    return CacheControl(
        lifetime=lifetime,
        age=_seconds(headers.get("age")) or 0.0,
        no_store="no-store" in directives,
        private="private" in directives,
    )


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header, at most an hour; None without one (RFC 9110, 10.2.3)."""
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.isdecimal():
        return min(float(value), MAX_RETRY_AFTER)
    date = parse_date(value)
    return None if date is None else min(max((date - now).total_seconds(), 0.0), MAX_RETRY_AFTER)


def _directives(header: str) -> dict[str, str]:
    """Return the directives of a Cache-Control header by name; of a repeated one, the first counts."""
    directives = dict[str, str]()
    for member in re.findall(_LIST_MEMBER, header[:MAX_HEADER]):
        name, _, value = member.partition("=")
        directives.setdefault(name.strip().lower(), value.strip().strip('"'))
    return directives


def _seconds(value: str | None) -> float | None:
    value = (value or "").strip()
    return min(float(value), MAX_LIFETIME) if value.isascii() and value.isdecimal() else None


def _expires_in(expires: str, date: str | None, now: datetime) -> float:
    """Return the lifetime of an Expires header; an invalid date, such as `0`, is in the past (5.3)."""
    end = parse_date(expires)
    if end is None:
        return 0.0
    start = parse_date(date) or now
    return min(max((end - start).total_seconds(), 0.0), MAX_LIFETIME)


def parse_date(value: str | None) -> datetime | None:
    """Return a date in a header (RFC 9110, 5.6.7), or None."""
    if value is None:
        return None
    try:
        date = parsedate_to_datetime(value[:64])
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
