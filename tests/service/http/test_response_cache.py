"""Finished responses: kept as long as nothing is published, in any process."""

import asyncio
import gc
import threading
import time
import tracemalloc
from typing import Any, NoReturn

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed.models import FAQ
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http import response_cache
from faqsvc_embed.service.http.changes import Changes
from faqsvc_embed.service.pages.hosted import render_page
from faqsvc_embed.service.routes import readers
from faqsvc_embed.service.storage import Storage, StorageUnavailable, open_storage
from faqsvc_embed.service.storage.logs import Position
from faqsvc_embed.service.storage.values import ServedFAQ
from tests.service.bodies import PATH, publication
from tests.service.storage.writes import put

PRICING = f"{PATH}/pricing"
READS = [PRICING, "/faq/pricing", "/faq/pricing.md", "/llms.txt", "/sitemap.xml"]


def publish(storage: Storage, title: str) -> None:
    put(storage, FAQ("pricing", title, lang="en"))


@pytest.mark.parametrize("path", READS)
def test_a_kept_response_is_the_same(client: TestClient, storage: Storage, path: str) -> None:
    storage.sites.create("listed", listed=True)
    publish(storage, "One")
    first, second = client.get(path), client.get(path)
    headers = {"If-None-Match": first.headers["etag"]}
    unchanged = [client.get(path, headers=headers) for _ in range(2)]

    assert (first.status_code, first.content, first.headers) == (200, second.content, second.headers)
    assert client.head(path).headers == first.headers
    for response in unchanged:
        assert (response.status_code, response.content) == (304, b"")
        assert "content-type" not in response.headers
        assert response.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", READS[:-1])
def test_another_process_that_publishes_replaces_it_at_once(
    client: TestClient, storage: Storage, path: str
) -> None:
    storage.sites.create("listed", listed=True)
    publish(storage, "One")
    other = open_storage(f"sqlite:///{storage.database.path}")
    etags = []
    for number in range(3):
        etags += [client.get(path).headers["etag"] for _ in range(2)]
        publish(other, f"Title {number}")
    other.close()

    assert etags[0::2] == etags[1::2]
    assert len(set(etags)) == 3


def test_responses_to_different_requests_are_cached_separately(client: TestClient, storage: Storage) -> None:
    publish(storage, "One")
    put(storage, FAQ("pricing", "Eins", lang="de"))
    for _ in range(2):
        assert (
            client.get("/faq/pricing", headers={"Accept-Language": "de"}).headers["content-language"] == "de"
        )
        assert (
            client.get("/faq/pricing", headers={"Accept-Language": "en"}).headers["content-language"] == "en"
        )
        assert client.get("/faq/pricing", headers={"Accept": "text/markdown"}).text.startswith("#")
        assert (
            "http://a.example/faq/pricing" in client.get("/faq/pricing", headers={"Host": "a.example"}).text
        )
        assert client.get(f"{PRICING}?lang=de").json()["title"] == "Eins"
        assert client.get(PRICING, headers={"X-FAQ-Preview": "wrong"}).status_code == 403


