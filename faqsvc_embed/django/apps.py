"""The application: the embed of the project, made from its settings for the first FAQ."""

import threading
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Final, cast
from weakref import WeakSet

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("django"):
    from django.apps import AppConfig, apps
    from django.core import checks
    from django.core.signals import setting_changed

from jinja2 import Environment

from faqsvc_embed.django.checks import check_middleware, check_settings
from faqsvc_embed.django.settings import GROUP, project_settings
from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.jinja import install
from faqsvc_embed.settings import PREFIX

if TYPE_CHECKING:
    from django.http import HttpRequest

LABEL: Final = "faqsvc"


class FAQConfig(AppConfig):
    """Adds FAQs to a project; its settings are `FAQSVC = {"BASE_URL": …}`, or `FAQSVC_BASE_URL = …`."""

    name = "faqsvc_embed.django"
    label = LABEL
    verbose_name: str = "FAQs"

    def __init__(self, app_name: str, app_module: ModuleType | None) -> None:
        super().__init__(app_name, app_module)
        self._lock = threading.RLock()
        self._embed: FAQEmbed | None = None
        self._environments = WeakSet[Environment]()

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
            if self._embed is None:
                self.embed = FAQEmbed(settings=project_settings())
            return cast(FAQEmbed, self._embed)

    @embed.setter
    def embed(self, embed: FAQEmbed) -> None:
        with self._lock:
            self._embed = embed
            for environment in self._environments:
                install(environment, embed)

    def install_into(self, environment: Environment) -> None:
        """Add the template globals to a Jinja environment, for the embed of the project."""
        with self._lock, suppress(ConfigurationError):  # the system check reports it
            self._environments.add(environment)
            install(environment, self.embed)

    def _forget_settings(self, *, setting: str, **_: object) -> None:
        """Create a new embed after `override_settings` in a test."""
        if setting == GROUP or setting.startswith(PREFIX):
            with self._lock:
                self._embed = None


def faqs_from(request: "HttpRequest | None" = None) -> FAQEmbed:
    """Return the embed of the project, which is the same for every request.

    Raises:
        ConfigurationError: a setting is invalid, or the application is not installed.
    """
    return app_config().embed


def app_config() -> FAQConfig:
    """Return the application in this project.

    Raises:
        ConfigurationError: it is not installed.
    """
    with suppress(LookupError):
        config = apps.get_app_config(LABEL)
        if isinstance(config, FAQConfig):
            return config
    raise ConfigurationError(f"the project has no FAQs: add {FAQConfig.name!r} to INSTALLED_APPS")
