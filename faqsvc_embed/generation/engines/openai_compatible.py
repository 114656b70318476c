"""The engine for language models, behind any endpoint that is compatible with OpenAI's chat completions.

A long site is sent in parts, and the first items of each are kept. If a page persuades the model to write
something that no page says, `grounding` drops it.
"""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import httpx2
import msgspec
from msgspec.structs import replace

from faqsvc_embed.api.contract import DroppedEntry, GeneratedEntry, GenerateResponse
from faqsvc_embed.api.responses import parse_retry_after
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.generation.crawl.fetcher import default_ssl_context
from faqsvc_embed.generation.crawl.page import Page, contradicts
from faqsvc_embed.generation.data import load
from faqsvc_embed.generation.engines.grounding import (
    Excerpt,
    Suggestion,
    batches_of,
    interleaved,
    supported_items,
)
from faqsvc_embed.generation.engines.protocol import MAX_COUNT, EngineError, GenerationRequest, Reason
from faqsvc_embed.generation.extraction.questions import question_key
from faqsvc_embed.generation.extraction.text import plain
from faqsvc_embed.generation.threads import run_in_thread
from faqsvc_embed.settings.validators import base_url, is_loopback_http

DEFAULT_COUNT: Final = 10
MAX_SUGGESTIONS: Final = 4 * MAX_COUNT
MAX_CONCURRENT: Final = 3
"""Requests to an endpoint at a time, for one generation."""

MAX_RESPONSE: Final = 1_048_576
"""Bytes of a response that are read."""
MAX_LOGGED: Final = 500
"""Characters of an error that are logged."""
FORMATS: Final = ("json_schema", "json_object", None)
"""Response formats, in the order in which an endpoint is asked for them."""
REFUSALS: Final = (400, 404, 413, 415, 422, 501)
"""Statuses after which the next format is tried."""

_PROMPTS: Final = load("prompts", dict[str, Any])
"""The task, and the JSON schema of its result."""

logger: logging.Logger = logging.getLogger("faqsvc_embed.generation")


class _Part(msgspec.Struct):
    text: str = ""


class _Message(msgspec.Struct):
    content: str | list[_Part] | None = None
    reasoning_content: str | None = None
    """Where some servers put the whole text of a model that thinks."""
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Completion(msgspec.Struct):
    choices: list[_Choice]


