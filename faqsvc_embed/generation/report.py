"""A generation as the JSON object that the service sends and `faqsvc extract` prints."""

from typing import Any, Final

import msgspec

from faqsvc_embed.generation.engines.protocol import Dropped, GeneratedItem
from faqsvc_embed.generation.generator import Generation

MAX_DROPPED: Final = 100
"""Dropped questions and pages that are reported."""


def to_fields(generation: Generation) -> dict[str, Any]:
    """Return a generation as JSON fields; empty fields other than `items` are left out."""
    fields: dict[str, Any] = {
        "items": [_item(position, item) for position, item in enumerate(generation.items)],
        "pages": msgspec.to_builtins(generation.pages),
        "dropped": [_dropped(dropped) for dropped in generation.dropped[:MAX_DROPPED]],
        "notes": generation.notes,
    }
    return {name: value for name, value in fields.items() if value or name == "items"}


def _item(position: int, item: GeneratedItem) -> dict[str, Any]:
    fields = {
        "position": position,
        "question": item.question,
        "answer": item.answer,
        "answerMarkdown": item.markdown or None,
        "lang": item.lang,
        "source": item.source,
        "confidence": item.confidence,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _dropped(dropped: Dropped) -> dict[str, Any]:
    fields = msgspec.to_builtins(dropped)
    return {name: value for name, value in fields.items() if value}
