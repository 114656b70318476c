"""GET /faq/{slug}: pages and their Markdown."""

import json
import re
from xml.etree.ElementTree import Element

import html5lib
import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api.requests import KEY_HEADER
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ
from faqsvc_embed.service import create_app
from faqsvc_embed.service.pages.hosted import MESSAGES
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.values import Access
from tests.service.bodies import publication, publish
from tests.service.storage.writes import put
from tests.support import samples

HOST = "http://testserver"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PAGE = f"{HOST}/faq/pricing"


@pytest.fixture
def pricing(storage: Storage) -> None:
    """An FAQ in English, its default language, Korean and German."""
    store(storage, "en", "ko", "de")


def store(storage: Storage, *langs: str) -> None:
    records = samples.multilingual()
    for lang in langs:
        put(storage, FAQ.from_dict(records[lang]), website_url="https://www.tea.example/?a=1&b=2")


def parsed(response: httpx2.Response) -> Element:
    tree: Element = html5lib.parse(response.text, namespaceHTMLElements=False)
    return tree


def text_of(element: Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def links_of(tree: Element, rel: str) -> list[dict[str, str]]:
    return [dict(link.attrib) for link in tree.iter("link") if link.get("rel") == rel]


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/faq/pricing/?lang=ko&x=%C3%A9", "/faq/pricing?lang=ko&x=%C3%A9"),
        ("/faq/a%20%3Fb.md%2F", "/faq/a%20%3Fb.md"),
    ],
)
def test_an_address_with_a_slash_at_its_end_redirects_to_the_page(
    client: TestClient, path: str, location: str
) -> None:
    response = client.get(path, follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (308, location)
    assert client.get("/faq//", follow_redirects=False).status_code == 404


def test_a_page_is_shown_although_its_languages_change_while_it_is_made(
    client: TestClient, storage: Storage, pricing: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage.publications, "languages", lambda slug: ["fr"])
    response = client.get("/faq/pricing")
    assert (response.status_code, response.headers["content-language"]) == (200, "en")


def test_a_page_has_all_questions_and_answers_and_one_faqpage(client: TestClient, storage: Storage) -> None:
    record = samples.record()
    put(storage, FAQ.from_dict(record), website_url="https://www.tea.example")
    tree = parsed(client.get("/faq/pricing"))
    [script] = list(tree.iter("script"))
    node = json.loads(script.text or "")

    assert text_of(tree.find(".//title")) == "Pricing – Tea & Sons"
    assert [text_of(h1) for h1 in tree.iter("h1")] == ["Pricing"]
    assert [text_of(h2) for h2 in tree.iter("h2")] == [item["question"] for item in record["items"]]
    answers = [text_of(div) for div in tree.iter("div") if div.get("class") == "faqsvc-answer"]
    assert answers == [" ".join(item["answer"].split()) for item in record["items"]]
    assert (script.get("type"), node["@type"]) == ("application/ld+json", "FAQPage")
    assert [entry["name"] for entry in node["mainEntity"]] == [item["question"] for item in record["items"]]


def test_a_page_links_to_all_languages(client: TestClient, storage: Storage) -> None:
    store(storage, *LANGUAGES)
    tree = parsed(client.get("/faq/pricing?lang=ko"))
    alternates = {
        link["hreflang"]: link["href"] for link in links_of(tree, "alternate") if "hreflang" in link
    }

    assert alternates == {
        "en": PAGE,
        "x-default": PAGE,
        **{lang: f"{PAGE}?lang={lang}" for lang in LANGUAGES if lang != "en"},
    }
    assert links_of(tree, "canonical") == [{"rel": "canonical", "href": f"{PAGE}?lang=ko"}]
    shown = {a.get("lang"): (a.get("href"), a.text) for nav in tree.iter("nav") for a in nav.iter("a")}
    assert shown == {
        lang: (f"{PAGE}?lang={lang}", MESSAGES[lang].language) for lang in LANGUAGES if lang != "ko"
    }
    for lang, address in alternates.items():
        read = parsed(client.get(address)).get("lang")
        assert read == ("en" if lang == "x-default" else lang)


@pytest.mark.usefixtures("pricing")
def test_the_language_is_that_of_the_url_else_of_the_reader_else_of_the_faq(client: TestClient) -> None:
    for path, accept_language, lang, vary in (
        ("", None, "en", "Accept, Accept-Language"),
        ("", "ko-KR, en;q=0.5", "ko", "Accept, Accept-Language"),
        ("", "it, *", "en", "Accept, Accept-Language"),
        ("", "it, de;q=0.8, en;q=0.1", "de", "Accept, Accept-Language"),
        ("?lang=de", "ko", "de", "Accept"),
        ("?lang=de-CH", "ko", "de", "Accept"),
        ("?lang=xx", "ko", "ko", "Accept, Accept-Language"),
        ("?lang=", None, "en", "Accept, Accept-Language"),
    ):
        headers = {} if accept_language is None else {"Accept-Language": accept_language}
        response = client.get(f"/faq/pricing{path}", headers=headers)
        assert (path, accept_language, parsed(response).get("lang")) == (path, accept_language, lang)
        assert (response.headers["content-language"], response.headers["vary"]) == (lang, vary)


@pytest.mark.usefixtures("pricing")
def test_a_page_has_a_strict_content_security_policy(client: TestClient) -> None:
    response = client.get("/faq/pricing")
    policy = response.headers.pop("content-security-policy")

    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; script-src 'sha256-[A-Za-z0-9+/]{43}='; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        policy,
    )
    assert re.search(r'\sstyle=|\son\w+=|javascript:|<script(?! type="application/ld)', response.text) is None
    assert dict(response.headers) == {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, FAQ-Revision, Retry-After",
        "cache-control": "public, max-age=300",
        "content-language": "en",
        "content-length": str(len(response.content)),
        "content-type": "text/html; charset=utf-8",
        "etag": response.headers["etag"],
        "link": f'<{PAGE}>; rel="canonical", <{PAGE}.md?lang=en>; rel="alternate"; type="text/markdown"',
        "vary": "Accept, Accept-Language",
        "x-content-type-options": "nosniff",
        "x-robots-tag": "noindex",  # its site is not listed
    }


