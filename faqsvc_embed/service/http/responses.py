"""Responses to requests with an API key, which are never cached."""

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

_PRIVATE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def private_response(
    body: msgspec.Struct, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a struct of the contract as JSON."""
    content = msgspec.json.encode(body)
    return Response(content, status, {**_PRIVATE, **(headers or {})}, "application/json")
