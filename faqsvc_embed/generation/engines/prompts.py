"""The prompts for a language model, and the JSON of its responses."""

import json
from collections.abc import Sequence
from typing import Any, Final

from faqsvc_embed.generation.data import load
from faqsvc_embed.generation.engines.excerpts import Excerpt
from faqsvc_embed.generation.engines.protocol import GenerationRequest

_PROMPTS: Final = load("prompts", dict[str, Any])
ITEMS_SCHEMA: Final[dict[str, Any]] = _PROMPTS["items"]


def writing_task(request: GenerationRequest, count: int) -> str:
    """Return the task of writing items from excerpts."""
    language = f"in the language {request.lang!r}" if request.lang else "in the language of the pages"
    return str(_PROMPTS["write"]).format(count=count, language=language, about=_about(request))


def pages_as_data(excerpts: Sequence[Excerpt]) -> list[dict[str, Any]]:
    """Return excerpts as the data of a request."""
    return [
        {"page": number, "title": excerpt.page.title, "text": excerpt.text}
        for number, excerpt in enumerate(excerpts)
    ]


def _about(request: GenerationRequest) -> str:
    topic = json.dumps(request.topic, ensure_ascii=False)
    return f" All are about this topic: {topic}." if request.topic else ""
