"""The environment for Django's Jinja backend, with the template globals of this package.

In TEMPLATES: `{"BACKEND": "django.template.backends.jinja2.Jinja2", "OPTIONS": {"environment":
"faqsvc_embed.django.jinja.environment"}, …}`.
"""

from typing import Any

from jinja2 import Environment

from faqsvc_embed.django.apps import app_config


def environment(**options: Any) -> Environment:
    """Return an environment of Jinja with `faq`, `use_faq`, `faq_schema` and the tag `{% faq %}`.

    A project with an environment of its own calls `faqsvc_embed.jinja.install(env, faqs_from())` instead.
    """
    made = Environment(**options)  # noqa: S701  # Django passes autoescape
    app_config().install_into(made)
    return made
