"""What a tool answers, within bounds: a result is put before a model, which reads it whole or not at all."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

MOST_BYTES: Final = 52_000
"""Of one result in both its forms: room for the longest answer in English that can be published, and below
25,000 tokens as long as a token has more than two bytes, as in any language.
"""
MOST_TITLE: Final = 300
MOST_EXTRA: Final = 2_000
MOST_MESSAGE: Final = 4_000


@dataclass(frozen=True, slots=True)
class Answer:
    """The structured content of a result, the same as JSON text, and what there is to say beside it."""

    content: dict[str, Any]
    text: str
    note: str = ""


class Refusal(Exception):
    """A call cannot be answered; the message tells the model what to change."""


def answer(content: dict[str, Any]) -> Answer:
    """Return an answer whose text is its content."""
    text = dumped(content)
    return Answer(json.loads(text), text)


def dumped(value: object) -> str:
    """Return a value as compact JSON; a lone surrogate, which nobody could write, becomes a question mark."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def weight(value: object) -> int:
    """Return the bytes of a value in a result: as JSON, and as JSON inside a JSON string."""
    text = dumped(value)
    return len(text.encode()) + len(dumped(text).encode())


def fitting(
    entries: Sequence[dict[str, Any]], room: int, weigh: Callable[[dict[str, Any]], int] = weight
) -> list[dict[str, Any]]:
    """Return the first entries that fit into `room` bytes: at least one, whose texts are cut if need be."""
    taken, left = list[dict[str, Any]](), room
    for entry in entries:
        left -= weigh(entry) + 2
        if left < 0:
            break
        taken.append(entry)
    return taken or [_cut(entry, room, weigh) for entry in entries[:1]]


def _cut(entry: dict[str, Any], room: int, weigh: Callable[[dict[str, Any]], int]) -> dict[str, Any]:
    cut, longest = entry, max(len(str(value)) for value in entry.values())
    while weigh(cut) > room:
        longest = longest * 3 // 4
        cut = {
            name: shortened(value, longest) if isinstance(value, str) else value
            for name, value in entry.items()
        }
    return cut


def shortened(text: str, longest: int) -> str:
    """Return text of at most about `longest` characters, and say so where it was cut."""
    return text if len(text) <= longest else f"{text[:longest]}… [cut; {len(text)} characters]"


def small(value: Any) -> Any:
    """Return a value of open form if it is small, else None."""
    return value if weight(value) <= MOST_EXTRA else None
