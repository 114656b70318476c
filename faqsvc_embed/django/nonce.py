"""The nonce of a page's Content-Security-Policy, by Django itself or by django-csp."""

from typing import Final

from django.http import HttpRequest

try:
    from django.middleware.csp import get_nonce
except ImportError:  # Django 5.2
    get_nonce = None  # type: ignore[assignment]

ATTRIBUTE: Final = "csp_nonce"
"""Set on a request by django-csp, or by a middleware of the project; a variable of templates, too."""


def nonce_of(request: HttpRequest) -> str | None:
    """Return the nonce of a request; reading it makes the middleware send it."""
    nonce = getattr(request, ATTRIBUTE, None)
    if nonce is None and get_nonce is not None:
        nonce = get_nonce(request)
    return as_text(nonce)


def as_text(nonce: object) -> str | None:
    """Return a nonce that may be lazy, and then is false until it is read."""
    if nonce is None:
        return None
    return str(nonce() if callable(nonce) else nonce) or None