@pytest.mark.usefixtures("pricing")
def test_markdown_is_selected_by_link_suffix_or_accept(client: TestClient) -> None:
    page = client.get("/faq/pricing?lang=de")
    [link] = [link for link in links_of(parsed(page), "alternate") if link.get("type") == "text/markdown"]
    by_link = client.get(link["href"])
    by_suffix = client.get("/faq/pricing.md", headers={"Accept": "text/html", "Accept-Language": "de"})
    by_accept = client.get("/faq/pricing?lang=de", headers={"Accept": "text/markdown, text/html;q=0.9"})

    assert link["href"] in page.headers["link"]
    assert by_link.text == by_suffix.text == by_accept.text
    assert by_accept.text.startswith("# Preise\n")
    assert dict(by_accept.headers) == {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, FAQ-Revision, Retry-After",
        "cache-control": "public, max-age=300",
        "content-language": "de",
        "content-length": str(len(by_accept.content)),
        "content-type": "text/markdown; charset=utf-8",
        "etag": by_accept.headers["etag"],
        "link": f'<{PAGE}?lang=de>; rel="canonical"',
        "vary": "Accept",
        "x-content-type-options": "nosniff",
        "x-robots-tag": "noindex",
    }


@pytest.mark.parametrize("exists", [True, False])
def test_no_faq_takes_the_address_of_the_markdown_of_another(
    client: TestClient, storage: Storage, key: str, exists: bool
) -> None:
    if exists:
        put(storage, FAQ.from_dict(samples.record("notes")))
    body = publication()
    refused = client.put("/api/v1/faq/notes.md", json=body, headers={KEY_HEADER: key})

    assert (refused.status_code, refused.json()["code"]) == (422, "invalid-parameter")
    assert client.get("/faq/notes.md").status_code == (200 if exists else 404)
    assert client.get("/api/v1/faq/notes.md").status_code == 404


@pytest.mark.usefixtures("pricing")
def test_question_links_lead_to_elements_of_the_page(client: TestClient) -> None:
    markdown = client.get("/faq/pricing?lang=ko", headers={"Accept": "text/markdown"}).text
    links = re.findall(r"\((http[^)]*)#([^)]*)\)", markdown)
    ids = {page: {e.get("id") for e in parsed(client.get(page)).iter()} for page, _ in links}

    assert links
    assert all(fragment in ids[page] for page, fragment in links)


def test_texts_are_escaped(client: TestClient, storage: Storage) -> None:
    record = samples.nasty()
    put(storage, FAQ.from_dict(record), website_url="javascript:alert(1)")
    response = client.get("/faq/nasty")
    tree = parsed(response)

    assert [script.get("type") for script in tree.iter("script")] == [None, "application/ld+json"]
    assert len(list(tree.iter("h2"))) == len(record["items"])
    assert list(tree.iter("img")) == []
    assert not any("javascript:" in a.get("href", "") for a in tree.iter("a"))
    assert text_of(tree.find(".//title")).startswith("</title><script>alert('title')</script> & more")
    assert list(tree.iter("footer"))  # what comes last is still there


