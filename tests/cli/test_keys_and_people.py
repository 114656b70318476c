"""`faqsvc keys`, `people` and `desk`: which programs may write, and who may sign in at the desk."""

import json
import re

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.models import FAQ
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import open_storage
from faqsvc_embed.service.storage.errors import Gone, NotYourSite
from faqsvc_embed.service.storage.values import UNCONDITIONAL, Access
from tests.cli.support import failure, faqsvc
from tests.service.bodies import publication, publish
from tests.service.storage.writes import put
from tests.support import samples


def test_a_key_publishes_until_it_is_revoked(database: str) -> None:
    key = faqsvc("keys", "create", "--database", database).stdout.strip()
    with TestClient(create_app(database)) as client:
        published = publish(client, key, publication())
        key_id = faqsvc("keys", "list", "--database", database).stdout.split()[0]
        revoked = faqsvc("keys", "revoke", key_id, "--database", database)
        refused = publish(client, key, publication())
        read = client.get(f"/api/v1/faq/{published.json()['slug']}")
    assert (published.status_code, refused.status_code, read.status_code) == (201, 403, 200)
    assert (revoked.exit_code, revoked.output) == (0, "")


def test_create_prints_nothing_but_the_key(database: str) -> None:
    result = faqsvc("keys", "create", "--name", "deploy", "--database", database)
    assert re.fullmatch(r"fs_live_[A-Za-z0-9_-]{43}\n", result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")


def test_list_prints_a_line_for_each_key_with_its_last_four_characters(database: str) -> None:
    assert faqsvc("keys", "list", "--database", database).output == ""
    keys = [
        faqsvc("keys", "create", "--name", f"Nr. {n}", "--database", database).stdout.strip()
        for n in range(2)
    ]
    before = faqsvc("keys", "list", "--database", database).stdout.splitlines()
    faqsvc("keys", "revoke", before[0].split()[0], "--database", database)
    after = faqsvc("keys", "list", "--database", database).stdout.splitlines()
    for number, (key, line) in enumerate(zip(keys, before, strict=True)):
        assert re.fullmatch(rf"[0-9a-f]{{8}} .*{re.escape(key[-4:])}.* Nr\. {number}", line)
        assert not any(key[8:][i : i + 5] in line for i in range(len(key) - 12))
    assert ("revoked" in before[0], "revoked" in after[0]) == (False, True)
    assert after[1:] == before[1:]


def test_the_environment_names_the_database(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_DATABASE_URL", database)
    faqsvc("keys", "create", "--name", "here")
    assert "here" in faqsvc("keys", "list", "--database", database).stdout


@pytest.mark.parametrize("key", ["12345678", "\udcff"])
def test_an_unknown_key_is_named(database: str, key: str) -> None:
    message = failure(faqsvc("keys", "revoke", key, "--database", database))
    assert (repr(key) in message, "UnicodeEncodeError" in message) == (True, False)


@pytest.mark.parametrize("arguments", [["serve"], ["keys", "create"], ["keys", "list"]])
@pytest.mark.parametrize("bad", ["mysql://db/faqs", "nonsense", "sqlite:////no/such/directory/faqsvc.db"])
def test_a_database_that_cannot_be_opened_is_named(arguments: list[str], bad: str) -> None:
    assert bad.removeprefix("sqlite:///") in failure(faqsvc(*arguments, "--database", bad))


def test_a_rotated_key_ends_after_the_overlap(database: str) -> None:
    old = faqsvc("keys", "create", "--name", "deploy", "--scope", "draft", "--database", database)
    [line] = faqsvc("keys", "list", "--database", database).stdout.splitlines()
    new = faqsvc("keys", "rotate", line.split()[0], "--overlap", "7d", "--database", database).stdout.strip()
    newer = faqsvc("keys", "rotate", line.split()[0], "--database", database).stdout.strip()
    found = json.loads(faqsvc("keys", "list", "--json", "--database", database).stdout)

    assert old.exit_code == 0
    assert len({old.stdout.strip(), new, newer}) == 3
    assert {(key["name"], key["scope"], key["site"]) for key in found} == {
        ("deploy", "draft", found[0]["site"])
    }
    assert (found[0]["expiresAt"] is None, found[0]["revokedAt"] is None) == (False, False)
    assert faqsvc("keys", "rotate", "x", "--overlap", "soon", "--database", database).exit_code == 2


def test_a_key_belongs_to_the_site_that_is_named(database: str) -> None:
    site = faqsvc("sites", "create", "heron", "--listed", "--database", database).stdout.strip()
    other = faqsvc("sites", "create", "tea", "--database", database).stdout.strip()
    created = faqsvc("keys", "create", "--site", other, "--database", database)
    unnamed = faqsvc("keys", "create", "--database", database)
    lines = faqsvc("sites", "list", "--database", database).stdout.splitlines()
    found = json.loads(faqsvc("sites", "list", "--json", "--database", database).stdout)

    assert (created.exit_code, "--site" in failure(unnamed)) == (0, True)
    assert [line.split()[0] for line in lines] == [site, other]
    assert [(entry["name"], entry["listed"], entry["faqs"]) for entry in found] == [
        ("heron", True, 0),
        ("tea", False, 0),
    ]


def test_a_site_has_a_name(database: str) -> None:
    for name in ("", " "):
        assert "name" in failure(faqsvc("sites", "create", name, "--database", database))


def test_changing_a_site_keeps_all_other_values(database: str) -> None:
    site = faqsvc("sites", "create", "heron", "--database", database).stdout.strip()
    limits = (["--max-faqs", "5"], ["--max-bytes", "700"], ["--max-faqs", "0"])
    for change in (*limits, ["--listed"], ["--name", "Heron"]):
        assert faqsvc("sites", "set", site, *change, "--database", database).exit_code == 0
    (found,) = json.loads(faqsvc("sites", "list", "--json", "--database", database).stdout)
    assert (found["name"], found["listed"], found["maxFaqs"], found["maxBytes"]) == ("Heron", True, None, 700)
    assert "'x'" in failure(faqsvc("sites", "set", "x", "--listed", "--database", database))
    assert "name" in failure(faqsvc("sites", "set", site, "--name", " ", "--database", database))


def test_a_deleted_site_leaves_nothing_but_slugs_that_are_gone(database: str) -> None:
    keys = []
    for name in ("heron", "tea"):
        site = faqsvc("sites", "create", name, "--database", database).stdout.strip()
        keys.append(faqsvc("keys", "create", "--site", site, "--database", database).stdout.strip())
    storage = open_storage(database)
    closed, other = (storage.sites.list()[index].id for index in (0, 1))
    put(storage, FAQ.from_dict(samples.record("pricing")), site=closed)
    put(storage, FAQ.from_dict(samples.record("binned", ("Is it in the bin?", "Yes."))), site=closed)
    storage.removal.bin(Access(None, closed), "binned", None, UNCONDITIONAL)
    put(storage, FAQ.from_dict(samples.record("legal")), site=other)
    assert "--yes" in faqsvc("sites", "delete", closed, "--database", database).stderr  # nobody has agreed
    assert faqsvc("sites", "delete", closed, "--yes", "--database", database).exit_code == 0

    assert [site.id for site in storage.sites.list()] == [other]
    assert [storage.keys.verify(key) is not None for key in keys] == [False, True]
    with pytest.raises(Gone):
        storage.publications.get("pricing")
    with pytest.raises(NotYourSite):
        put(storage, FAQ.from_dict(samples.record("pricing")), site=other)
    assert storage.publications.get("legal")
    exported = faqsvc("db", "export", "--database", database).stdout
    assert "heron" not in exported
    assert "Is it in the bin?" not in exported
    assert '"site-remove"' in exported
    assert "'x'" in failure(faqsvc("sites", "delete", "x", "--yes", "--database", database))
    storage.close()


@pytest.mark.parametrize(("option", "most"), [("--max-faqs", 2**31 - 1), ("--max-bytes", 2**63 - 1)])
def test_a_limit_that_no_database_can_store_is_a_mistake_of_usage(
    database: str, option: str, most: int
) -> None:
    site = faqsvc("sites", "create", "tea", "--database", database).stdout.strip()
    refused = faqsvc("sites", "set", site, option, str(most + 1), "--database", database)
    assert (refused.exit_code, str(most) in refused.stderr) == (2, True)
    assert faqsvc("sites", "set", site, option, str(most), "--database", database).exit_code == 0


def test_a_link_to_the_desk_needs_an_address_that_a_browser_can_open(database: str) -> None:
    refused = faqsvc("desk", "--base-url", "ftp://faq.example", "--database", database)
    assert (refused.exit_code, refused.stdout, "ftp://faq.example" in refused.stderr) == (2, "", True)
    assert faqsvc("people", "list", "--database", database).stdout == ""
    printed = faqsvc("desk", "--base-url", "https://faq.example/", "--database", database).stdout
    assert printed.startswith("https://faq.example/desk/")


NAMES = ("mia", "ada", "tom")


def test_a_person_is_added_listed_changed_and_removed(database: str) -> None:
    def people(*arguments: str) -> str:
        result = faqsvc("people", *arguments, "--database", database)
        assert result.exit_code == 0, result.stderr
        return result.stdout

    assert people("list") == ""
    assert "/desk/sign-in#link=" in people("add", "Mia@example.com", "--name", "Mia", "--role", "admin")
    people("add", "tom@example.com", "--name", "Tom")
    people("set", "tom@example.com", "--role", "publisher", "--email", "tb@example.com", "--name", "Tom B.")
    [mia, tom] = json.loads(people("list", "--json"))
    assert (mia["email"], mia["name"], mia["role"]) == ("mia@example.com", "Mia", "admin")
    assert (tom["email"], tom["name"], tom["role"]) == ("tb@example.com", "Tom B.", "publisher")
    assert people("list").splitlines()[1].startswith(tom["id"])
    people("remove", tom["id"])
    assert len(people("list").splitlines()) == 1


def test_a_link_names_a_person(database: str) -> None:
    faqsvc("people", "add", "mia@example.com", "--name", "Mia", "--database", database)
    printed = faqsvc("people", "link", "mia@example.com", "--database", database).stdout
    storage = open_storage(database)
    cookie = storage.sign_ins.redeem_link(printed.strip().partition("#link=")[2])
    person = storage.sign_ins.person(cookie or "")
    assert person is not None
    assert (person.name, person.role) == ("Mia", "editor")
    assert storage.keys.list() == []
    storage.close()


def test_removing_a_person_revokes_the_keys_or_names_those_that_stay_valid(database: str) -> None:
    storage = open_storage(database)
    mia, ada, tom = (storage.people.add(name, email=f"{name}@example.com", role="admin") for name in NAMES)
    for person in (mia, ada, tom):
        storage.keys.create(person.name, by=person.access)
    keys = {key.name: key.id for key in storage.keys.list()}
    remove = ("people", "remove", "--database", database)
    assert faqsvc(*remove, "mia@example.com", "--with-keys").stderr == ""
    assert keys["ada"] in faqsvc(*remove, "ada@example.com").stderr
    revoked = {key.name for key in storage.keys.list() if key.revoked_at is not None}
    assert revoked == {"mia"}
    storage.close()


def test_the_first_link_makes_the_first_admin_and_later_ones_name_them(database: str) -> None:
    for _ in range(2):
        assert faqsvc("desk", "--database", database).exit_code == 0
    [admin] = json.loads(faqsvc("people", "list", "--json", "--database", database).stdout)
    assert admin["role"] == "admin"
    assert faqsvc("desk", "--name", "Mia", "--database", database).exit_code == 0
    assert "Mia" in failure(faqsvc("desk", "--database", database))
    assert "empty" in failure(faqsvc("desk", "--name", "", "--database", database))


def test_mistakes_are_named_in_one_line(database: str) -> None:
    faqsvc("people", "add", "mia@example.com", "--name", "Mia", "--role", "admin", "--database", database)
    for arguments, named in (
        (("add", "mia@example.com", "--name", "Other"), "mia@example.com"),
        (("add", "mia", "--name", "Mia"), "'mia'"),
        (("add", "tom@example.com", "--name", " "), "name"),
        (("link", "tom@example.com"), "tom@example.com"),
        (("remove", "tom@example.com"), "tom@example.com"),
        (("remove", "mia@example.com"), "only admin"),
        (("set", "mia@example.com", "--role", "editor"), "only admin"),
        (("list", "--site", "nowhere"), "nowhere"),
        (("add", "", "--name", "Mia"), "''"),
    ):
        assert named in failure(faqsvc("people", *arguments, "--database", database))
    assert faqsvc("people", "set", "mia@example.com", "--database", database).exit_code == 2
