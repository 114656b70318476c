"""A Django project in this process: its settings, and pages that a test gives it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import django
from django.apps import apps
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template import engines
from django.test import AsyncClient, override_settings
from django.urls import path

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install

MIDDLEWARE: Final = "faqsvc_embed.django.FAQMiddleware"

if not settings.configured:
    settings.configure(
        SECRET_KEY="secret",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="tests.support.django_project",
        INSTALLED_APPS=["faqsvc_embed.django"],
        MIDDLEWARE=[MIDDLEWARE],
        FAQSVC={"BASE_URL": "https://faq.invalid"},
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "NAME": "django",
                "OPTIONS": {
                    "libraries": {"faqsvc": "faqsvc_embed.django.templatetags.faqsvc"},
                    "loaders": [("django.template.loaders.locmem.Loader", {})],
                },
            },
            {
                "BACKEND": "django.template.backends.jinja2.Jinja2",
                "NAME": "jinja",
                "OPTIONS": {"environment": "faqsvc_embed.django.jinja.environment"},
            },
        ],
        LANGUAGE_CODE="en",
        USE_TZ=True,
    )
    django.setup()

View = Callable[..., Any]
urlpatterns: list[Any] = []


@contextmanager
def project(view: View, embed: FAQEmbed | None = None, **overrides: Any) -> Iterator[None]:
    """Run the project with one page at /, and `overrides` of its settings."""
    config: Any = apps.get_app_config("faqsvc")
    jinja: Any = engines["jinja"]
    urlpatterns[:] = [path("", view, name="home"), path("other/", view), path("<slug:kind>", view)]
    from django.urls import clear_url_caches

    clear_url_caches()
    with override_settings(**{"FAQSVC": settings.FAQSVC, **overrides}):  # with an embed of its own
        if embed is not None:
            config.embed = embed
            install(jinja.env, embed)
        yield
    urlpatterns.clear()


def render(
    source: str, request: HttpRequest | None = None, *, using: str = "django", **variables: Any
) -> str:
    """Return a template that is rendered; the tags are loaded."""
    load = "{% load faqsvc %}" if using == "django" else ""
    return str(engines[using].from_string(f"{load}{source}").render(variables, request))


def page(
    source: str, *, using: str = "django", headers: Mapping[str, str] | None = None, **variables: Any
) -> View:
    """Return a view of a template."""

    def view(request: HttpRequest) -> HttpResponseBase:
        return HttpResponse(render(source, request, using=using, **variables), headers=headers)

    return view


def async_page(
    source: str, *, using: str = "django", headers: Mapping[str, str] | None = None, **variables: Any
) -> View:
    """Return an asynchronous view of a template."""

    async def view(request: HttpRequest) -> HttpResponseBase:
        return HttpResponse(render(source, request, using=using, **variables), headers=headers)

    return view


async def aget(path: str = "/") -> bytes:
    """Return the body of a page of the project in ASGI."""
    return bytes((await AsyncClient().get(path)).content)
