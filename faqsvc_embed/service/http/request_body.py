"""Request bodies: JSON in UTF-8, within a size and a time limit."""

import re
from typing import Any

import anyio
import msgspec
from starlette.requests import ClientDisconnect, Request

from faqsvc_embed.languages import lookup
from faqsvc_embed.service.http.negotiation import best_media_type
from faqsvc_embed.service.http.problems import Problem

JSON = "application/json"


def require_json(request: Request) -> None:
    """Check the headers of a request that sends and accepts JSON: UTF-8 (RFC 8259), not compressed.

    Raises:
        Problem: the body is not such JSON (415), or the client does not accept JSON (406).
    """
    best_media_type(request, JSON)
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.replace(" ", "").replace('"', "").lower()
    if media_type.strip().lower() != JSON or charset not in ("", "charset=utf-8"):
        raise Problem(
            415, "unsupported-media-type", f"Content-Type must be {JSON} (UTF-8)", headers={"accept": JSON}
        )
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Problem(
            415,
            "unsupported-media-type",
            "The body must not be compressed",
            headers={"accept-encoding": "identity"},
        )


async def read_body(request: Request, *, max_size: int, timeout: float) -> bytes:
    """Return the body of a request: at most `max_size` bytes, within `timeout` seconds.

    Raises:
        Problem: the body is too large (413) or too slow (408), or the connection was closed (400).
    """
    too_large = Problem(413, "body-too-large", f"The body is larger than {max_size} bytes")
    if content_length(request) > max_size:
        raise too_large
    body = bytearray()
    try:
        with anyio.fail_after(timeout):
            async for chunk in request.stream():
                body += chunk
                if len(body) > max_size:
                    raise too_large
    except TimeoutError:
        close = {"connection": "close"}
        raise Problem(
            408, "request-timeout", f"The body did not arrive within {timeout:g} s", headers=close
        ) from None
    except ClientDisconnect:
        raise Problem(400, "bad-request", "The body ended early") from None
    return bytes(body)


def parse_object(body: bytes) -> dict[str, Any]:
    """Parse a body as a JSON object; a byte order mark is skipped (RFC 8259, 8.1).

    A `lang` with a region is its language: `en-US` is `en`.

    Raises:
        Problem: it is not a JSON object (422).
    """
    try:
        fields = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError:
        raise Problem.invalid("The body is nested too deeply") from None
    except ValueError as error:
        raise Problem.invalid(f"The body is not JSON in UTF-8: {error}") from None
    if not isinstance(fields, dict):
        raise Problem.invalid("The body is not a JSON object")
    if isinstance(lang := fields.get("lang"), str):
        fields["lang"] = lookup(lang) or lang
    return fields


def content_length(request: Request) -> int:
    """Return the declared length, 0 if it is missing or malformed. Only a refusal may rely on it."""
    declared = request.headers.get("content-length", "")
    return int(declared) if re.fullmatch("[0-9]{1,18}", declared) else 0
