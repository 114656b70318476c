"""Any text in any field of a body, a form or an address: no error of the service, no header and no markup."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final
from urllib.parse import quote, quote_from_bytes

import httpx2
import pytest
import turbohtml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, publication
from tests.service.desk.conftest import ORIGIN, Editor
from tests.service.storage.conftest import migrated_database as migrated_database
from tests.service.storage.conftest import postgres as postgres
from tests.service.storage.conftest import postgres_database as postgres_database
from tests.service.storage.conftest import storage as storage
from tests.support.strategies import any_text

ODD: Final = (
    "\r\nX-Evil: 1\r\n\r\n\0\x1b[2J \u202e한국어 עברית 👩\u200d👩\u200d👧 \ufffe\u2028",
    "\"'><b evil=1>&lt;</textarea></script><script>evil()</script>{{ 7 * 7 }}%0d%0aX-Evil: 1",
    "https://例え.example/<b evil=1>\u2028\0?q=%00#한국어",
    "é" * 2_100,
    "\ud800",  # sent as bytes that are not UTF-8
)
ADDRESS: Final = "\"<b/evil=1>'@한국.example"
HEADERS: Final = (
    "If-Match",
    "If-None-Match",
    "Idempotency-Key",
    "X-FAQ-Preview",
    "Accept",
    "Accept-Language",
    "Last-Event-ID",
    "Content-Type",
    "Cookie",
)
TEXTS: Final = {
    "title": "Prices",
    "website_name": "Tea",
    "website_url": "https://www.tea.example",
    "page_url": "https://www.tea.example/prices",
    "introduction": "All that you pay.",
    "answer_format": "markdown",
    "lang": "en",
    "question": "What does it cost?",
    "answer": "Nothing.",
    "section": "Prices",
    "item_id": "cost",
    "source": "1",
    "version": "1.1.abc",
    "once": "once",
}
FORMS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("/new", {**TEXTS, "slug": "", "proposed": "", "action": "draft"}),
    ("/new", {**TEXTS, "slug": "", "proposed": "", "action": "preview", "part": "preview"}),
    ("/faqs/pricing", {**TEXTS, "action": "publish"}),
    ("/faqs/pricing", {"action": "right", "lang": "de", "version": "1", "source": "1"}),
    ("/faqs/pricing", {"action": "discard", "lang": "en", "version": "1"}),
    ("/import", {"action": "", "format": ".md", "text": "# Prices", "reading": "lines"}),
    ("/import", {"action": "", "format": ".csv", "text": "question,answer\nWhy?,So."}),
    ("/import", {"action": "", "format": ".json", "text": "[]"}),
    ("/import", {"action": "keep", "keep": "0", "question": "Why?", "answer": "So.", "lang": "en"}),
    ("/website", {"website_url": "http://127.0.0.1:1/"}),
    ("/faqs/pricing/history", {"number": "1", "lang": "en", "version": "1"}),
    ("/faqs/pricing/use", {"lang": "en", "page": "https://www.tea.example"}),
    ("/faqs/pricing/remove", {"action": "purge", "lang": "en", "typed": "", "version": "en.1"}),
    ("/bin", {"action": "restore", "slug": "pricing", "version": ""}),
    ("/bin", {"action": "unblock", "slug": "pricing"}),
    (
        "/site",
        {
            "name": "Tea",
            "website_url": "https://www.tea.example",
            "listed": "yes",
            "version": "{}",
        },
    ),
    ("/people", {"name": "Tom", "email": "", "role": "editor", "once": "1"}),
    ("/people", {"name": "Tom", "email": "tom@tea.example", "role": "editor"}),
    ("/people/PERSON", {"action": "save", "name": "Tom", "email": "", "role": "editor", "version": "{}"}),
    ("/people/PERSON", {"action": "remove", "confirm": "", "version": ""}),
    ("/keys", {"key_name": "website", "scope": "read", "once": "2"}),
    ("/keys/KEY", {"action": "rotate", "overlap": "24", "version": ""}),
    ("/keys/KEY", {"action": "", "confirm": ""}),
    ("/sign-in", {"link": "none", "next": "/faqs/pricing", "kept:title": "Prices"}),
    ("/choose", {"site": "none", "next": "/faqs/pricing"}),
)
PAGES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("/desk", ("q", "lang", "state", "page", "done")),
    ("/desk/sign-in", ("next", "again")),
    ("/desk/faqs/pricing", ("lang", "done")),
    ("/desk/faqs/pricing/history", ("lang", "after", "old", "new")),
    ("/desk/faqs/pricing/use", ("lang",)),
    ("/desk/log", ("person", "key", "slug", "before")),
    ("/desk/bin", ("done",)),
    ("/faq/pricing", ("lang", "faq_preview")),
    ("/sitemap.xml", ("from",)),
    (PATH + "/pricing", ("lang",)),
    ("/api/v1/faqs", ("q", "state", "lang", "limit", "after")),
    (PATH + "/pricing/revisions", ("lang", "limit", "after")),
)
PLACES: Final = (
    "/desk/faqs/{}",
    "/desk/faqs/{}/history",
    "/desk/faqs/pricing/history/{}",
    "/desk/people/{}",
    "/desk/keys/{}",
    "/desk/at/{}",
    "/desk/static/{}/desk.css",
    "/faq/{}",
    "/faq/{}.md",
    PATH + "/{}",
    PATH + "/{}/revisions",
    PATH + "/pricing/revisions/{}",
    "/{}",
)
ITEM: Final = {"question": "What does it cost?", "answer": "Nothing.", "section": "Prices", "id": "cost"}
BODY: Final = publication(
    title="Prices",
    introduction="All that you pay.",
    pageUrl="https://www.tea.example/prices",
    lang="en",
    answerFormat="markdown",
    slug="pricing",
    items=[ITEM],
)
CHANGE: Final = {
    "question": "What does it cost?",
    "answer": "Nothing.",
    "newQuestion": "What is the price?",
    "section": "Prices",
    "after": "",
    "id": "price",
}
REQUESTS: Final[tuple[tuple[str, str, dict[str, Any]], ...]] = (
    ("POST", PATH, BODY),
    ("PUT", f"{PATH}/pricing", BODY),
    ("PATCH", f"{PATH}/pricing", {"changes": [CHANGE], "title": "Prices", "introduction": "All."}),
    ("POST", f"{PATH}/generate", {"websiteUrl": "http://127.0.0.1:1/", "lang": "en", "count": 3}),
    ("POST", "/api/v1/events", {"slugs": ["pricing", ""]}),
)


def encoded(text: str) -> str:
    """Return a text as a part of an address or of a form; half of a surrogate pair is no UTF-8."""
    return quote_from_bytes(text.encode("utf-8", "surrogatepass"), safe="")


def leaves(value: Any) -> Iterator[Callable[[str], Any]]:
    """Yield a function for each text in a JSON value, which returns the value with another text there."""
    if isinstance(value, str):
        yield lambda text: text
    elif isinstance(value, list | dict):
        for name in range(len(value)) if isinstance(value, list) else list(value):
            yield from (partial(_replaced, value, name, inner) for inner in leaves(value[name]))


def _replaced(value: Any, name: Any, inner: Callable[[str], Any], text: str) -> Any:
    copied = value.copy()
    copied[name] = inner(text)
    return copied


def check(response: httpx2.Response) -> httpx2.Response:
    """Check that a response is no error of the service, and that no text made a header or an element."""
    shown = f"{response.request.method} {response.url} {response.text[:300]!r}"
    assert response.status_code < 500 or response.status_code == 502, shown  # 502: of a website
    for name, value in response.headers.raw:
        assert b"evil" not in name.lower(), shown
        assert value.decode("ascii").isprintable(), shown
    if response.headers.get("content-type", "").startswith("text/html"):
        tree = turbohtml.parse(response.text)
        assert not tree.select("[evil]"), shown
        assert not [
            script for script in tree.select("script") if "evil" in script.text and not _is_data(script)
        ]
        if "<!doctype" in response.text[:100].lower():
            assert len(tree.select("main")) == 1, shown
    return response


def _is_data(script: Any) -> bool:
    return bool(script.attrs.get("type") == "application/ld+json" and json.loads(script.text))


class Site:
    """A service with an FAQ, and a browser in which an admin is signed in."""

    def __init__(self, client: TestClient, storage: Storage) -> None:
        self.client = client
        self.editor = Editor(client)
        self.editor.sign_in(storage)
        [person] = storage.people.list()
        self.key = storage.keys.create("tests", site=person.site)
        self.names = {"PERSON": person.id, "KEY": storage.keys.list()[0].id}
        self.request("PUT", f"{PATH}/pricing", BODY)

    def request(self, method: str, path: str, body: object, **headers: str) -> httpx2.Response:
        """Send a body."""
        content = json.dumps(body).encode()
        sent = {"X-Plugin-Key": self.key, "Content-Type": "application/json", **headers}
        if method == "PATCH":
            sent["If-Match"] = "*"
        return check(self.client.request(method, path, content=content, headers=sent))

    def post(self, path: str, fields: dict[str, str]) -> httpx2.Response:
        """Post a form."""
        for name, value in self.names.items():
            path = path.replace(name, value)
        pairs = {"token": self.editor.token, **fields}
        content = "&".join(f"{quote(name, safe='')}={encoded(value)}" for name, value in pairs.items())
        headers = {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"}
        return check(self.client.post(f"/desk{path}", content=content.encode(), headers=headers))

    def get(self, path: str) -> httpx2.Response:
        """Open a page; a program sends its key."""
        headers = {"X-Plugin-Key": self.key} if path.startswith("/api") else {}
        return check(self.client.get(path, headers=headers))


@pytest.fixture
def database() -> str:
    """PostgreSQL is stricter than SQLite: it also refuses NUL."""
    return "postgresql"


@pytest.fixture
def site(storage: Storage) -> Iterator[Site]:
    with TestClient(create_app(storage), raise_server_exceptions=False) as client:
        yield Site(client, storage)


def test_no_text_in_a_form_of_the_desk_is_an_error_of_the_service(site: Site) -> None:
    for path, fields in FORMS:
        for name in fields:
            for odd in (*ODD, ADDRESS) if name == "email" else ODD:
                if path != "/website" or not odd.startswith("https"):  # which would be looked up
                    site.post(path, {**fields, name: odd})
    for page in ("/desk", "/desk/site", "/desk/people", "/desk/keys", "/desk/log", "/desk/bin"):
        assert site.get(page).status_code == 200


def test_no_file_that_is_imported_is_an_error_of_the_service(site: Site) -> None:
    texts = [
        *(odd.encode("utf-8", "surrogatepass") for odd in ODD),
        *(f'[{{"question": {json.dumps(odd)}, "answer": {json.dumps(odd)}}}]'.encode() for odd in ODD),
        *(f"question,answer\n{odd},{odd}".encode("utf-8", "surrogatepass") for odd in ODD),
        *(f"# A\n\n## {odd}?\n\n{odd}\n".encode("utf-8", "surrogatepass") for odd in ODD),
        *(f"---\ntitle: {odd}\n---\n## Why?\n\nSo.".encode("utf-8", "surrogatepass") for odd in ODD),
        b"a: &a [*a]\nb: !!python/object:os.system x",
        b"\xff\xfeA\x00",
        b"[" * 5_000,
        b"%PDF-1.7\x00\x01",
    ]
    for ending, count in (
        (".md", None),
        (".csv", None),
        (".json", None),
        (".yaml", None),
        (".xlsx", 4),
        (".한국어", 4),
    ):
        for text in texts[:count]:
            data = {"token": site.editor.token, "format": ".md"}
            files = {"file": (f"\"'><b evil=1>\u202e{ending}", text)}
            check(site.client.post("/desk/import", data=data, files=files, headers={"origin": ORIGIN}))


def test_no_text_in_an_address_is_an_error_of_the_service(site: Site) -> None:
    for odd in map(encoded, ODD):
        for path, names in PAGES:
            for name in names:
                site.get(f"{path}?{name}={odd}")
        for place in PLACES:
            site.get(place.format(odd))
    for place in PLACES:
        site.get(place.format(encoded("é" * 100)))


def test_no_text_in_a_body_is_an_error_of_the_service(site: Site) -> None:
    accepted = 0
    for method, path, body in REQUESTS:
        for replaced in leaves(body):
            for odd in (*ODD, ADDRESS):
                if not path.endswith("generate") or not odd.startswith("https"):
                    written = site.request(method, path, replaced(odd))
                    if written.status_code < 300 and "faqUrl" in written.json():
                        accepted += 1
                        slug = quote(written.json()["slug"], safe="")
                        for page in (f"/faq/{slug}", f"/faq/{slug}.md", f"/desk/faqs/{slug}", "/llms.txt"):
                            assert site.get(page).status_code == 200
    assert accepted > 20


def test_no_text_in_a_header_is_an_error_of_the_service(site: Site) -> None:
    for odd in (text.replace("\r\n", " ").replace("\0", "").encode("utf-8", "replace") for text in ODD):
        for name in HEADERS:
            headers = {"X-Plugin-Key": site.key, "Content-Type": "application/json"}
            sent = {**{key.encode(): value.encode() for key, value in headers.items()}, name.encode(): odd}
            for method, path in (
                ("GET", "/faq/pricing"),
                ("GET", f"{PATH}/pricing"),
                ("PUT", f"{PATH}/pricing"),
            ):
                content = json.dumps(BODY).encode() if method == "PUT" else None
                check(site.client.request(method, path, content=content, headers=sent))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(form=st.sampled_from(FORMS), text=any_text, data=st.data())
def test_no_generated_text_in_a_form_is_an_error_of_the_service(
    site: Site, form: tuple[str, dict[str, str]], text: str, data: st.DataObject
) -> None:
    path, fields = form
    if path != "/website":
        site.post(path, {**fields, data.draw(st.sampled_from(sorted(fields))): text})
