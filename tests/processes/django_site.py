"""A Django project for real servers: `wsgi` and `asgi`, with a synchronous and an asynchronous page."""

import os

import django
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template import engines
from django.urls import path

settings.configure(
    SECRET_KEY="secret",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=["faqsvc_embed.django"],
    MIDDLEWARE=["django.middleware.gzip.GZipMiddleware", "faqsvc_embed.django.FAQMiddleware"],
    FAQSVC={"BASE_URL": os.environ["FAQSVC_BASE_URL"], "WAIT": 60, "TIMEOUT": 60},  # a busy machine
    TEMPLATES=[
        {"BACKEND": "django.template.backends.django.DjangoTemplates"},
        {
            "BACKEND": "django.template.backends.jinja2.Jinja2",
            "OPTIONS": {"environment": "faqsvc_embed.django.jinja.environment"},
        },
    ],
)
django.setup()

PAGE = '{% load faqsvc %}<!doctype html>{% faq "pricing" %}{% faq "legal" %}'


def home(request: HttpRequest) -> HttpResponse:
    return HttpResponse(engines["django"].from_string(PAGE).render({}, request))


async def asynchronous(request: HttpRequest) -> HttpResponse:
    return home(request)


def jinja(request: HttpRequest) -> HttpResponse:
    page = '<!doctype html>{{ faq("pricing") }}{% faq "legal" %}'
    return HttpResponse(engines["jinja2"].from_string(page).render({}, request))


def streamed(request: HttpRequest) -> StreamingHttpResponse:
    template = engines["django"].from_string(PAGE)
    return StreamingHttpResponse(template.render({}, request) for _ in range(1))


urlpatterns = [
    path("", home),
    path("async/", asynchronous),
    path("jinja/", jinja),
    path("streamed/", streamed),
]
wsgi = get_wsgi_application()
asgi = get_asgi_application()
