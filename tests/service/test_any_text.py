"""Any value that a write accepts is shown by every page, list and export, and breaks none of them."""

import json
from collections.abc import Iterator
from itertools import cycle, product
from typing import Any, Final
from urllib.parse import quote

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.api import fields
from faqsvc_embed.api.fields import MAX_SLUG
from faqsvc_embed.models.wire import MAX_INTRODUCTION, MAX_SECTION
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.maintenance import export_lines
from faqsvc_embed.service.storage.people import Person
from tests.service.bodies import PATH, publication

SCRIPTS: Final = {
    "latin": "Größe, naïve œuvre",
    "korean": "결제는 언제 되나요",
    "japanese": "支払いはいつですか",
    "chinese": "什么时候付款",
    "arabic": "متى أدفع",
    "persian": "می\u200cخواهم",
    "hebrew": "מתי משלמים",
    "hindi": "भुगतान कब होता है",
    "thai": "จ่ายเงินเมื่อไร",
    "georgian": "როდის ვიხდი",
    "decomposed": "cafe\u0301 prix",
    "combining": "a" + "\u0301" * 40,
    "emoji": "👩\u200d👩\u200d👧 🇰🇷 ❤\ufe0f 1\ufe0f\u20e3 ☎\ufe0e",
    "flags": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "variants": "葛\U000e0100城 ᠮᠣᠩ\u180bᠭᠣᠯ",
    "marks": "\u200eleft\u200f right",
    "beyond": "𝒜𝔹 𠮷野家",
    "markup": "a<b>c</b> & \"d\" 'e' `f` [g](h) {{ i }} {% j %} #k l? m+n 100%",
}
LONGEST: Final = ("a", "ü", "한", "😀")


def texts(limit: int) -> Iterator[str]:
    """Yield texts in all scripts, and the longest that a field takes."""
    yield from SCRIPTS.values()
    yield from (letter * limit for letter in LONGEST)


def urls() -> Iterator[str]:
    """Yield addresses with those texts in their host, path, query and fragment."""
    for name, text in SCRIPTS.items():
        if name == "markup":
            continue
        word = text.replace(" ", "-")
        yield f"https://a.example/{word}?q={word}#{word}"
    for host in (
        "例え.example",
        "포스터.example",
        "münchen.example",
        "straße.example:8443",
        "пример.example",
        "می\u200cخواهم.example",
        "佐々木。example",
        "𠮷野家.example",
        "ⵜⵉⴼⵉⵏⴰⵖ.example",
        "i❤\ufe0f💩.example",
    ):
        yield f"https://{host}/ü?a=1&b=(2)"
    yield "https://a.example/'),;*!|^`{}[]"
    for letter in LONGEST:
        yield "https://a.example/" + letter * (fields.MAX_URL - 18)
        yield "https://" + letter.replace("😀", "例") * (fields.MAX_URL - 16) + ".example"


def bodies() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a slug and a body for each value, in every field that takes it."""
    limits = (
        fields.MAX_NAME,
        fields.MAX_NAME,
        MAX_INTRODUCTION,
        fields.MAX_QUESTION,
        fields.MAX_ANSWER,
        MAX_SECTION,
    )
    formats = cycle(("text", "markdown"))
    for name, title, introduction, question, answer, section in zip(*map(texts, limits), strict=True):
        item = {"question": question, "answer": answer, "section": section}
        body = publication(websiteName=name, title=title, introduction=introduction, items=[item])
        yield "any", {**body, "answerFormat": next(formats)}
    image = {"question": "What does it cost?", "answer": "![x](/a.png)"}
    for url in urls():
        yield "any", publication(pageUrl=url, websiteUrl=url, answerFormat="markdown", items=[image])
    for text in {*texts(MAX_SLUG)} - {SCRIPTS["marks"]}:  # a slug has no controls of its direction
        yield text.replace("/", "-").replace("\\", "-"), publication()


@pytest.fixture
def admin(storage: Storage) -> Person:
    """An admin of the only site, which is listed."""
    admin = storage.people.add("Mia", role="admin")
    storage.sites.update(admin.access, name="Tea", listed=True, website_url="https://www.tea.example")
    return admin


def pages(slug: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield every address that shows an FAQ, with the headers of its readers."""
    path = quote(slug, safe="")
    yield f"{PATH}/{path}", {}
    yield f"/faq/{path}", {"Accept": "text/html"}
    yield f"/faq/{path}", {"Accept": "text/markdown"}
    yield f"/faq/{path}.md", {}
    yield from ((name, {}) for name in ("/", "/llms.txt", "/sitemap.xml", "/robots.txt"))
    yield from ((f"/api/v1/{name}", {}) for name in ("faqs", f"faq/{path}/revisions"))
    yield f"{PATH}/{path}/revisions/1", {}
    yield f"/api/v1/events?slug={path}", {}
    yield from (
        (f"/desk{name}", {}) for name in ("", f"/faqs/{path}", f"/faqs/{path}/history", f"/faqs/{path}/use")
    )


