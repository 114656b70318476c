"""The website in Django: the settings of a project, its views and their addresses in one file.

The pages are in Jinja, as in the other frameworks; `/django` is in Django's own template language. It runs in
a process of its own, because a process has one Django project.
"""

import logging
import secrets
import socket
import sys

from django import setup
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.views.static import serve
from werkzeug.serving import WSGIRequestHandler, make_server

from demo_apps import site


def project(base_url: str) -> None:
    """Configure the project. It reads FAQs from the service at `base_url`."""
    settings.configure(
        ALLOWED_HOSTS=["127.0.0.1", "localhost"],
        SECRET_KEY=secrets.token_urlsafe(),
        ROOT_URLCONF="demo_apps.django_app",
        INSTALLED_APPS=["faqsvc_embed.django"],
        MIDDLEWARE=["faqsvc_embed.django.FAQMiddleware"],
        FAQSVC={"BASE_URL": base_url, "WAIT": 3.0, "LOOK": "columns", "THEME": {"accentColor": "#a3161f"}},
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [site.TEMPLATES.parent / "django_templates"],
                "APP_DIRS": True,
                "OPTIONS": {"context_processors": ["django.template.context_processors.i18n"]},
            },
            {
                "BACKEND": "django.template.backends.jinja2.Jinja2",
                "DIRS": [site.TEMPLATES],
                "OPTIONS": {"environment": "faqsvc_embed.django.jinja.environment"},
            },
        ],
    )
    setup()


def show(request: HttpRequest, name: str = "home") -> HttpResponse:
    """Return a page of the website."""
    page = site.DJANGO if name == site.DJANGO.name else site.find_page(name)
    if page is None:
        raise Http404
    lang = site.choose_language(request.GET.get("lang"), request.headers.get("Accept-Language"))
    nonce = secrets.token_urlsafe(16)
    if page.has_strict_policy:
        request.csp_nonce = nonce  # type: ignore[attr-defined]  # found there, as that of django-csp
    with translation.override(lang):
        response = render(request, page.template, site.context(page, lang, "Django"))
    response.headers["Content-Language"] = lang
    patch_vary_headers(response, ["Accept-Language"])
    if page.has_strict_policy:
        response.headers["Content-Security-Policy"] = site.policy(nonce)
    return response


urlpatterns = [
    path("", show),
    path("static/<path:path>", serve, {"document_root": site.STATIC}),
    path("<name>", show),
]


class QuietHandler(WSGIRequestHandler):
    """Prints no line for each request."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Print nothing."""


def main(base_url: str, descriptor: int) -> None:
    """Serve the website on a socket that listens already."""
    # The page `missing` shows what happens to an FAQ that does not exist.
    logging.getLogger("faqsvc_embed").addFilter(lambda record: site.MISSING_SLUG not in record.getMessage())
    project(base_url)
    listener = socket.socket(fileno=descriptor)
    host, port = listener.getsockname()
    application = get_wsgi_application()
    server = make_server(host, port, application, True, request_handler=QuietHandler, fd=descriptor)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
