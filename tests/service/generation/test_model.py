"""Generation by a language model, through the service: what a failing endpoint means for its clients."""

import json
import logging
import time
from collections.abc import Iterator

import pytest

from tests.generation.websites import html, website
from tests.service.generation.conftest import BUSY, Ask
from tests.support import faulty as faults
from tests.support.faulty import Behaviour, FaultyServer

KEY = "sk-very-secret-0123456789"
ITEM = {
    "question": "When do you open?",
    "answer": "At nine.",
    "support": "We open at nine and close at six.",
    "page": 0,
}


@pytest.fixture
def llm(faulty: FaultyServer) -> Iterator[FaultyServer]:
    """The endpoint of a model, beside a website about teas."""
    faulty.behave(website({"/": html("<h1>Teas</h1><p>We open at nine and close at six.</p>")}))
    content = json.dumps({"items": [ITEM]})
    with FaultyServer(
        faults.body(json.dumps({"choices": [{"message": {"content": content}}]}).encode())
    ) as server:
        yield server


def settings(llm: FaultyServer, **more: str) -> dict[str, str]:
    url = f"http://127.0.0.1:{llm.port}/v1"
    return {"FAQSVC_LLM_URL": url, "FAQSVC_LLM_MODEL": "tiny", "FAQSVC_LLM_KEY": KEY, **more}


def test_a_model_writes_items_with_a_link_to_the_supporting_sentence(
    ask: Ask, llm: FaultyServer, faulty: FaultyServer
) -> None:
    support = "We%20open%20at%20nine%20and%20close%20at%20six."
    source = f"http://127.0.0.1:{faulty.port}/#:~:text={support}"

    [item] = ask(settings(llm)).json()["items"]
    assert (item["question"], item["answer"]) == ("When do you open?", "At nine.")
    assert item["source"] == source


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        (faults.body(b"{"), 502),
        (faults.body(f"Wrong key {KEY}".encode(), status=403), 502),
        (faults.status(429, {"Retry-After": "7"}), 503),
        (faults.hang, 504),
    ],
)
def test_a_failing_model_is_a_problem_within_the_deadline(
    ask: Ask, llm: FaultyServer, behaviour: Behaviour, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    llm.behave(behaviour)
    started = time.monotonic()

    with caplog.at_level(logging.DEBUG, "faqsvc_embed"):
        response = ask(settings(llm, FAQSVC_GENERATE_TIMEOUT="0.5" if status == 504 else "30"))

    assert response.status_code == status
    assert response.headers.get("retry-after") == ("7" if status == 503 else None)
    assert time.monotonic() - started < BUSY
    assert KEY not in response.text + str(response.headers) + caplog.text
