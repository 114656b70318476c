"""Any text in any argument of a tool: a result, or an error that says what to change."""

import asyncio
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from faqsvc_embed import FAQClient
from faqsvc_embed.mcp.server import create_server
from tests.service.test_any_input import ODD, leaves
from tests.support.service import Service
from tests.support.strategies import any_text

ITEM: Final = {"question": "What does it cost?", "answer": "Nothing.", "section": "Prices", "id": "cost"}
FAQ: Final[dict[str, Any]] = {
    "websiteUrl": "https://www.tea.example",
    "websiteName": "Tea",
    "items": [ITEM],
    "lang": "en",
    "title": "Prices",
    "introduction": "All that you pay.",
    "answerFormat": "markdown",
}
CHANGE: Final = {**ITEM, "newQuestion": "What is the price?", "after": ""}
CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("get_faq", {"slug": "prices", "lang": "en", "offset": "0"}),
    ("get_faq_jsonld", {"slug": "prices", "lang": "en"}),
    ("generate_faq", {"websiteUrl": "http://127.0.0.1:1/", "lang": "en"}),
    ("publish_faq", {**FAQ, "slug": "prices"}),
    ("publish_faq", {**FAQ, "preview": "true"}),
    ("publish_faq", FAQ),
    ("list_faqs", {"query": "cost", "state": "draft", "lang": "en"}),
    ("update_faq", {"slug": "prices", "lang": "en", "revision": "1", "changes": [CHANGE], "title": "P"}),
    ("update_faq", {"slug": "prices", "revision": 1, "introduction": "All.", "answerFormat": "text"}),
    ("unpublish_faq", {"slug": "prices", "lang": "de"}),
)


async def check(client: Client, name: str, arguments: dict[str, Any]) -> None:
    """Check that a call has a result, which can be sent, and that an error is one of the tool's own."""
    result = await client.call_tool(name, arguments)
    sent = result.model_dump_json()
    assert sent.encode(), arguments
    assert "Traceback" not in sent, arguments
    assert "does not work" not in sent, arguments  # which is an error of the service


@pytest.fixture
def filled(ours: Service) -> FAQClient:
    """A client of a service that has the FAQ `prices`."""
    client = FAQClient(ours.base_url, ours.key)
    client.publish_faq(
        slug="prices", website_url=FAQ["websiteUrl"], website_name="Tea", items=[ITEM], lang="en"
    )
    return client


def test_no_text_in_an_argument_breaks_a_tool(filled: FAQClient) -> None:
    async def run() -> None:
        async with Client(create_server(filled)) as client:
            for name, arguments in CALLS:
                for replaced in leaves(arguments):
                    for odd in ODD:
                        if name != "generate_faq" or not odd.startswith("https"):
                            await check(client, name, replaced(odd))

    asyncio.run(run())


@given(call=st.sampled_from(CALLS), text=any_text, data=st.data())
def test_no_generated_text_in_an_argument_breaks_a_tool(
    ours: Service, call: tuple[str, dict[str, Any]], text: str, data: st.DataObject
) -> None:
    name, arguments = call
    replaced = data.draw(st.sampled_from(list(leaves(arguments))))

    async def run() -> None:
        async with Client(create_server(FAQClient(ours.base_url, ours.key))) as client:
            await check(client, name, replaced(text))

    if name != "generate_faq":
        asyncio.run(run())
