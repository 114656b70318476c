"""A host in each framework: its page at / renders a template, and may be cached by everybody."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.test import Client as DjangoClient
from flask import Flask, Response, render_template_string
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.testclient import TestClient
from werkzeug.test import Client

from faqsvc_embed import FAQEmbed, wsgi
from faqsvc_embed.flask import FAQExtension
from tests.support import django_project, starlette_host
from tests.support.pages import environment

HEADERS: Final = {"Cache-Control": "public, max-age=600", "CDN-Cache-Control": "max-age=600"}

Get = Callable[..., tuple[str, Mapping[str, str]]]
"""Returns the text and the headers of the page at a path; keywords are headers of the request."""
Host = Callable[..., Get]
"""Takes an embed, the source of a template, and its variables."""


def flask_host(embed: FAQEmbed, template: str, **variables: Any) -> Get:
    app = Flask("host")
    FAQExtension(app, embed=embed)

    @app.get("/")
    def page() -> Response:
        return Response(render_template_string(template, **variables), headers=HEADERS)

    return _getter(app.test_client())


def asgi_host(embed: FAQEmbed, template: str, **variables: Any) -> Get:
    render = _renderer(embed, template, variables)

    async def page(_: Request) -> HTMLResponse:
        return HTMLResponse(render(), headers=HEADERS)

    return _getter(TestClient(starlette_host.app_of(embed, page)))


def wsgi_host(embed: FAQEmbed, template: str, **variables: Any) -> Get:
    render = _renderer(embed, template, variables)

    def app(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/html"), *HEADERS.items()])
        return [render().encode()]

    return _getter(Client(wsgi.FAQMiddleware(app, embed=embed)))


def django_host(embed: FAQEmbed, template: str, **variables: Any) -> Get:
    view = django_project.page(template, using="jinja", headers=HEADERS, **variables)
    middleware = ["django.middleware.locale.LocaleMiddleware", django_project.MIDDLEWARE]

    def get(path: str = "/", **headers: str) -> tuple[str, Mapping[str, str]]:
        with django_project.project(view, embed, MIDDLEWARE=middleware):
            response = DjangoClient().get(path, headers=headers)
        assert response.status_code == 200
        return response.content.decode(), response.headers

    return get


HOSTS: Final[tuple[Host, ...]] = (flask_host, asgi_host, wsgi_host, django_host)


def _renderer(embed: FAQEmbed, template: str, variables: Mapping[str, Any]) -> Callable[[], str]:
    made = environment(embed).from_string(template)
    return lambda: made.render(variables)


def _getter(client: Any) -> Get:
    def get(path: str = "/", **headers: str) -> tuple[str, Mapping[str, str]]:
        response = client.get(path, headers=headers)
        assert response.status_code == 200
        return response.text, response.headers

    return get
