"""What was unpublished or deleted at the desk comes back in one step."""

import re

import pytest

from faqsvc_embed.service.storage import Storage
from tests.service.desk.conftest import Editor
from tests.service.desk.test_editor import base_of, publish, record, written
from tests.support.clock import Clock


def publish_in_two_languages(editor: Editor) -> None:
    publish(editor)
    german = written(lang="de", title="Preise", answer=["Nichts.", "Ja."])
    assert editor.post("/faqs/pricing", action="publish", version="", **german).status_code == 200


def test_all_languages_are_published_again_in_one_step(editor: Editor) -> None:
    publish_in_two_languages(editor)
    page = editor.post("/faqs/pricing/remove", action="unpublish")
    assert 'value="restore"' in page.text
    assert record(editor).status_code == 410
    assert editor.post("/faqs/pricing/remove", action="restore").status_code == 200
    assert [record(editor, lang=lang).json()["lang"] for lang in ("en", "de")] == ["en", "de"]
    assert 'value="restore"' not in editor.get("/faqs/pricing/remove").text


def test_an_faq_that_was_published_again_in_the_meantime_is_a_conflict(editor: Editor) -> None:
    publish_in_two_languages(editor)
    editor.post("/faqs/pricing/remove", action="unpublish", lang="de")
    version = base_of(editor.get("/faqs/pricing/remove").text)
    editor.post("/faqs/pricing/remove", action="restore")
    editor.post("/faqs/pricing/remove", action="unpublish", lang="en")
    assert editor.post("/faqs/pricing/remove", action="restore", version=version).status_code == 409
    assert record(editor, lang="en").json()["lang"] == "de"


def test_an_faq_and_a_translation_come_back_from_the_bin(editor: Editor, storage: Storage) -> None:
    publish_in_two_languages(editor)
    assert "pricing" not in editor.get("/bin").text
    page = editor.post("/faqs/pricing/remove", action="bin")
    assert page.url.path == "/desk/bin"
    assert "pricing" in page.text
    assert record(editor).status_code == 410
    gone = editor.get("/faqs/pricing")
    assert (gone.status_code, "bin" in gone.text) == (410, True)
    assert "pricing" not in editor.get("").text
    assert editor.post("/bin", action="restore", slug="pricing").url.path == "/desk/faqs/pricing"
    assert record(editor, lang="de").json()["title"] == "Preise"
    assert "Revision 1" in editor.get("/faqs/pricing/history").text

    delete = "/api/v1/faq/pricing?lang=de&purge=true"
    editor.client.delete(delete, headers={"X-Plugin-Key": storage.keys.create("program")})
    assert re.search(r"only\s+Deutsch", editor.get("/bin").text)
    editor.post("/bin", action="restore", slug="pricing")
    assert record(editor, lang="de").json()["title"] == "Preise"
    assert editor.post("/bin", action="restore", slug="pricing").status_code == 404
    assert editor.post("/bin", action="empty", slug="pricing").status_code == 422


def test_an_faq_that_was_restored_and_unpublished_in_the_meantime_stays_unpublished(
    editor: Editor, storage: Storage, clock: Clock
) -> None:
    publish_in_two_languages(editor)
    editor.post("/faqs/pricing/remove", action="bin")
    version = base_of(editor.get("/bin").text)
    program = {"X-Plugin-Key": storage.keys.create("program")}
    path = "/api/v1/faq/pricing"
    assert editor.client.post(f"{path}/restore", headers=program).status_code == 200
    assert editor.client.delete(path, headers=program).status_code == 204
    late = editor.post("/bin", action="restore", slug="pricing", version=version)
    assert (late.status_code, record(editor).status_code) == (409, 410)
    assert 'role="alert"' in late.text
    clock.advance(60)
    editor.client.delete(f"{path}?purge=true", headers=program)
    assert editor.post("/bin", action="restore", slug="pricing", version=version).status_code == 409
    version = base_of(editor.get("/bin").text)
    assert editor.post("/bin", action="restore", slug="pricing", version=version).status_code == 200


