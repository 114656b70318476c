"""Each request has an id, in the response and in every line of the log; secrets are in no line."""

import json
import logging
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from faqsvc_embed import FAQ
from faqsvc_embed.api.requests import API_PATH, KEY_HEADER
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.telemetry.requests import JSONFormatter, TextFormatter
from tests.support import samples

HEADER = "X-Request-ID"
PATH = f"{API_PATH}/pricing"


@pytest.fixture
def client(storage: Storage) -> Iterator[TestClient]:
    storage.put(FAQ.from_dict(samples.pricing()))
    app = create_app(storage, access_log=True)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_a_request_without_an_id_gets_one_of_its_own(client: TestClient) -> None:
    ids = [client.get(path).headers[HEADER] for path in ("/healthz", "/healthz", "/unknown", f"{PATH}x")]
    assert len(set(ids)) == 4
    assert all(8 <= len(id_) <= 128 for id_ in ids)


def test_a_response_for_caches_has_no_id_of_one_request(client: TestClient) -> None:
    assert HEADER not in client.get(PATH).headers


def test_the_id_of_a_proxy_is_kept(client: TestClient) -> None:
    assert client.get(PATH, headers={HEADER: "trace-1.2:3/4"}).headers[HEADER] == "trace-1.2:3/4"


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, 'a"b', "é"])
def test_a_malformed_id_is_replaced(client: TestClient, given: str) -> None:
    assert client.get("/healthz", headers={HEADER.encode(): given.encode()}).headers[HEADER] != given


def test_an_unexpected_error_has_the_id_too(
    client: TestClient, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(storage.publications, "get", fail)
    response = client.get(PATH, headers={HEADER: "mine"})
    assert (response.status_code, response.headers[HEADER]) == (500, "mine")


def test_the_access_log_has_a_line_for_each_request(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "faqsvc_embed.service.access"):
        client.get(f"{PATH}?lang=ko", headers={"User-Agent": 'Reader "1"'})
        client.get("/nowhere")
    lines = [json.loads(JSONFormatter().format(record)) for record in access(caplog)]
    first, second = (line["http"] for line in lines)
    assert (first["method"], first["path"], first["status"]) == ("GET", f"{PATH}?lang=ko", 200)
    assert (first["client"], first["user_agent"]) == ("testclient", 'Reader "1"')
    assert first["bytes"] > 100
    assert first["ms"] > 0
    assert second["status"] == 404


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
    lines = [json.loads(JSONFormatter().format(record)) for record in access(caplog)]
    assert [line["http"]["key"] for line in lines] == [known.id, known.id, None, None]
    texts = [TextFormatter().format(record) for record in access(caplog)]
    assert [known.id in text for text in texts] == [True, True, False, False]
    assert not any(key in text for text in texts)


def test_there_is_no_access_log_by_default(storage: Storage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), TestClient(create_app(storage)) as client:
        client.get(PATH)
    assert access(caplog) == []


@pytest.mark.parametrize("formatter", [TextFormatter(), JSONFormatter()])
def test_a_line_has_no_key_and_stays_one_line(
    client: TestClient, caplog: pytest.LogCaptureFixture, formatter: logging.Formatter
) -> None:
    secret = "fs_live_" + "s3cret" * 5
    with caplog.at_level(logging.INFO, "faqsvc_embed.service.access"):
        client.get(f"{PATH}?key={secret}", headers={KEY_HEADER: secret, "User-Agent": f"x{secret}"})
        client.get(PATH, headers={b"User-Agent": b"a\x1b[31mb\x85c"})
    lines = [formatter.format(record) for record in access(caplog)]
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    assert not any("s3cret" in line for line in lines)


def test_log_lines_carry_the_id_of_their_request(
    client: TestClient, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = list[str]()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(JSONFormatter().format(record))

    def note(*_: object) -> None:  # in a worker thread
        logging.getLogger("faqsvc_embed.service").error("a line\nof two")

    monkeypatch.setattr(storage.publications, "get", note)
    handler = Handler()
    logging.getLogger("faqsvc_embed.service").addHandler(handler)
    try:
        client.get(PATH, headers={HEADER: "mine"})
    finally:
        logging.getLogger("faqsvc_embed.service").removeHandler(handler)
    assert json.loads(lines[0])["request_id"] == "mine"


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
