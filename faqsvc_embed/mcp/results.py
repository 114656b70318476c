"""Results of tools, short enough for a model to read at once."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from mcp.types import CallToolResult, TextContent

from faqsvc_embed.errors import without_keys

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


def result_of(content: Entry, text: str = "", notes: Sequence[str] = ()) -> CallToolResult:
    """Return a result with the content, also as JSON text unless `text` is given, and with notes."""
    note = sentences(*notes)
    content = {**content, "note": note} if note and not text else content
    written = to_json(content)
    blocks = [TextContent(type="text", text=one) for one in (text or written, text and note) if one]
    return CallToolResult(content=[*blocks], structured_content=json.loads(written))


def sentences(*notes: str) -> str:
    """Return notes as sentences."""
    return " ".join(f"{note.removesuffix('.')}." for note in notes if note)


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
) -> tuple[list[Entry], int, list[str]]:
    """Return the entries from an offset on that fit into a result, the next offset, and notes.

    The next offset is 0 at the end.

    Raises:
        ToolError: the offset is beyond the end.
    """
    total = len(entries)
    if offset and offset >= total:
        raise ToolError(f"offset is {offset}, but {total} {name} are found.")
    part = take_fitting(entries[offset:], ROOM, size)
    end = offset + len(part)
    notes = [f"These are {name} {offset} to {end - 1} of {total}"] if end < total else []
    return part, end if end < total else 0, notes


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
