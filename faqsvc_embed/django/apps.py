"""The Django application: the embed of the project, which is made at its first use, and system checks.

The settings are `FAQSVC = {"BASE_URL": …}`, or `FAQSVC_BASE_URL = …`.
"""

import threading
from types import ModuleType
from typing import Any, Final

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("django"):
    from django.apps import AppConfig, apps
    from django.conf import settings
    from django.core import checks
    from django.core.signals import setting_changed
    from django.http import HttpRequest

from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.settings import PREFIX, Settings, suggestion, unknown_keys

LABEL: Final = "faqsvc"
GROUP: Final = "FAQSVC"
"""The Django setting with a dictionary of all settings of this package."""
MIDDLEWARE: Final = "faqsvc_embed.django.FAQMiddleware"
OUTSIDE: Final = {
    "django.middleware.gzip.GZipMiddleware": "no FAQ or draft can be filled in where a page is compressed",
    "django.middleware.cache.UpdateCacheMiddleware": "it would cache pages in which an FAQ is not filled in",
    "django.middleware.http.ConditionalGetMiddleware": "its ETag would not match the page that is sent",
}
"""Middleware that must get the body after its placeholders are filled, and what happens otherwise."""


class FAQConfig(AppConfig):
    """Adds FAQs to a project; its settings are `FAQSVC = {"BASE_URL": …}`, or `FAQSVC_BASE_URL = …`."""

    name = "faqsvc_embed.django"
    label = LABEL
    verbose_name: str = "FAQs"

    def __init__(self, app_name: str, app_module: ModuleType | None) -> None:
        super().__init__(app_name, app_module)
        self._lock = threading.RLock()
        self._embed: FAQEmbed | None = None

    def ready(self) -> None:
        """Register the system checks."""
        checks.register(check_settings)
        checks.register(check_middleware)
        setting_changed.connect(self._forget_settings, dispatch_uid=self.name)

    @property
    def embed(self) -> FAQEmbed:
        """The embed of the project. Tests can replace it by setting this attribute.

        Raises:
            ConfigurationError: a setting is invalid.
        """
        with self._lock:
            self._embed = self._embed or FAQEmbed(settings=Settings.from_mapping(project_values()))
            return self._embed

    @embed.setter
    def embed(self, embed: FAQEmbed) -> None:
        with self._lock:
            self._embed = embed

    def _forget_settings(self, *, setting: str, **_: object) -> None:
        """Create a new embed after `override_settings` in a test."""
        if setting == GROUP or setting.startswith(PREFIX):
            with self._lock:
                self._embed = None


def faqs_from(request: HttpRequest | None = None) -> FAQEmbed:
    """Return the embed of the project, which is the same for every request.

    Raises:
        ConfigurationError: a setting is invalid, or the application is not installed.
    """
    try:
        config: AppConfig | None = apps.get_app_config(LABEL)
    except LookupError:
        config = None
    if isinstance(config, FAQConfig):
        return config.embed
    raise ConfigurationError(f"the project has no FAQs: add {FAQConfig.name!r} to INSTALLED_APPS")


def project_values() -> dict[str, Any]:
    """Return the settings of the project with names such as `FAQSVC_BASE_URL`.

    Raises:
        ConfigurationError: `FAQSVC` is not a dictionary.
    """
    group: Any = getattr(settings, GROUP, {})
    if not isinstance(group, dict):
        raise ConfigurationError(
            f"{GROUP} is a {type(group).__name__}: a dictionary is accepted, such as "
            '{"BASE_URL": "https://faq.example.com"}'
        )
    values = {f"{PREFIX}{str(name).upper()}": value for name, value in group.items()}
    return values | {key: getattr(settings, key) for key in dir(settings) if key.startswith(PREFIX)}


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    """Check the settings of this package, and the files of `DIRECTORY`."""
    found = list[checks.CheckMessage]()
    try:
        for key in unknown_keys(project_values()):
            message = f"{key} is ignored: it is not a setting."
            found.append(checks.Warning(message, hint=suggestion(key), id="faqsvc.W003"))
        given = Settings.from_mapping(project_values())
        if given.base_url or given.directory is not None or given.source is not None:
            FAQEmbed(settings=given)  # reads the files of a folder
        else:
            hint = (
                'Set FAQSVC = {"BASE_URL": "https://faq.example.com"} for a service, {"DIRECTORY": "faqs"} '
                'for a folder of files, or {"SOURCE": "shop.faqs.Source"}; or FAQSVC_… in the environment.'
            )
            message = "FAQSVC has neither BASE_URL nor DIRECTORY nor SOURCE, so there are no FAQs."
            found.append(checks.Error(message, hint=hint, id="faqsvc.E002"))
    except ConfigurationError as error:
        hint = "Correct the line of the file, or the setting: FAQSVC or FAQSVC_… in settings or environment."
        message = f"The FAQSVC settings or files are invalid: {error}"
        found.append(checks.Error(message, hint=hint, id="faqsvc.E001"))
    return found


def check_middleware(**_: Any) -> list[checks.CheckMessage]:
    """Check that the middleware is installed, below middleware that must get the complete page."""
    names = list(settings.MIDDLEWARE or ())
    if MIDDLEWARE not in names:
        hint = f"Add {MIDDLEWARE!r} to MIDDLEWARE: it gives the FAQs of a request one time budget."
        return [checks.Warning("FAQMiddleware is not installed.", hint=hint, id="faqsvc.W001")]
    inside = names[names.index(MIDDLEWARE) + 1 :]
    return [
        checks.Warning(
            f"{name} comes after FAQMiddleware, so that {reason}.",
            hint=f"In MIDDLEWARE, move {name} before {MIDDLEWARE}.",
            id="faqsvc.W002",
        )
        for name, reason in OUTSIDE.items()
        if name in inside
    ]
