"""Applications with the page of the measurements, and requests to them in process."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any
from wsgiref.util import setup_testing_defaults

from django.core.handlers.wsgi import WSGIHandler
from flask import Flask, render_template
from jinja2 import DictLoader, Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates
from starlette.types import ASGIApp, Message

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from tests.benchmarks.hostpage import HEAD, SLUG, TAIL, VALUES
from tests.benchmarks.sidebyside import Contestant

LANGUAGES = "de-CH,de;q=0.9,en;q=0.8"
PAGES = {"faq": HEAD + f'{{% faq "{SLUG}" %}}' + TAIL, "loop": "ran"}
"""The templates of an application, by their addresses."""


def flask_app(embed: FAQEmbed, pages: dict[str, str] = PAGES) -> Flask:
    """Return a Flask application with these pages."""
    app = Flask("benchmark")
    app.jinja_loader = DictLoader(pages)
    FAQExtension(app, embed=embed)
    for name in pages:
        app.add_url_rule(f"/{name}", name, partial(render_template, name, **VALUES))
    return app


def respond(app: Flask, name: str) -> list[bytes]:
    """Return the body of a page, requested from the application in process."""
    environ: dict[str, Any] = {"PATH_INFO": f"/{name}", "HTTP_ACCEPT_LANGUAGE": LANGUAGES}
    setup_testing_defaults(environ)
    response = app.wsgi_app(environ, lambda status, headers, error=None: bytes)
    try:
        return list(response)
    finally:
        response.close()  # type: ignore[attr-defined]


def starlette_app(embed: FAQEmbed, pages: dict[str, str] = PAGES) -> Starlette:
    """Return a Starlette application with these pages, behind the middleware."""
    environment = Environment(autoescape=True, loader=DictLoader(pages))
    install(environment, embed)
    rendering = Jinja2Templates(env=environment)

    async def page(request: Request) -> Response:
        return rendering.TemplateResponse(request, request.path_params["name"], dict(VALUES))

    app = Starlette(routes=[Route("/{name}", page)])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


def requests(runner: asyncio.Runner, app: ASGIApp, path: str = "/") -> Contestant:
    """Return the contestant that requests a page of an ASGI application."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"host.test"), (b"accept-language", LANGUAGES.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        pass

    async def many(times: int) -> float:
        began = time.process_time()
        for _ in range(times):
            await app({**scope, "state": {}}, receive, send)
        return time.process_time() - began

    return lambda times: runner.run(many(times))


def django_request(handler: WSGIHandler, kind: str) -> bytes:
    """Return the body of a page of a Django project."""
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": f"/{kind}",
        "SERVER_NAME": "host.test",
        "SERVER_PORT": "80",
        "wsgi.input": BytesIO(),
        "wsgi.url_scheme": "http",
        "HTTP_ACCEPT_LANGUAGE": LANGUAGES,
    }
    response = handler(environ, _start)
    body = b"".join(response)
    response.close()
    return body


def _start(status: str, headers: list[tuple[str, str]], error: Any = None) -> Callable[[bytes], object]:
    return bytes
