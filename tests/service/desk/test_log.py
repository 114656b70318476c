"""Admins see at the desk who did what."""

import re
from typing import get_args

from faqsvc_embed.service.desk.settings import ACTIONS
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.logs import Action
from tests.service.desk.conftest import Editor, next_page
from tests.service.desk.test_editor import publish


def entries(page: str) -> list[str]:
    """Return the entries of a page as text, without their times."""
    shown = re.findall(r"<li><p class=\"soft\">.*?</p>(.*?)</li>", page, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]*>", " ", one).split()) for one in shown]


def test_the_log_says_who_did_what_newest_first(editor: Editor, storage: Storage) -> None:
    publish(editor)
    editor.post("/keys", key_name="deploy", scope="publish")
    [key] = storage.keys.list()
    editor.post("/faqs/pricing/remove", action="unpublish")
    headers = {"X-Plugin-Key": storage.keys.create("by the operator")}
    editor.client.post("/api/v1/faq/pricing/restore", headers=headers)

    assert (key.maker, "Mia" in editor.get(f"/keys/{key.id}").text) == ("Mia", True)
    assert entries(editor.get("/log").text)[:6] == [
        "Key by the operator Published again pricing",
        "The operator Made the key by the operator",
        "Mia Unpublished pricing",
        "Mia Made the key deploy",
        "Mia Published pricing , English, revision 1",
        "Mia Signed in",
    ]
    assert entries(editor.get("/log?person=Mia&slug=pricing").text) == [
        "Mia Unpublished pricing",
        "Mia Published pricing , English, revision 1",
    ]
    assert entries(editor.get(f"/log?key={key.id}").text) == ["Mia Made the key deploy"]
    assert entries(editor.get("/log?slug=nothing").text) == []
    assert "What does it cost?" not in editor.get("/log").text


def test_the_log_tells_the_bin_from_deletion_for_ever_and_names_people_as_the_list_does(
    editor: Editor, storage: Storage
) -> None:
    publish(editor)
    ada = storage.people.add("Ada", role="admin", email="ada@heron.example")
    editor.post(f"/people/{ada.id}", action="link")
    assert entries(editor.get("/log").text)[0] == "Mia Made a sign-in link for ada@heron.example"
    editor.use_link(storage.sign_ins.create_link(ada))
    editor.post("/faqs/pricing/remove", action="bin")
    editor.post("/bin", action="restore", slug="pricing")
    editor.post("/faqs/pricing/remove", action="purge", typed="pricing")
    editor.post("/bin", action="unblock", slug="pricing")
    assert entries(editor.get("/log").text)[:4] == [
        "Ada Allowed the use of pricing",
        "Ada Deleted for ever pricing",
        "Ada Restored from the bin pricing",
        "Ada Moved to the bin pricing",
    ]


def test_every_action_has_words() -> None:
    assert set(ACTIONS) == set(get_args(Action))


def test_a_long_log_has_pages(editor: Editor, storage: Storage) -> None:
    access = storage.people.list()[0].access
    for number in range(51):
        storage.sites.update(access, name=f"Name {number}", listed=False)
    first = editor.get("/log").text
    second = next_page(editor, "/log", first)
    assert (len(entries(first)), "Next page" in second) == (50, False)
    assert entries(second)[-1] == "The operator Created the site"


def test_only_admins_of_the_site_see_it(editor: Editor, storage: Storage) -> None:
    publish(editor)
    for name, role in (("Tom", "publisher"), ("Eve", "editor")):
        editor.sign_in(storage, name, role=role)  # type: ignore[arg-type]
        assert editor.get("/log").status_code == 403
    editor.sign_in(storage, "Ann", site=storage.sites.create("another"))
    assert "pricing" not in editor.get("/log").text


def test_the_log_names_who_was_removed(editor: Editor, storage: Storage) -> None:
    ada = storage.people.add("Ada", role="admin", email="ada@heron.example")
    storage.keys.create("deploy", by=ada.access)
    storage.people.remove(ada.id)
    assert entries(editor.get("/log").text)[1] == "Ada Made the key deploy"
    assert "by Ada" in editor.get(f"/keys/{storage.keys.list()[0].id}").text
