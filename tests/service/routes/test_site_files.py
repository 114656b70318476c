"""/, /robots.txt, /sitemap.xml and /favicon.ico."""

from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.values import Access, Preconditions
from tests.support.clock import EPOCH

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


@pytest.fixture
def listed(storage: Storage) -> Access:
    """A listed site with two FAQs, and another one."""
    listed, other = storage.sites.create("listed", listed=True), storage.sites.create("other")
    storage.put(FAQ("prices & more", "Prices <b>", lang="en"), site=listed)
    storage.put(FAQ("요금", lang="ko"), site=listed)
    storage.put(FAQ("secret", "Secret", lang="en"), site=other)
    return Access(None, listed)


def locations(client: TestClient) -> dict[str | None, str | None]:
    root = ElementTree.fromstring(client.get("/sitemap.xml").content)
    return {url.findtext(f"{SITEMAP}loc"): url.findtext(f"{SITEMAP}lastmod") for url in root}


def test_the_sitemap_has_the_pages_of_listed_sites_with_dates(
    client: TestClient, storage: Storage, listed: Access
) -> None:
    time = EPOCH.isoformat()
    everything = locations(client)
    storage.writer.unpublish(listed, "요금", None, Preconditions())

    assert everything == {
        "http://testserver/faq/prices%20%26%20more": time,
        "http://testserver/faq/%EC%9A%94%EA%B8%88": time,
    }
    assert list(locations(client)) == ["http://testserver/faq/prices%20%26%20more"]


@pytest.mark.usefixtures("listed")
def test_the_start_page_names_listed_faqs(client: TestClient) -> None:
    response = client.get("/")

    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "script-src" not in response.headers["content-security-policy"]
    assert "Prices &lt;b&gt;" in response.text
    assert "Secret" not in response.text


def test_robots_find_the_sitemap_and_may_read_everything(client: TestClient) -> None:
    lines = client.get("/robots.txt").text.splitlines()

    assert "Sitemap: http://testserver/sitemap.xml" in lines
    assert "Disallow:" in lines


def test_there_is_an_icon(client: TestClient) -> None:
    response = client.get("/favicon.ico")

    assert (response.status_code, response.headers["content-type"]) == (200, "image/svg+xml")
    assert ElementTree.fromstring(response.content).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.parametrize("path", ["/", "/robots.txt", "/sitemap.xml", "/favicon.ico"])
def test_they_are_cacheable_and_readable_from_any_origin(client: TestClient, path: str) -> None:
    response = client.get(path)
    again = client.get(path, headers={"If-None-Match": response.headers["etag"]})

    assert (response.status_code, again.status_code) == (200, 304)
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["cache-control"].startswith("public")


def test_a_hosted_page_shows_when_it_was_changed_last(client: TestClient, storage: Storage) -> None:
    storage.put(FAQ("pricing", lang="de"))

    assert f'<time datetime="{EPOCH.isoformat()}">{EPOCH.date()}</time>' in client.get("/faq/pricing").text
