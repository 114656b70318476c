"""The REST client: what it sends, and what it refuses to send."""

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import pytest
from fastapi import Depends, FastAPI
from starlette.testclient import TestClient

from faqsvc_embed import (
    FAQ,
    AuthenticationError,
    ConfigurationError,
    FAQClient,
    FAQNotFound,
    FAQUnavailable,
    Item,
    Publication,
    PublishRejected,
)
from tests.api.support import CREATED, SECRET, TEA, WRITE_IDS, WRITES, Clients, created, failure
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.service import Service, service


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Our service."""
    with service(tmp_path_factory.mktemp("service")) as running:
        yield running


# With our own service


def test_a_published_faq_is_read(ours: Service) -> None:
    with FAQClient(ours.base_url, ours.key) as client:
        publication = client.publish_faq(**TEA, lang="en", title="Prices")
        faq = client.get_faq(publication.slug)
    assert publication.faq_url == f"{ours.base_url}/faq/{publication.slug}"
    assert publication.install == {
        "npm": "npm install @faqsvc/react",
        "component": f'<FAQ slug="{publication.slug}" />',
        "template": publication.template,
    }
    assert faq == FAQ(
        publication.slug,
        "Prices",
        "Tea & Sons",
        "en",
        (Item(0, "What does it cost?", "Nothing."), Item(1, "May I cancel?", "Any time.")),
    )


def test_an_unknown_field_of_an_item_is_named_and_its_value_is_not_sent(ours: Service) -> None:
    row = {"question": "Open?", "answer": "Yes.", "category": "Visits", "changed": object(), "position": 5}
    with FAQClient(ours.base_url, ours.key) as client:
        publication = client.publish_faq(**{**TEA, "items": [row]})
    assert publication.ignored == ("items[0].category", "items[0].changed")


def test_the_asynchronous_methods_do_the_same(ours: Service) -> None:
    async def publish_twice_and_read() -> tuple[Publication, Publication, FAQ]:
        async with FAQClient(ours.base_url, ours.key) as client:
            first = await client.apublish_faq(**TEA)
            second = await client.apublish_faq(**TEA, slug=first.slug, lang="fr")
            return first, second, await client.aget_faq(first.slug, lang="fr-CH")

    first, second, faq = asyncio.run(publish_twice_and_read())
    assert (second.slug, second.lang, second.revision) == (first.slug, "fr", 1)
    assert (faq.slug, faq.lang) == (first.slug, "fr")


def test_a_method_that_waits_is_a_dependency_in_fastapi(ours: Service) -> None:
    with FAQClient(ours.base_url, ours.key) as client:
        slug = client.publish_faq(**TEA, title="Prices").slug
        app = FastAPI()

        @app.get("/title/{slug}")
        def title(faq: Annotated[Any, Depends(client.get_faq)]) -> str:
            return str(faq.title)

        assert TestClient(app).get(f"/title/{slug}?lang=en").json() == "Prices"


def test_many_threads_publish_with_one_client(ours: Service) -> None:
    with FAQClient(ours.base_url, ours.key) as client, ThreadPoolExecutor(16) as pool:
        slugs = {publication.slug for publication in pool.map(lambda _: client.publish_faq(**TEA), range(16))}
    assert len(slugs) == 16


# What is sent


def test_a_write_is_one_request_with_the_key_in_its_header_only(
    clients: Clients, faulty: FaultyServer
) -> None:
    faulty.behave(created)
    publication = clients().publish_faq(**TEA, idempotency_key="one")
    assert publication == Publication("tea", CREATED["faqUrl"], CREATED["install"])  # type: ignore[arg-type]
    (request,) = faulty.log
    headers = {name: value for name, value in request.headers.items() if SECRET in value}
    assert headers == {"x-plugin-key": SECRET}
    assert (request.method, request.target) == ("POST", "/api/v1/faq")
    assert request.headers["content-type"] == "application/json"
    assert request.headers["accept-encoding"] == "identity"  # an error must stay readable
    assert request.headers["idempotency-key"] == "one"
    assert SECRET.encode() not in request.body
    assert json.loads(request.body) == {
        "websiteUrl": "https://www.tea.example",
        "websiteName": "Tea & Sons",
        "items": [
            {"question": "What does it cost?", "answer": "Nothing."},
            {"question": "May I cancel?", "answer": "Any time."},
        ],
    }


def test_a_read_carries_no_key_and_makes_caches_revalidate(clients: Clients, faulty: FaultyServer) -> None:
    faulty.behave(created)
    client = clients()
    client.publish_faq(**TEA)
    faulty.behave(behaviours.healthy)
    faulty.serve(samples.pricing())
    assert client.get_faq("pricing", lang="de-CH") == FAQ.from_dict(samples.pricing())
    read = faulty.log[-1]
    assert (read.method, read.target) == ("GET", "/api/v1/faq/pricing?lang=de")
    assert read.headers["cache-control"] == "no-cache"
    assert not {"x-plugin-key", "cookie", "authorization"} & set(read.headers)


def test_generated_items_are_returned(clients: Clients, faulty: FaultyServer) -> None:
    item = {"question": "Open?", "answer": "Yes.", "source": "https://www.tea.example/#open"}
    faulty.behave(behaviours.body(json.dumps({"items": [item]}).encode()))
    client = clients()
    items = client.generate_faq("https://www.tea.example", lang="ko", count=5)
    assert [(item.question, item.answer) for item in items] == [("Open?", "Yes.")]
    assert asyncio.run(client.agenerate_faq("https://www.tea.example")) == items
    sent = [(request.method, request.target, json.loads(request.body)) for request in faulty.log]
    full = {"websiteUrl": "https://www.tea.example", "lang": "ko", "count": 5}
    assert sent == [
        ("POST", "/api/v1/faq/generate", full),
        ("POST", "/api/v1/faq/generate", {"websiteUrl": "https://www.tea.example"}),
    ]


@pytest.mark.parametrize(
    ("work", "method", "target"),
    [
        (lambda c: c.list_faqs(), "GET", "/api/v1/faqs?limit=500"),
        (lambda c: c.revisions("ä"), "GET", "/api/v1/faq/%C3%A4/revisions?limit=500"),
        (lambda c: c.get_revision("p", 2, lang="de"), "GET", "/api/v1/faq/p/revisions/2?lang=de"),
        (lambda c: c.publish_revision("p", 2), "POST", "/api/v1/faq/p/revisions/2/publish"),
        (lambda c: c.preview_faq("p", lang="ko"), "POST", "/api/v1/faq/p/preview?lang=ko"),
        (lambda c: c.unpublish_faq("p"), "DELETE", "/api/v1/faq/p"),
        (lambda c: c.unpublish_faq("p", purge=True), "DELETE", "/api/v1/faq/p?purge=true"),
        (lambda c: c.publish_faq(**TEA, slug="p"), "PUT", "/api/v1/faq/p"),
    ],
)
def test_each_method_of_an_owner_sends_one_request_with_its_key(
    work: Callable[[FAQClient], object], method: str, target: str, clients: Clients, faulty: FaultyServer
) -> None:
    faulty.behave(behaviours.status(503))
    failure(lambda: work(clients()))
    (request,) = faulty.log
    assert (request.method, request.target) == (method, target)
    assert request.headers["x-plugin-key"] == SECRET


# What is refused before anything is sent


@pytest.mark.parametrize("write", WRITES, ids=WRITE_IDS)
def test_without_a_key_a_write_says_which_variable_to_set_and_sends_nothing(
    clients: Clients, faulty: FaultyServer, write: Callable[[FAQClient], object]
) -> None:
    error = failure(lambda: write(clients(None)))
    assert (type(error), error.status) == (AuthenticationError, None)
    assert "FAQSVC_API_KEY" in str(error)
    assert (faulty.log, faulty.connections) == ([], 0)


def test_every_local_problem_is_reported_at_once_and_nothing_is_sent(
    clients: Clients, faulty: FaultyServer
) -> None:
    with pytest.raises(PublishRejected) as caught:
        clients().publish_faq(website_url="tea", website_name="", items=[("", ""), ("a", "b"), ("a", "c")])
    assert [problem.partition(" ")[0] for problem in caught.value.problems] == [
        "websiteUrl",
        "websiteName",
        "items[0].question",
        "items[0].answer",
    ]
    assert (caught.value.status, faulty.connections) == (None, 0)


def test_a_client_needs_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "FAQSVC_BASE_URL" in str(failure(FAQClient))
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://faq.example/")
    monkeypatch.setenv("FAQSVC_API_KEY", SECRET)
    client = FAQClient()
    assert client.settings == FAQClient("https://faq.example", SECRET).settings
    assert FAQClient(settings=client.settings, timeout=1).settings.timeout == 1


@pytest.mark.parametrize("slug", ["", "..", "a/b", "a\\b", "a\nb", "x" * 201, None, 7])
def test_an_invalid_slug_is_not_requested(clients: Clients, faulty: FaultyServer, slug: Any) -> None:
    assert type(failure(lambda: clients().get_faq(slug))) is FAQNotFound
    assert faulty.connections == 0


def list_page(changed: dict[str, int], after: str | None) -> behaviours.Behaviour:
    """Return the behaviour of a service that lists FAQs, each with the minute of its last change."""
    items = [
        {
            "slug": slug,
            "title": "",
            "languages": ["en"],
            "state": "published",
            "revision": 1,
            "updatedAt": f"2026-11-23T12:{minute:02}:00Z",
        }
        for slug, minute in changed.items()
    ]
    return behaviours.body(json.dumps({"items": items, "next": after}).encode())


def test_an_faq_that_is_changed_while_a_list_is_read_is_in_the_list_once(
    clients: Clients, faulty: FaultyServer
) -> None:
    faulty.then(
        list_page({"e": 5, "d": 4}, "4.d"),
        list_page({"c": 3, "b": 2}, "2.b"),  # then a and d change: the service lists them at the end
        list_page({"d": 7, "a": 6}, None),
    )
    listed = clients().list_faqs()
    assert [(faq.slug, faq.updated_at.minute) for faq in listed] == [
        ("d", 7),
        ("a", 6),
        ("e", 5),
        ("c", 3),
        ("b", 2),
    ]
    assert len(faulty.log) == 3


def test_a_list_ends_when_its_pages_repeat(clients: Clients, faulty: FaultyServer) -> None:
    faulty.then(list_page({"a": 1}, "x"), list_page({"b": 2}, "y"), list_page({"a": 1}, "x"))
    assert [faq.slug for faq in clients().list_faqs()] == ["b", "a"]
    assert len(faulty.log) == 3


def test_offline_makes_no_request(clients: Clients, faulty: FaultyServer) -> None:
    client = clients(offline=True)
    for work in (lambda: client.get_faq("pricing"), lambda: client.publish_faq(**TEA)):
        assert type(failure(work)) is FAQUnavailable
    assert faulty.connections == 0


def test_an_unknown_language_is_an_error_in_development_and_the_default_otherwise(
    clients: Clients, faulty: FaultyServer
) -> None:
    faulty.serve(samples.pricing())
    clients(lang="fr").get_faq("pricing", lang="tlh")
    assert faulty.log[-1].target == "/api/v1/faq/pricing?lang=fr"
    assert type(failure(lambda: clients(strict=True).get_faq("pricing", lang="tlh"))) is ConfigurationError
