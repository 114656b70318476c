"""POST /api/v1/faq/generate, with a website on a socket."""

import json
import logging
import subprocess
import sys
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage, StorageUnavailable
from tests.generation.websites import html, website
from tests.service.generation.conftest import BUSY, Ask
from tests.service.sockets import connected
from tests.support import faulty as faults
from tests.support.clock import Clock
from tests.support.faulty import FaultyServer
from tests.support.running import running

PATH = "/api/v1/faq/generate"
HOME = html('<h1>Teas</h1><a href="/faq">Questions</a><h2 id="open">When are you open?</h2><p>Until six.</p>')
FAQ = html(
    "<h1>FAQ</h1><details id='ship'><summary>Do you ship to Peru?</summary><p>We do.</p></details>"
    "<details><summary>When are you open?</summary><p>From nine until six.</p></details>"
    "<details id='a b'><summary>Gift cards</summary><ul><li>paper</li><li>e-mail</li></ul></details>"
)
JSON = {"content-type": "application/json"}


@pytest.fixture
def teas(faulty: FaultyServer) -> str:
    faulty.behave(website({"/": HOME, "/faq": FAQ}))
    return f"http://127.0.0.1:{faulty.port}"


def test_questions_are_returned_once_with_answers_and_sources(ask: Ask, teas: str) -> None:
    response = ask()

    assert response.status_code == 200
    items = response.json()["items"]
    assert [(item["position"], item["question"], item["answer"]) for item in items] == [
        (0, "Do you ship to Peru?", "We do."),
        (1, "When are you open?", "From nine until six."),
        (2, "Gift cards", "- paper\n- e-mail"),
    ]
    assert [item["source"] for item in items] == [
        f"{teas}/faq#:~:text=Do%20you%20ship%20to%20Peru%3F",
        f"{teas}/faq#:~:text=When%20are%20you%20open%3F",
        f"{teas}/faq#:~:text=Gift%20cards",
    ]
    assert {item["lang"] for item in items} == {"en"}
    assert dict(response.headers) == {
        "cache-control": "no-store",
        "content-length": response.headers["content-length"],
        "content-type": "application/json",
        "x-content-type-options": "nosniff",
    }


def test_count_limits_the_items(ask: Ask, teas: str) -> None:
    found = ask(count=1, depth=3).json()
    assert [item["question"] for item in found["items"]] == ["Do you ship to Peru?"]
    assert found["ignored"] == ["depth"]


def test_the_response_says_which_pages_were_read_and_what_was_dropped(ask: Ask, teas: str) -> None:
    body = ask(count=1, lang="de").json()

    assert {page["url"]: (page["lang"], page["pairs"] > 0) for page in body["pages"]} == {
        f"{teas}/": ("en", True),
        f"{teas}/faq": ("en", True),
    }
    reasons = [dropped["reason"] for dropped in body["dropped"]]
    assert sorted(set(reasons)) == ["beyond-count", "duplicate"]
    assert [item["lang"] for item in body["items"]] == ["en"]
    assert len(body["notes"]) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/",
        "http://169.254.169.254/latest/meta-data/",
        "file:///etc/passwd",
        None,
    ],
)
def test_a_url_that_is_not_public_is_refused(ask: Ask, faulty: FaultyServer, url: object) -> None:
    response = ask(websiteUrl=url)

    assert (response.status_code, len(response.json()["problems"])) == (422, 1)
    assert faulty.log == []


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1/faq", "127.0.0.1:80"),
        ("http://localhost:5000/", "localhost:5000"),
        ("https://10.1.2.3/", "10.1.2.3:443"),
    ],
)
def test_a_refusal_names_the_setting_that_allows_the_address(ask: Ask, url: str, address: str) -> None:
    [problem] = ask(websiteUrl=url).json()["problems"]
    assert f"FAQSVC_GENERATE_ALLOW={address}" in problem


def test_a_refusal_names_no_setting_where_none_allows_the_address(ask: Ask) -> None:
    for url in ("http://2130706433/", "file:///etc/passwd", "http://user:pw@127.0.0.1/"):
        assert "FAQSVC_GENERATE_ALLOW" not in ask(websiteUrl=url).text


def test_all_problems_are_reported_together(ask: Ask) -> None:
    response = ask(websiteUrl="ftp://x", lang="xx", count=0)

    assert (response.status_code, [problem.split(" ")[0] for problem in response.json()["problems"]]) == (
        422,
        ["websiteUrl", "lang", "count"],
    )


def test_a_large_body_is_a_413(client: TestClient, key: str) -> None:
    response = client.post(PATH, content=b" " * 20_000, headers={"X-Plugin-Key": key, **JSON})

    assert response.status_code == 413


