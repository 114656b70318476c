"""GET /llms.txt: a list of what is published."""

import re

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.models import FAQ
from faqsvc_embed.service import llms
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import publication, publish
from tests.support import samples

HOST = "http://testserver"
HEAD = """\
# FAQs on testserver

> Questions and answers that websites have published here: each as a page, and as Markdown with `.md` behind \
its address.

## FAQs
"""


def test_it_lists_every_faq_once_by_its_own_language(client: TestClient, storage: Storage) -> None:  # X5
    storage.put(FAQ.from_dict(samples.record("b", lang="ko", title="요금 [1]")))
    storage.put(FAQ.from_dict(samples.record("b", lang="en", title="Prices")))
    storage.put(FAQ("a b", lang="de"))
    response = client.get("/llms.txt")

    assert (
        response.text
        == HEAD
        + f"""
- [a b]({HOST}/faq/a%20b.md): Deutsch
- [요금 \\[1\\]]({HOST}/faq/b.md): Tea \\& Sons, 한국어
"""
    )
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["cache-control"] == "public, max-age=60"


def test_a_list_of_nothing_is_a_list(client: TestClient) -> None:
    assert client.get("/llms.txt").text == HEAD


def test_it_is_another_when_an_faq_is_another(client: TestClient, key: str) -> None:  # X5
    slug = publish(client, key, publication(title="Before")).json()["slug"]
    before = client.get("/llms.txt")
    publish(client, key, publication(slug=slug, title="After"))
    after = client.get("/llms.txt", headers={"If-None-Match": before.headers["etag"]})
    again = client.get("/llms.txt", headers={"If-None-Match": after.headers["etag"]})

    assert "[Before]" in before.text
    assert (after.status_code, again.status_code) == (200, 304)
    assert "[After]" in after.text


def test_its_links_lead_to_markdown(client: TestClient, storage: Storage) -> None:
    storage.put(FAQ.from_dict(samples.pricing()))
    [address] = re.findall(r"\((http[^)]*)\)", client.get("/llms.txt").text)

    assert client.get(address).headers["content-type"] == "text/markdown; charset=utf-8"


def test_a_long_list_comes_in_parts(
    client: TestClient, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llms, "PAGE", 3)
    for number in range(7):
        storage.put(FAQ(f"faq-{number}", lang="en"))
    address, listed = f"{HOST}/llms.txt", []
    while address:
        response = client.get(address)
        listed.append(re.findall(r"\[faq-(\d)\]", response.text.replace("\\", "")))
        address = response.links.get("next", {}).get("url", "")
        assert (f"[The next FAQs]({address})" in response.text) == bool(address)

    assert listed == [["0", "1", "2"], ["3", "4", "5"], ["6"]]


@pytest.mark.parametrize("after", ["", "%00", "a/b", "s" * 201])
def test_what_is_no_slug_is_no_place_in_the_list(client: TestClient, after: str) -> None:
    response = client.get(f"/llms.txt?after={after}")

    assert (response.status_code, len(response.json()["problems"])) == (422, 1)


def test_who_prefers_markdown_is_told_that_it_is(client: TestClient) -> None:
    response = client.get("/llms.txt", headers={"Accept": "text/markdown"})

    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
