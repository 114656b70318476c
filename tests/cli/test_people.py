"""`faqsvc people` and `faqsvc desk`: who may sign in at the desk, and links that sign in."""

import json

from faqsvc_embed.service.storage import open_storage
from tests.cli.support import failure, faqsvc

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


def test_who_is_removed_takes_keys_along_or_the_command_names_those_that_stay(database: str) -> None:
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
    ):
        assert named in failure(faqsvc("people", *arguments, "--database", database))
    assert faqsvc("people", "set", "mia@example.com", "--database", database).exit_code == 2
