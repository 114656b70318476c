"""API keys: made, known again, revoked, and told to nobody."""

import base64
import hashlib
from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.keys import KeyInfo, NoSuchKey
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.settings.api_key import APIKey
from tests.service.bodies import publication, publish
from tests.support.clock import EPOCH, Clock


def test_a_key_is_fs_live_and_256_random_bits(storage: Storage) -> None:
    keys = {storage.keys.create() for _ in range(20)}

    assert len(keys) == 20
    for key in keys:
        assert key.startswith("fs_live_")
        assert len(base64.urlsafe_b64decode(key.removeprefix("fs_live_") + "=")) == 32
        assert APIKey(key).reveal() == key  # the client's own idea of a key


def test_the_database_holds_a_digest_of_a_key_and_not_the_key(storage: Storage) -> None:  # V2, D12
    key = storage.keys.create("deploy")
    with storage._database.reading() as connection:
        stored = repr(connection.execute("SELECT * FROM api_keys").fetchall())

    assert hashlib.sha256(key.encode()).hexdigest() in stored
    assert key not in stored
    assert key.removeprefix("fs_live_")[:12] not in stored


def test_the_last_use_of_a_key_is_noted_once_a_minute(storage: Storage, clock: Clock) -> None:
    owner = storage.keys.owner(storage.keys.create())
    assert owner is not None
    noted = []
    for _ in range(4):
        storage.keys.note_use(owner)
        noted.append(storage.keys.list()[0].last_used_at)
        clock.advance(40)

    first, third = EPOCH, EPOCH + timedelta(seconds=80)
    assert noted == [first, first, third, third]


def test_a_key_is_used_by_who_is_refused_too(
    client: TestClient, storage: Storage, key: str, clock: Clock
) -> None:
    slug = publish(client, storage.keys.create("another"), publication()).json()["slug"]
    clock.advance(60)

    assert publish(client, key, publication(slug=slug)).status_code == 403
    assert {info.name: info.last_used_at for info in storage.keys.list()} == {
        "tests": EPOCH + timedelta(seconds=60),
        "another": EPOCH,
    }


def test_a_key_is_known_by_its_id(storage: Storage, key: str) -> None:
    [info] = storage.keys.list()

    assert storage.keys.owner(key) == info.id
    assert storage.keys.owner(key + "x") is None
    assert storage.keys.owner("") is None
    assert storage.keys.owner("\ud800\x00") is None


def test_the_list_tells_when_a_key_was_made_used_and_revoked(storage: Storage, clock: Clock) -> None:
    key = storage.keys.create("deploy")
    owner = storage.keys.owner(key)
    assert owner is not None
    clock.advance(60)
    storage.keys.note_use(owner)
    clock.advance(60)
    storage.keys.revoke(owner)
    clock.advance(60)
    storage.keys.revoke(owner)  # which changes nothing

    assert storage.keys.list() == [
        KeyInfo(
            id=owner,
            name="deploy",
            ending=key[-4:],
            created_at=EPOCH,
            last_used_at=EPOCH + timedelta(seconds=60),
            revoked_at=EPOCH + timedelta(seconds=120),
        )
    ]
    assert storage.keys.owner(key) is None


def test_what_is_revoked_must_exist(storage: Storage) -> None:
    with pytest.raises(NoSuchKey, match="there is no API key 'nobody'"):
        storage.keys.revoke("nobody")


@pytest.mark.parametrize("name", ["two\nlines", "\x1b[31m", "n" * 101, "\ud800"])
def test_a_name_is_one_line(storage: Storage, name: str) -> None:
    with pytest.raises(ConfigurationError, match="100 printable characters"):
        storage.keys.create(name)
