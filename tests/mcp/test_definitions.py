"""What a client sees of the tools before it calls one."""

from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from faqsvc_embed import FAQClient
from faqsvc_embed.mcp.definitions import INSTRUCTIONS, TOOLS
from tests.mcp.support import talk

NAMES: Final = [
    "get_faq",
    "get_faq_jsonld",
    "generate_faq",
    "publish_faq",
    "list_faqs",
    "update_faq",
    "unpublish_faq",
]
CONTENT: Final = ["items", "lang", "title", "answerFormat", "draft", "preview"]


@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_tools_have_the_order_of_the_specification(client: FAQClient, mode: str) -> None:
    async def twice(connected: Client) -> list[list[str]]:
        lists = [await connected.list_tools(cache_mode="bypass") for _ in range(2)]
        return [[tool.name for tool in listed.tools] for listed in lists]

    assert talk(client, twice, mode) == [NAMES, NAMES]


def test_each_tool_is_described_and_annotated() -> None:
    hints = {tool["name"]: tool["annotations"] for tool in TOOLS}
    reads = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True}
    writes = {**reads, "readOnlyHint": False, "idempotentHint": False}
    assert hints == {
        **dict.fromkeys(("get_faq", "get_faq_jsonld", "generate_faq", "list_faqs"), reads),
        "publish_faq": writes,
        "update_faq": {**writes, "destructiveHint": True},
        "unpublish_faq": {**writes, "destructiveHint": True, "idempotentHint": True},
    }
    for tool in TOOLS:
        assert tool["title"]
        assert tool["description"]
        for part in ("inputSchema", "outputSchema"):
            Draft202012Validator.check_schema(tool[part])
        for described in _objects(tool["inputSchema"]):
            assert described["additionalProperties"] is False
            assert all(field["description"] for field in described["properties"].values())


def _objects(part: Any) -> list[dict[str, Any]]:
    if not isinstance(part, dict):
        return []
    inner = [found for value in part.values() for found in _objects(value)]
    return [part, *inner] if part.get("type") == "object" else inner


def test_arguments_have_their_wire_names() -> None:
    arguments = {tool["name"]: list(tool["inputSchema"]["properties"]) for tool in TOOLS}
    assert arguments == {
        "get_faq": ["slug", "lang", "offset"],
        "get_faq_jsonld": ["slug", "lang", "offset"],
        "generate_faq": ["websiteUrl", "lang", "count", "topic"],
        "publish_faq": ["websiteUrl", "websiteName", *CONTENT],
        "list_faqs": ["query", "state", "lang", "offset"],
        "update_faq": ["slug", "lang", "revision", "changes", "draft"],
        "unpublish_faq": ["slug", "lang"],
    }


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_all_definitions_together_are_short(client: FAQClient, mode: str) -> None:
    async def measure(connected: Client) -> int:
        return len((await connected.list_tools()).model_dump_json(by_alias=True, exclude_none=True))

    assert talk(client, measure, mode) / 4 < 2_500  # tokens


def test_the_list_can_be_cached_for_a_day(client: FAQClient) -> None:
    async def listed(connected: Client) -> tuple[int, str, str]:
        found = await connected.list_tools()
        return found.ttl_ms, found.cache_scope, found.result_type

    assert talk(client, listed) == (86_400_000, "public", "complete")


def test_the_instructions_do_not_depend_on_an_faq(client: FAQClient) -> None:
    async def instructions(connected: Client) -> str | None:
        await connected.call_tool("get_faq", {"slug": "pricing"})
        return connected.instructions

    assert talk(client, instructions) == INSTRUCTIONS
