"""Sites for real servers, by the command of a server, or `python -m tests.processes.hosts NAME PORT`."""

import sys
from typing import TYPE_CHECKING, Any

from jinja2 import Environment

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.wsgi import FAQMiddleware as WSGIMiddleware

if TYPE_CHECKING:
    from sanic import Sanic

PAGE = '<!doctype html>{{ faq("pricing") }}{{ faq("legal") }}'

embed = FAQEmbed(wait=60, timeout=60)  # a busy machine
_environment = Environment(autoescape=True)
install(_environment, embed)
_template = _environment.from_string(PAGE)
_asynchronous = Environment(autoescape=True, enable_async=True)
install(_asynchronous, embed)
_async_template = _asynchronous.from_string(PAGE)


def bottle() -> Any:
    import bottle as module

    app = module.Bottle()
    app.route("/")(_template.render)
    return WSGIMiddleware(app, embed=embed)


def litestar() -> Any:
    from litestar import Litestar, MediaType
    from litestar import get as route

    async def home() -> str:
        return _template.render()

    return FAQMiddleware(Litestar([route("/", media_type=MediaType.HTML)(home)]), embed=embed)


def quart() -> Any:
    from quart import Quart, render_template_string

    app = Quart("host")
    install(app.jinja_env, embed)

    @app.get("/")
    async def home() -> str:
        return await render_template_string(PAGE)

    app.asgi_app = FAQMiddleware(app.asgi_app, embed=embed)  # type: ignore[method-assign]
    return app


def _sanic(*, is_asgi: bool) -> "Sanic[Any, Any]":
    from sanic import HTTPResponse, Request, Sanic, html

    app = Sanic("host")

    @app.get("/")
    async def home(request: Request) -> HTTPResponse:
        return html(_template.render() if is_asgi else await _async_template.render_async())

    return app


def sanic_asgi() -> Any:
    return FAQMiddleware(_sanic(is_asgi=True), embed=embed)


def _serve_sanic(port: int) -> None:
    app = _sanic(is_asgi=False)

    @app.after_server_stop
    async def close(app: Any) -> None:
        await embed.aclose()

    app.run("127.0.0.1", port, single_process=True)


def _serve_aiohttp(port: int) -> None:
    from aiohttp import web

    async def home(request: web.Request) -> web.Response:
        return web.Response(text=await _async_template.render_async(), content_type="text/html")

    async def close(app: web.Application) -> None:
        await embed.aclose()

    app = web.Application()
    app.router.add_get("/", home)
    app.on_cleanup.append(close)
    web.run_app(app, host="127.0.0.1", port=port, print=None)


if __name__ == "__main__":
    {"sanic": _serve_sanic, "aiohttp": _serve_aiohttp}[sys.argv[1]](int(sys.argv[2]))
