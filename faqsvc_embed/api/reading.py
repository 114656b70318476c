"""The REST contract of reading, as values: what to ask, and what a reply means. Nothing here does I/O.

Specification: Endpoints. What it leaves open is read as RFC 9110 (HTTP) and RFC 9111 (caching) say.
"""

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

import msgspec

from faqsvc_embed.errors import (
    FAQError,
    FAQNotFound,
    FAQUnavailable,
    InvalidFAQ,
    RateLimited,
    quoted,
)
from faqsvc_embed.models import FAQ
from faqsvc_embed.runtime.steps import Steps, finished

API_PATH: Final = "/api/v1/faq"
KEY_HEADER: Final = "X-Plugin-Key"
MAX_SLUG: Final = 200
MAX_REDIRECTS: Final = 3
REDIRECTS: Final = (301, 302, 303, 307, 308)
LONGEST_RETRY_AFTER: Final = 3600.0
LONGEST_LIFETIME: Final = 31_536_000.0
LONGEST_HEADER: Final = 4096

_LIST_MEMBER: Final = r'(?:[^,"]|"[^"]*"?)+'  # of a header; a comma in quotes parts nothing


class Request(msgspec.Struct, frozen=True):
    """What to send. A read carries neither key nor cookie; the key of a write is added as it leaves."""

    url: str
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes = b""


class Reply(msgspec.Struct, frozen=True):
    """What came back: header names in lower case, the body unpacked and within its cap."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_whole: bool = True
    """False of a refusal whose body did not come to its end."""


class Validators(msgspec.Struct, frozen=True):
    """What a conditional request says of the copy that is held (RFC 9110, 13.1)."""

    etag: str | None = None
    last_modified: str | None = None


class CachePolicy(msgspec.Struct, frozen=True):
    """What a reply says of its own reuse (RFC 9111, 5.2.2), in seconds; a `lifetime` of None is unsaid."""

    lifetime: float | None = None
    """From when the service made it."""
    must_revalidate: bool = False
    no_store: bool = False
    private: bool = False
    age: float = 0.0
    """How long ago that was."""

    @property
    def left(self) -> float | None:
        """Return for how long the reply stays fresh."""
        return None if self.lifetime is None else max(0.0, self.lifetime - self.age)


class Found(msgspec.Struct, frozen=True):
    """A record of the slug that was asked for."""

    faq: FAQ
    policy: CachePolicy
    validators: Validators


class NotModified(msgspec.Struct, frozen=True):
    """The copy that is held is still the one (304)."""

    policy: CachePolicy | None = None
    """None if it says nothing: then what was said before holds on (RFC 9111, 4.3.4)."""
    age: float = 0.0
    validators: Validators = Validators()
    """Those that have changed."""


class Missing(msgspec.Struct, frozen=True):
    """There is no such FAQ: an answer, not an outage (404, 410)."""

    error: FAQError


class Failed(msgspec.Struct, frozen=True):
    """No usable answer; the good copy stays."""

    error: FAQError


Outcome = Found | NotModified | Missing | Failed


def is_slug(slug: object) -> bool:
    """Tell whether `slug` can be one: 1 to 200 characters, no control, surrogate, `/` or backslash."""
    return (
        isinstance(slug, str)
        and 0 < len(slug) <= MAX_SLUG
        and slug not in (".", "..")
        and "/" not in slug
        and "\\" not in slug
        and (slug.isprintable() or not any(unicodedata.category(c) in ("Cc", "Cs") for c in slug))
    )


def not_a_slug(slug: object) -> FAQNotFound:
    """Return the error for a slug that no FAQ can have; nothing is asked of the service for it."""
    return FAQNotFound(
        f"{quoted(slug)} is no slug: 1 to {MAX_SLUG} characters without control characters, '/' and '\\', "
        "and not '.' or '..'"
    )


def read_request(base_url: str, slug: str, lang: str | None, held: Validators | None = None) -> Request:
    """Return the request that reads one FAQ; conditional if a copy with validators is held."""
    url = f"{base_url}{API_PATH}/{quote(slug, safe='')}"
    if lang is not None:
        url += f"?lang={lang}"
    headers = {"accept": "application/json", "accept-encoding": "gzip"}
    if held is not None and held.etag is not None:
        headers["if-none-match"] = held.etag
    elif held is not None and held.last_modified is not None:
        headers["if-modified-since"] = held.last_modified
    return Request(url, headers)


def redirect_target(url: str, location: str | None) -> str | None:
    """Return where a redirect leads if it stays on the origin of `url`, else None."""
    if not location:
        return None
    try:
        target = urljoin(url, location)
        here, there = urlsplit(url), urlsplit(target)
        same = (here.scheme, here.hostname, _port(here)) == (there.scheme, there.hostname, _port(there))
    except ValueError:
        return None
    return target if same and there.username is None else None


def _port(parts: object) -> int | None:
    port = getattr(parts, "port", None)
    return port if port is not None else {"http": 80, "https": 443}.get(getattr(parts, "scheme", ""))


def understand(reply: Reply, slug: str, *, now: datetime, conditional: bool = False) -> Outcome:
    """Return what a reply to the request for `slug` means; whatever came, nothing is raised.

    `now` is the wall clock, against which a Retry-After date and Expires are measured.
    """
    return finished(understanding(reply, slug, now=now, conditional=conditional))


def understanding(reply: Reply, slug: str, *, now: datetime, conditional: bool = False) -> Steps[Outcome]:
    """Understand as `understand` does, an item at a time."""
    status = reply.status
    if status == 200:
        return (yield from _understand_record(reply, slug, now))
    if status == 304 and conditional:
        says = "cache-control" in reply.headers or "expires" in reply.headers
        policy = cache_policy(reply.headers, now)
        return NotModified(policy if says else None, policy.age, _validators(reply))
    return _understand_refusal(reply, slug, now)


def _understand_record(reply: Reply, slug: str, now: datetime) -> Steps[Outcome]:
    try:
        faq = yield from FAQ.json_steps(reply.body)
    except InvalidFAQ as error:
        message = f"the service's answer for {slug!r} is {error}"
        return Failed(InvalidFAQ(message, path=error.path, status=200, body=_shown(reply.body)))
    if faq.slug != slug:
        # A kept-alive connection can carry a stray second response, which would be taken for this one.
        return Failed(
            InvalidFAQ(
                f"asked for {slug!r}, the service sent {faq.slug[:MAX_SLUG]!r}", path="slug", status=200
            )
        )
    return Found(faq, cache_policy(reply.headers, now), _validators(reply))


def _understand_refusal(reply: Reply, slug: str, now: datetime) -> Outcome:
    status, body = reply.status, _shown(reply.body)
    if status in (404, 410) and reply.is_whole:  # what broke off ends no good copy (RFC 9111, 3.3)
        return Missing(FAQNotFound(f"the service knows no FAQ {slug!r} ({status})", status=status, body=body))
    wait = retry_after(reply.headers.get("retry-after"), now)
    message = f"the service answered {status} for {slug!r}"
    if status == 429:
        return Failed(RateLimited(message, status=status, body=body, retry_after=wait))
    return Failed(FAQUnavailable(message, status=status, body=body, retry_after=wait))


def _validators(reply: Reply) -> Validators:
    return Validators(_token(reply, "etag"), _token(reply, "last-modified"))


def _token(reply: Reply, name: str) -> str | None:
    value = reply.headers.get(name)
    return value if value and len(value) <= 1000 and value.isascii() and value.isprintable() else None


def _shown(body: bytes) -> str:
    return body[:2000].decode("utf-8", "replace")


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds of a Retry-After header (RFC 9110, 10.2.3), at most an hour; None if none."""
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.isdecimal():
        return min(_number(value), LONGEST_RETRY_AFTER)
    date = _date(value)
    return None if date is None else min(max((date - now).total_seconds(), 0.0), LONGEST_RETRY_AFTER)


