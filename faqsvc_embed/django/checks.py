"""System checks for invalid settings, and for a missing or misplaced middleware."""

from typing import Any, Final

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as CheckWarning

from faqsvc_embed.django.settings import project_settings, project_values
from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.settings import suggestion, unknown_keys

MIDDLEWARE: Final = "faqsvc_embed.django.FAQMiddleware"
OUTSIDE: Final = {
    "django.middleware.gzip.GZipMiddleware": "no FAQ or draft can be filled in where a page is compressed",
    "django.middleware.cache.UpdateCacheMiddleware": "it would cache pages in which an FAQ is not filled in",
    "django.middleware.http.ConditionalGetMiddleware": "its ETag would not match the page that is sent",
}
"""Middleware that must get the body after its placeholders are filled, and what happens otherwise."""


def check_settings(**_: Any) -> list[CheckMessage]:
    """Check the settings of this package, and the files of `DIRECTORY`."""
    try:
        values = project_values()
    except ConfigurationError as error:
        return [_invalid(error)]
    return [*_errors(), *_unknown(values)]


def _errors() -> list[CheckMessage]:
    try:
        found = project_settings()
        if not found.base_url and found.directory is None and found.source is None:
            hint = (
                'Set FAQSVC = {"BASE_URL": "https://faq.example.com"} for a service, {"DIRECTORY": "faqs"} '
                'for a folder of files, or {"SOURCE": "shop.faqs.Source"}; or FAQSVC_… in the environment.'
            )
            message = "FAQSVC has neither BASE_URL nor DIRECTORY nor SOURCE, so there are no FAQs."
            return [Error(message, hint=hint, id="faqsvc.E002")]
        FAQEmbed(settings=found)  # reads the files of a folder
    except ConfigurationError as error:
        return [_invalid(error)]
    return []


def _invalid(error: ConfigurationError) -> CheckMessage:
    hint = "Correct the line of the file, or the setting: FAQSVC or FAQSVC_… in settings or environment."
    return Error(f"The FAQSVC settings or files are invalid: {error}", hint=hint, id="faqsvc.E001")


def _unknown(values: dict[str, Any]) -> list[CheckMessage]:
    return [
        CheckWarning(f"{key} is ignored: it is not a setting.", hint=suggestion(key), id="faqsvc.W003")
        for key in unknown_keys(values)
    ]


def check_middleware(**_: Any) -> list[CheckMessage]:
    """Check that the middleware is installed, below middleware that must get the complete page."""
    names = list(settings.MIDDLEWARE or ())
    if MIDDLEWARE not in names:
        hint = f"Add {MIDDLEWARE!r} to MIDDLEWARE: it gives the FAQs of a request one time budget."
        return [CheckWarning("FAQMiddleware is not installed.", hint=hint, id="faqsvc.W001")]
    inside = names[names.index(MIDDLEWARE) + 1 :]
    return [
        CheckWarning(
            f"{name} comes after FAQMiddleware, so that {reason}.",
            hint=f"In MIDDLEWARE, move {name} before {MIDDLEWARE}.",
            id="faqsvc.W002",
        )
        for name, reason in OUTSIDE.items()
        if name in inside
    ]
