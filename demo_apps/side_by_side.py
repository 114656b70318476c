"""All websites side by side in one page, which follows the change feed of the service, as the websites do."""

from collections.abc import Mapping

from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from demo_apps import site

SLUG = "pricing"


def create_app(service: str, websites: Mapping[str, str]) -> Starlette:
    """Return the application; `websites` are addresses by name."""
    environment = Environment(autoescape=True, loader=FileSystemLoader(site.TEMPLATES))
    page = environment.get_template("side_by_side.html").render(service=service, websites=websites, slug=SLUG)

    async def show(_: Request) -> HTMLResponse:
        return HTMLResponse(page)

    return Starlette(routes=[Route("/", show), Mount("/static", StaticFiles(directory=site.STATIC))])
