"""The language of a page in Django."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language

from faqsvc_embed.languages import lookup


def active_language(request: HttpRequest, default: str | None) -> str | None:
    """Return the active language of Django, if it is a supported one.

    If nothing has activated a language, `default` takes precedence over LANGUAGE_CODE.
    """
    active = get_language()
    is_chosen = active != settings.LANGUAGE_CODE or hasattr(request, "LANGUAGE_CODE")
    language = lookup(active) if active and (is_chosen or default is None) else None
    return language or default
