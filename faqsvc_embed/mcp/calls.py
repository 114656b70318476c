"""What a tool gets and returns: a call with its clients, and a result that a model can read at once."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mcp.types import CallToolResult, TextContent

from faqsvc_embed.api.requests import KEY_HEADER
from faqsvc_embed.client import FAQClient
from faqsvc_embed.errors import without_keys
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.api_key import APIKey

NO_KEY: Final = (
    "FAQSVC_API_KEY is not set, and nothing was sent. Ask the user to set it in the environment of this MCP "
    "server and to restart it; `faqsvc keys create` makes keys, and so does the desk of the service under "
    "Site, Keys."
)
NO_KEY_SENT: Final = (
    "The request has no API key, and nothing was sent. Ask the user to let the MCP client send one in the "
    "header X-Plugin-Key, or as a bearer token in Authorization; `faqsvc keys create` makes keys."
)
MAX_RESULT: Final = 52_000
"""Maximum bytes of one result, as structured content and as text together.

The longest answer in English fits. The result has fewer than 25,000 tokens, because in every language a token
has more than two bytes on average.
"""
ROOM: Final = MAX_RESULT - 6_000
"""Maximum bytes of the items of a result; the rest is for the other fields."""
MAX_TITLE: Final = 300
MAX_EXTRA: Final = 2_000
MAX_MESSAGE: Final = 4_000

Arguments = dict[str, Any]
Entry = dict[str, Any]


class ToolError(Exception):
    """A call failed; the message says what to change, and `content` has other values that the model needs."""

    def __init__(self, message: str, content: Entry | None = None) -> None:
        super().__init__(message)
        self.content = content

    def result(self) -> CallToolResult:
        """Return the error as a result. Without content, it is text only, which fits every output schema."""
        message = shorten(without_keys(str(self)), MAX_MESSAGE)
        if self.content is None:
            return CallToolResult(content=[TextContent(type="text", text=message)], is_error=True)
        return result_of({**self.content, "message": message}).model_copy(update={"is_error": True})


class Clients:
    """The FAQ clients of a server: a given one, or those that the environment configures.

    Reads use no key, so that an invalid key stops only writes. With `is_remote`, a request may send
    its own key.
    """

    def __init__(self, client: FAQClient | None, *, is_remote: bool) -> None:
        self._given = self._reader = client
        self._is_remote = is_remote

    def reading(self) -> FAQClient:
        """Return the client that reads published FAQs."""
        if self._reader is None:
            self._reader = FAQClient(settings=Settings.from_env(api_key=None))
        return self._reader

    def writing(self, headers: Mapping[str, str]) -> FAQClient:
        """Return a client with the API key of the request, or of the given client or the environment.

        Raises:
            ToolError: there is no key.
        """
        scheme, _, token = headers.get("authorization", "").partition(" ")
        sent = headers.get(KEY_HEADER.lower()) or (token.strip() if scheme.lower() == "bearer" else None)
        if self._is_remote and sent:
            key: APIKey | None = APIKey(sent)
        elif self._given is not None:
            key = self._given.settings.api_key
        else:
            key = None if self._is_remote else Settings.from_env().api_key
        if key is None:
            raise ToolError(NO_KEY_SENT if self._is_remote else NO_KEY)
        return self.reading().with_key(key)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool. `reading` returns a client; `writing` returns one with a key, or raises ToolError."""

    name: str
    arguments: Arguments
    reading: Callable[[], FAQClient]
    writing: Callable[[], FAQClient]


def result_of(content: Entry, text: str = "", notes: Sequence[str] = ()) -> CallToolResult:
    """Return a result with the content, and with `text` or the content in JSON. Notes become sentences."""
    note = " ".join(f"{one.removesuffix('.')}." for one in notes if one)
    content = {**content, "note": note} if note and not text else content
    written = to_json(content)
    blocks = [TextContent(type="text", text=one) for one in (text or written, text and note) if one]
    return CallToolResult(content=[*blocks], structured_content=json.loads(written))


def to_json(value: object) -> str:
    """Return a value as compact JSON; a lone surrogate, which UTF-8 lacks, becomes a question mark."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def size_of(value: object) -> int:
    """Return how many bytes a value takes in a result: as JSON, and again inside a JSON string."""
    text = to_json(value)
    return len(text.encode()) + len(to_json(text).encode())


def part_of(
    entries: Sequence[Entry], offset: int, name: str, size: Callable[[Entry], int] = size_of
) -> tuple[Entry, list[str]]:
    """Return the fields of a result with the entries from an offset on, as many as fit, and notes.

    The fields are `items`, `total` and, if entries are left, `nextOffset`.

    Raises:
        ToolError: the offset is beyond the end.
    """
    total = len(entries)
    if offset and offset >= total:
        raise ToolError(f"offset is {offset}, but {total} {name} are found.")
    part = take_fitting(entries[offset:], ROOM, size)
    fields, end = {"items": part, "total": total}, offset + len(part)
    if end == total:
        return fields, []
    return {**fields, "nextOffset": end}, [f"These are {name} {offset} to {end - 1} of {total}"]


def take_fitting(entries: Sequence[Entry], room: int, size: Callable[[Entry], int] = size_of) -> list[Entry]:
    """Return the first entries that fit into `room` bytes: at least one, whose texts may be cut."""
    taken, left = list[Entry](), room
    for entry in entries:
        left -= size(entry) + 2
        if left < 0:
            break
        taken.append(entry)
    return taken or [_cut(entry, room, size) for entry in entries[:1]]


def _cut(entry: Entry, room: int, size: Callable[[Entry], int]) -> Entry:
    cut, length = entry, max(len(str(value)) for value in entry.values())
    while size(cut) > room and length:
        length = length * 3 // 4
        cut = {
            name: shorten(value, length) if isinstance(value, str) else value for name, value in entry.items()
        }
    return cut


def shorten(text: str, length: int) -> str:
    """Return the first `length` characters of a text, and say so if it is cut."""
    return text if len(text) <= length else f"{text[:length]}… [cut; {len(text)} characters]"


def if_small(value: Any) -> Any:
    """Return a value of any form if it is small, else None."""
    return value if size_of(value) <= MAX_EXTRA else None
