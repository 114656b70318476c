"""The nonce of a page's Content-Security-Policy, from Django itself or from django-csp."""

from typing import Final

from django.http import HttpRequest

try:
    from django.middleware.csp import get_nonce
except ImportError:  # Django 5.2
    get_nonce = None  # type: ignore[assignment]

ATTRIBUTE: Final = "csp_nonce"
"""The request attribute that django-csp or a middleware of the project sets; also a template variable."""


def nonce_of(request: HttpRequest) -> str | None:
    """Return the nonce of a request. Django and django-csp send a nonce only if it was read."""
    nonce = getattr(request, ATTRIBUTE, None)
    if nonce is None and get_nonce is not None:
        nonce = get_nonce(request)
    return as_text(nonce)


def as_text(nonce: object) -> str | None:
    """Return the text of a nonce. A lazy nonce is false until it is read."""
    if nonce is None:
        return None
    return str(nonce() if callable(nonce) else nonce) or None
