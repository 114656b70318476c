"""Creating an FAQ from a website, at the desk."""

import html
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from tests.generation.websites import html as page
from tests.generation.websites import website
from tests.service.desk.conftest import Editor
from tests.service.desk.test_editor import texts_of
from tests.support.faulty import FaultyServer

PAGE = page(
    "<h1>FAQ</h1><h2>Orders</h2><details><summary>Do you ship to Peru?</summary><p>We do.</p></details>"
    "<h2>Shop</h2><details><summary>When are you open?</summary><p>From nine until six.</p></details>"
)


def test_what_a_website_answers_is_shown_with_its_sources(storage: Storage, faulty: FaultyServer) -> None:
    faulty.behave(website({"/": PAGE}))
    url = f"http://127.0.0.1:{faulty.port}/"
    with TestClient(create_app(storage, generate_allow=f"127.0.0.1:{faulty.port}")) as client:
        editor = Editor(client)
        editor.sign_in(storage)
        response = editor.post("/website", website_url=url)
        assert response.status_code == 200
        found = re.findall(r'name="question" value="([^"]*)"', response.text)
        assert found == ["Do you ship to Peru?", "When are you open?"]
        assert re.findall(r'name="section" value="([^"]*)"', response.text) == ["Orders", "Shop"]
        assert f'<a href="{url}' in response.text
        assert "/desk/faqs/" not in editor.get("").text


@pytest.mark.parametrize("url", ["", "heron", "http://127.0.0.1/", "http://[::1]:22/", "\ud800"])
def test_an_address_that_may_not_be_read_is_a_problem(editor: Editor, url: str) -> None:
    response = editor.post("/website", website_url=url.encode("utf-8", "replace"))
    assert response.status_code == 422
    assert 'aria-describedby="website_url-error"' in response.text


def test_only_what_is_ticked_is_kept(editor: Editor) -> None:
    fields: dict[str, Any] = {
        "question": ["a?", "b?"],
        "answer": ["1", "2"],
        "website_url": "https://heron.example",
    }
    response = editor.post("/import", action="keep", keep=["1", "x", "99", "9" * 5000], **fields)
    assert texts_of(response.text) == ["b?", "2"]
    sections = editor.post("/import", action="keep", keep=["0"], section=["Orders", ""], **fields)
    assert 'value="Orders"' in sections.text
    [url] = re.findall(r'name="website_url"[^>]* value="([^"]*)"', response.text)
    assert html.unescape(url) == "https://heron.example"
    assert editor.post("/import", action="keep", **fields).status_code == 422
