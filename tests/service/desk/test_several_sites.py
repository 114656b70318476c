"""One address on several sites, with the header of a proxy: the person chooses, nobody else."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from faqsvc_embed.service import create_app
from faqsvc_embed.service.http import trusted_proxy
from faqsvc_embed.service.storage import Storage
from tests.service.desk.conftest import ORIGIN

ED = {"X-Forwarded-Email": "ed@a.example"}
POST = {**ED, "Origin": ORIGIN}


@pytest.fixture
def browser(storage: Storage) -> Iterator[TestClient]:
    """Ed's browser, behind the proxy."""
    app = create_app(storage, sign_in_header="X-Forwarded-Email")

    async def behind_a_proxy(scope: Scope, receive: Receive, send: Send) -> None:
        trusted_proxy.mark(scope)
        await app(scope, receive, send)

    with TestClient(behind_a_proxy, base_url=ORIGIN, headers=ED) as client:
        yield client


@pytest.fixture
def sites(storage: Storage) -> tuple[str, str]:
    """Two sites; Ed is a person of the first."""
    first, second = storage.sites.create("First"), storage.sites.create("Second")
    storage.people.add("Ed", role="editor", email="ed@a.example", site=first)
    return first, second


def test_an_admin_of_another_site_captures_nobody(
    browser: TestClient, storage: Storage, sites: tuple[str, str]
) -> None:
    assert "First" in browser.get("/desk").text
    storage.people.add("0", role="editor", email="ed@a.example", site=sites[1])
    asked = browser.get("/desk/new?x=1")

    assert "Choose a site" in asked.text
    assert browser.post("/desk/new", data={"action": "draft"}, headers=POST).status_code == 409
    assert storage.overview.faqs(sites[1], limit=1) == []


def test_a_person_of_two_sites_reaches_both(
    browser: TestClient, storage: Storage, sites: tuple[str, str]
) -> None:
    storage.people.add("Edward", role="admin", email="ed@a.example", site=sites[1])
    for site, name in zip(sites, ("Ed", "Edward"), strict=True):
        data = {"site": site, "next": "/you"}
        page = browser.post("/desk/choose", data=data, headers=POST).text
        assert f"<h1>{name}</h1>" in page
        assert "Choose another site" in page
    assert browser.post("/desk/choose", data={"site": "none"}, headers=POST).status_code == 404
