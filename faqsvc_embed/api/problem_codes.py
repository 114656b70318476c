"""The codes of error responses."""

from typing import Literal

Code = Literal[
    "bad-request",  # 400: a Host header that is no host, a body that ended early
    "missing-key",  # 401
    "unknown-key",  # 403: unknown, expired or revoked
    "missing-scope",  # 403: the key may not do this
    "not-your-site",  # 403: the FAQ belongs to another site
    "invalid-preview",  # 403: the preview token has expired, or belongs to another FAQ
    "not-found",  # 404
    "method-not-allowed",  # 405
    "not-acceptable",  # 406
    "request-timeout",  # 408
    "unpublished",  # 409: a file would publish an FAQ that was unpublished
    "quota-exceeded",  # 409: the site has as many FAQs or bytes as it may have
    "gone",  # 410: unpublished, in the bin, or purged
    "revision-conflict",  # 412: If-Match or If-None-Match failed; `current` is the newest revision
    "old-file",  # 412: a file would undo a change; `current` is the newest revision
    "body-too-large",  # 413
    "unsupported-media-type",  # 415
    "invalid-body",  # 422: `problems` has every reason
    "invalid-parameter",  # 422: the same for the path, the query or a header
    "idempotency-key-reused",  # 422: the same key came with another body
    "precondition-required",  # 428: PATCH without If-Match
    "unreadable-website",  # 422 or 502: generation cannot read it
    "rate-limited",  # 429: Retry-After says when to try again
    "internal-error",  # 500
    "generation-failed",  # 502 or 503
    "unavailable",  # 503: the database does not respond, or the service is shutting down
    "generation-timeout",  # 504
]
"""The `code` of a problem. Codes are stable; titles and details are for people and may change."""
