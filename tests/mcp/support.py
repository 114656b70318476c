"""Talks to a tool server in memory, with the SDK's own client."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from mcp import Client
from mcp.types import CallToolResult

from faqsvc_embed import FAQClient
from faqsvc_embed.mcp.definitions import TOOLS
from faqsvc_embed.mcp.server import create_server

T = TypeVar("T")

SECRET: Final = "fs_live_" + "s3cretABC_-" * 4
TEA: Final[dict[str, Any]] = {
    "websiteUrl": "https://www.tea.example",
    "websiteName": "Tea & Sons",
    "items": [{"question": "What does it cost?", "answer": "Nothing."}],
}
GENERATED: Final = [{"question": "Open?", "answer": "Yes.", "source": "https://www.tea.example/#open"}]
TEXTS: Final = {
    "english": "The quick brown fox jumps. " * 40,
    "korean": "무엇이든 물어보세요. " * 60,
    "quotes": '"\\"\n<&>' * 150,
    "emoji": "👩‍👩‍👧‍👦" * 60,
}


def talk(client: FAQClient | None, work: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    """Return what `work` returns, which talks to a tool server over `client`."""

    async def run() -> T:
        async with Client(create_server(client), mode=mode) as connected:
            return await work(connected)

    return asyncio.run(run())


def call(
    client: FAQClient | None, name: str, arguments: dict[str, Any], mode: str = "auto"
) -> CallToolResult:
    """Return the result of one call."""
    return talk(client, lambda connected: connected.call_tool(name, arguments), mode)


def texts(result: CallToolResult) -> list[str]:
    """Return the texts of a result."""
    return [block.text for block in result.content if block.type == "text"]


def content(result: CallToolResult) -> dict[str, Any]:
    """Return the structured content of a success, which its first text repeats."""
    assert not result.is_error, texts(result)
    assert isinstance(result.structured_content, dict)
    assert json.loads(texts(result)[0]) == result.structured_content
    return result.structured_content


def error(result: CallToolResult) -> str:
    """Return the message of a failure."""
    assert (result.is_error, result.structured_content, len(result.content)) == (True, None, 1)
    return texts(result)[0]


def shown(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record as get_faq returns it: its items have no position."""
    items = [{name: item[name] for name in item if name != "position"} for item in record["items"]]
    return {**record, "items": items, "total": len(items)}


def output_schema(name: str) -> dict[str, Any]:
    """Return the schema of a tool's results."""
    return next(tool["outputSchema"] for tool in TOOLS if tool["name"] == name)


def tokens(result: CallToolResult) -> float:
    """Estimate the tokens of a result: four ASCII characters, or three bytes of others, are one."""
    text = result.model_dump_json(by_alias=True, exclude_none=True)
    ascii_count = sum(c.isascii() for c in text)
    return ascii_count / 4 + (len(text.encode()) - ascii_count) / 3
