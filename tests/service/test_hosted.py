"""GET /faq/{slug}: the page, in the reader's language and form."""

import json
import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import httpx2
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from starlette.testclient import TestClient

from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.words import WORDS
from tests.service.bodies import publication, publish
from tests.support import samples

HOST = "http://testserver"
PAGE = f"{HOST}/faq/pricing"


@pytest.fixture
def faqs(storage: Storage) -> dict[str, dict[str, Any]]:
    """An FAQ in seven languages, its own one English."""
    records = samples.multilingual()
    for record in records.values():
        storage.put(FAQ.from_dict(record), website_url="https://www.tea.example/?a=1&b=2")
    return records


def parsed(response: httpx2.Response) -> Element:
    tree: Element = html5lib.parse(response.text, namespaceHTMLElements=False)
    return tree


def text_of(element: Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def links_of(tree: Element, rel: str) -> list[dict[str, str]]:
    return [dict(link.attrib) for link in tree.iter("link") if link.get("rel") == rel]


def test_the_page_shows_every_question_and_answer_in_its_first_bytes(
    client: TestClient, storage: Storage
) -> None:  # X1, J10
    record = samples.record()
    storage.put(FAQ.from_dict(record), website_url="https://www.tea.example")
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


def test_all_languages_are_linked(client: TestClient, faqs: dict[str, Any]) -> None:
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
        lang: (f"{PAGE}?lang={lang}", WORDS[lang].language) for lang in LANGUAGES if lang != "ko"
    }
    for lang, address in alternates.items():
        read = parsed(client.get(address)).get("lang")
        assert read == ("en" if lang == "x-default" else lang)


def test_an_faq_of_one_language_offers_no_choice(client: TestClient, storage: Storage) -> None:
    storage.put(FAQ.from_dict(samples.record(lang="ko")))
    tree = parsed(client.get("/faq/pricing"))
    hreflangs = {link["hreflang"]: link["href"] for link in links_of(tree, "alternate") if "hreflang" in link}

    assert hreflangs == {"ko": PAGE, "x-default": PAGE}
    assert tree.find(".//nav") is None


@pytest.mark.parametrize(
    ("path", "accept_language", "lang", "vary"),
    [
        ("", None, "en", "Accept, Accept-Language"),
        ("", "ko-KR, en;q=0.5", "ko", "Accept, Accept-Language"),
        ("", "it, *", "en", "Accept, Accept-Language"),
        ("?lang=de", "ko", "de", "Accept"),
        ("?lang=de-CH", "ko", "de", "Accept"),
        ("?lang=xx", "ko", "ko", "Accept, Accept-Language"),
        ("?lang=", None, "en", "Accept, Accept-Language"),
    ],
)
@pytest.mark.usefixtures("faqs")
def test_the_language_is_the_one_asked_for_else_the_readers_else_the_faqs_own(
    client: TestClient, path: str, accept_language: str | None, lang: str, vary: str
) -> None:
    headers = {} if accept_language is None else {"Accept-Language": accept_language}
    response = client.get(f"/faq/pricing{path}", headers=headers)

    assert parsed(response).get("lang") == lang
    assert (response.headers["content-language"], response.headers["vary"]) == (lang, vary)


def test_a_reader_gets_the_second_best_language_if_the_best_is_not_there(
    client: TestClient, storage: Storage
) -> None:
    for lang in ("en", "de"):
        storage.put(FAQ.from_dict(samples.multilingual()[lang]))
    response = client.get("/faq/pricing", headers={"Accept-Language": "ko, de;q=0.8, en;q=0.1"})

    assert response.headers["content-language"] == "de"


@pytest.mark.usefixtures("faqs")
def test_the_headers_of_a_page_keep_it_from_doing_anything_but_being_read(client: TestClient) -> None:
    response = client.get("/faq/pricing")
    policy = response.headers.pop("content-security-policy")

    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'",
        policy,
    )
    assert re.search(r'\sstyle=|\son\w+=|javascript:|<script(?! type="application/ld)', response.text) is None
    assert dict(response.headers) == {
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag, Retry-After",
        "cache-control": "public, max-age=300",
        "content-language": "en",
        "content-length": str(len(response.content)),
        "content-type": "text/html; charset=utf-8",
        "etag": response.headers["etag"],
        "link": f'<{PAGE}>; rel="canonical", <{PAGE}.md?lang=en>; rel="alternate"; type="text/markdown"',
        "vary": "Accept, Accept-Language",
        "x-content-type-options": "nosniff",
    }


@pytest.mark.parametrize("accept", ["text/html", "text/markdown"])
@pytest.mark.usefixtures("faqs")
def test_head_has_the_headers_of_get_and_who_holds_it_is_not_sent_it(
    server: httpx2.Client, accept: str
) -> None:  # X2
    get = server.get("/faq/pricing", headers={"Accept": accept})
    head = server.head("/faq/pricing", headers={"Accept": accept})
    held = server.get("/faq/pricing", headers={"Accept": accept, "If-None-Match": get.headers["etag"]})
    for response in (get, head):
        del response.headers["date"]

    assert (head.status_code, head.content, head.headers) == (200, b"", get.headers)
    assert (held.status_code, held.content) == (304, b"")
    assert held.headers["vary"] == get.headers["vary"]


@pytest.mark.usefixtures("faqs")
def test_the_markdown_of_a_page_is_found_in_three_ways(client: TestClient) -> None:  # X2, X3
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
        "access-control-expose-headers": "ETag, Retry-After",
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


