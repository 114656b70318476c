"""/, /robots.txt, /sitemap.xml and /favicon.ico."""

from datetime import timedelta
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.routes import readers
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.values import Access, Preconditions
from tests.service.bodies import publication
from tests.service.storage.writes import put
from tests.support.clock import EPOCH, Clock

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


@pytest.fixture
def listed(storage: Storage) -> Access:
    """A listed site with two FAQs, and another one."""
    listed, other = storage.sites.create("listed", listed=True), storage.sites.create("other")
    put(storage, FAQ("prices & more", "Prices <b>", lang="en"), site=listed)
    put(storage, FAQ("요금", lang="ko"), site=listed)
    put(storage, FAQ("secret", "Secret", lang="en"), site=other)
    return Access(None, listed)


def locations(client: TestClient, url: str = "/sitemap.xml") -> dict[str | None, str | None]:
    """Return the URLs in a sitemap or an index of sitemaps, each with its date."""
    root = ElementTree.fromstring(client.get(url).content)
    return {url.findtext(f"{SITEMAP}loc"): url.findtext(f"{SITEMAP}lastmod") for url in root}


def test_the_sitemap_has_each_translation_with_its_canonical_url_and_date(
    client: TestClient, storage: Storage, listed: Access, clock: Clock
) -> None:
    clock.advance(60)
    put(storage, FAQ("요금", lang="de"), site=listed.site)
    put(storage, FAQ("요금", lang="fr"), site=listed.site)
    storage.removal.unpublish(listed, "요금", "fr", Preconditions())
    both = locations(client)
    page = "http://testserver/faq/%EC%9A%94%EA%B8%88"
    canonical = {
        lang: client.get(page, params={"lang": lang}).links["canonical"]["url"] for lang in ("ko", "de")
    }
    storage.removal.unpublish(listed, "요금", "ko", Preconditions())

    assert both[page] == EPOCH.isoformat()
    assert both[f"{page}?lang=de"] == (EPOCH + timedelta(seconds=60)).isoformat()
    assert len(both) == 3
    assert canonical == {"ko": page, "de": f"{page}?lang=de"}
    assert list(locations(client)) == ["http://testserver/faq/prices%20%26%20more", page]


def test_a_long_sitemap_is_an_index_of_sitemaps(
    client: TestClient, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "SITEMAP_SIZE", 3)
    owner = Access(None, storage.sites.create("listed", listed=True))
    slugs = [f"tea & cake {number}" for number in range(7)]
    for slug in slugs[:3]:
        put(storage, FAQ(slug, lang="en"))
    short = client.get("/sitemap.xml")
    for slug in slugs[3:]:
        put(storage, FAQ(slug, lang="en"))
    put(storage, FAQ("gone", lang="en"))
    storage.removal.unpublish(owner, "gone", None, Preconditions())
    put(storage, FAQ("aaa", lang="en"), site=storage.sites.create("other"))
    index = client.get("/sitemap.xml")
    parts = [list(locations(client, url or "")) for url in locations(client)]

    assert ElementTree.fromstring(short.content).tag == f"{SITEMAP}urlset"
    assert ElementTree.fromstring(index.content).tag == f"{SITEMAP}sitemapindex"
    assert [len(part) for part in parts] == [3, 3, 1]
    assert [url for part in parts for url in part] == [
        f"http://testserver/faq/{quote(slug)}" for slug in slugs
    ]


@pytest.mark.usefixtures("listed")
def test_a_sitemap_whose_first_faq_was_unpublished_starts_with_the_next_one(client: TestClient) -> None:
    assert list(locations(client, "/sitemap.xml?from=price")) == list(locations(client))
    assert list(locations(client, "/sitemap.xml?from=q")) == ["http://testserver/faq/%EC%9A%94%EA%B8%88"]


@pytest.mark.parametrize("first", ["", "%00", "a/b", "s" * 201])
def test_an_invalid_start_of_a_sitemap_is_a_422(client: TestClient, first: str) -> None:
    response = client.get(f"/sitemap.xml?from={first}")

    assert (response.status_code, response.json()["code"]) == (422, "invalid-parameter")
    assert len(response.json()["problems"]) == 1


def test_the_largest_sitemap_is_within_the_limits_of_the_protocol(
    client: TestClient, storage: Storage
) -> None:
    site = storage.sites.create("listed", listed=True)
    for lang in LANGUAGES:
        put(storage, FAQ("\U0001f375" * 200, lang=lang), site=site)
    largest = client.get("/sitemap.xml", headers={"host": f"{'a' * 255}:65535"})

    assert largest.text.count("<url>") * readers.SITEMAP_SIZE <= 50_000
    assert len(largest.content) * readers.SITEMAP_SIZE <= 50_000_000


@pytest.mark.usefixtures("listed")
def test_the_start_page_names_listed_faqs(client: TestClient) -> None:
    response = client.get("/")

    assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "script-src" not in response.headers["content-security-policy"]
    assert "Prices &lt;b&gt;" in response.text
    assert "Secret" not in response.text


def test_robots_may_read_everything_and_find_the_sitemap_unless_it_is_empty(
    client: TestClient, storage: Storage
) -> None:
    site = storage.sites.create("listed", listed=True)
    before = client.get("/robots.txt").text.splitlines()
    key = storage.keys.create(site=site)
    assert client.put("/api/v1/faq/a", json=publication(), headers={"X-Plugin-Key": key}).is_success
    after = client.get("/robots.txt").text.splitlines()

    assert "Disallow:" in before
    assert "Disallow:" in after
    assert [line for line in before + after if "map" in line] == ["Sitemap: http://testserver/sitemap.xml"]


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
    put(storage, FAQ("pricing", lang="de"))

    assert f'<time datetime="{EPOCH.date()}">21. November 2026</time>' in client.get("/faq/pricing").text