def cache_policy(headers: Mapping[str, str], now: datetime) -> CachePolicy:
    """Read Cache-Control, Expires and Age (RFC 9111, 4.2)."""
    directives = _directives(headers.get("cache-control", ""))
    lifetime = None
    stated = [directives[name] for name in ("s-maxage", "max-age") if name in directives]
    if stated:
        readable = (seconds for value in stated if (seconds := _seconds(value)) is not None)
        lifetime = next(readable, 0.0)  # what is no number is stale (RFC 9111, 4.2.1)
    if lifetime is None and (expires := headers.get("expires")) is not None:
        lifetime = _expires_in(expires, headers.get("date"), now)
    if "no-cache" in directives or "no-store" in directives:
        lifetime = 0.0
    return CachePolicy(
        lifetime=lifetime,
        must_revalidate="must-revalidate" in directives,
        no_store="no-store" in directives,
        private="private" in directives,
        age=_seconds(headers.get("age")) or 0.0,
    )


def _directives(header: str) -> dict[str, str]:
    """Return the directives of a Cache-Control header, names in lower case; the first of a name counts."""
    directives = dict[str, str]()
    for member in re.findall(_LIST_MEMBER, header[:LONGEST_HEADER]):
        name, _, value = member.partition("=")
        directives.setdefault(name.strip().lower(), value.strip().strip('"'))
    return directives


def _seconds(value: str | None) -> float | None:
    value = (value or "").strip()
    return min(_number(value), LONGEST_LIFETIME) if value.isascii() and value.isdecimal() else None


def _number(digits: str) -> float:
    """Read digits, however many; a dozen say as much as any lifetime needs."""
    return float(digits.lstrip("0")[:12] or "0")


def _expires_in(expires: str, date: str | None, now: datetime) -> float:
    """An Expires that is no date, such as `0`, lies in the past (RFC 9111, 5.3)."""
    end = _date(expires)
    if end is None:
        return 0.0
    start = (_date(date) if date else None) or now
    return min(max((end - start).total_seconds(), 0.0), LONGEST_LIFETIME)


def _date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value[:64])
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
