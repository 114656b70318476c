"""Writing at the desk when something is in the way: ended sessions, deleted FAQs, bad input, quotas."""

import html
import re

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage, StorageUnavailable
from tests.service.desk.conftest import ORIGIN, Editor
from tests.service.desk.test_editor import base_of, fields_of, publish, record, texts_of, written
from tests.service.storage.writes import a_month_later
from tests.support.clock import Clock


def hidden_fields(text: str) -> dict[str, list[str]]:
    """Return the hidden fields of a page, without those of its header."""
    fields: dict[str, list[str]] = {}
    form = text.partition("<main")[2]
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form):
        fields.setdefault(name, []).append(html.unescape(value))
    return fields


def send_again(client: TestClient, response: httpx2.Response) -> httpx2.Response:
    """Press the button of a page that has only hidden fields."""
    target = re.search(r'action="([^"]+)"', response.text.partition("<main")[2])
    assert target
    fields = hidden_fields(response.text)
    return client.post(html.unescape(target[1]), data=fields, headers={"origin": ORIGIN})


@pytest.mark.parametrize("path", ["/new", "/faqs/pricing"])
def test_what_was_typed_survives_the_end_of_a_session(
    editor: Editor, storage: Storage, clock: Clock, path: str
) -> None:
    base = base_of(publish(editor)) if path != "/new" else ""
    clock.advance(31 * 24 * 3600)
    typed = written(answer=["Typed <for> an hour & more.\n\nYes.", "Any time."])
    response = editor.post(path, action="publish", version=base, **typed)
    assert response.status_code == 403
    response = editor.client.post(
        "/desk/sign-in",
        data={**hidden_fields(response.text), "link": storage.sign_ins.create_link(storage.people.admin())},
        headers={"origin": ORIGIN},
    )
    assert response.status_code == 200
    response = send_again(editor.client, response)
    assert texts_of(response.text)[1] == "Typed <for> an hour & more.\n\nYes."
    assert base_of(response.text) == base


@pytest.mark.parametrize("path", ["/new", "/import"])
def test_a_long_text_survives_a_sign_out_in_another_tab(editor: Editor, storage: Storage, path: str) -> None:
    typed = written(text="What is it?\n" + "A long text. " * 4_000, answer=["A long text. " * 4_000, "Yes."])
    token = editor.token
    editor.post("/sign-out")
    response = editor.post(path, action="preview", **{**typed, "token": token})
    assert (response.status_code, 'name="link"' in response.text) == (403, True)
    fields = {**hidden_fields(response.text), "link": storage.sign_ins.create_link(storage.people.admin())}
    response = editor.client.post("/desk/sign-in", data=fields, headers={"origin": ORIGIN})
    assert "A long text. " * 3_900 in send_again(editor.client, response).text


def test_the_error_for_a_long_text_without_a_session_says_what_to_do(stranger: Editor) -> None:
    response = stranger.post("/new", action="draft", **written(answer=["A long text. " * 4_000, "Yes."]))
    assert response.status_code == 413
    assert "another tab" in response.text


def test_a_writer_who_may_no_longer_publish_continues_with_the_typed_text(
    editor: Editor, storage: Storage
) -> None:
    base = base_of(publish(editor))
    mia = storage.people.admin()
    storage.people.add("Ada", role="admin")
    storage.people.change(mia.id, role="editor")
    response = editor.post(
        "/faqs/pricing", action="publish", version=base, **written(answer=["Mine.", "Yes."])
    )
    assert response.status_code == 403
    response = send_again(editor.client, response)
    assert (response.status_code, texts_of(response.text)[1]) == (200, "Mine.")
    assert record(editor).json()["items"][0]["answer"] == "Nothing."


def test_too_many_questions_are_refused_and_a_form_that_is_too_large_is_not_read(editor: Editor) -> None:
    many = written(question=["Q"] * 5000, answer=["A"] * 5000)
    response = editor.post("/new", action="draft", **many)
    assert response.status_code == 422
    assert 'id="items-error"' in response.text
    large = written(question=["Q"], answer=["x" * 4_100_000])
    assert editor.post("/new", action="draft", **large).status_code == 413


@pytest.mark.parametrize(("letter", "count"), [("ä", 27), ('"', 27)])
def test_an_faq_that_clients_could_not_read_is_refused_and_nothing_typed_is_lost(
    editor: Editor, letter: str, count: int
) -> None:
    answers = [letter * 19_000] * count
    response = editor.post("/new", action="publish", **written(question=["Q"] * count, answer=answers))
    assert response.status_code == 422
    assert 'id="items-error"' in response.text
    assert texts_of(response.text)[1::2] == answers
    assert record(editor).status_code == 404


