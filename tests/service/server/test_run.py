"""The service on a socket: concurrent writes, HEAD, and the client of this package."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.service import create_app
from faqsvc_embed.service.server import running
from faqsvc_embed.service.storage import Storage
from tests.service.bodies import PATH, publication
from tests.support import samples

pytestmark = pytest.mark.system


@pytest.fixture
def server(storage: Storage) -> Iterator[httpx2.Client]:
    """A client of the service on a socket."""
    limits = httpx2.Limits(max_connections=None)
    with (
        running(create_app(storage)) as url,
        httpx2.Client(base_url=url, trust_env=False, limits=limits, timeout=60) as client,
    ):
        yield client


def test_two_hundred_concurrent_writes_succeed(server: httpx2.Client, key: str) -> None:
    def send(number: int) -> tuple[str, str]:
        body = publication(title=f"Number {number}")
        response = server.post(PATH, json=body, headers={"X-Plugin-Key": key})
        return response.json()["slug"], body["title"]

    with ThreadPoolExecutor(200) as threads:
        published = dict(threads.map(send, range(200)))
    read = {slug: server.get(f"{PATH}/{slug}").json()["title"] for slug in published}

    assert len(published) == 200
    assert read == published


def test_the_client_of_this_package_reads_what_the_service_returns(
    server: httpx2.Client, storage: Storage
) -> None:
    records = samples.multilingual()
    for lang in ("en", "ko"):
        storage.put(FAQ.from_dict(records[lang]))
    with FAQEmbed(str(server.base_url)) as embed:
        read = {lang: embed.get_faq("pricing", lang=lang).to_dict() for lang in ("en", "ko", "de")}

    assert read == {"en": records["en"], "ko": records["ko"], "de": records["en"]}