@dataclass(slots=True)
class ChatEndpoint:
    """A chat completion endpoint with a `url` such as `http://127.0.0.1:11434/v1`.

    `refused` is the number of `FORMATS` that the endpoint has refused so far.
    """

    url: str
    model: str
    key: str = field(repr=False)
    refused: int = 0

    async def complete(self, task: str, data: object, schema: Mapping[str, Any]) -> bytes:
        """Return the JSON with which the model responds to a task about some data.

        Raises:
            EngineError: the endpoint fails or refuses. Only the log has its own message.
        """
        messages = [
            {"role": "system", "content": task},
            {"role": "user", "content": json.dumps(data, ensure_ascii=False)},
        ]
        for number in range(self.refused, len(FORMATS)):
            body = {"model": self.model, "messages": messages, **_response_format(FORMATS[number], schema)}
            response, content = await self._post(body)
            if response.status_code == 200:
                self.refused = number
                return self._message(content)
            if response.status_code not in REFUSALS:
                break
        status = response.status_code
        retry_after = parse_retry_after(response.headers.get("retry-after"), datetime.now(UTC))
        reason = f"it has status {status}: {self._beginning(content)!r}"
        raise self._failure(reason, status=status, retry_after=retry_after)

    async def _post(self, body: Mapping[str, Any]) -> tuple[httpx2.Response, bytes]:
        """Send one request, and return the response with its body."""
        url = self.url if self.url.endswith("/chat/completions") else f"{self.url}/chat/completions"
        content = bytearray()
        try:
            async with (
                httpx2.AsyncClient(
                    verify=default_ssl_context(), timeout=None, trust_env=not is_loopback_http(url)
                ) as client,
                client.stream("POST", url, json=body, headers=self._headers()) as response,
            ):
                async for chunk in response.aiter_raw(65_536):
                    content += chunk
                    if len(content) > MAX_RESPONSE:
                        raise self._failure(f"it sent more than {MAX_RESPONSE} bytes")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            reason = self._masked(str(error)) or type(error).__name__
            raise self._failure(f"it cannot be reached: {quoted(reason)}") from None
        return response, bytes(content)

    def _message(self, content: bytes) -> bytes:
        """Return the text of the message in a chat completion."""
        try:
            message = msgspec.json.decode(content, type=_Completion).choices[0].message
        except (msgspec.MsgspecError, UnicodeError, RecursionError, IndexError):
            raise self._failure(f"it sent no chat completion: {self._beginning(content)!r}") from None
        text = message.content or message.reasoning_content or ""
        if message.refusal or not text:
            raise self._failure(f"it refuses: {quoted(message.refusal or 'the message is empty')}")
        text = text if isinstance(text, str) else "".join(part.text for part in text)
        return _bare(text).encode("utf-8", "replace")

    def _headers(self) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity"}  # so that MAX_RESPONSE limits what is in memory
        return {**headers, "Authorization": f"Bearer {self.key}"} if self.key else headers

    def _beginning(self, content: bytes) -> str:
        return self._masked(plain(content[:2000].decode("utf-8", "replace")))[:MAX_LOGGED]

    def _masked(self, text: str) -> str:
        """Return a text with the key masked."""
        return text.replace(self.key, "***") if self.key else text

    def _failure(self, reason: str, **fields: Any) -> EngineError:
        """Log why the endpoint fails, and return an error that the user of the service may see."""
        logger.warning("the model endpoint fails: %s", self._masked(reason))
        status = f" (status {fields['status']})" if "status" in fields else ""
        return EngineError(f"the language model fails{status}; the log of the service says why", **fields)


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
        limit = asyncio.Semaphore(MAX_CONCURRENT)

        async def write(batch: list[Excerpt]) -> GenerateResponse | EngineError:
            async with limit:
                try:
                    return await self._write(batch, request, count)
                except EngineError as error:
                    return error

        async with asyncio.TaskGroup() as tasks:  # an error that is unexpected ends the others, too
            writing = [tasks.create_task(write(batch)) for batch in batches]
        results = [task.result() for task in writing]
        parts = [result for result in results if isinstance(result, GenerateResponse)]
        return parts, [result for result in results if isinstance(result, EngineError)]

    async def _write(self, batch: list[Excerpt], request: GenerationRequest, count: int) -> GenerateResponse:
        """Have the model write items for a batch."""
        language = f"in the language {request.lang!r}" if request.lang else "in the language of the pages"
        task = str(_PROMPTS["write"]).format(count=count, language=language)
        data = [{"title": excerpt.page.title, "text": excerpt.text} for excerpt in batch]
        response = await self.endpoint.complete(task, data, _PROMPTS["items"])
        try:
            suggestions = msgspec.json.decode(response, type=_Suggestions).items[:MAX_SUGGESTIONS]
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise EngineError(f"the language model did not return the requested JSON: {error}") from None
        return await run_in_thread(partial(supported_items, suggestions, batch))


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


def _response_format(kind: str | None, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field of a request that asks for JSON in one of `FORMATS`."""
    if kind is None:
        return {}
    named = {"json_schema": {"name": "faq", "strict": True, "schema": schema}}
    return {"response_format": {"type": kind, **(named if kind == "json_schema" else {})}}


def _bare(content: str) -> str:
    """Return JSON without the fence, thoughts and remarks of some models; a list has the items."""
    if not content.lstrip().startswith("{"):
        content = content.rpartition("</think>")[2]
    begin = max(0, content.find("{"))
    text = content[begin : content.rfind("}") + 1]
    return f'{{"items": [{text}]}}' if content[:begin].rstrip().endswith("[") else text


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
