"""A site in each framework that has types of its own, as its developers would write it."""

from typing import Any, assert_type

from aiohttp import web
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from falcon import MEDIA_HTML, App
from falcon import Request as FalconRequest
from falcon import Response as FalconResponse
from fastapi import FastAPI
from fastapi import Request as FastAPIRequest
from fastapi.responses import HTMLResponse as FastAPIPage
from fastapi.templating import Jinja2Templates
from flask import Flask, render_template
from jinja2 import Environment
from litestar import Litestar, MediaType
from litestar import get as litestar_get
from litestar.middleware import DefineMiddleware
from quart import Quart, render_template_string
from sanic import HTTPResponse as SanicResponse
from sanic import Request as SanicRequest
from sanic import Sanic, html
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from faqsvc_embed import FAQEmbed
from faqsvc_embed.django import FAQMiddleware as DjangoMiddleware
from faqsvc_embed.django import faqs_from as faqs_from_django
from faqsvc_embed.fastapi import FAQMiddleware as FastAPIMiddleware
from faqsvc_embed.fastapi import FAQs
from faqsvc_embed.fastapi import faqs_from as faqs_from_fastapi
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.flask import faqs_from as faqs_from_flask
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware, faqs_from
from faqsvc_embed.wsgi import FAQMiddleware as WSGIMiddleware

embed = FAQEmbed("https://faq.example.com", theme={"accentColor": "teal"}, heading_level=None)
environment = Environment(autoescape=True)
install(environment, embed)
template = environment.from_string('{{ faq("pricing") }}')


def flask() -> Flask:
    app = Flask(__name__)
    FAQExtension(app, base_url="https://faq.example.com", lang="ko")

    @app.get("/")
    def home() -> str:
        faqs_from_flask().prefetch("pricing", "legal")
        return render_template("home.html")

    FAQExtension(base_url="https://faq.example.com", styles="linked").init_app(app)
    assert_type(faqs_from_flask(app), FAQEmbed)
    return app


async def prices(request: Request) -> HTMLResponse:
    faq = await assert_type(faqs_from(request), FAQEmbed).ause_faq("pricing")
    title = faq.data.title if faq.data else ""
    return HTMLResponse(title + template.render())


def starlette() -> Starlette:
    app = Starlette(routes=[Route("/", prices)], middleware=[Middleware(FAQMiddleware, embed=embed)])
    app.add_middleware(FAQMiddleware, base_url="https://faq.example.com", styles="linked")
    return app


def fastapi() -> FastAPI:
    app = FastAPI()
    app.add_middleware(FastAPIMiddleware, embed=embed)
    app.add_middleware(FastAPIMiddleware, base_url="https://faq.example.com", variant="disclosure")
    install(Jinja2Templates("templates").env, embed)

    @app.get("/", response_class=FastAPIPage)
    async def home(faqs: FAQs, request: FastAPIRequest) -> str:
        found = assert_type(faqs_from_fastapi(request), FAQEmbed)
        return await assert_type(faqs, FAQEmbed).arender("pricing") + await found.arender("legal")

    @app.get("/faq")
    async def record(faqs: FAQs) -> dict[str, Any]:
        return (await faqs.aget_faq("pricing")).to_dict()

    assert callable(home)
    assert callable(record)
    return app


def django_view(request: HttpRequest) -> HttpResponse:
    return HttpResponse(assert_type(faqs_from_django(request), FAQEmbed).render("pricing"))


async def django_async_view(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse([await assert_type(faqs_from_django(), FAQEmbed).arender("pricing")])


def django_middleware() -> DjangoMiddleware:
    return DjangoMiddleware(django_view)


@litestar_get("/", media_type=MediaType.HTML)
async def litestar_home() -> str:
    return template.render()


def litestar() -> FAQMiddleware:
    return FAQMiddleware(Litestar([litestar_home]), embed=embed)


def litestar_with_its_own_middleware() -> Litestar:
    return Litestar([litestar_home], middleware=[DefineMiddleware(FAQMiddleware, embed=embed)])


def quart() -> Quart:
    app = Quart(__name__)
    install(app.jinja_env, embed)
    app.asgi_app = FAQMiddleware(app.asgi_app, embed=embed)  # type: ignore[method-assign]

    @app.get("/")
    async def home() -> str:
        return await render_template_string('{{ faq("pricing") }}')

    return app


async def sanic_home(request: SanicRequest) -> SanicResponse:
    return html(await embed.arender("pricing"))


def sanic() -> FAQMiddleware:
    app = Sanic("shop")
    app.add_route(sanic_home, "/")
    return FAQMiddleware(app, embed=embed)


async def aiohttp_home(request: web.Request) -> web.Response:
    return web.Response(text=await embed.arender("pricing"), content_type="text/html")


async def close_faqs(app: web.Application) -> None:
    await embed.aclose()


def aiohttp() -> web.Application:
    app = web.Application()
    app.router.add_get("/", aiohttp_home)
    app.on_cleanup.append(close_faqs)
    return app


class FalconHome:
    def on_get(self, request: FalconRequest, response: FalconResponse) -> None:
        response.content_type = MEDIA_HTML
        response.text = template.render()


def falcon() -> WSGIMiddleware:
    app = App()
    app.add_route("/", FalconHome())
    assert_type(WSGIMiddleware(app, base_url="https://faq.example.com", lang="ko").embed, FAQEmbed)
    return WSGIMiddleware(app, embed=embed)
