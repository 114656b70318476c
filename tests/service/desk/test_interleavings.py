"""People at the desk and programs at work on the same FAQ: nothing is lost, and nothing undone silently."""

import re
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.errors import FAQNotFound
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.errors import Gone
from faqsvc_embed.service.storage.values import Revision
from tests.service.desk.conftest import Editor
from tests.service.desk.test_editor import base_of, fields_of, publish, record, texts_of, written


class Program:
    """A program with an API key, which changes one FAQ."""

    def __init__(self, client: TestClient, key: str, slug: str) -> None:
        self.client, self.slug = client, slug
        self.headers = {"X-Plugin-Key": key}

    def put(self, text: str, *, draft: bool = False) -> None:
        items = [{"question": "What does it cost?", "answer": text}]
        body = {"websiteUrl": "https://heron.example", "websiteName": "Heron", "items": items, "draft": draft}
        self._send("PUT", "?lang=en", json=body)

    def unpublish(self) -> None:
        self._send("DELETE", "")

    def purge(self) -> None:
        self._send("DELETE", "?purge=true")

    def publish(self, number: int) -> None:
        self._send("POST", f"/revisions/{number}/publish")

    def patch(self, *, draft: bool = False) -> None:
        change = {"question": "What does it cost?", "answer": f"Patched {draft}"}
        body = {"changes": [change], "draft": draft}
        self._send("PATCH", "", json=body, headers=self.headers | {"If-Match": "*"})

    def restore(self) -> None:
        self._send("POST", "/restore")

    def _send(self, method: str, path: str, **options: Any) -> None:
        """Send a request, which may be refused because of what was done before."""
        url = f"/api/v1/faq/{self.slug}{path}"
        response = self.client.request(method, url, **{"headers": self.headers, **options})
        assert response.is_success or response.status_code in (404, 410)


def base_on(page: str) -> str | None:
    """Return what the forms of a page were opened with; None if it has no form."""
    found = re.search(r'name="version" value="([^"]*)"', page)
    return found and found[1]


CHANGES: Final[dict[str, Callable[[Program], None]]] = {
    "none": lambda program: None,
    "publication": lambda program: program.put("Theirs"),
    "draft": lambda program: program.put("Theirs, a draft", draft=True),
    "unpublish": Program.unpublish,
    "purge": Program.purge,
    "revert": lambda program: program.publish(1),
    "patch": Program.patch,
    "patched draft": lambda program: program.patch(draft=True),
    "restore": Program.restore,
}


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize("action", ["draft", "publish", "unpublish", "again"])
@pytest.mark.parametrize("first", CHANGES)
def test_a_change_by_a_program_in_the_meantime_is_shown_and_not_undone(
    editor: Editor, storage: Storage, first: str, action: str, turn: int
) -> None:
    """What was there before, and what the program does after its first change, is chosen at random."""
    random = Random(f"{first} {action} {turn}")
    publish(editor)
    program = Program(editor.client, storage.keys.create("sync"), "pricing")
    # A history with nothing but the published revision has no button.
    for number in range(random.randrange(1 if action == "again" else 0, 3)):
        program.put(f"Before {number}", draft=random.random() < 0.5)
    if random.random() < 0.25:
        program.unpublish()
    path = {"again": "/history", "unpublish": "/remove"}.get(action, "")
    page = editor.get(f"/faqs/pricing{path}").text

    before = state_of(editor, storage)
    CHANGES[first](program)
    for change in random.choices(list(CHANGES.values()), k=random.randrange(3) if first != "none" else 0):
        change(program)
    theirs = state_of(editor, storage)

    if action in ("draft", "publish"):
        mine = fields_of(page) | {"answer": ["Mine, after an hour.", "Mine, too."], "token": editor.token}
        response = editor.post("/faqs/pricing", action=action, **mine)
        assert response.history or "Mine, after an hour." in texts_of(response.text)
    elif action == "again":
        response = editor.post("/faqs/pricing/history", lang="en", number="1", version=base_on(page))
    else:
        response = editor.post("/faqs/pricing/remove", action="unpublish", version=base_on(page))

    if theirs == before:
        assert response.status_code == 200
    else:
        is_done = [200] if action == "unpublish" and theirs[0] == 410 else []  # by the program
        assert response.status_code in (404, 409, 410, 422, *is_done)
        assert state_of(editor, storage) == theirs


def state_of(editor: Editor, storage: Storage) -> tuple[int, str, list[tuple[int, str, str]]]:
    """Return what readers get, and the revisions with their states and texts."""
    public = record(editor)
    revisions = list[Revision]()
    with suppress(FAQNotFound, Gone):
        revisions = storage.history.revisions(storage.people.admin().access, "pricing", "en", limit=99)[0]
    states = [(one.number, f"{one.state} {one.discarded_at}", one.digest) for one in revisions]
    return public.status_code, public.text if public.is_success else "", states


def test_an_faq_that_was_unpublished_meanwhile_is_public_again_only_on_purpose(
    editor: Editor, storage: Storage
) -> None:
    base = base_of(publish(editor))
    Program(editor.client, storage.keys.create("sync"), "pricing").unpublish()
    mine = written(answer=["Mine.", "Any time."])
    response = editor.post("/faqs/pricing", action="publish", version=base, **mine)
    assert response.status_code == 409
    assert "unpublished" in response.text
    assert texts_of(response.text)[1] == "Mine."
    assert record(editor).status_code == 410
    unchanged = editor.post("/faqs/pricing", action="publish", version=base, **written())
    assert (unchanged.status_code, record(editor).status_code) == (409, 410)
    again = editor.post("/faqs/pricing", action="publish", version=base_of(response.text), **mine)
    assert again.status_code == 200
    assert record(editor).json()["items"][0]["answer"] == "Mine."
