"""The settings of this package in a Django project: `FAQSVC = {"BASE_URL": …}`, or `FAQSVC_BASE_URL = …`."""

from typing import Any, Final

from django.conf import settings

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.settings import PREFIX, Settings

GROUP: Final = "FAQSVC"
"""The Django setting with a dictionary of all settings of this package."""


def project_settings() -> Settings:
    """Return the settings of this package from the settings of the project; an API key is ignored.

    Raises:
        ConfigurationError: a setting is invalid, or `FAQSVC` is not a dictionary.
    """
    return Settings.from_mapping(project_values())


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
