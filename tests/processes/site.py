"""A site for real servers; its environment has the settings, and WARM to fetch before they fork."""

import os

from flask import Flask, render_template_string
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware

TEMPLATE = '<p id="{{ pid }}">{{ faq("pricing") }}'

embed = FAQEmbed()
if os.environ.get("WARM"):
    embed.get_faq("pricing")

wsgi = Flask(__name__)
FAQExtension(wsgi, embed=embed)


@wsgi.get("/")
def page() -> str:
    return render_template_string(TEMPLATE, pid=os.getpid())


@wsgi.get("/loop")
def loop() -> str:
    """A view that runs an event loop of its own, as Flask's async views do."""
    import asyncio

    async def nothing() -> str:
        await asyncio.sleep(0)
        return "ran"

    own = asyncio.new_event_loop()
    try:
        return own.run_until_complete(nothing())
    finally:
        own.close()


_environment = Environment(autoescape=True)
install(_environment, embed)
_template = _environment.from_string(TEMPLATE)


async def _page(request: Request) -> HTMLResponse:
    return HTMLResponse(_template.render(pid=os.getpid()))


async def _loop(request: Request) -> HTMLResponse:
    return HTMLResponse("ran")


asgi = Starlette(routes=[Route("/", _page), Route("/loop", _loop)])
asgi.add_middleware(FAQMiddleware, embed=embed)
