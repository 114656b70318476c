"""A static page in plain Jinja, which is written to a folder, in each language, when the demo starts."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from demo_apps import site
from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install

HOME = site.PAGES[0]


def write_pages(base_url: str, folder: Path) -> None:
    """Write the page in each language; an FAQ that cannot be fetched ends this."""
    environment = Environment(autoescape=True, loader=FileSystemLoader(site.TEMPLATES))
    with FAQEmbed(base_url, wait=3.0, strict=True) as embed:
        install(environment, embed)
        for lang in site.LANGUAGES:
            variables = {**site.context(HOME, lang, "Jinja"), "pages": [HOME]}
            page = environment.get_template(HOME.template).render(variables)
            (folder / f"{lang}.html").write_text(page, encoding="utf-8")


def create_app(base_url: str = site.SERVICE) -> Starlette:
    """Return a server of the files."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with tempfile.TemporaryDirectory(prefix="faqsvc-demo-static-") as folder:
            app.state.folder = Path(folder)
            await asyncio.to_thread(write_pages, base_url, app.state.folder)
            yield

    async def show(request: Request) -> FileResponse:
        lang = site.choose_language(request.query_params.get("lang"), request.headers.get("Accept-Language"))
        headers = {"Content-Language": lang, "Vary": "Accept-Language"}
        return FileResponse(request.app.state.folder / f"{lang}.html", headers=headers)

    routes = [Route("/", show), Mount("/static", StaticFiles(directory=site.STATIC))]
    return Starlette(routes=routes, lifespan=lifespan)
