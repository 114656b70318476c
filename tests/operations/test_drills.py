"""The drills of the runbook: backup and restore, a killed process, legal deletion."""

import signal
import threading
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import open_storage
from tests.operations.commands import run, serving

pytestmark = pytest.mark.system


class Publisher(threading.Thread):
    """Publishes FAQs one after the other, and notes which were acknowledged."""

    def __init__(self, url: str, key: str) -> None:
        super().__init__()
        self.acknowledged = list[str]()
        self._url, self._key = url, key
        self._ended = threading.Event()

    def run(self) -> None:
        items = [{"question": "Is it there?", "answer": "Yes."}]
        with httpx2.Client(trust_env=False, timeout=30, headers={KEY_HEADER: self._key}) as client:
            for number in range(10_000):
                body = {"websiteUrl": "https://tea.example", "websiteName": "Tea", "items": items}
                try:
                    response = client.put(f"{self._url}{API_PATH}/faq-{number}", json=body)
                except httpx2.HTTPError:
                    return
                if self._ended.is_set() or response.status_code == 429:
                    return
                assert response.status_code == 201, response.text
                self.acknowledged.append(f"faq-{number}")

    def wait_for(self, count: int) -> None:
        while len(self.acknowledged) < count and self.is_alive():
            self.join(0.01)
        assert len(self.acknowledged) >= count

    def end(self) -> None:
        self._ended.set()
        self.join(30)


def missing_from(database: Path, slugs: list[str]) -> list[str]:
    """Return the FAQs that a database lacks."""
    storage = open_storage(f"sqlite:///{database}")
    try:
        return [slug for slug in slugs if storage.publications.get(slug, None) is None]
    finally:
        storage.close()


def test_backup_while_running_and_restore_lose_nothing(tmp_path: Path) -> None:  # O1
    live, backup = tmp_path / "live.db", tmp_path / "backup.db"
    database = f"sqlite:///{live}"
    run("db", "upgrade", "--create", "--database", database)
    key = run("keys", "create", "--database", database).strip()
    with serving("--database", database, "--port", "0", ended_by=signal.SIGKILL) as url:
        publisher = Publisher(url, key)
        publisher.start()
        publisher.wait_for(20)
        before = list(publisher.acknowledged)
        run("db", "backup", str(backup), "--database", database)
        publisher.wait_for(len(before) + 5)
    publisher.end()
    assert missing_from(live, publisher.acknowledged) == []  # the service was killed
    for path in tmp_path.glob("live.db*"):  # the disk is lost, and the backup takes its place
        path.unlink()
    backup.rename(live)
    assert missing_from(live, before) == []
    with serving("--database", database, "--port", "0") as url:
        restored = httpx2.get(f"{url}{API_PATH}/{before[-1]}", trust_env=False)
        assert restored.status_code == 200
        listed = httpx2.get(f"{url}/api/v1/faqs", headers={KEY_HEADER: key}, trust_env=False)
        assert listed.status_code == 200  # the key is in the backup, too


def test_what_is_purged_is_in_no_export(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/faqs.db"
    run("db", "upgrade", "--create", "--database", database)
    key = run("keys", "create", "--database", database).strip()
    secret = "Ms Example lives in Elm Street."
    with TestClient(create_app(database), headers={KEY_HEADER: key}) as client:
        body = {"websiteUrl": "https://tea.example", "websiteName": "Tea"}
        for answer in (secret, "Nobody."):
            items = [{"question": "Who lives there?", "answer": answer}]
            client.put(f"{API_PATH}/people", json={**body, "items": items})
        assert secret in run("db", "export", "--database", database)  # in the history
        assert client.delete(f"{API_PATH}/people?purge=true").status_code == 204
        assert client.get(f"{API_PATH}/people").status_code == 410
    assert "Elm Street" not in run("db", "export", "--database", database)
    run("db", "backup", str(tmp_path / "backup.db"), "--database", database)
    assert b"Elm Street" not in (tmp_path / "backup.db").read_bytes()
