"""The forms that browsers post, and the check of their origin."""

import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, repeat
from typing import Final
from urllib.parse import unquote_to_bytes

import anyio.to_thread
from python_multipart import parse_form
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File
from starlette.requests import Request

from faqsvc_embed.service.context import PublicURLs
from faqsvc_embed.service.http.requests import read_body
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.storage.values import storable
from faqsvc_embed.text import PORTION

MAX_FORM: Final = 4_000_000
"""Bytes of a form: enough for the largest record, with every byte escaped."""
MAX_OPEN_FORM: Final = 16_000
"""Maximum bytes of a form without a session: enough for a sign-in link and the address of the next page."""
MAX_FIELDS: Final = 12_000
"""Maximum number of fields and files: ten for each question of the largest record."""

_NO_SCHEME: Final = re.compile(
    r"(?://)?[^\s:/?#@\\.][^\s:/?#@\\]{0,250}\.[^\s:/?#@\\]{1,250}(?::\d{1,5})?(?:[/?#]\S*)?"
)
"""A host with a dot, and what may follow it."""
URL_ENCODED: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form in their order, with `\\n` for line ends, and the file if there is one."""

    fields: tuple[tuple[str, str], ...] = ()
    upload: Upload | None = None

    def get(self, name: str, default: str = "") -> str:
        """Return the first value of a field."""
        return next((value for field, value in self.fields if field == name), default)

    def all(self, name: str) -> list[str]:
        """Return all values of a field."""
        return [value for field, value in self.fields if field == name]

    def rows(self, *names: str) -> Iterator[tuple[str, ...]]:
        """Return the values of repeated fields, row by row; those after the first may be missing."""
        first, *others = map(self.all, names)
        return zip(first, *(chain(values, repeat("")) for values in others), strict=False)


async def read_form(request: Request, max_size: int = MAX_FORM) -> Form:
    """Read a form; raise Problem if it is too large (413), too slow (408), or no form (415, 400)."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in (URL_ENCODED, MULTIPART):
        raise Problem(415, "unsupported-media-type", f"Content-Type must be {URL_ENCODED} or {MULTIPART}")
    body = await read_body(request, max_size)
    parse = _parse_multipart if media_type == MULTIPART else _parse_url_encoded
    return await anyio.to_thread.run_sync(parse, request, body)


def check_origin(request: Request, urls: PublicURLs) -> None:
    """Raise Problem (403) for a form of another origin. Browsers name it in every POST (Fetch standard).

    The scheme is not compared, because a proxy may have ended TLS. Where a proxy has added
    `Referrer-Policy: no-referrer`, the origin is `null`, but `Sec-Fetch-Site` says whether it is the same.
    """
    origin = request.headers.get("origin", "")
    scheme, _, host = origin.partition("://")  # an origin has nothing after its host and port
    own = urls.base.partition("://")[2].partition("/")[0]
    if scheme in ("http", "https") and host and _without_port(host) == _without_port(own):
        return
    if origin == "null" and request.headers.get("sec-fetch-site") == "same-origin":
        return
    raise Problem(403, "bad-request", "This form was sent from another website, so nothing was changed")


def _without_port(host: str) -> str:
    """Return a host in lower case without a port that the scheme implies."""
    return re.sub(r":(?:80|443)$", "", host.lower())


def number_of(text: str) -> int | None:
    """Return a number from 1 to 99,999,999, or None if the text is not one."""
    return int(text) or None if text.isascii() and text.isdigit() and len(text) < 9 else None


def completed(address: str) -> str:
    """Return an address as browsers complete it: `spoke.example/shop` begins with `https://`."""
    return f"https://{address.removeprefix('//')}" if _NO_SCHEME.fullmatch(address) else address


def with_newlines(text: str) -> str:
    """Return a text with `\\n` for line ends, and without U+0000, which PostgreSQL never accepts."""
    return storable(text).replace("\r\n", "\n").replace("\r", "\n")


def is_same_token(form: Form, token: str) -> bool:
    """Return whether a form has this session token, in constant time."""
    return hmac.compare_digest(form.get("token").encode(), token.encode())


def _too_many_fields() -> Problem:
    return Problem(413, "body-too-large", f"The form has more than {MAX_FIELDS} fields")


def _parse_url_encoded(_: Request, body: bytes) -> Form:
    pairs = body.split(b"&", MAX_FIELDS)
    if len(pairs) > MAX_FIELDS:
        raise _too_many_fields()
    parted = (pair.partition(b"=") for pair in pairs if pair)
    return Form(tuple((_unquoted(name), with_newlines(_unquoted(value))) for name, _, value in parted))


def _unquoted(text: bytes) -> str:
    """Decode a name or value, in portions between which other threads can run."""
    text = text.replace(b"+", b" ")
    decoded, start = bytearray(), 0
    while start < len(text):
        end = start + PORTION
        cut = text.find(b"%", end - 2, end)  # an escape is not cut
        end = cut if cut > start else end
        decoded += unquote_to_bytes(text[start:end])
        start = end
    return decoded.decode("utf-8", "replace")


def _parse_multipart(request: Request, body: bytes) -> Form:
    found = list[tuple[str, str] | Upload]()

    def add(part: Field | File) -> None:
        if len(found) >= MAX_FIELDS:
            raise _too_many_fields()
        if isinstance(part, File):
            part.file_object.seek(0)
            found.append(Upload(_decoded(part.file_name), part.file_object.read()))
            part.close()
        else:
            found.append((_decoded(part.field_name), with_newlines(_decoded(part.value))))

    headers = {"Content-Type": request.headers["content-type"].encode("latin-1")}
    try:
        parse_form(headers, BytesIO(body), add, add)
    except (FormParserError, ValueError):
        raise Problem(400, "bad-request", "The form cannot be read") from None
    uploads = (part for part in found if isinstance(part, Upload) and part.name)
    return Form(tuple(part for part in found if isinstance(part, tuple)), next(uploads, None))


def _decoded(text: bytes | None) -> str:
    return (text or b"").decode("utf-8", "replace")
