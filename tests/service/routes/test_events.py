"""The change feed of the service, over a real socket."""

import json
import sqlite3
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from faqsvc_embed import FAQEmbed, FAQNotFound
from faqsvc_embed.client import FAQClient
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http import changes
from faqsvc_embed.service.routes import events
from faqsvc_embed.service.storage import StorageUnavailable, open_storage
from tests.support.running import running
from tests.support.waiting import wait_until

pytestmark = pytest.mark.system


class Site:
    """A running service with one site."""

    def __init__(self, url: str, key: str, file: Path) -> None:
        self.url = url
        self.file = file
        self.client = FAQClient(url, key)

    def publish(self, slug: str, answer: str, *, draft: bool = False) -> None:
        self.client.publish_faq(
            slug=slug,
            draft=draft,
            lang="en",
            website_url="https://heron.example",
            website_name="Heron",
            items=[("How much?", answer)],
        )


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(events, "HEARTBEAT", 0.2)  # a closed subscription ends at the next line
    storage = open_storage(f"sqlite:///{tmp_path / 'faqsvc.db'}")
    key = storage.keys.create("tests")
    with running(create_app(storage)) as url:
        site = Site(url, key, tmp_path / "faqsvc.db")
        site.publish("pricing", "Five euros.")
        site.publish("legal", "All rights reserved.")
        yield site
        site.client.close()
    storage.close()


class Subscription:
    """A connection to the feed, read in a thread."""

    def __init__(self, url: str, *slugs: str, last_id: str | None = None, in_body: bool = False) -> None:
        self.events = list[httpx2.ServerSentEvent]()
        self.headers: Any = None
        self._headers = {"Last-Event-ID": last_id} if last_id is not None else {}
        address = f"{url}/api/v1/events"
        self._request: dict[str, Any] = {"method": "GET", "url": address, "params": {"slug": slugs}}
        if in_body:
            self._request = {"method": "POST", "url": address, "json": {"slugs": slugs}}
        self._is_closed = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        wait_until(lambda: bool(self.events) or last_id is not None)

    def _read(self) -> None:
        with (
            suppress(httpx2.HTTPError),
            httpx2.stream(**self._request, headers=self._headers, timeout=30) as response,
        ):
            self.headers = response.headers
            fields = dict[str, Any]()
            for line in response.iter_lines():
                if self._is_closed:
                    return
                if not line and fields.get("id"):
                    self.events.append(
                        httpx2.ServerSentEvent(fields.get("event", ""), fields.get("data", ""), fields["id"])
                    )
                    fields = {}
                elif line and not line.startswith(":"):  # a comment keeps the connection alive
                    name, _, value = line.partition(": ")
                    fields[name] = value

    def changes(self) -> list[dict[str, Any]]:
        return [json.loads(event.data) for event in self.events if event.event == "faq"]

    def close(self) -> None:
        self._is_closed = True


def test_a_subscriber_gets_the_changes_of_its_slugs_and_no_others(site: Site) -> None:
    feed = Subscription(site.url, "pricing")
    assert feed.headers["content-type"].startswith("text/event-stream")
    assert feed.headers["cache-control"] == "no-store, no-transform"
    assert feed.headers["access-control-allow-origin"] == "*"
    site.publish("legal", "Some rights reserved.")
    site.publish("pricing", "Nothing.", draft=True)
    site.publish("pricing", "Six euros.")
    wait_until(lambda: len(feed.changes()) == 1)
    assert feed.changes() == [{"slug": "pricing", "lang": "en", "revision": 3, "state": "published"}]
    site.client.unpublish_faq("pricing")
    wait_until(lambda: len(feed.changes()) == 2)
    assert feed.changes()[-1]["state"] == "unpublished"
    feed.close()


def test_a_new_subscriber_gets_no_change_that_was_made_before(site: Site) -> None:
    site.client.get_faq("pricing")  # the service now knows the end of its log
    site.publish("pricing", "Six euros.")
    feed = Subscription(site.url, "pricing")
    site.publish("pricing", "Seven euros.")
    wait_until(lambda: 3 in [change["revision"] for change in feed.changes()])
    assert [change["revision"] for change in feed.changes()] == [3]
    feed.close()


def test_a_body_has_room_for_a_thousand_slugs(site: Site) -> None:
    slugs = [f"{'배송' * 90}-{number}" for number in range(999)]
    feed = Subscription(site.url, *slugs, "pricing", in_body=True)
    assert feed.headers["content-type"].startswith("text/event-stream")
    assert feed.headers["access-control-allow-origin"] == "*"
    preflight = httpx2.options(f"{site.url}/api/v1/events", timeout=60)
    assert preflight.headers["access-control-allow-methods"] == "GET, HEAD, POST"
    position = feed.events[0].id
    site.publish("legal", "Some rights reserved.")
    site.publish("pricing", "Six euros.")
    wait_until(lambda: len(feed.changes()) == 1)
    assert feed.changes()[0]["slug"] == "pricing"
    feed.close()
    again = Subscription(site.url, "pricing", last_id=position, in_body=True)
    wait_until(lambda: len(again.changes()) == 1)
    again.close()


