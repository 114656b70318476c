"""`faqsvc log`, and what it names: keys with those that they made, and slugs that were purged for ever."""

import json

import pytest

from faqsvc_embed import FAQ
from faqsvc_embed.service.storage import open_storage
from faqsvc_embed.service.storage.errors import Gone
from faqsvc_embed.service.storage.values import UNCONDITIONAL, Access
from tests.cli.support import failure, faqsvc
from tests.service.storage.writes import put
from tests.support import samples


def entries(database: str, *options: str) -> list[dict[str, object]]:
    result = faqsvc("log", "--json", "--database", database, *options)
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def owner(database: str) -> Access:
    """The key of a site with one FAQ."""
    storage = open_storage(database)
    access = storage.keys.verify(storage.keys.create("program"))
    assert access is not None
    put(storage, FAQ.from_dict(samples.record("pricing")))
    storage.close()
    return access


def test_the_log_has_actor_action_and_time_newest_first(database: str, owner: Access) -> None:
    faqsvc("people", "add", "mia@example.com", "--name", "Mia", "--database", database)
    storage = open_storage(database)
    [mia] = storage.people.list()
    storage.sign_ins.redeem_link(storage.sign_ins.create_link(mia))
    storage.removal.unpublish(owner, "pricing", "en", UNCONDITIONAL)
    storage.removal.restore(mia.access, "pricing")
    storage.close()
    found = entries(database)

    assert [entry["action"] for entry in found] == [
        "restore",
        "unpublish",
        "sign-in",
        "person-create",
        "publish",
        "key-create",
        "site-create",
    ]
    assert found[0].keys() == {"at", "action", "by", "slug"}
    assert (found[0]["by"], found[0]["slug"]) == ({"person": "mia@example.com"}, "pricing")
    assert (found[1]["by"], found[1]["lang"]) == ({"key": owner.key_id}, "en")
    assert (found[3]["by"], found[3]["subject"]) == ({"operator": True}, "mia@example.com")
    assert (found[4]["slug"], found[4]["lang"], found[4]["revision"]) == ("pricing", "en", 1)
    assert len(faqsvc("log", "--database", database).stdout.splitlines()) == len(found)


def test_entries_are_chosen_by_key_person_slug_and_number(database: str, owner: Access) -> None:
    faqsvc("people", "add", "mia@example.com", "--name", "Mia", "--role", "admin", "--database", database)
    storage = open_storage(database)
    [mia] = storage.people.list()
    storage.keys.revoke(owner.key_id or "", by=mia.access)
    storage.close()

    def actions(*options: str) -> list[object]:
        return [entry["action"] for entry in entries(database, *options)]

    assert actions("--key", owner.key_id or "") == ["key-revoke", "key-create"]
    assert actions("--person", "MIA@example.com") == ["key-revoke", "person-create"]
    assert actions("--slug", "pricing") == ["publish"]
    assert actions("--site", "another") == []
    assert actions("--key", "unknown") == []
    mistyped = faqsvc("log", "--key", "unknown", "--database", database)
    assert (mistyped.stdout, "unknown" in mistyped.stderr) == ("", True)


def test_a_key_is_revoked_with_the_keys_that_it_created(database: str, owner: Access) -> None:
    storage = open_storage(database)
    child = storage.keys.create("child", by=owner)
    access = storage.keys.verify(child)
    assert access is not None
    made = [child, storage.keys.create("grandchild", by=access)]
    other = storage.keys.create("other")
    token, _ = storage.history.create_preview(owner, "pricing", None)
    assert faqsvc("keys", "revoke", owner.key_id or "", "--database", database).exit_code == 0
    assert [storage.keys.verify(key) is not None for key in made] == [True, True]
    revoked = faqsvc("keys", "revoke", owner.key_id or "", "--with-children", "--database", database)

    assert (revoked.exit_code, revoked.output) == (0, "")
    assert [storage.keys.verify(key) is not None for key in (*made, other)] == [False, False, True]
    assert storage.history.preview(token, "pricing", None) is None
    assert "'x'" in failure(faqsvc("keys", "revoke", "x", "--with-children", "--database", database))
    storage.close()


def test_a_slug_that_was_purged_for_ever_is_used_again_only_after_a_lift(
    database: str, owner: Access
) -> None:
    storage = open_storage(database)
    assert "pricing" in failure(faqsvc("restore", "pricing", "--lift", "--database", database))
    storage.removal.purge(owner, "pricing", None, UNCONDITIONAL)
    with pytest.raises(Gone):
        put(storage, FAQ.from_dict(samples.record("pricing")))
    lifted = faqsvc("restore", "pricing", "--lift", "--database", database)
    put(storage, FAQ.from_dict(samples.record("pricing")))

    assert (lifted.exit_code, lifted.stdout, "published again" in lifted.stderr) == (0, "", True)
    assert storage.publications.get("pricing")
    assert [entry["action"] for entry in entries(database, "--slug", "pricing")] == [
        "publish",
        "restore",
        "purge",
        "publish",
    ]
    storage.close()
