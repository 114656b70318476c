"""Publications that are sent again: `Idempotency-Key`."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, is_problem, publication, publish
from tests.support.clock import Clock


def test_a_retry_with_its_idempotency_key_publishes_nothing_new(client: TestClient, key: str) -> None:
    first, second = (publish(client, key, publication(), Idempotency_Key="once") for _ in range(2))

    assert (second.status_code, second.json()) == (first.status_code, first.json())


def test_an_idempotency_key_with_another_body_is_a_mistake(client: TestClient, key: str) -> None:
    publish(client, key, publication(), Idempotency_Key="once")
    response = publish(client, key, publication(title="Other"), Idempotency_Key="once")

    assert is_problem(response, 422)
    assert response.json()["problems"] == ["the Idempotency-Key 'once' came before, with another body"]


def test_an_idempotency_key_of_another_is_not_the_same(
    client: TestClient, storage: Storage, key: str
) -> None:
    mine = publish(client, key, publication(), Idempotency_Key="once").json()
    theirs = publish(client, storage.keys.create(), publication(), Idempotency_Key="once").json()

    assert mine["slug"] != theirs["slug"]


def test_an_idempotency_key_is_forgotten_after_a_day(client: TestClient, key: str, clock: Clock) -> None:
    first = publish(client, key, publication(), Idempotency_Key="once").json()
    clock.advance(24 * 3600 + 1)
    later = publish(client, key, publication(), Idempotency_Key="once").json()

    assert first["slug"] != later["slug"]


def test_a_publication_that_failed_can_be_corrected_under_its_idempotency_key(
    client: TestClient, key: str
) -> None:
    failed = publish(client, key, publication(slug="nothing"), Idempotency_Key="once")
    corrected = publish(client, key, publication(), Idempotency_Key="once")

    assert (failed.status_code, corrected.status_code) == (404, 201)


@pytest.mark.parametrize("token", ["", "a b", "k" * 256])
def test_an_idempotency_key_has_a_form(client: TestClient, key: str, token: str) -> None:
    assert is_problem(publish(client, key, publication(), Idempotency_Key=token), 422)


def test_retries_at_the_same_time_publish_once(server: httpx2.Client, storage: Storage, key: str) -> None:
    headers = {"X-Plugin-Key": key, "Idempotency-Key": "once"}

    def send(_: int) -> Any:
        return server.post(PATH, json=publication(), headers=headers).json()["slug"]

    with ThreadPoolExecutor(16) as threads:
        slugs = set(threads.map(send, range(32)))

    assert len(slugs) == 1