def test_nothing_is_read_without_a_valid_key(storage: Storage, key: str, faulty: FaultyServer) -> None:
    body = {"websiteUrl": faulty.base_url}
    with TestClient(create_app(storage, generate_allow=f"127.0.0.1:{faulty.port}")) as client:
        without = client.post(PATH, json=body)
        wrong = client.post(PATH, json=body, headers={"X-Plugin-Key": key + "x"})

    assert (without.status_code, wrong.status_code) == (401, 403)
    assert (key in wrong.text, faulty.log) == (False, [])


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        (website({"/": faults.status(500)}), 502),
        (website({"/": faults.redirect("http://169.254.169.254/")}), 422),
        (website({"/": "x", "/robots.txt": "User-agent: *\nDisallow: /"}), 422),
        (faults.hang, 504),
    ],
    ids=["500", "redirect inside", "robots", "hang"],
)
def test_a_failing_website_is_reported_within_the_deadline(
    ask: Ask, faulty: FaultyServer, behaviour: faults.Behaviour, status: int
) -> None:
    faulty.behave(behaviour)
    started = time.monotonic()

    response = ask({"FAQSVC_GENERATE_TIMEOUT": "0.2" if status == 504 else "30"})

    assert response.status_code == response.json()["status"] == status
    assert response.headers["content-type"] == "application/problem+json"
    assert time.monotonic() - started < BUSY


@pytest.mark.system
def test_a_database_that_is_down_is_reported(
    ask: Ask, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> str:
        raise StorageUnavailable("down")

    monkeypatch.setattr(storage.sites, "begin_generation", down)
    response = ask()
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")


def test_generations_at_once_are_limited_for_each_site(
    ask: Ask, teas: str, storage: Storage, clock: Clock
) -> None:
    [key] = storage.keys.list()
    for site in (key.site, key.site, "other"):  # two processes read websites of this site
        assert storage.sites.begin_generation(site, 2, 30) is not None

    refused = ask()
    clock.advance(31)  # both processes were killed
    statuses = [ask().status_code for _ in range(3)]

    assert (refused.status_code, refused.json()["code"]) == (429, "rate-limited")
    assert int(refused.headers["retry-after"]) > 0
    assert statuses == [200, 200, 200]


def test_pages_read_before_the_deadline_are_used(ask: Ask, faulty: FaultyServer) -> None:
    faulty.behave(website({"/": HOME, "/faq": faults.hang}))
    started = time.monotonic()

    response = ask({"FAQSVC_GENERATE_TIMEOUT": "3"})  # enough for a busy machine to read one page

    assert [item["question"] for item in response.json()["items"]] == ["When are you open?"]
    assert time.monotonic() - started < BUSY


@pytest.mark.system
def test_a_client_that_disconnects_ends_the_generation(
    storage: Storage, key: str, faulty: FaultyServer
) -> None:
    faulty.behave(website({"/": faults.hang}))
    body = json.dumps({"websiteUrl": f"http://127.0.0.1:{faulty.port}/"}).encode()
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-Plugin-Key: {key}\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    with running(create_app(storage, generate_allow=f"127.0.0.1:{faulty.port}")) as url:
        with connected(url) as connection:
            connection.sendall(head.encode() + body)
            faulty.wait_for_requests(2)
        started = time.monotonic()
    # Shutdown waits for requests under way, so it would wait for the deadline of this one.

    assert time.monotonic() - started < BUSY


def test_allowed_addresses_are_logged_as_a_warning(
    storage: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "faqsvc_embed"):
        create_app(storage)
        assert caplog.records == []
        create_app(storage, generate_allow="10.0.0.1:80,[::1]:8080")

    [record] = caplog.records
    assert "10.0.0.1:80" in record.getMessage()


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "1e9", "nan"])
def test_an_invalid_deadline_is_a_configuration_error(
    storage: Storage, seconds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAQSVC_GENERATE_TIMEOUT", seconds)
    with pytest.raises(ConfigurationError, match="FAQSVC_GENERATE_TIMEOUT"):
        create_app(storage)


@pytest.mark.system
def test_without_the_extra_generation_all_else_is_served(tmp_path: Path) -> None:
    program = f"""
import sys
sys.modules["turbohtml"] = sys.modules["protego"] = None
from starlette.testclient import TestClient
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import open_storage

storage = open_storage("sqlite:///{tmp_path}/faqs.db")
headers = {{"X-Plugin-Key": storage.keys.create("ci")}}
body = {{"websiteUrl": "https://www.heron.example", "websiteName": "Heron", "items": [
    {{"question": "What does it cost?", "answer": "Nothing."}}]}}
with TestClient(create_app(storage)) as client:
    print(client.put("/api/v1/faq/prices", json=body, headers=headers).status_code)
    print(client.get("/faq/prices").status_code)
    found = client.post("{PATH}", json=body, headers=headers)
    print(found.status_code, "faqsvc-embed[generation]" in found.json()["detail"])
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (ran.stdout.split(), ran.returncode) == (["201", "200", "501", "True"], 0), ran.stderr
