"""Problem documents: the form of all error responses (RFC 9457)."""

import json
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Self

import msgspec
from starlette.responses import Response

from faqsvc_embed.api import contract
from faqsvc_embed.api.changes import ChangeRefused
from faqsvc_embed.api.fields import Code
from faqsvc_embed.errors import FAQError, FAQNotFound
from faqsvc_embed.service.storage import StorageUnavailable, errors
from faqsvc_embed.service.storage.values import Revision

MEDIA_TYPE: Final = "application/problem+json"

_STORAGE_ERRORS: Final[dict[type[Exception], tuple[int, Code]]] = {
    FAQNotFound: (404, "not-found"),
    errors.Gone: (410, "gone"),
    errors.IdempotencyKeyReused: (422, "idempotency-key-reused"),
    errors.NothingToRestore: (404, "nothing-to-restore"),
    errors.InvalidCursor: (422, "invalid-parameter"),
    errors.NotYourSite: (403, "not-your-site"),
    errors.QuotaExceeded: (409, "quota-exceeded"),
    errors.ReservedSlug: (422, "invalid-parameter"),
    errors.OldFile: (412, "old-file"),
    errors.RevisionConflict: (412, "revision-conflict"),
    errors.Unpublished: (409, "unpublished"),
}


class Problem(Exception):
    """An error response that a handler raises.

    `problems` lists every reason if there can be several. `headers` are added to the response, and
    `extra` are further members of the document.
    """

    def __init__(
        self,
        status: int,
        code: Code,
        detail: str,
        *,
        problems: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code: Code = code
        self.detail = detail
        self.problems: list[str] = list(problems)
        self.headers: dict[str, str] = dict(headers or {})
        self.extra = extra
        self.website_url = ""  # of the owner, for a page about an FAQ that is gone

    @classmethod
    def invalid(cls, *problems: str, code: Code = "invalid-body", **extra: Any) -> Self:
        """Return a 422 that lists every problem of a request."""
        detail = problems[0] if len(problems) == 1 else f"The request has {len(problems)} problems"
        return cls(422, code, detail, problems=problems, **extra)

    @classmethod
    def too_early(cls, reason: str, wait: float) -> Self:
        """Return a 429 for a request that is `wait` seconds too early."""
        seconds = max(1, math.ceil(wait))
        headers = {"retry-after": str(seconds)}
        return cls(429, "rate-limited", f"{reason}; try again in {seconds} s", headers=headers)

    @classmethod
    def of(cls, error: "Problem | FAQError") -> "Problem":
        """Return the problem for an error; raise it again if it is unexpected."""
        if isinstance(error, Problem):
            return error
        if isinstance(error, StorageUnavailable):
            # Its own message names the database, which is not for the public.
            detail = "The database is not available; try again"
            return Problem(503, "unavailable", detail, headers={"retry-after": "1"})
        if isinstance(error, errors.TooManyWrites):
            return Problem.too_early(str(error), error.wait)
        if isinstance(error, errors.Incomplete):
            return Problem.invalid(*(f"{name} is missing" for name in error.fields))
        if isinstance(error, ChangeRefused):
            is_unknown, closest = error.code == "unknown-question", list(error.closest)
            code: Code = "unknown-question" if is_unknown else "invalid-body"
            return Problem.invalid(str(error), code=code, index=error.index, closest=closest)
        if type(error) not in _STORAGE_ERRORS:
            raise error
        problem = Problem(*_STORAGE_ERRORS[type(error)], str(error))
        if isinstance(error, errors.RevisionConflict):
            newest = error.current
            problem.extra = {"revision": newest.number if newest else 0, "current": _current(newest)}
        if isinstance(error, errors.Gone):
            problem.website_url = error.website_url
        return problem

    def response(self) -> Response:
        """Return the response. It is not cacheable, because the same request may succeed soon."""
        document = contract.Problem(
            HTTPStatus(self.status).phrase,
            self.status,
            self.detail,
            self.code,
            problems=self.problems or msgspec.UNSET,
            **self.extra,
        )
        return Response(
            # ASCII only: a detail may quote a lone surrogate, which UTF-8 cannot encode.
            json.dumps(msgspec.to_builtins(document)),
            self.status,
            {"cache-control": "no-store", "x-content-type-options": "nosniff", **self.headers},
            MEDIA_TYPE,
        )


def _current(revision: Revision | None) -> contract.CurrentRevision | msgspec.UnsetType:
    if revision is None:
        return msgspec.UNSET
    return contract.CurrentRevision(
        revision.number,
        f'"{revision.tag}"',
        revision.translation_state,
        revision.created_at,
        revision.author,
        msgspec.json.decode(revision.record, type=contract.Record).items,
        revision.state == "draft",
    )
