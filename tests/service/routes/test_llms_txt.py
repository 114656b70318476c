"""GET /llms.txt."""

import re

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.models import FAQ
from faqsvc_embed.service import create_app
from faqsvc_embed.service.routes import readers
from faqsvc_embed.service.storage import Storage
from tests.service.storage.writes import put
from tests.support import samples

HOST = "http://testserver"


@pytest.fixture(autouse=True)
def _listed(storage: Storage) -> None:
    """Let the only site be listed."""
    storage.sites.create("listed", listed=True)


def test_the_faqs_of_other_sites_are_not_listed(client: TestClient, storage: Storage) -> None:
    put(storage, FAQ("secret", lang="en"), site=storage.sites.create("unlisted"))

    assert "secret" not in client.get("/llms.txt").text


def test_it_lists_every_faq_in_its_default_language(client: TestClient, storage: Storage) -> None:
    put(storage, FAQ.from_dict(samples.record("b", lang="ko", title="요금 [1]")))
    put(storage, FAQ.from_dict(samples.record("b", lang="en", title="Prices")))
    put(storage, FAQ("a b", lang="de"))
    response = client.get("/llms.txt")
    title, summary, heading, *lines = filter(None, response.text.split("\n"))

    assert title == "# FAQs on testserver"
    assert summary.startswith("> ")
    assert heading == "## FAQs"
    assert lines == [
        f"- [a b]({HOST}/faq/a%20b.md): Deutsch",
        f"- [요금 \\[1\\]]({HOST}/faq/b.md): Tea & Sons, 한국어",
    ]
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["cache-control"] == "public, max-age=60"


def test_an_empty_list_is_valid(client: TestClient) -> None:
    assert client.get("/llms.txt").text.endswith("## FAQs\n")


def test_its_links_lead_to_markdown(client: TestClient, storage: Storage) -> None:
    put(storage, FAQ.from_dict(samples.pricing()))
    [url] = re.findall(r"\((http[^)]*)\)", client.get("/llms.txt").text)

    assert client.get(url).headers["content-type"] == "text/markdown; charset=utf-8"


@pytest.mark.parametrize("host", ["127.0.0.1:8700", "[::1]:8700", "faq_1.example"])
def test_every_address_can_be_copied(storage: Storage, host: str) -> None:
    put(storage, FAQ("a_b", lang="en"))
    with TestClient(create_app(storage), base_url=f"http://{host}") as client:
        text = client.get("/llms.txt").text

    assert text.startswith(f"# FAQs on {host}\n")
    assert f"(http://{host}/faq/a_b.md)" in text


@pytest.mark.parametrize("count", [3, 4])
def test_a_long_list_is_cut_and_says_so(
    client: TestClient, storage: Storage, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(readers, "MAX_LISTED", 3)
    for number in range(count):
        put(storage, FAQ(f"faq-{number}", lang="en"))
    text = client.get("/llms.txt").text

    assert re.findall(r"\[faq-(\d)\]", text.replace("\\", "")) == ["0", "1", "2"]
    assert (f"({HOST}/sitemap.xml)" in text) == (count > 3)


def test_it_is_markdown_for_clients_that_prefer_it(client: TestClient) -> None:
    response = client.get("/llms.txt", headers={"Accept": "text/markdown"})

    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