def check(response: httpx2.Response) -> None:
    """Check that a page is there, and that its head fits into a proxy's buffer and is all in ASCII."""
    shown = f"{response.url}: {response.text[:200]}"
    assert response.status_code == 200, shown
    head = b"".join(name + value for name, value in response.headers.raw)
    assert len(head) < 4_000, shown
    assert head.isascii(), shown


def test_every_page_shows_whatever_was_accepted(storage: Storage, admin: Person, key: str) -> None:
    link = storage.sign_ins.create_link(admin)
    with TestClient(create_app(storage), raise_server_exceptions=False) as client:
        origin = {"origin": "http://testserver"}
        assert client.post("/desk/sign-in", data={"link": link}, headers=origin).status_code == 200
        for slug, body in bodies():
            path = f"{PATH}/{quote(slug, safe='')}"
            written = client.put(path, json={**body, "lang": "en"}, headers={"X-Plugin-Key": key})
            assert written.status_code in (200, 201), (slug, written.text)
            record = client.get(path).json()
            for name in ("pageUrl", "title", "websiteName", "introduction"):
                assert name not in body or record.get(name) == body[name], body
            assert {**record["items"][0], **body["items"][0]} == record["items"][0]
            for address, headers in pages(slug):
                if address.startswith("/api/v1/events"):
                    check(client.head(address, headers=headers))
                else:
                    check(client.get(address, headers={**headers, "X-Plugin-Key": key}))
    assert len(list(map(json.loads, export_lines(storage.database)))) > 1


def test_names_may_have_any_letters(storage: Storage, admin: Person) -> None:
    link = storage.sign_ins.create_link(admin)
    with TestClient(create_app(storage), raise_server_exceptions=False) as client:
        client.post("/desk/sign-in", data={"link": link}, headers={"origin": "http://testserver"})
        for name in {*SCRIPTS.values(), *(letter * 100 for letter in LONGEST)} - {SCRIPTS["marks"]}:
            storage.sites.update(admin.access, name=name)
            storage.people.add(name, role="editor")
            storage.keys.create(name)
            for page in ("", "/site", "/people", "/keys", "/log"):
                check(client.get(f"/desk{page}"))
            assert storage.sites.list()[0].name == name


def test_an_address_with_markup_or_blanks_is_refused(client: TestClient, key: str) -> None:
    for name, mark in product(("pageUrl", "websiteUrl"), '<>"\\ \u3000\n\u202f'):
        body = publication(**{name: f"https://a.example/{mark};rel=preconnect,"})
        refused = client.put(f"{PATH}/pricing", json=body, headers={"X-Plugin-Key": key})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid-body"), (name, mark)


def test_headers_have_addresses_in_ascii(client: TestClient, key: str) -> None:
    body = publication(pageUrl="https://straße.example/価格?q=ü", websiteUrl="https://포스터.example/")
    body["items"] = [{"question": "Which?", "answer": "![This](/a.png)"}]
    client.put(f"{PATH}/pricing", json={**body, "answerFormat": "markdown"}, headers={"X-Plugin-Key": key})
    page, markdown = client.get("/faq/pricing"), client.get("/faq/pricing.md")

    canonical = "<https://xn--strae-oqa.example/%E4%BE%A1%E6%A0%BC?q=%C3%BC>"
    assert page.headers["link"].startswith(f'{canonical}; rel="canonical", <')
    assert markdown.headers["link"] == f'{canonical}; rel="canonical"'
    assert canonical in markdown.text
    assert "img-src https://xn--9t4b29x74b.example;" in page.headers["content-security-policy"]