def test_a_slug_is_followed_in_both_forms_of_unicode(site: Site) -> None:
    site.publish("café", "One.")
    slug = unicodedata.normalize("NFD", "café")
    feeds = [Subscription(site.url, slug, in_body=in_body) for in_body in (False, True)]
    site.publish("café", "Two.")
    wait_until(lambda: all(len(feed.changes()) == 1 for feed in feeds))
    for feed in feeds:
        feed.close()


def test_a_subscriber_resumes_where_it_was(site: Site) -> None:
    first = Subscription(site.url, "pricing")
    position = first.events[0].id
    first.close()
    for answer in ("Six euros.", "Seven euros."):
        site.publish("pricing", answer)
    second = Subscription(site.url, "pricing", last_id=position)
    wait_until(lambda: len(second.changes()) == 2)
    assert [change["revision"] for change in second.changes()] == [2, 3]
    second.close()


def test_an_unknown_position_resets_the_feed(site: Site) -> None:
    for last_id in ("999999", "nonsense", "-1"):
        feed = Subscription(site.url, "pricing", last_id=last_id)
        wait_until(lambda feed=feed: any(event.event == "reset" for event in feed.events))  # type: ignore[misc]
        feed.close()


@pytest.mark.parametrize(
    "query", ["", "slug=", "slug=a%00b", "slug=a/b", "&".join(f"slug=%2F{n}" for n in range(4_000))]
)
def test_invalid_slugs_are_refused(client: TestClient, query: str) -> None:
    response = client.get(f"/api/v1/events?{query}")
    assert (response.status_code, response.json()["code"]) == (422, "invalid-parameter")
    assert len(response.content) < 2_000


def test_a_body_that_names_no_slugs_is_refused(client: TestClient) -> None:
    for body in (
        *(b"", b"[]", b"{}", b'{"slugs": []}', b'{"slugs": ["a/b"]}', b'{"slugs": "pricing"}', b"\xff"),
        json.dumps({"slugs": ["a"] * 1001}).encode(),
        json.dumps({"slugs": ["/"] * 1000}).encode(),
    ):
        response = client.post("/api/v1/events", content=body)
        assert (response.status_code, response.json()["code"]) == (422, "invalid-body"), body
        assert response.headers["access-control-allow-origin"] == "*"
        assert len(response.content) < 2_000


def test_a_body_without_end_is_refused(client: TestClient) -> None:
    assert client.post("/api/v1/events", content=b" " * 1_000_001).status_code == 413


def test_an_embed_follows_the_service(site: Site) -> None:
    with FAQEmbed(site.url) as embed:
        assert embed.get_faq("pricing").items[0].answer == "Five euros."
        wait_until(lambda: embed.reader.fetcher.feed_lag == 0)
        site.publish("pricing", "Six euros.")
        wait_until(lambda: embed.get_faq("pricing").items[0].answer == "Six euros.")
        site.client.unpublish_faq("pricing")
        wait_until(lambda: isinstance(embed.use_faq("pricing").error, FAQNotFound))


def test_invented_slugs_stop_neither_fetches_nor_edits(site: Site) -> None:
    with FAQEmbed(site.url, wait=20, timeout=20) as embed:
        assert embed.get_faq("pricing").items[0].answer == "Five euros."
        embed.prefetch(*(f"{'한' * 190}{number}" for number in range(100)))
        assert embed.get_faq("legal").items[0].answer == "All rights reserved."
        wait_until(lambda: embed.reader.fetcher.feed_lag == 0)
        site.publish("pricing", "Six euros.")
        wait_until(lambda: embed.get_faq("pricing").items[0].answer == "Six euros.")


def test_many_faqs_with_long_slugs_are_all_followed(site: Site) -> None:
    slugs = [f"{'배송-안내-' * 30}{number}" for number in range(40)]
    for slug in slugs:
        site.publish(slug, "Old.")
    with FAQEmbed(site.url, wait=20, timeout=20) as embed:
        embed.prefetch(*slugs)
        wait_until(lambda: not embed.reader.fetcher.is_fetching() and embed.reader.fetcher.feed_lag == 0)
        for slug in (slugs[0], slugs[-1]):
            site.publish(slug, "New.")
            wait_until(lambda slug=slug: embed.get_faq(slug).items[0].answer == "New.")  # type: ignore[misc]