def test_a_slug_that_ends_like_markdown_is_a_slug_first(client: TestClient, storage: Storage) -> None:
    storage.put(FAQ.from_dict(samples.record("notes.md", title="Notes")))

    assert "<h1>Notes</h1>" in client.get("/faq/notes.md").text
    assert client.get("/faq/notes.md.md").text.startswith("# Notes\n")


@pytest.mark.usefixtures("faqs")
def test_links_to_questions_lead_to_them(client: TestClient) -> None:  # X7
    markdown = client.get("/faq/pricing?lang=ko", headers={"Accept": "text/markdown"}).text
    links = re.findall(r"\((http[^)]*)#([^)]*)\)", markdown)
    ids = {page: {e.get("id") for e in parsed(client.get(page)).iter()} for page, _ in links}

    assert links
    assert all(fragment in ids[page] for page, fragment in links)


def test_an_faq_of_nasty_texts_is_a_page_like_others(client: TestClient, storage: Storage) -> None:  # E3
    record = samples.nasty()
    storage.put(FAQ.from_dict(record), website_url="javascript:alert(1)")
    response = client.get("/faq/nasty")
    tree = parsed(response)

    assert [script.get("type") for script in tree.iter("script")] == ["application/ld+json"]
    assert len(list(tree.iter("h2"))) == len(record["items"])
    assert list(tree.iter("img")) == []
    assert not any("javascript:" in a.get("href", "") for a in tree.iter("a"))
    assert text_of(tree.find(".//title")).startswith("</title><script>alert('title')</script> & more")
    assert list(tree.iter("footer"))  # what comes last is still there


def test_an_faq_without_title_or_questions_is_a_page_too(client: TestClient, storage: Storage) -> None:
    storage.put(FAQ("empty", lang="de"))
    page, markdown = client.get("/faq/empty"), client.get("/faq/empty.md")

    assert "<h1>Fragen und Antworten</h1>" in page.text
    assert "<p>Hier gibt es noch keine Fragen.</p>" in page.text
    assert "<script" not in page.text  # J16
    assert markdown.text == f"# Fragen und Antworten\n\n<{HOST}/faq/empty>\n"


def test_what_was_published_has_a_page_where_its_publisher_was_told(client: TestClient, key: str) -> None:
    address = publish(client, key, publication()).json()["faqUrl"]
    tree = parsed(client.get(address))
    [website] = [a for a in tree.iter("a") if a.text == "Tea & Sons"]

    assert website.attrib == {"href": "https://www.tea.example", "rel": "nofollow noopener"}


@pytest.mark.parametrize("path", ["nothing", "nothing.md", ".md", "a%2Fb", "%00", "s" * 201])
def test_where_no_faq_is_a_page_says_so_kindly(client: TestClient, path: str) -> None:
    response = client.get(f"/faq/{path}", headers={"Accept-Language": "fr-CA"})
    tree = parsed(response)

    assert (response.status_code, tree.get("lang")) == (404, "fr")
    assert [text_of(h1) for h1 in tree.iter("h1")] == ["Il n’y a pas de FAQ ici"]
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["vary"] == "Accept, Accept-Language"
    assert "'none'" in response.headers["content-security-policy"]


@pytest.mark.parametrize("accept", ["text/markdown", "application/json", "image/png", "text/html;q=0"])
def test_who_reads_no_html_is_told_in_json(client: TestClient, accept: str) -> None:
    response = client.get("/faq/nothing", headers={"Accept": accept})

    assert (response.status_code, response.json()["detail"]) == (404, "there is no FAQ 'nothing'")
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.usefixtures("faqs")
def test_who_reads_neither_is_told_so(client: TestClient) -> None:
    response = client.get("/faq/pricing", headers={"Accept": "image/png"})

    assert response.status_code == 406


def test_the_words_are_there_in_all_seven_languages() -> None:  # L9
    assert tuple(WORDS) == LANGUAGES
    assert all(all(words) for words in WORDS.values())


@pytest.fixture
def address(storage: Storage) -> Iterator[str]:
    """The service on a real socket, for a browser."""
    with running(create_app(storage)) as address:
        yield address


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/faq/pricing", "/faq/pricing?lang=ko", "/faq/nothing"])
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("faqs")
def test_a_browser_shows_the_page_without_a_complaint(
    address: str, chromium: Browser, scheme: Any, path: str
) -> None:  # A1, A8, A11, C2, C7
    context = chromium.new_context(viewport={"width": 320, "height": 640}, color_scheme=scheme)
    page = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address + path)
    requests_made = list(requests)
    violations = Axe().run(page).response["violations"] if "nothing" not in path else []
    width = page.evaluate("document.documentElement.scrollWidth")
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    context.close()

    assert violations == []
    assert [text for text in complaints if "404" not in text] == []
    assert requests_made == [address + path]
    assert (width, background) == (320, {"light": "rgb(251, 250, 247)", "dark": "rgb(21, 23, 26)"}[scheme])


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("faqs")
def test_a_link_to_a_question_opens_it(address: str, chromium: Browser) -> None:  # P2
    context = chromium.new_context(java_script_enabled=True)
    page = context.new_page()
    page.goto(f"{address}/faq/pricing#faq-pricing--what-does-it-cost")
    is_open = page.locator("details").evaluate("item => item.open")
    context.close()

    assert is_open is True