def test_an_faq_without_title_and_questions_has_a_page(client: TestClient, storage: Storage) -> None:
    put(storage, FAQ("empty", lang="de"))
    page, markdown = client.get("/faq/empty"), client.get("/faq/empty.md")

    assert "<h1>Fragen und Antworten</h1>" in page.text
    assert "<p>Hier gibt es noch keine Fragen.</p>" in page.text
    assert "<script" not in page.text
    assert markdown.text == f"# Fragen und Antworten\n\n<{HOST}/faq/empty>\n"


def test_a_published_faq_has_a_page_at_its_url(client: TestClient, key: str) -> None:
    url = publish(client, key, publication()).json()["faqUrl"]
    tree = parsed(client.get(url))
    assert tree.find(".//nav") is None  # there is one language
    assert client.get(url, headers={"Accept": "image/png"}).status_code == 406
    website, again = (a for a in tree.iter("a") if a.text == "Tea & Sons")

    assert again.attrib == website.attrib == {"href": "https://www.tea.example", "rel": "nofollow noopener"}


@pytest.mark.parametrize(
    ("path", "accepted"),
    [
        *((path, "fr-CA") for path in ("nothing", "nothing.md", "a%2Fb", "%00")),
        ("nothing?lang=fr-CA", "en"),
    ],
)
def test_an_unknown_faq_is_a_page_with_status_404(client: TestClient, path: str, accepted: str) -> None:
    response = client.get(f"/faq/{path}", headers={"Accept-Language": accepted})
    tree = parsed(response)

    assert (response.status_code, tree.get("lang")) == (404, "fr")
    assert [text_of(h1) for h1 in tree.iter("h1")] == ["FAQ introuvable"]
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["vary"] == "Accept, Accept-Language"
    assert "'none'" in response.headers["content-security-policy"]


def test_an_faq_that_was_taken_back_has_a_page_that_says_so(client: TestClient, key: str) -> None:
    headers = {KEY_HEADER: key}
    client.put("/api/v1/faq/pricing", json=publication(), headers=headers)
    client.delete("/api/v1/faq/pricing", headers=headers)
    shown = set()
    for lang in LANGUAGES:
        headers = {"Accept": BROWSER, "Accept-Language": lang}
        gone, unknown = (client.get(f"/faq/{slug}", headers=headers) for slug in ("pricing", "nothing"))
        assert (gone.status_code, unknown.status_code, parsed(gone).get("lang")) == (410, 404, lang)
        shown |= {text_of(h1) for page in (gone, unknown) for h1 in parsed(page).iter("h1")}
        assert [a.get("href") for a in parsed(unknown).iter("a")] == [f"{HOST}/"]
    assert len(shown) == 2 * len(LANGUAGES)  # no heading is that of a mistyped address


def test_the_page_of_an_faq_that_was_taken_back_leads_to_the_website_of_its_owner(
    client: TestClient, storage: Storage, key: str
) -> None:
    access = storage.keys.verify(key)
    assert access
    storage.sites.update(access, website_url="https://www.tea.example/shop")
    client.put("/api/v1/faq/pricing", json=publication(), headers={KEY_HEADER: key})
    client.delete("/api/v1/faq/pricing", headers={KEY_HEADER: key})
    gone, unknown = (client.get(f"/faq/{slug}", headers={"Accept": BROWSER}) for slug in ("pricing", "x"))
    links = [link.get("href") for link in parsed(gone).iter("a")]
    assert links == ["https://www.tea.example/shop", "http://testserver/"]
    assert "tea.example" not in unknown.text


@pytest.mark.usefixtures("pricing")
def test_an_address_in_md_sends_markdown_whatever_the_client_accepts(client: TestClient) -> None:
    for accept in ("text/plain", "text/html", "text/markdown;q=0"):
        page = client.get("/faq/pricing.md", headers={"Accept": accept})
        assert (page.status_code, page.headers["content-type"]) == (200, "text/markdown; charset=utf-8")


@pytest.mark.parametrize("accept", ["text/markdown", "image/png", "text/html;q=0"])
def test_an_unknown_faq_is_a_problem_document_for_other_clients(client: TestClient, accept: str) -> None:
    response = client.get("/faq/nothing", headers={"Accept": accept})

    assert (response.status_code, response.json()["status"]) == (404, 404)
    assert response.headers["content-type"] == "application/problem+json"


