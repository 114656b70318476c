"""Old and new endpoints: each gets a response format that it accepts."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from faqsvc_embed.generation.engines.openai_compatible import ChatEndpoint
from faqsvc_embed.generation.engines.protocol import EngineError
from tests.support import faulty as faults
from tests.support.faulty import Exchange, FaultyServer

KEY: Final = "sk-very-secret-0123456789"
DONE: Final = {"choices": [{"index": 0, "message": {"role": "assistant", "content": '{"items": []}'}}]}

Refusal = tuple[int, object]
Refuse = Callable[[dict[str, Any]], Refusal | None]


def openai_error(message: str, param: str | None, code: str | None = None) -> object:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def model_of_2023(body: dict[str, Any]) -> Refusal | None:
    if "response_format" in body and body["response_format"]["type"] != "json_object":
        message = (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
        )
        return 400, openai_error(message, "response_format")
    return None


def strict_local_server(body: dict[str, Any]) -> Refusal | None:
    unknown = [name for name in body if name not in ("model", "messages")]
    if unknown:
        detail = [
            {"loc": ["body", name], "msg": "extra fields not permitted", "type": "value_error.extra"}
            for name in unknown
        ]
        return 422, {"detail": detail}
    return None


def silent_refuser(body: dict[str, Any]) -> Refusal | None:
    return (400, {"error": "Bad Request"}) if len(body) > 2 else None


class Scripted:
    """An endpoint that refuses bodies as a real one does."""

    def __init__(self, refuse: Refuse) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._refuse = refuse

    def __call__(self, exchange: Exchange) -> None:
        body = json.loads(exchange.request.body)
        self.bodies.append(body)
        status, response = self._refuse(body) or (200, DONE)
        faults.body(json.dumps(response).encode(), status=status)(exchange)


@pytest.fixture
def llm() -> Iterator[FaultyServer]:
    with FaultyServer(faults.body(json.dumps(DONE).encode())) as server:
        yield server


def endpoint(llm: FaultyServer) -> ChatEndpoint:
    return ChatEndpoint(f"http://127.0.0.1:{llm.port}/v1", "tiny", KEY)


def complete(chat: ChatEndpoint) -> bytes:
    return asyncio.run(chat.complete("Write JSON.", [], {"type": "object"}))


@pytest.mark.parametrize(
    ("refuse", "accepted"),
    [
        (model_of_2023, {"response_format"}),
        (strict_local_server, set()),
        (silent_refuser, set()),
    ],
)
def test_a_refused_response_format_is_left_out_from_then_on(
    llm: FaultyServer, refuse: Refuse, accepted: set[str]
) -> None:
    script = Scripted(refuse)
    llm.behave(script)
    chat = endpoint(llm)

    assert complete(chat) == b'{"items": []}'
    assert set(script.bodies[-1]) - {"model", "messages"} == accepted
    requests = len(script.bodies)
    complete(chat)
    assert len(script.bodies) == requests + 1


def test_an_endpoint_that_refuses_everything_fails_and_nothing_is_learned(llm: FaultyServer) -> None:
    script = Scripted(lambda body: (400, openai_error("The model `tiny` does not exist", "model")))
    llm.behave(script)
    chat = endpoint(llm)

    with pytest.raises(EngineError):
        complete(chat)

    assert chat.refused == 0
    assert len(script.bodies) <= 3


def test_an_endpoint_that_sends_429_gets_no_second_request(llm: FaultyServer) -> None:
    llm.behave(faults.status(429, {"Retry-After": "60"}))
    with pytest.raises(EngineError) as failed:
        complete(endpoint(llm))
    assert (failed.value.retry_after, len(llm.log)) == (60.0, 1)


def test_the_error_message_of_the_endpoint_is_only_in_the_log(
    llm: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:
    message = f"Incorrect API key provided: {KEY}. See https://internal.example."
    llm.behave(Scripted(lambda body: (401, openai_error(message, None, "invalid_api_key"))))

    with caplog.at_level(logging.WARNING), pytest.raises(EngineError) as failed:
        complete(endpoint(llm))

    assert failed.value.status == 401
    assert "internal.example" not in str(failed.value)
    assert "internal.example" in caplog.text
    assert KEY not in caplog.text + str(failed.value)
