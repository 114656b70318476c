"""The life of an FAQ through the client, with the real service."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from faqsvc_embed import (
    AuthenticationError,
    ConfigurationError,
    FAQClient,
    FAQEmbed,
    FAQGone,
    PublishRejected,
)
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.storage import open_storage
from tests.api.support import TEA, failure, spoken
from tests.support.running import running

pytestmark = pytest.mark.system

DRAFT: Final[dict[str, Any]] = {**TEA, "items": [("What does it cost?", "Ten euros.")], "lang": "en"}
PRICES: Final[dict[str, Any]] = {**TEA, "slug": "prices", "lang": "en"}


class Site:
    """A running service, and clients with keys of each scope."""

    def __init__(self, base_url: str, keys: dict[str, str]) -> None:
        self.base_url, self.keys = base_url, keys
        self.clients = {scope: FAQClient(base_url, key) for scope, key in keys.items()}
        self.client = self.clients["publish"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site of its own, and another one."""
    directory: Path = tmp_path_factory.mktemp("service")
    storage = open_storage(f"sqlite:///{directory}/faqsvc.db")
    first, other = storage.sites.create("first"), storage.sites.create("other")
    keys = {
        scope: storage.keys.create(scope, site=first, scope=scope) for scope in ("read", "draft", "publish")
    }
    keys["other"] = storage.keys.create("other", site=other)
    with running(create_app(storage)) as address:
        site = Site(address, keys)
        yield site
        for client in site.clients.values():
            client.close()


def test_a_chosen_slug_gets_one_revision_after_the_other(site: Site) -> None:
    first = site.client.publish_faq(**PRICES, title="Prices", answer_format="markdown")
    second = site.client.publish_faq(**PRICES)
    assert (first.slug, first.lang, first.revision, first.state) == ("prices", "en", 1, "published")
    assert (second.revision, second.state) == (2, "published")
    assert first.etag
    assert first.etag != second.etag
    assert first.template == '{{ faq("prices") }}'
    assert [entry.revision for entry in site.client.revisions("prices")] == [2, 1]
    whole = site.client.get_revision("prices", 1)
    assert (whole.website_url, whole.faq.title, whole.faq.answer_format) == (
        TEA["website_url"],
        "Prices",
        "markdown",
    )


def test_an_unpublished_faq_is_gone_until_it_is_published_again(site: Site) -> None:
    site.client.publish_faq(**{**PRICES, "slug": "taken"})
    site.client.publish_faq(**{**PRICES, "slug": "taken", "lang": "de"})
    site.client.unpublish_faq("taken", lang="de-AT")
    assert site.client.get_faq("taken", lang="de").lang == "en"
    site.client.unpublish_faq("taken")
    error = failure(lambda: site.client.get_faq("taken"))
    assert (type(error), error.status, error.code) == (FAQGone, 410, "gone")
    assert site.client.publish_revision("taken", 1).state == "published"
    site.client.unpublish_faq("taken", purge=True)
    error = failure(lambda: site.client.publish_faq(**PRICES | {"slug": "taken"}))
    assert (type(error), error.status, error.code) == (FAQGone, 410, "gone")


@pytest.mark.parametrize(
    ("who", "code"), [("draft", "missing-scope"), ("read", "missing-scope"), ("other", "not-your-site")]
)
def test_a_refusal_is_known_by_its_code(site: Site, who: str, code: str) -> None:
    site.client.publish_faq(**{**PRICES, "slug": "mine"})
    error = failure(lambda: site.clients[who].publish_faq(**PRICES | {"slug": "mine"}))
    assert (type(error), error.status, error.code) == (AuthenticationError, 403, code)
    assert site.keys[who] not in f"{error} {error.body}"


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.unpublish_faq("prices", lang="tlh"),
        lambda client: client.revisions("prices", lang=""),
        lambda client: client.publish_revision("prices", 0),
        lambda client: client.get_revision("prices", True),
    ],
)
def test_an_invalid_argument_is_refused_before_anything_is_sent(site: Site, call: Any) -> None:
    assert isinstance(failure(lambda: call(site.client)), ConfigurationError)


@pytest.mark.parametrize(
    "fields",
    [
        {"if_match": "0f5e"},
        {"if_match": '"a"\r\nX: y'},
        {"slug": None, "if_match": '"0f5e"'},
        {"draft": "yes"},
    ],
)
def test_an_invalid_if_match_or_draft_is_refused(site: Site, fields: dict[str, Any]) -> None:
    error = failure(lambda: site.client.publish_faq(**{**PRICES, **fields}))
    assert isinstance(error, PublishRejected)
    assert (len(error.problems), error.status) == (1, None)


def test_an_embed_in_the_same_process_reads_what_was_written(site: Site) -> None:
    with FAQEmbed(site.base_url) as embed:
        for answer in ("First.", "Second."):
            site.client.publish_faq(**{**PRICES, "items": [("Cost?", answer)], "slug": "read-back"})
            assert embed.get_faq("read-back").items[0].answer == answer
        site.client.publish_revision("read-back", 1)
        assert embed.get_faq("read-back").items[0].answer == "First."
        site.client.unpublish_faq("read-back")
        assert failure(lambda: embed.get_faq("read-back")).status == 410


def test_an_embed_of_another_service_keeps_its_cache(site: Site) -> None:
    from faqsvc_embed.testing import fake_embed

    with fake_embed({"prices": {"slug": "prices", "items": [{"question": "a", "answer": "b"}]}}) as embed:
        site.client.publish_faq(**PRICES)
        assert embed.get_faq("prices").items[0].answer == "b"


def test_a_client_with_another_key_shares_the_connections(site: Site) -> None:
    with FAQClient(site.base_url) as keyless:
        owner = keyless.with_key(site.keys["publish"])
        assert owner.publish_faq(**PRICES | {"slug": "with-key"}).slug == "with-key"
        assert isinstance(failure(lambda: keyless.list_faqs()), AuthenticationError)
        malformed = "s3cret".swapcase()  # as it stands in no source line of a traceback
        error = failure(lambda: keyless.with_key(malformed))
    assert isinstance(error, ConfigurationError)
    assert malformed not in spoken(error)
