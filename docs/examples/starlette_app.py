"""A page of Starlette with an FAQ: `uvicorn --app-dir docs/examples starlette_app:app`."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.templating import Jinja2Templates

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware

embed = FAQEmbed()
templates = Jinja2Templates(Path(__file__).parent / "templates")
install(templates.env, embed)


async def home(request: Request) -> Response:
    """Show the FAQ `pricing`."""
    return templates.TemplateResponse(request, "home.html")


app = Starlette(routes=[Route("/", home)])
app.add_middleware(FAQMiddleware, embed=embed)
