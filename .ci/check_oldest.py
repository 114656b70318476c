"""Checks that the oldest versions of the hosts show an FAQ. They are in the environment that runs it."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.test import Client
from django.urls import path
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse
from fastapi.templating import Jinja2Templates
from flask import Flask, render_template_string

from faqsvc_embed import FAQEmbed
from faqsvc_embed.fastapi import FAQMiddleware
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install

FOLDER = tempfile.mkdtemp()
Path(FOLDER, "pricing.md").write_text("# Prices\n\n## What does it cost?\n\n**Five** euros.\n")
TAG = '<h1>Shop</h1>{% faq "pricing" %}'


def flask() -> str:
    app = Flask(__name__)
    FAQExtension(app, directory=FOLDER)
    app.get("/")(lambda: render_template_string(TAG))
    return app.test_client().get("/").text


def fastapi() -> str:
    app, embed = FastAPI(), FAQEmbed(directory=FOLDER)
    app.add_middleware(FAQMiddleware, embed=embed)
    Path(FOLDER, "page.html").write_text(TAG)
    templates = Jinja2Templates(FOLDER)
    install(templates.env, embed)

    @app.get("/", response_class=HTMLResponse)
    def home(request: Request) -> Any:
        return templates.TemplateResponse(request, "page.html")

    sent = list[dict[str, Any]]()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    address = {"path": "/", "raw_path": b"/", "root_path": "", "query_string": b"", "scheme": "http"}
    asyncio.run(app({"type": "http", "method": "GET", "headers": [], **address}, receive, send))
    return b"".join(message.get("body", b"") for message in sent).decode()


def home(request: HttpRequest) -> HttpResponse:
    return HttpResponse(engines["django"].from_string("{% load faqsvc %}" + TAG).render({}, request))


urlpatterns = [path("", home)]


def in_django() -> str:
    settings.configure(
        SECRET_KEY="-",
        ALLOWED_HOSTS=["testserver"],
        ROOT_URLCONF=__name__,
        INSTALLED_APPS=["faqsvc_embed.django"],
        MIDDLEWARE=["faqsvc_embed.django.FAQMiddleware"],
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
        FAQSVC={"directory": FOLDER},
    )
    django.setup()
    return Client().get("/").text


os.chdir(FOLDER)
for show in (flask, fastapi, in_django):
    page = show()
    assert "<strong>Five</strong>" in page, f"{show.__name__}: {page}"
    assert page.count('"FAQPage"') == 1, f"{show.__name__}: {page}"
print("The oldest versions of the hosts show an FAQ")