def test_a_slug_that_was_deleted_for_ever_needs_an_admin_before_it_is_used_again(
    editor: Editor, storage: Storage
) -> None:
    publish(editor)
    for typed in ("prices", " "):
        assert editor.post("/faqs/pricing/remove", action="purge", typed=typed).status_code == 422
    assert record(editor).status_code == 200
    assert editor.post("/faqs/pricing/remove", action="purge", typed="pricing ").url.path == "/desk/bin"
    assert editor.get("/faqs/pricing").status_code == 410
    assert editor.post("/bin", action="restore", slug="pricing").status_code == 410
    refused = editor.post("/new", action="publish", **written())
    assert (refused.status_code, 'id="slug-error"' in refused.text) == (409, True)
    editor.sign_in(storage, "Tom", role="publisher")
    assert "pricing" in editor.get("/bin").text
    assert editor.post("/bin", action="unblock", slug="pricing").status_code == 403
    editor.sign_in(storage)
    assert "pricing" not in editor.post("/bin", action="unblock", slug="pricing").text
    assert editor.post("/new", action="publish", **written()).status_code == 200


def test_the_bin_says_that_there_are_more_blocked_slugs_than_it_lists(
    editor: Editor, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faqsvc_embed.service.desk.faqs.MAX_BLOCKED", 2)
    said = list[bool]()
    for slug in ("one", "two", "three"):
        publish(editor, slug=slug)
        editor.post(f"/faqs/{slug}/remove", action="purge", typed=slug)
        said.append("faqsvc restore SLUG --lift" in editor.get("/bin").text)

    assert said == [False, False, True]


@pytest.mark.parametrize("action", ["bin", "purge"])
def test_only_admins_delete(editor: Editor, storage: Storage, action: str) -> None:
    publish(editor)
    editor.sign_in(storage, "Tom", role="publisher")
    assert f'value="{action}"' not in editor.get("/faqs/pricing/remove").text
    refused = editor.post("/faqs/pricing/remove", action=action, typed="pricing")
    assert (refused.status_code, record(editor).status_code) == (403, 200)
    editor.sign_in(storage, "Eve", role="editor")
    assert editor.get("/bin").status_code == 403
    assert editor.post("/bin", action="restore", slug="pricing").status_code == 403


@pytest.mark.parametrize("is_binned_first", [True, False])
def test_publishing_again_restores_unpublished_translations_and_not_those_in_the_bin(
    editor: Editor, storage: Storage, is_binned_first: bool
) -> None:
    publish_in_two_languages(editor)
    program, path = {"X-Plugin-Key": storage.keys.create("program")}, "/api/v1/faq/pricing"
    removals = [f"{path}?lang=de&purge=true", f"{path}?lang=en"]
    for removal in removals if is_binned_first else reversed(removals):
        assert editor.client.delete(removal, headers=program).status_code == 204
    assert "saw before: English." in editor.get("/faqs/pricing/remove").text
    assert editor.post("/faqs/pricing/remove", action="restore").status_code == 200
    assert [record(editor, lang=lang).json()["lang"] for lang in ("en", "de")] == ["en", "en"]


def test_a_program_restores_the_translations_that_were_removed_last(
    editor: Editor, storage: Storage, clock: Clock
) -> None:
    publish_in_two_languages(editor)
    program, path = {"X-Plugin-Key": storage.keys.create("program")}, "/api/v1/faq/pricing"
    editor.client.delete(f"{path}?lang=de&purge=true", headers=program)
    clock.advance(1)
    editor.client.delete(path, headers=program)
    for languages in (["en", "en"], ["en", "de"]):
        assert editor.client.post(f"{path}/restore", headers=program).status_code == 200
        assert [record(editor, lang=lang).json()["lang"] for lang in ("en", "de")] == languages