def test_long_addresses_and_headers_take_little_memory(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING", "httpx2")  # otherwise pytest keeps each address that the test client logs
    monkeypatch.setattr(response_cache, "MAX_BYTES", 100_000)
    publish(storage, "One")
    with TestClient(create_app(storage)) as client:
        client.get(PRICING)
        tracemalloc.start()
        try:
            for number in range(50):
                long = f"{number}".zfill(50_000)
                assert client.get(f"{PRICING}?p={long}").status_code == 200
                assert client.get(PRICING, headers={"Accept": f"*/*;a={long}"}).status_code == 200
            gc.collect()  # the test client leaves its requests in reference cycles
            used, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert used < 2_000_000


def test_reads_that_wait_share_a_query_and_later_ones_get_another(storage: Storage) -> None:
    """As with PostgreSQL, which has no version of its files."""
    queries, running = 0, 0
    storage.database.is_sqlite = False
    read_version = storage.changes.version

    def version() -> tuple[Position, str | None]:
        nonlocal queries, running
        queries, running = queries + 1, running + 1
        assert running == 1
        running -= 1
        return read_version()

    storage.changes.version = version  # type: ignore[method-assign]

    async def main() -> list[int]:
        changes = Changes(storage)
        await asyncio.gather(*(changes.refresh() for _ in range(10)))
        first = queries
        await asyncio.gather(changes.refresh(), changes.refresh())
        return [first, queries]

    found = asyncio.run(main())
    storage.database.is_sqlite = True
    assert found == [1, 2]


def statements_of(client: TestClient, storage: Storage, *requests: tuple[str, dict[str, str]]) -> int:
    """Send requests, and return how often they have read a published FAQ from the database."""
    count, get = 0, storage.publications.get

    def counted(slug: str, lang: str | None = None) -> object:
        nonlocal count
        count += 1
        return get(slug, lang)

    storage.publications.get = counted  # type: ignore[method-assign, assignment]
    for path, headers in requests:
        assert client.get(path, headers=headers).status_code == 200
    storage.publications.get = get  # type: ignore[method-assign]
    return count


def test_only_what_was_published_is_read_again(client: TestClient, storage: Storage, key: str) -> None:
    for slug in ("a", "b", "c"):
        put(storage, FAQ(slug, "One", lang="en"))
    reads: list[tuple[str, dict[str, str]]] = [(f"{PATH}/{slug}", {}) for slug in ("a", "b", "c")]
    assert statements_of(client, storage, *reads) == 3
    draft = client.put(
        f"{PATH}/a", json={**publication(), "draft": True}, headers={"X-Plugin-Key": storage.keys.create()}
    )
    assert draft.status_code == 200
    assert statements_of(client, storage, *reads) == 0
    put(storage, FAQ("a", "Two", lang="en"))
    assert statements_of(client, storage, *reads) == 1
    assert client.get(f"{PATH}/a").json()["title"] == "Two"


@pytest.mark.parametrize("path", [PRICING, "/faq/pricing", "/faq/pricing.md"])
def test_what_a_handler_does_not_use_neither_passes_the_cache_nor_fills_it(
    client: TestClient, storage: Storage, path: str
) -> None:
    publish(storage, "One")
    put(storage, FAQ("pricing", "Eins", lang="de"))
    client.get(path)
    client.get(path, headers={"Accept": "text/html"})
    variants = [(f"{path}?n={number}&lang=", {"Accept": f"*/*;a={number}"}) for number in range(20)]
    if path != PRICING:
        variants += [(path, {"Accept-Language": f"en-x-{number}, ko;q=0.{number}"}) for number in range(20)]
        variants += [(path, {"X-FAQ-Preview": f"{number}"}) for number in range(20)]
    else:
        variants = [(f"{path}?n={number}", {"Accept": f"*/*;a={number}"}) for number in range(20)]
        variants += [(f"{path}?faq_preview={number}", {}) for number in range(20)]
    variants += [(path, {"Content-Length": f"{number}"}) for number in range(20)]
    assert statements_of(client, storage, *variants) == 0


def test_what_is_read_stays_while_a_stranger_asks_for_other_things(
    client: TestClient, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_cache, "MAX_BYTES", 20_000)
    publish(storage, "One")
    reads: list[tuple[str, dict[str, str]]] = [(PRICING, {})] * 2
    assert statements_of(client, storage, *reads) == 1
    for number in range(20):
        part = client.get(f"/sitemap.xml?from={number}")
        known = {"If-None-Match": part.headers["ETag"]}
        again = client.get(f"/sitemap.xml?from={number}", headers=known)
        assert (part.status_code, again.status_code) == (200, 304)
    assert statements_of(client, storage, *reads) == 0


class SlowReads:
    """Reads that wait until `AT_ONCE` are running, and a little longer, in case one more begins."""

    def __init__(self, storage: Storage, *, fails: bool = False) -> None:
        self.running = self.most_running = self.total = 0
        self._get, self._fails, self._are_enough = storage.publications.get, fails, threading.Event()
        storage.publications.get = self.get  # type: ignore[method-assign]

    def get(self, slug: str, lang: str | None = None) -> ServedFAQ:
        self.running, self.total = self.running + 1, self.total + 1
        self.most_running = max(self.most_running, self.running)
        if self.running == response_cache.AT_ONCE:
            self._are_enough.set()
        if self.total > 1 or not self._fails:  # the first to fail lets the others begin
            self._are_enough.wait(60)
        time.sleep(0.02)
        self.running -= 1
        if self._fails:
            raise StorageUnavailable("late")
        return self._get(slug, lang)


def statuses_at_once(storage: Storage, paths: list[str]) -> list[int]:
    """Send requests at once to a new application."""

    async def main() -> list[int]:
        transport = httpx2.ASGITransport(create_app(storage))
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            responses = await asyncio.gather(*map(client.get, paths))
        return [response.status_code for response in responses]

    return asyncio.run(main())


def test_equal_misses_are_coalesced_and_few_reads_run_at_once(storage: Storage) -> None:
    for number in range(20):
        put(storage, FAQ(f"faq-{number}", "One", lang="en"))
    reads = SlowReads(storage)
    paths = [f"{PATH}/faq-{number}" for number in range(20)] + [f"{PATH}/faq-0"] * 20
    assert statuses_at_once(storage, paths) == [200] * 40
    assert (reads.total, reads.most_running) == (20, response_cache.AT_ONCE)

    paths = [f"/faq/faq-0?faq_preview={number}" for number in range(20)]  # links that are not valid
    assert statuses_at_once(storage, paths) == [200] * 20
    assert (reads.total, reads.most_running) == (40, response_cache.AT_ONCE)


def test_responses_that_cannot_be_cached_do_not_wait_for_each_other(storage: Storage) -> None:
    """Otherwise a slow database would make each reader wait for all readers before."""
    reads = SlowReads(storage, fails=True)
    assert statuses_at_once(storage, [PRICING] * 10) == [503] * 10
    assert (reads.total, reads.most_running) == (10, response_cache.AT_ONCE)


def test_a_record_does_not_wait_for_pages(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(8):
        put(storage, FAQ(f"faq-{number}", "One", lang="en"))
    has_begun, may_end = threading.Event(), threading.Event()

    def slow(*arguments: Any) -> str:
        has_begun.set()
        may_end.wait(60)
        return render_page(*arguments)

    monkeypatch.setattr(readers, "render_page", slow)

    async def main() -> None:
        transport = httpx2.ASGITransport(create_app(storage))
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            pages = [asyncio.create_task(client.get(f"/faq/faq-{number}")) for number in range(8)]
            await asyncio.to_thread(has_begun.wait, 60)
            record = await client.get(f"{PATH}/faq-0")
            may_end.set()
            responses = [record, *await asyncio.gather(*pages)]
            assert [response.status_code for response in responses] == [200] * 9

    asyncio.run(main())


def test_entity_tags_that_a_proxy_has_marked_revalidate_and_match(
    client: TestClient, storage: Storage
) -> None:
    publish(storage, "One")
    key = {"X-Plugin-Key": storage.keys.create()}
    for path in (PRICING, "/faq/pricing"):
        etag = client.get(path).headers["etag"]
        for marked in (etag, f"W/{etag}", f'{etag[:-1]}-gzip"', f'W/{etag[:-1]}-gzip"', f'{etag[:-1]};br"'):
            assert client.get(path, headers={"If-None-Match": f'"x", {marked}'}).status_code == 304
        assert client.get(path, headers={"If-None-Match": f'{etag[:-1]}0"'}).status_code == 200
    for mark in ("-gzip", "--gzip", "-br", ";gzip"):
        newest = client.get("/api/v1/faqs", headers=key).json()["items"][0]["etag"]
        marked = f'W/{newest[:-1]}{mark}"'
        body = publication(title=mark, lang="en")
        assert client.put(PRICING, json=body, headers={**key, "If-Match": marked}).status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/faq/pricing", "/faq/pricing"])
def test_while_the_database_is_down_cached_responses_are_served_for_their_lifetime(
    client: TestClient, storage: Storage, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    publish(storage, "One")
    cached, now = client.get(path), time.monotonic()
    monkeypatch.setattr(storage.database, "data_version", lambda: None)
    monkeypatch.setattr(storage.database, "reading", _down)
    monkeypatch.setattr(time, "monotonic", lambda: now + 100)
    during = client.get(path)
    assert (during.status_code, during.content) == (200, cached.content)
    assert 99 <= int(during.headers["age"]) <= 101
    again = client.get(path, headers={"If-None-Match": cached.headers["etag"]})
    assert again.status_code == 304
    assert client.get("/api/v1/faq/other").status_code == 503
    monkeypatch.setattr(time, "monotonic", lambda: now + 4_000)
    assert client.get(path).status_code == 503


def _down(*_: object) -> NoReturn:
    raise StorageUnavailable("down")
