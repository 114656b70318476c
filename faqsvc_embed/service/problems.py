"""Errors in one shape: problem details for HTTP APIs (RFC 9457)."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from starlette.responses import Response

MEDIA_TYPE: Final = "application/problem+json"

# RFC 9110 and 6585. `http.HTTPStatus` has older names for some, and other ones in every Python.
_TITLES: Final = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


class Problem(Exception):
    """A refusal: raised where the request turns out to be wrong, answered in one place.

    `problems` lists every reason if there can be several; `headers` are added to the answer.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        problems: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.problems = list(problems)
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """Return the answer that says so; nobody may keep it, for what is wrong now can be right soon."""
        body: dict[str, object] = {
            "type": "about:blank",
            "title": _TITLES.get(self.status, "Error"),
            "status": self.status,
            "detail": self.detail,
        }
        if self.problems:
            body["problems"] = self.problems
        return Response(
            json.dumps(body),  # ASCII: a detail may quote anything that was sent, even a lone surrogate
            self.status,
            {"cache-control": "no-store", "x-content-type-options": "nosniff", **self.headers},
            MEDIA_TYPE,
        )