def test_a_hosted_page_is_unavailable_in_the_language_of_the_reader(storage: Storage) -> None:
    put(storage, FAQ("pricing", lang="de"))
    with TestClient(create_app(storage, reads_per_minute=1), raise_server_exceptions=False) as client:
        client.get("/faq/other")
        response = client.get("/faq/pricing", headers={"Accept": BROWSER, "Accept-Language": "de-CH"})
        document = client.get("/faq/pricing", headers={"Accept": "application/json"})

    tree = parsed(response)
    assert (response.status_code, tree.get("lang")) == (429, "de")
    assert [text_of(h1) for h1 in tree.iter("h1")] == ["Im Moment nicht erreichbar"]
    assert int(response.headers["retry-after"]) > 0
    assert response.headers["access-control-allow-origin"] == "*"
    assert (document.status_code, document.json()["code"]) == (429, "rate-limited")


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (BROWSER, "text/html; charset=utf-8"),
        ("*/*", "application/problem+json"),
        ("application/json", "application/problem+json"),
    ],
)
def test_an_address_that_leads_nowhere_is_a_page_for_browsers_only(
    client: TestClient, accept: str, media_type: str
) -> None:
    response = client.get("/pricing", headers={"Accept": accept})
    assert (response.status_code, response.headers["content-type"]) == (404, media_type)


def test_all_messages_are_translated() -> None:
    assert tuple(MESSAGES) == LANGUAGES
    assert all(all(words) for words in MESSAGES.values())


def test_the_canonical_page_is_the_owners_page_if_the_faq_names_it(
    client: TestClient, storage: Storage
) -> None:
    owner = "https://www.tea.example/help"
    put(storage, FAQ.from_dict(samples.record() | {"pageUrl": f"{owner}#questions"}))
    page = client.get("/faq/pricing")
    markdown = client.get("/faq/pricing.md")

    assert links_of(parsed(page), "canonical") == [{"rel": "canonical", "href": owner}]
    assert f'<{owner}>; rel="canonical"' in page.headers["link"]
    assert f'<{owner}>; rel="canonical"' in markdown.headers["link"]
    assert f"{owner}#questions" in {a.get("href") for a in parsed(page).iter("a")}
    assert f"<{owner}>" in markdown.text
    assert f"]({owner}#faq-pricing--" in markdown.text
    assert "#questions" not in markdown.text


def test_search_engines_index_only_pages_of_listed_sites(client: TestClient, storage: Storage) -> None:
    put(storage, FAQ.from_dict(samples.record()))
    [site] = storage.sites.list()
    storage.sites.update(Access(None, site.id), listed=True)
    listed = client.get("/faq/pricing")
    storage.sites.update(Access(None, site.id), listed=False)
    unlisted = client.get("/faq/pricing", headers={"If-None-Match": listed.headers["etag"]})

    assert "x-robots-tag" not in listed.headers
    assert "noindex" not in listed.text
    assert (unlisted.status_code, unlisted.headers["x-robots-tag"]) == (200, "noindex")
    assert '<meta name="robots" content="noindex">' in unlisted.text


def test_a_page_says_when_it_changed_and_where_to_ask(client: TestClient, storage: Storage) -> None:
    store(storage, *LANGUAGES)
    for lang in LANGUAGES:
        tree = parsed(client.get(f"/faq/pricing?lang={lang}"))
        [time] = list(tree.iter("time"))
        website = [a for footer in tree.iter("footer") for a in footer.iter("a") if a.get("rel")]

        assert re.fullmatch(r"\d{4}-\d\d-\d\d", time.get("datetime", ""))
        assert time.text != time.get("datetime")
        assert [a.get("href") for a in website] == ["https://www.tea.example/?a=1&b=2"]


def test_links_to_the_website_lead_there_from_a_hosted_page(client: TestClient, key: str) -> None:
    body = publication() | {"answerFormat": "markdown", "websiteUrl": "https://www.tea.example/shop"}
    body["items"][0]["answer"] = "[Contact](/contact) ![us](/us.png)"
    client.put("/api/v1/faq/pricing", json=body, headers={KEY_HEADER: key})
    page = client.get("/faq/pricing")
    [link] = [a.get("href") for a in parsed(page).iter("a") if a.text == "Contact"]
    [image] = list(parsed(page).iter("img"))

    assert (link, image.get("src")) == ("https://www.tea.example/contact", "https://www.tea.example/us.png")
    assert "img-src https://www.tea.example;" in page.headers["content-security-policy"]
    assert client.get("/api/v1/faq/pricing").json()["websiteUrl"] == "https://www.tea.example/shop"
    assert "https://www.tea.example/contact" in client.get("/faq/pricing.md").text
