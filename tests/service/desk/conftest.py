"""An editor: a client that follows redirects and posts forms as a browser does."""

import html
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.people import Role

ORIGIN = "http://testserver"


def versions_of(text: str) -> list[dict[str, str]]:
    """Return the field `version` of each form of a page, as a browser sends it."""
    found = re.findall(r'name="version" value="([^"]*)"', text)
    return [{"version": html.unescape(version)} for version in found]


class Editor:
    """A browser at the desk."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.token = ""

    def sign_in(
        self,
        storage: Storage,
        name: str = "Mia",
        *,
        role: Role = "admin",
        site: str | None = None,
        **fields: str,
    ) -> httpx2.Response:
        """Sign in as a person, who is added if there is none with this name and role."""
        found = [person for person in storage.people.list(site) if (person.name, person.role) == (name, role)]
        person = found[0] if found else storage.people.add(name, role=role, site=site)
        return self.use_link(storage.sign_ins.create_link(person), **fields)

    def use_link(self, link: str, **fields: str) -> httpx2.Response:
        """Sign in with a link, or its token."""
        response = self.client.post(
            "/desk/sign-in", data={"link": link, **fields}, headers={"origin": ORIGIN}
        )
        return self._read(response)

    def get(self, path: str) -> httpx2.Response:
        """Open a page of the desk."""
        return self._read(self.client.get(f"/desk{path}"))

    def post(self, path: str, origin: str = ORIGIN, **fields: Any) -> httpx2.Response:
        """Post a form with the token of the last page; to unpublish or publish again, open its page first."""
        if path.endswith(("/remove", "/history")) and "version" not in fields:
            fields |= next(iter(versions_of(self.client.get(f"/desk{path}").text)), {})
        data = {"token": self.token, **fields}
        return self._read(self.client.post(f"/desk{path}", data=data, headers={"origin": origin}))

    def _read(self, response: httpx2.Response) -> httpx2.Response:
        if found := re.search(r'name="token" value="([^"]+)"', response.text):
            self.token = found[1]
        return response


def next_page(editor: Editor, path: str, text: str) -> str:
    """Open the next page of a list, by its link."""
    [link] = re.findall(r'href="(\?[^"]*)">Next page', text)
    return editor.get(path + html.unescape(link)).text


@pytest.fixture
def app_client(storage: Storage) -> Iterator[TestClient]:
    with TestClient(create_app(storage)) as client:
        yield client


@pytest.fixture
def stranger(app_client: TestClient) -> Editor:
    """A browser that is not signed in."""
    return Editor(app_client)


@pytest.fixture
def editor(stranger: Editor, storage: Storage) -> Editor:
    """A browser in which an admin is signed in."""
    assert stranger.sign_in(storage).status_code == 200
    return stranger
