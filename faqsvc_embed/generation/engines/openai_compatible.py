"""The engine for language models, behind any endpoint that is compatible with OpenAI's chat completions.

A long site is sent in parts, and the first items of each are kept. If a page persuades the model to write
something that no page says, `grounding` drops it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

import anyio
import msgspec
from msgspec.structs import replace

from faqsvc_embed.api.contract import DroppedEntry, GeneratedEntry, GenerateResponse
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.generation.crawl.page import Page
from faqsvc_embed.generation.data import load
from faqsvc_embed.generation.detection import contradicts
from faqsvc_embed.generation.engines.endpoint import ChatEndpoint
from faqsvc_embed.generation.engines.excerpts import Excerpt, batches_of, interleaved
from faqsvc_embed.generation.engines.grounding import Suggestion, supported_items
from faqsvc_embed.generation.engines.protocol import MAX_COUNT, EngineError, GenerationRequest, Reason
from faqsvc_embed.generation.extraction.questions import question_key
from faqsvc_embed.generation.threads import run_in_thread
from faqsvc_embed.settings.validators import base_url

DEFAULT_COUNT: Final = 10
MAX_SUGGESTIONS: Final = 4 * MAX_COUNT
MAX_CONCURRENT: Final = 3
"""Requests to an endpoint at a time, for one generation."""

_PROMPTS: Final = load("prompts", dict[str, Any])
"""The task, and the JSON schema of its result."""

T = TypeVar("T")


class _Suggestions(msgspec.Struct):
    items: list[Suggestion]


@dataclass(frozen=True, slots=True)
class OpenAICompatibleEngine:
    """Has a language model write questions and answers."""

    endpoint: ChatEndpoint
    crawl_time_fraction: float = 0.4

    async def generate_items(self, pages: Sequence[Page], request: GenerationRequest) -> GenerateResponse:
        """Return what the model writes and the pages support.

        Raises:
            EngineError: the endpoint fails, refuses, or sends an invalid completion.
        """
        batches = batches_of(pages)
        if not batches:
            return GenerateResponse([])
        count = min(request.count or DEFAULT_COUNT, MAX_COUNT)
        parts, errors = await self._write_all(batches, request, count)
        if errors and not parts:
            raise errors[0]
        items, duplicates = _unique(interleaved(part.items for part in parts))
        dropped = [dropped for part in parts for dropped in part.dropped] + duplicates
        dropped += [DroppedEntry(item.question, Reason.BEYOND_COUNT) for item in items[count:]]
        items, notes = await run_in_thread(partial(_labelled, items[:count], request))
        if errors:
            notes.append(f"The language model failed for {len(errors)} of {len(batches)} parts of the site.")
        return GenerateResponse(items, dropped=dropped, notes=notes)

    async def _write_all(
        self, batches: list[list[Excerpt]], request: GenerationRequest, count: int
    ) -> tuple[list[GenerateResponse], list[EngineError]]:
        """Have the model write items for a few batches at a time; return them, and the errors of others."""
        limiter = anyio.CapacityLimiter(MAX_CONCURRENT)
        results: list[GenerateResponse | EngineError] = [GenerateResponse([]) for _ in batches]

        async def write(number: int) -> None:
            async with limiter:
                try:
                    results[number] = await self._write(batches[number], request, count)
                except EngineError as error:
                    results[number] = error

        async with anyio.create_task_group() as tasks:
            for number in range(len(batches)):
                tasks.start_soon(write, number)
        parts = [result for result in results if isinstance(result, GenerateResponse)]
        return parts, [result for result in results if isinstance(result, EngineError)]

    async def _write(self, batch: list[Excerpt], request: GenerationRequest, count: int) -> GenerateResponse:
        """Have the model write items for a batch."""
        data = [{"title": excerpt.page.title, "text": excerpt.text} for excerpt in batch]
        response = await self.endpoint.complete(_task(request, count), data, _PROMPTS["items"])
        suggestions = _decoded(response, _Suggestions).items[:MAX_SUGGESTIONS]
        return await run_in_thread(partial(supported_items, suggestions, batch))


def _task(request: GenerationRequest, count: int) -> str:
    """Return the task of writing items from excerpts."""
    language = f"in the language {request.lang!r}" if request.lang else "in the language of the pages"
    return str(_PROMPTS["write"]).format(count=count, language=language)


def _unique(items: Sequence[GeneratedEntry]) -> tuple[list[GeneratedEntry], list[DroppedEntry]]:
    unique: dict[str, GeneratedEntry] = {}
    duplicates: list[DroppedEntry] = []
    for item in items:
        if unique.setdefault(question_key(item.question), item) is not item:
            duplicates.append(DroppedEntry(item.question, Reason.DUPLICATE))
    return list(unique.values()), duplicates


def _labelled(
    items: list[GeneratedEntry], request: GenerationRequest
) -> tuple[list[GeneratedEntry], list[str]]:
    """Return items with their language: the requested one, unless the model clearly wrote another."""
    if request.lang is None or not items:
        return items, []
    written = contradicts("\n".join(f"{item.question} {item.answer}" for item in items), request.lang)
    if written is None:
        return [replace(item, lang=request.lang) for item in items], []
    note = f"The language model did not translate: the items are in {written!r}, not in {request.lang!r}."
    return [replace(item, lang=written) for item in items], [note]


def _decoded(response: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(response, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise EngineError(f"the language model did not return the requested JSON: {error}") from None


def from_environment(environ: Mapping[str, str]) -> OpenAICompatibleEngine | None:
    """Return the engine for FAQSVC_LLM_URL, FAQSVC_LLM_MODEL and FAQSVC_LLM_KEY, or None if these are unset.

    Raises:
        ConfigurationError: only one of the first two is set, or the URL is invalid.
    """
    url, model = environ.get("FAQSVC_LLM_URL", "").strip(), environ.get("FAQSVC_LLM_MODEL", "").strip()
    if not url and not model:
        return None
    if not url or not model:
        missing = "FAQSVC_LLM_MODEL" if url else "FAQSVC_LLM_URL"
        raise ConfigurationError(f"{missing} is not set: a model needs FAQSVC_LLM_URL and FAQSVC_LLM_MODEL")
    try:
        url = base_url(url)
    except ValueError as error:
        raise ConfigurationError(f"FAQSVC_LLM_URL is {quoted(url)}: {error}") from None
    key = environ.get("FAQSVC_LLM_KEY", "").strip()
    return OpenAICompatibleEngine(ChatEndpoint(url, model, key))
