"""The access log has a line for each request; secrets are in no line."""

import logging
import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from faqsvc_embed import FAQ
from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.service import create_app
from faqsvc_embed.service.http.access_log import LineFormatter
from faqsvc_embed.service.storage import Storage
from tests.service.storage.writes import put
from tests.support import samples

PATH = f"{API_PATH}/pricing"


@pytest.fixture
def client(storage: Storage) -> Iterator[TestClient]:
    put(storage, FAQ.from_dict(samples.pricing()))
    app = create_app(storage, access_log=True)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_the_access_log_has_a_line_for_each_request(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "faqsvc_embed.service.access"):
        client.get(f"{PATH}?lang=ko", headers={"User-Agent": 'Reader "1"'})
        client.get("/nowhere")
    first, second = (record.getMessage() for record in access(caplog))
    record = re.escape(f"testclient GET {PATH}?lang=ko 200 ")
    assert re.fullmatch(record + r'[1-9]\d{2,} \d+\.\d\dms "Reader \\"1\\""', first)
    assert second.startswith("testclient GET /nowhere 404 ")


def test_the_access_log_has_the_id_of_a_valid_key_and_no_key(
    client: TestClient, storage: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    key = storage.keys.create("program", scope="read")
    [known] = storage.keys.list()
    with caplog.at_level(logging.INFO, "faqsvc_embed.service.access"):
        client.get("/api/v1/faqs", headers={KEY_HEADER: key})
        client.delete(PATH, headers={KEY_HEADER: key})  # its scope does not suffice
        client.get("/api/v1/faqs", headers={KEY_HEADER: "fs_live_wrong"})
        client.get(PATH, headers={KEY_HEADER: key})  # public: nobody looks at the key
    texts = [record.getMessage() for record in access(caplog)]
    assert [text.endswith(f" key {known.id}") for text in texts] == [True, True, False, False]
    assert not any(key in text for text in texts)


def test_there_is_no_access_log_by_default(storage: Storage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), TestClient(create_app(storage)) as client:
        client.get(PATH)
    assert access(caplog) == []


def test_a_line_has_no_key_and_stays_one_line(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    secret = "fs_live_" + "s3cret" * 5
    with caplog.at_level(logging.INFO, "faqsvc_embed.service.access"):
        client.get(f"{PATH}?key={secret}", headers={KEY_HEADER: secret, "User-Agent": f"x{secret}"})
        client.get(PATH, headers={b"User-Agent": b"a\x1b[31mb\x85c"})
    lines = [LineFormatter().format(record) for record in access(caplog)]
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    assert not any("s3cret" in line for line in lines)


def access(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Return the records of the access log."""
    return [record for record in caplog.records if record.name == "faqsvc_embed.service.access"]


@pytest.mark.parametrize("name", ["faq_preview", "faq%5Fpreview", "%66aq_preview", "link"])
def test_a_secret_in_an_address_is_in_no_log(
    name: str, client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client.get(f"/faq/pricing?lang=en&{name}=secret-token&x=1")
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("faqsvc_embed")]
    assert any(f"/faq/pricing?lang=en&{name}=...&x=1" in line for line in lines)
    assert not any("secret-token" in line for line in lines)