def test_odd_bytes_in_a_form_are_text_or_problems(editor: Editor) -> None:
    body = (
        f"token={editor.token}&action=preview&question=%ff%fe%00&answer=%ED%A0%80&slug=%00".encode()
        + b"&title=\xff&lang=xx&version=%0a"
    )
    headers = {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"}
    for action in (b"preview", b"draft", b"publish", b"add:-1"):
        response = editor.client.post("/desk/new", content=body.replace(b"preview", action), headers=headers)
        assert response.status_code in (200, 422)
    assert editor.client.post("/desk/new", content=b"{}", headers={"origin": ORIGIN}).status_code == 415


@pytest.mark.parametrize("lang", [{}, {"lang": "EN"}])
@pytest.mark.parametrize("path", ["/new", "/faqs/pricing"])
def test_a_form_without_a_known_language_is_shown_again_and_not_saved(
    editor: Editor, path: str, lang: dict[str, str]
) -> None:
    base = base_of(publish(editor, lang="de"))
    typed = written(slug="pricing" if path != "/new" else "other", answer=["Typed for an hour.", "Yes."])
    del typed["lang"]
    for action, status in (("preview", 200), ("add", 200), ("draft", 422), ("publish", 422)):
        if path == "/new" and not lang.get("lang") and status == 422:
            continue  # the language of a new FAQ is recognized
        response = editor.post(path, action=action, version=base, **typed, **lang)
        assert response.status_code == status
        assert texts_of(response.text)[1] == "Typed for an hour."
    assert "Revision 1," in editor.get("/faqs/pricing").text
    assert record(editor, "other").status_code == 404


def test_an_faq_that_was_deleted_meanwhile_is_made_again_only_on_purpose(
    editor: Editor, storage: Storage, clock: Clock
) -> None:
    base = base_of(editor.post("/new", action="draft", **written()).text)
    editor.post("/faqs/pricing/remove", action="bin")
    a_month_later(storage, clock)
    editor.sign_in(storage)
    response = editor.post(
        "/faqs/pricing", action="publish", version=base, **written(answer=["Mine.", "Yes."])
    )
    assert response.status_code == 409
    assert 'action="/desk/new?' in response.text
    assert texts_of(response.text)[1] == "Mine."
    assert not record(editor).is_success
    base = base_of(response.text)
    storage.removal.unblock("pricing")
    editor.post("/new", action="publish", version=base, **written(answer=["Mine.", "Yes."]))
    assert record(editor).status_code == 200


def test_an_faq_that_was_moved_to_the_bin_meanwhile_can_be_saved_once_it_is_restored(editor: Editor) -> None:
    base = base_of(publish(editor))
    editor.post("/faqs/pricing/remove", action="bin")
    fields = {**written(answer=["Mine.", "Yes."]), "version": base}
    for action in ("draft", "publish"):
        response = editor.post("/faqs/pricing", action=action, **fields)
        assert response.status_code == 409
        assert "bin" in response.text
        fields = {**fields_of(response.text), "version": base_of(response.text)}
        assert fields["answer"] == ["Mine.", "Yes."]
        assert record(editor).status_code == 410
    assert editor.post("/bin", action="restore", slug="pricing").status_code == 200
    assert record(editor).json()["items"][0]["answer"] == "Nothing."
    response = editor.post("/faqs/pricing", action="publish", **{**fields, "token": editor.token})
    assert response.status_code == 200
    assert record(editor).json()["items"][0]["answer"] == "Mine."


def test_an_faq_that_was_deleted_for_ever_meanwhile_can_be_saved_under_another_slug(editor: Editor) -> None:
    base = base_of(publish(editor))
    editor.post("/faqs/pricing/remove", action="purge", typed="pricing")
    typed = written(answer=["Mine.", "Yes."])
    response = editor.post("/faqs/pricing", action="publish", version=base, **typed)
    again = editor.post("/new", action="publish", **fields_of(response.text))
    assert (response.status_code, again.status_code) == (409, 409)
    assert all('id="slug-error"' in page.text for page in (response, again))
    assert record(editor).status_code == 410
    fields = {**fields_of(response.text), "slug": "prices", "token": editor.token}
    del fields["once"]
    assert editor.post("/new", action="publish", **fields).status_code == 200
    assert record(editor, "prices").json()["items"][0]["answer"] == "Mine."
    editor.post("/bin", action="unblock", slug="pricing")
    assert editor.post("/new", action="publish", **{**fields, "slug": "pricing"}).status_code == 200


def test_a_form_from_before_a_new_sign_in_in_another_tab_needs_a_confirmation_only(
    editor: Editor, storage: Storage
) -> None:
    base = base_of(publish(editor))
    earlier = editor.token
    editor.sign_in(storage)
    typed = written(answer=["Typed in the first tab.", "Yes."])
    response = editor.post("/faqs/pricing", action="publish", version=base, **{**typed, "token": earlier})
    assert "Typed in the first tab." in response.text
    assert 'name="link"' not in response.text
    assert record(editor).json()["items"][0]["answer"] == "Nothing."


def test_what_was_not_writing_is_not_repeated_after_a_new_sign_in(
    editor: Editor, storage: Storage, clock: Clock
) -> None:
    publish(editor)
    clock.advance(31 * 24 * 3600)
    response = editor.post("/faqs/pricing/remove", action="unpublish")
    assert 'name="kept:' not in response.text
    assert record(editor).status_code == 200


def test_what_is_saved_counts_as_a_write_of_the_site_and_previews_do_not(storage: Storage) -> None:
    with TestClient(create_app(storage, writes_per_minute=2)) as client:
        editor = Editor(client)
        editor.sign_in(storage)
        previews = {editor.post("/new", action="preview", **written()).status_code for _ in range(5)}
        saved = [editor.post("/new", action="draft", **written(slug=f"faq-{number}")) for number in range(3)]
        assert (previews, [page.status_code for page in saved]) == ({200}, [200, 200, 429])
        assert int(saved[2].headers["retry-after"]) > 0
        assert hidden_fields(saved[2].text)["slug"] == ["faq-2"]  # what was typed can be sent again


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_too_many_requests_from_one_address_get_a_page(storage: Storage, method: str) -> None:
    with TestClient(create_app(storage, reads_per_minute=1)) as client:
        client.get("/desk/sign-in")
        response = client.request(method, "/desk/new", data=written() if method == "POST" else None)
        assert response.status_code == 429
        assert response.headers["content-type"].startswith("text/html")
        assert int(response.headers["retry-after"]) > 0


@pytest.mark.parametrize("call", ["sign_ins.person", "writer.write"])
def test_what_was_typed_can_be_sent_again_when_the_database_responds(
    editor: Editor, storage: Storage, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(*_: object) -> None:
        raise StorageUnavailable("disk I/O error")

    with monkeypatch.context() as outage:
        part, _, method = call.partition(".")
        outage.setattr(getattr(storage, part), method, fail)
        response = editor.post("/new", action="publish", **written(answer=["Typed <for> an hour.", "Yes."]))
    assert response.status_code == 503
    assert int(response.headers["retry-after"]) > 0
    assert send_again(editor.client, response).status_code == 200
    assert record(editor).json()["items"][0]["answer"] == "Typed <for> an hour."


def test_a_link_that_was_typed_is_never_printed(stranger: Editor) -> None:
    response = stranger.use_link("link_typed")
    assert response.status_code == 403
    assert "link_typed" not in response.text


def test_a_translation_that_was_deleted_meanwhile_is_made_again_only_on_purpose(
    editor: Editor, storage: Storage
) -> None:
    publish(editor)
    german = written(lang="de", answer=["Nichts.", "Ja."])
    base = base_of(editor.post("/faqs/pricing", action="publish", version="", **german).text)
    path = "/api/v1/faq/pricing?lang=de&purge=true"
    editor.client.delete(path, headers={"X-Plugin-Key": storage.keys.create("Mia")})
    mine = {**german, "answer": ["Mein Text.", "Ja."]}
    response = editor.post("/faqs/pricing", action="publish", version=base, **mine)
    assert response.status_code == 409
    assert texts_of(response.text)[1] == "Mein Text."
    assert record(editor, lang="de").json()["lang"] == "en"
    editor.post("/bin", action="restore", slug="pricing")
    assert record(editor, lang="de").json()["items"][0]["answer"] == "Nichts."
    fields = {**fields_of(response.text), "version": base_of(response.text), "token": editor.token}
    response = editor.post("/faqs/pricing", action="publish", **fields)
    assert response.status_code == 200
    assert record(editor, lang="de").json()["items"][0]["answer"] == "Mein Text."
