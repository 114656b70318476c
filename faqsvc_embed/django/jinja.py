"""The environment for Django's Jinja backend, with the template globals of this package.

In TEMPLATES: `{"BACKEND": "django.template.backends.jinja2.Jinja2", "OPTIONS": {"environment":
"faqsvc_embed.django.jinja.environment"}, …}`.
"""

from contextlib import suppress
from typing import Any

from jinja2 import Environment

from faqsvc_embed.django.apps import faqs_from
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.jinja import install


def environment(**options: Any) -> Environment:
    """Return an environment of Jinja with `faq`, `use_faq`, `faq_schema` and the tag `{% faq %}`.

    A project with an environment of its own calls `faqsvc_embed.jinja.install(env, faqs_from())` instead.
    """
    made = Environment(**options)  # noqa: S701  # Django passes autoescape
    with suppress(ConfigurationError):  # the system check reports it
        install(made, faqs_from())
    return made
