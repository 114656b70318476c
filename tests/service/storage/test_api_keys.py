"""API keys: created, verified, recorded and revoked."""

import base64
import hashlib
from datetime import timedelta

import pytest
from sqlalchemy import select

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.storage import APIKeyInfo, Storage, UnknownAPIKey, UnknownSite
from faqsvc_embed.service.storage.api_keys import own_keys
from faqsvc_embed.service.storage.schema import api_keys
from faqsvc_embed.settings.api_key import APIKey
from tests.service.storage.writes import at_once
from tests.support.clock import EPOCH, Clock


def key_id(storage: Storage, key: str) -> str:
    found = storage.keys.verify(key)
    assert found is not None
    assert found.key_id is not None
    return found.key_id


def replaced_by(storage: Storage, key: str) -> set[str]:
    """Return a key and the keys that it replaces."""
    with storage.database.reading() as connection:
        return set(connection.scalars(own_keys(key)))


def test_a_key_has_a_prefix_and_256_random_bits(storage: Storage) -> None:
    keys = {storage.keys.create() for _ in range(5)}

    assert len(keys) == 5
    for key in keys:
        assert key.startswith("fs_live_")
        assert len(base64.urlsafe_b64decode(key.removeprefix("fs_live_") + "=")) == 32
        assert APIKey(key).reveal() == key  # the client accepts it


def test_the_database_has_a_digest_of_a_key_and_not_the_key(storage: Storage) -> None:
    key = storage.keys.create("deploy")
    with storage.database.reading() as connection:
        stored = repr(connection.execute(select(api_keys)).all())

    assert hashlib.sha256(key.encode()).hexdigest() in stored
    assert key.removeprefix("fs_live_")[:12] not in stored


def test_only_the_whole_key_is_verified(storage: Storage) -> None:
    key = storage.keys.create()

    assert key_id(storage, key) == storage.keys.list()[0].id
    assert [storage.keys.verify(wrong) for wrong in (key + "x", key[:-1], "", "\ud800\x00")] == [None] * 4


def test_the_last_uses_of_keys_are_noted_and_recorded_later(storage: Storage, clock: Clock) -> None:
    used = key_id(storage, storage.keys.create())
    storage.keys.note_use(used)
    clock.advance(40)
    storage.keys.note_use(used)
    noted = storage.keys.list()[0].last_used_at
    storage.keys.record_uses()

    assert (noted, storage.keys.list()[0].last_used_at) == (None, EPOCH + timedelta(seconds=40))


def test_the_list_has_all_times_of_a_key(storage: Storage, clock: Clock) -> None:
    key = storage.keys.create("deploy")
    deploy = key_id(storage, key)
    clock.advance(60)
    storage.keys.note_use(deploy)
    storage.keys.record_uses()
    clock.advance(60)
    storage.keys.revoke(deploy)
    clock.advance(60)
    storage.keys.revoke(deploy)  # a second time changes nothing

    assert storage.keys.list() == [
        APIKeyInfo(
            id=deploy,
            site=storage.sites.list()[0].id,
            name="deploy",
            scope="publish",
            ending=key[-4:],
            created_at=EPOCH,
            last_used_at=EPOCH + timedelta(seconds=60),
            expires_at=None,
            revoked_at=EPOCH + timedelta(seconds=120),
            maker=None,
        )
    ]
    assert storage.keys.verify(key) is None


def test_a_key_is_rotated_with_an_overlap(storage: Storage, clock: Clock) -> None:
    old = storage.keys.create("deploy", scope="draft")
    before = storage.keys.verify(old)
    assert before is not None
    assert before.key_id is not None
    new = storage.keys.rotate(before.key_id, overlap=timedelta(hours=1))
    during = [storage.keys.verify(key) for key in (old, new)]
    clock.advance(3600)
    after = [storage.keys.verify(key) for key in (old, new)]

    assert during[0] == before
    assert during[1] is not None
    assert (during[1].site, during[1].scope) == (before.site, "draft")
    assert after == [None, during[1]]
    with pytest.raises(UnknownAPIKey):
        storage.keys.rotate(before.key_id)


def test_first_keys_that_are_created_at_once_share_one_site(storage: Storage) -> None:
    assert at_once(storage.keys.create) == ["str"] * 4
    assert len(storage.sites.list()) == 1


def test_only_one_of_several_rotations_of_a_key_at_once_succeeds(storage: Storage) -> None:
    old = key_id(storage, storage.keys.create())

    assert at_once(lambda: storage.keys.rotate(old)) == ["UnknownAPIKey"] * 3 + ["str"]


def test_another_rotation_lets_a_key_live_no_longer(storage: Storage, clock: Clock) -> None:
    old = storage.keys.create()
    storage.keys.rotate(key_id(storage, old), overlap=timedelta(hours=1))
    storage.keys.rotate(key_id(storage, old), overlap=timedelta(days=1))
    clock.advance(3600)

    assert storage.keys.verify(old) is None


def test_a_key_belongs_to_the_only_site_or_to_the_one_that_is_named(storage: Storage) -> None:
    storage.keys.create("first")
    [site] = storage.sites.list()
    other = storage.sites.create("other")
    storage.keys.create("second", site=other)

    assert {key.name: key.site for key in storage.keys.list()} == {"first": site.id, "second": other}
    for name in (None, "nothing"):
        with pytest.raises(UnknownSite):
            storage.keys.create(site=name)


def test_an_unknown_key_cannot_be_revoked(storage: Storage) -> None:
    with pytest.raises(UnknownAPIKey):
        storage.keys.revoke("nobody")


def test_an_invalid_name_is_a_configuration_error(storage: Storage) -> None:
    for name in ("two\nlines", "\x1b[31m", "n" * 101, "\ud800"):
        with pytest.raises(ConfigurationError, match="name"):
            storage.keys.create(name)


def test_a_key_replaces_earlier_keys_of_its_name(storage: Storage, clock: Clock) -> None:
    keys = storage.keys

    def made(key: str) -> str:
        clock.advance(60)
        return key_id(storage, key)

    first, other = made(keys.create("ci")), made(keys.create("ci"))
    second = made(keys.rotate(first, overlap=timedelta(hours=1)))
    third = made(keys.rotate(second, overlap=timedelta(hours=1)))
    assert replaced_by(storage, third) == {first, second, third}
    assert replaced_by(storage, second) == {first, second}
    assert replaced_by(storage, other) == {other}  # it was valid beside all of them
    keys.revoke(third)
    assert replaced_by(storage, other) == {other}
    keys.revoke(other)
    clock.advance(60)
    last = made(keys.create("ci"))
    assert replaced_by(storage, last) == {first, second, third, other, last}
    unnamed = [made(keys.create()) for _ in range(2)]
    keys.revoke(unnamed[0])
    assert replaced_by(storage, made(keys.create())) & set(unnamed) == set()
