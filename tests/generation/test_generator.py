"""Generation from an address to items, without the service."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from faqsvc_embed.api.contract import GenerateResponse, ReadPage
from faqsvc_embed.generation.crawl.page import Page
from faqsvc_embed.generation.engines.extractive import ExtractiveEngine
from faqsvc_embed.generation.engines.protocol import (
    Engine,
    GenerationRequest,
    Reason,
)
from faqsvc_embed.generation.generator import generate
from tests.generation.websites import endpoint, html, website
from tests.support import faulty as faults
from tests.support.faulty import FaultyServer

HOME = html('<h3 id="hours">When are you open?</h3><p>Until six.</p>')


def run(server: FaultyServer, engine: Engine | None = None, **options: Any) -> GenerateResponse:
    request = GenerationRequest(server.base_url)
    return asyncio.run(generate(request, engine or ExtractiveEngine(), allowed=endpoint(server), **options))


def test_the_pages_that_were_read_and_those_that_could_not_be_are_reported(faulty: FaultyServer) -> None:
    start = html('<h3>When are you open?</h3><p>Until six.</p><a href="/faq">FAQ</a>', lang="sv-SE")
    faulty.behave(website({"/": start, "/faq": faults.status(500)}))
    seen = list[str]()

    generation = run(faulty, report=lambda page: seen.append(page.url))

    home = f"{faulty.base_url}/"
    assert generation.pages == [ReadPage(home, "sv-SE", 1)]
    assert generation.items[0].lang == "sv-SE"
    assert seen == [home]
    unreadable = {dropped.subject for dropped in generation.dropped if dropped.reason is Reason.UNREADABLE}
    assert f"{faulty.base_url}/faq" in unreadable


class SlowEngine:
    crawl_time_fraction = 0.5

    async def generate_items(self, pages: Sequence[Page], request: GenerationRequest) -> GenerateResponse:
        await asyncio.sleep(60)
        return GenerateResponse([])


def test_an_engine_that_does_not_finish_in_time_is_a_timeout(faulty: FaultyServer) -> None:
    faulty.behave(website({"/": HOME}))

    with pytest.raises(TimeoutError):
        run(faulty, SlowEngine(), timeout=0.1)
