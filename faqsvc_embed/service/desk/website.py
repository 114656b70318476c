"""The page to create an FAQ from a website: editors select from its questions, with their sources."""

from functools import partial
from typing import TYPE_CHECKING

import msgspec
from starlette.responses import Response

from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.desk.forms import completed
from faqsvc_embed.service.desk.importing import show_form
from faqsvc_embed.service.desk.pages import render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.threads import run_blocking

if TYPE_CHECKING:
    from faqsvc_embed.api.contract import GenerateResponse


class FromWebsite:
    """The page of one application."""

    def __init__(self, service: ServiceContext) -> None:
        self._service = service

    async def generate(self, visit: Visit) -> Response:
        """POST /desk/website: show the questions of a website. Nothing is saved."""
        url = completed(visit.form.get("website_url").strip())
        body = msgspec.json.encode({"websiteUrl": url.encode("utf-8", "replace").decode()})
        try:
            generator = self._service.installed_generator()
            request = generator.parse(body)
            async with self._service.generations.running(visit.access.site, generator.timeout):
                found = await generator.run(request)
        except Problem as problem:
            detail = problem.detail.replace("websiteUrl:", "The address:").replace(
                "websiteUrl", "The address"
            )
            return await run_blocking(partial(show_form, visit, problem.status, website_url=f"{detail}."))
        return await run_blocking(_page, visit, url, found)


def _page(visit: Visit, url: str, found: "GenerateResponse") -> Response:
    return render(visit, "website.html", url=url, found=found)
