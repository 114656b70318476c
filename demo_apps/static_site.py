"""A static page in plain Jinja: a file in each language, written at the start and when an FAQ changes."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from demo_apps import site
from faqsvc_embed import FAQEmbed, FAQError
from faqsvc_embed.jinja import install

HOME = site.PAGES[0]

INTERVAL = 1.0
"""Seconds between two renderings. The embed follows the change feed, so rendering sends no requests."""


def write_pages(environment: Environment, folder: Path) -> None:
    """Write the page in each language. An FAQ that cannot be fetched raises an error."""
    for lang in site.LANGUAGES:
        variables = {**site.context(HOME, lang, "Jinja"), "pages": [HOME]}
        page = environment.get_template(HOME.template).render(variables)
        new = folder / f"{lang}.html.new"
        new.write_text(page, encoding="utf-8")
        new.replace(folder / f"{lang}.html")


def create_app(base_url: str = site.SERVICE) -> Starlette:
    """Return a server of the files."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        environment = Environment(autoescape=True, loader=FileSystemLoader(site.TEMPLATES))

        async def follow() -> None:
            while True:
                await asyncio.sleep(INTERVAL)
                with suppress(FAQError):  # the files of the last rendering stay
                    await asyncio.to_thread(write_pages, environment, app.state.folder)

        with (
            tempfile.TemporaryDirectory(prefix="faqsvc-demo-static-") as folder,
            FAQEmbed(base_url, wait=3.0, strict=True) as embed,
        ):
            app.state.folder = Path(folder)
            install(environment, embed)
            await asyncio.to_thread(write_pages, environment, app.state.folder)
            following = asyncio.create_task(follow())
            yield
            following.cancel()

    async def show(request: Request) -> FileResponse:
        lang = site.choose_language(request.query_params.get("lang"), request.headers.get("Accept-Language"))
        headers = {"Content-Language": lang, "Vary": "Accept-Language"}
        return FileResponse(request.app.state.folder / f"{lang}.html", headers=headers)

    routes = [Route("/", show), Mount("/static", StaticFiles(directory=site.STATIC))]
    return Starlette(routes=routes, lifespan=lifespan)
