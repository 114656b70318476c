"""API keys in requests."""

import asyncio
import threading

import httpx2
import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from faqsvc_embed import FAQ
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, is_problem, key_of_another_site, publication, publish
from tests.service.storage.writes import put


def test_a_request_without_a_key_is_a_401(client: TestClient) -> None:
    response = client.post(PATH, json=publication())

    assert is_problem(response, 401)
    assert response.headers["www-authenticate"] == 'ApiKey header="X-Plugin-Key"'


@pytest.mark.usefixtures("key")
def test_a_wrong_key_is_a_403(client: TestClient) -> None:
    for wrong in (b"fs_live_", b"fs_live_" + b"A" * 43, b"x", b"' OR 1=1 --", b"\xff\xfe", b"k" * 9000):
        response = client.post(PATH, json=publication(), headers={b"X-Plugin-Key": wrong})
        assert is_problem(response, 403), wrong


def test_a_revoked_key_is_a_403_and_its_faqs_stay(client: TestClient, storage: Storage, key: str) -> None:
    slug = publish(client, key, publication()).json()["slug"]
    storage.keys.revoke(storage.keys.list()[0].id)

    assert is_problem(publish(client, key, publication()), 403)
    assert client.get(f"{PATH}/{slug}").status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        {"Authorization": "Bearer {key}"},
        {"X-API-Key": "{key}"},
        {"Cookie": "X-Plugin-Key={key}"},
        {"X-Plugin-Key": ""},
    ],
)
def test_a_key_anywhere_else_is_ignored_and_not_repeated(
    client: TestClient, key: str, header: dict[str, str]
) -> None:
    headers = {name: value.format(key=key) for name, value in header.items()}
    response = client.post(f"{PATH}?X-Plugin-Key={key}&key={key}", json=publication(key=key), headers=headers)

    assert is_problem(response, 401)
    assert key not in response.text + str(response.headers)


def test_a_read_with_a_key_does_not_wait_for_writers(client: TestClient, storage: Storage, key: str) -> None:
    with storage.database.writing() as connection:
        connection.execute(text("UPDATE sites SET name = 'locked'"))
        assert client.get("/api/v1/faqs", headers={"X-Plugin-Key": key}).status_code == 200


def test_a_refused_request_counts_as_a_use_of_its_key(client: TestClient, storage: Storage, key: str) -> None:
    slug = publish(client, key_of_another_site(storage), publication()).json()["slug"]

    refused = client.put(f"{PATH}/{slug}", json=publication(), headers={"X-Plugin-Key": key})
    assert refused.status_code == 403
    storage.keys.record_uses()
    assert [info.last_used_at for info in storage.keys.list() if info.name == "tests"] != [None]


@pytest.mark.parametrize("flood", ["keys", "subscribers that come back"])
def test_public_reads_do_not_wait_for_a_flood(
    storage: Storage, flood: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over, log = threading.Event(), storage.changes
    path, headers = "/api/v1/faqs", {"X-Plugin-Key": "wrong"}
    if flood != "keys":
        path, headers = "/api/v1/events?slug=a", {"Last-Event-ID": log.version()[0].event_id(0)}
        put(storage, FAQ("a", lang="en"))
    monkeypatch.setattr(storage.keys, "verify", lambda _: (is_over.wait(90), None)[1])
    monkeypatch.setattr(log, "after", lambda *_: (is_over.wait(90), [])[1])

    async def main() -> int:
        transport = httpx2.ASGITransport(create_app(storage))
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            tasks = [asyncio.create_task(client.get(path, headers=headers)) for _ in range(60)]
            await asyncio.sleep(0.5)
            try:
                return (await asyncio.wait_for(client.get(f"{PATH}/pricing"), 30)).status_code
            finally:
                is_over.set()
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)

    assert asyncio.run(main()) == 404
