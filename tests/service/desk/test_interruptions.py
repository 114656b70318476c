"""Writing at the desk when something is in the way: ended sessions, deleted FAQs, bad input, quotas."""

import html
import re

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from tests.service.desk.conftest import ORIGIN, Editor
from tests.service.desk.test_editor import base_of, publish, record, texts_of, written
from tests.support.clock import Clock


@pytest.mark.parametrize("path", ["/new", "/faqs/pricing"])
def test_what_was_typed_survives_the_end_of_a_session(
    editor: Editor, storage: Storage, clock: Clock, path: str
) -> None:
    base = base_of(publish(editor)) if path != "/new" else ""
    clock.advance(13 * 3600)
    typed = written(answer=["Typed <for> an hour & more.\n\nYes.", "Any time."])
    response = editor.post(path, action="publish", base=base, **typed)
    assert response.status_code == 403
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', response.text)
    fields: dict[str, list[str]] = {}
    for name, value in hidden:
        fields.setdefault(name, []).append(html.unescape(value))
    response = editor.client.post(
        "/desk/sign-in",
        data={**fields, "key": storage.keys.create("Mia")},
        headers={"origin": ORIGIN},
    )
    assert response.status_code == 200
    fields = {}
    form = response.text.partition("<main")[2]
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form):
        fields.setdefault(name, []).append(html.unescape(value))
    target = re.search(r'action="([^"]+)"', form)
    assert target
    response = editor.client.post(html.unescape(target[1]), data=fields, headers={"origin": ORIGIN})
    assert texts_of(response.text)[1] == "Typed <for> an hour & more.\n\nYes."
    assert base_of(response.text) == base


def test_too_many_questions_are_refused_and_a_form_that_is_too_large_is_not_read(editor: Editor) -> None:
    editor.get("/new")
    many = written(question=["Q"] * 5000, answer=["A"] * 5000)
    response = editor.post("/new", action="draft", **many)
    assert response.status_code == 422
    assert 'id="items-error"' in response.text
    large = written(question=["Q"], answer=["x" * 4_100_000])
    assert editor.post("/new", action="draft", **large).status_code == 413


def test_odd_bytes_in_a_form_are_text_or_problems(editor: Editor) -> None:
    editor.get("/new")
    body = (
        f"token={editor.token}&action=preview&question=%ff%fe%00&answer=%ED%A0%80&slug=%00".encode()
        + b"&title=\xff&lang=xx&base=%0a"
    )
    headers = {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"}
    for action in (b"preview", b"draft", b"publish", b"add:-1"):
        response = editor.client.post("/desk/new", content=body.replace(b"preview", action), headers=headers)
        assert response.status_code in (200, 422)
    assert editor.client.post("/desk/new", content=b"{}", headers={"origin": ORIGIN}).status_code == 415


def test_an_faq_that_was_deleted_meanwhile_is_made_again_only_on_purpose(editor: Editor) -> None:
    editor.get("/new")
    base = base_of(editor.post("/new", action="draft", **written()).text)
    editor.post("/faqs/pricing/remove", action="purge", typed="pricing")
    response = editor.post("/faqs/pricing", action="publish", base=base, **written(answer=["Mine.", "Yes."]))
    assert response.status_code == 422
    assert 'action="/desk/new"' in response.text
    assert texts_of(response.text)[1] == "Mine."
    assert record(editor).status_code == 404
    base = base_of(response.text)
    editor.post("/new", action="publish", base=base, **written(answer=["Mine.", "Yes."]))
    assert record(editor).status_code == 200


def test_a_form_from_before_a_new_sign_in_in_another_tab_needs_a_confirmation_only(
    editor: Editor, storage: Storage
) -> None:
    base = base_of(publish(editor))
    earlier = editor.token
    editor.sign_in(storage.keys.create("Mia"))
    typed = written(answer=["Typed in the first tab.", "Yes."])
    response = editor.post("/faqs/pricing", action="publish", base=base, **{**typed, "token": earlier})
    assert "Typed in the first tab." in response.text
    assert 'name="key"' not in response.text
    assert record(editor).json()["items"][0]["answer"] == "Nothing."


def test_what_was_not_writing_is_not_repeated_after_a_new_sign_in(
    editor: Editor, storage: Storage, clock: Clock
) -> None:
    publish(editor)
    clock.advance(13 * 3600)
    response = editor.post("/faqs/pricing/remove", action="unpublish")
    assert 'name="kept:' not in response.text
    assert record(editor).status_code == 200


def test_forms_count_as_writes_of_the_site(storage: Storage) -> None:
    with TestClient(create_app(storage, writes_per_minute=2)) as client:
        editor = Editor(client)
        editor.sign_in(storage.keys.create("Mia"))
        editor.get("/new")
        statuses = [editor.post("/new", action="preview", **written()).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
