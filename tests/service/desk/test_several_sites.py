"""One address on several sites, with the header of a proxy: the person chooses, nobody else."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from faqsvc_embed.service import create_app
from faqsvc_embed.service.http.requests import mark_as_from_proxy
from faqsvc_embed.service.storage import Storage
from tests.service.desk.conftest import ORIGIN, Editor
from tests.service.desk.test_editor import written

ED = {"X-Forwarded-Email": "ed@a.example"}
POST = {**ED, "Origin": ORIGIN}


@pytest.fixture
def browser(storage: Storage) -> Iterator[TestClient]:
    """Ed's browser, behind the proxy."""
    app = create_app(storage, sign_in_header="X-Forwarded-Email")

    async def behind_a_proxy(scope: Scope, receive: Receive, send: Send) -> None:
        mark_as_from_proxy(scope)
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
    assert storage.overview.page(sites[1], limit=1)[0] == []


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


def test_a_person_of_two_sites_reaches_both_by_link_and_two_tabs_do_not_mix(
    editor: Editor, storage: Storage
) -> None:
    first = storage.people.admin("Mia")
    site = storage.sites.create("Second")
    second = storage.people.add("Mia Two", role="admin", email="mia@heron.example", site=site)
    earlier = editor.token  # of a tab that was opened before
    page = editor.use_link(storage.sign_ins.create_link(second))
    assert page.url.path == f"/desk/at/{site}"
    assert "Mia Two" in page.text

    assert f'href="/desk/at/{site}/site"' in editor.get("/you").text
    assert editor.get("/choose").text.count('name="site"') == 2
    texts = {one: editor.get(f"/at/{one}/you").text for one in (first.site, site)}
    assert ["<h1>Mia</h1>" in texts[first.site], "<h1>Mia Two</h1>" in texts[site]] == [True, True]
    assert f'href="/desk/at/{site}/new"' in editor.get(f"/at/{site}").text

    other = editor.get(f"/at/{site}/new").text
    saved = editor.post(f"/at/{site}/new", action="publish", **written(slug="theirs"))
    assert (saved.status_code, saved.url.path) == (200, f"/desk/at/{site}/faqs/theirs")
    editor.token = earlier
    assert editor.post("/new", action="publish", **written(slug="mine")).status_code == 200
    assert [[faq.slug for faq in storage.overview.page(one, limit=9)[0]] for one in (first.site, site)] == [
        ["mine"],
        ["theirs"],
    ]
    assert editor.token not in other

    editor.get(f"/at/{site}/you")
    assert editor.post(f"/at/{site}/sign-out").url.path == "/desk"
    assert editor.get("/you").url.path == "/desk/you"


def test_a_link_of_one_site_signs_in_to_no_other(stranger: Editor, storage: Storage) -> None:
    storage.people.add("Mia", role="admin", email="mia@heron.example", site=storage.sites.create("First"))
    site = storage.sites.create("Second")
    impostor = storage.people.add("Eve", role="admin", email="mia@heron.example", site=site)
    stranger.use_link(storage.sign_ins.create_link(impostor))
    assert stranger.get("/choose").text.count('name="site"') == 1
    assert stranger.get(f"/at/{storage.people.find('mia@heron.example', site=site).site}").status_code == 200
    first = next(one.id for one in storage.sites.list() if one.name == "First")
    assert stranger.get(f"/at/{first}").url.path.endswith("/sign-in")