def test_one_address_cannot_take_the_feed_from_all_others(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "open_file_limit", lambda: 16)
    feeds = [Subscription(site.url, "pricing") for _ in range(2)]
    refused = httpx2.get(f"{site.url}/api/v1/events?slug=pricing", timeout=60)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "60")
    assert refused.json()["code"] == "unavailable"
    site.publish("pricing", "Six euros.")
    wait_until(lambda: all(len(feed.changes()) == 1 for feed in feeds))
    for feed in feeds:
        feed.close()


def test_a_subscriber_that_leaves_makes_room(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "open_file_limit", lambda: 8)
    for _ in range(2):
        feed = Subscription(site.url, "pricing")
        assert httpx2.get(f"{site.url}/api/v1/events?slug=pricing", timeout=60).status_code == 503
        feed.close()
        with httpx2.Client(base_url=site.url, trust_env=False, timeout=60) as client:
            wait_until(lambda client=client: status_of_feed(client) == 200)  # type: ignore[misc]


def status_of_feed(client: httpx2.Client) -> int:
    """Subscribe, and leave at once."""
    with client.stream("GET", "/api/v1/events?slug=pricing") as response:
        return response.status_code


def test_without_its_database_the_feed_says_when_to_try_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: object) -> None:
        raise StorageUnavailable("down")

    monkeypatch.setattr(changes.Changes, "refresh", fail)
    refused = httpx2.get(f"{site.url}/api/v1/events?slug=pricing", timeout=60)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")


def test_one_address_follows_at_most_half_of_all_slugs(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "MAX_FOLLOWED", 6)
    feed = Subscription(site.url, "a", "b", "c")
    assert httpx2.get(f"{site.url}/api/v1/events?slug=pricing", timeout=60).status_code == 503
    assert (
        httpx2.post(f"{site.url}/api/v1/events", json={"slugs": ["pricing"]}, timeout=60).status_code == 503
    )
    feed.close()


def test_subscribers_read_everything_again_when_the_same_numbers_are_other_changes(site: Site) -> None:
    feed = Subscription(site.url, "pricing")
    position = feed.events[0].id
    site.publish("pricing", "Six euros.")
    wait_until(lambda: len(feed.changes()) == 1)
    with sqlite3.connect(site.file) as database:  # as after a restore or a promotion
        database.execute("update last_event set epoch = 'another', number = number + 1")
        database.execute(
            "insert into events select max(number) + 1, slug, lang, revision, created_at from events"
        )
    database.close()
    wait_until(lambda: feed.events[-1].event == "reset")
    other = Subscription(site.url, "pricing", last_id=position)
    wait_until(lambda: any(event.event == "reset" for event in other.events))
    again = Subscription(site.url, "pricing", last_id=other.events[-1].id)
    site.publish("pricing", "Seven euros.")
    wait_until(lambda: all(one.events and one.events[-1].event == "faq" for one in (feed, other, again)))
    assert not any(event.event == "reset" for event in again.events)
    for one in (feed, other, again):
        one.close()


@pytest.mark.parametrize("later", [0, 1])
def test_subscribers_read_everything_again_when_others_have_written_after_a_fail_over(
    site: Site, later: int
) -> None:
    feed = Subscription(site.url, "pricing")
    site.publish("pricing", "Six euros.")
    wait_until(lambda: len(feed.changes()) == 1)
    with sqlite3.connect(site.file) as database:  # the last change is lost, and others have its number
        later_time = ("2030-01-01T00:00:00.000000+00:00",)
        database.execute("update events set slug = 'legal', created_at = ? where number = 3", later_time)
        for _ in range(later):
            database.execute("update last_event set number = number + 1")
            database.execute(
                "insert into events select max(number) + 1, slug, lang, revision, created_at from events"
            )
    database.close()
    wait_until(lambda: any(event.event == "reset" for event in feed.events))
    feed.close()


@pytest.mark.parametrize("number", [1, 1_000])
def test_subscribers_read_everything_again_when_the_log_is_another(site: Site, number: int) -> None:
    feed = Subscription(site.url, "pricing")
    site.publish("pricing", "Six euros.")
    wait_until(lambda: len(feed.changes()) == 1)
    with sqlite3.connect(site.file) as database:  # as after a fail-over, or a restore
        database.execute("update last_event set number = ?", (number,))
        database.execute("delete from events where number > ?", (number,))
    database.close()
    site.publish("pricing", "Seven euros.")
    wait_until(lambda: any(event.event == "reset" for event in feed.events))
    site.publish("pricing", "Eight euros.")
    wait_until(lambda: len(feed.changes()) >= 2)  # 3, if the log was read before the second publication
    feed.close()


def test_a_subscriber_that_was_away_for_long_reads_everything_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MAX_WAITING", 2)
    for answer in ("Six.", "Seven.", "Eight."):
        site.publish("pricing", answer)
    feed = Subscription(site.url, "pricing", last_id="0")
    wait_until(lambda: bool(feed.events))
    assert [event.event for event in feed.events] == ["reset"]
    feed.close()
