"""Chat completions of any OpenAI-compatible endpoint, in the response format that it accepts."""

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
import msgspec

from faqsvc_embed.errors import quoted
from faqsvc_embed.generation.crawl.fetcher import default_ssl_context
from faqsvc_embed.generation.engines.protocol import EngineError
from faqsvc_embed.generation.extraction.text import plain
from faqsvc_embed.settings.validators import is_loopback_http

MAX_RESPONSE: Final = 1_048_576
"""Bytes of a response that are read."""
MAX_LOGGED: Final = 500
"""Characters of an error that are logged."""
FORMATS: Final = ("json_schema", "json_object", None)
"""Response formats, in the order in which an endpoint is asked for them."""
REFUSALS: Final = (400, 404, 413, 415, 422, 501)
"""Statuses after which the next format is tried."""

logger: logging.Logger = logging.getLogger("faqsvc_embed.generation")


class _Message(msgspec.Struct):
    content: str | None = None
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
        text = self._masked(plain(content[:2000].decode("utf-8", "replace")))
        status, retry_after = response.status_code, _retry_after(response)
        reason = f"it has status {status}: {text[:MAX_LOGGED]!r}"
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
            raise self._failure("it sent no chat completion") from None
        if message.refusal or not message.content:
            raise self._failure(f"it refuses: {quoted(message.refusal or 'the message is empty')}")
        return _unfenced(message.content).encode("utf-8", "replace")

    def _headers(self) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity"}  # so that MAX_RESPONSE limits what is in memory
        return {**headers, "Authorization": f"Bearer {self.key}"} if self.key else headers

    def _masked(self, text: str) -> str:
        """Return a text with the key masked."""
        return text.replace(self.key, "***") if self.key else text

    def _failure(self, reason: str, **fields: Any) -> EngineError:
        """Log why the endpoint fails, and return an error that the user of the service may see."""
        logger.warning("the model endpoint fails: %s", self._masked(reason))
        status = f" (status {fields['status']})" if "status" in fields else ""
        return EngineError(f"the language model fails{status}; the log of the service says why", **fields)


def _response_format(kind: str | None, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field of a request that asks for JSON in one of `FORMATS`."""
    if kind is None:
        return {}
    named = {"json_schema": {"name": "faq", "strict": True, "schema": schema}}
    return {"response_format": {"type": kind, **(named if kind == "json_schema" else {})}}


def _retry_after(response: httpx2.Response) -> float | None:
    value = response.headers.get("retry-after", "")
    return float(value) if re.fullmatch("[0-9]{1,5}", value) else None


def _unfenced(content: str) -> str:
    """Return JSON without the Markdown fence and the thoughts that some models add."""
    content = content.strip()
    if content.startswith("<think>"):
        content = content.partition("</think>")[2].strip()
    first, _, rest = content.partition("\n")
    return rest.removesuffix("```") if first.strip() in ("```", "```json") else content
