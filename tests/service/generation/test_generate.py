"""POST /api/v1/faq/generate, from a request on a socket to a website on another."""

import json
import logging
import socket
import time

import httpx2
import pytest
from starlette.applications import Starlette

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.service.generate import generate_route
from faqsvc_embed.service.keyed import KeyCheck
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import Storage
from tests.generation.websites import html, website
from tests.service.generation.conftest import BUSY, Ask
from tests.support import faulty as faults
from tests.support.faulty import FaultyServer

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


def test_a_website_gives_its_questions_once_with_answers_and_sources(ask: Ask, teas: str) -> None:
    response = ask()

    assert (response.status_code, response.json()) == (
        200,
        {
            "items": [
                {
                    "position": 0,
                    "question": "Do you ship to Peru?",
                    "answer": "We do.",
                    "source": f"{teas}/faq#ship",
                },
                {
                    "position": 1,
                    "question": "When are you open?",
                    "answer": "From nine until six.",
                    "source": f"{teas}/faq",
                },
                {
                    "position": 2,
                    "question": "Gift cards",
                    "answer": "- paper\n- e-mail",
                    "source": f"{teas}/faq#a%20b",
                },
            ]
        },
    )
    assert dict(response.headers) == {
        "cache-control": "no-store",
        "content-length": response.headers["content-length"],
        "content-type": "application/json",
        "x-content-type-options": "nosniff",
    }


def test_fewer_are_the_best_and_a_topic_says_which_those_are(ask: Ask, teas: str) -> None:
    assert [item["question"] for item in ask(count=1).json()["items"]] == ["Do you ship to Peru?"]
    assert [item["question"] for item in ask(count=1, topic="opening hours, when open").json()["items"]] == [
        "When are you open?"
    ]


def test_a_language_is_preferred_where_the_site_has_it(ask: Ask, faulty: FaultyServer) -> None:
    german = html("<h3>Wann ist offen?</h3><p>Bis sechs.</p>", lang="de")
    english = html('<a href="/de/">Deutsch</a><h3>When is it open?</h3><p>Until six.</p>')
    faulty.behave(website({"/": english, "/de/": german}))

    assert [item["answer"] for item in ask(lang="de").json()["items"]] == ["Bis sechs."]
    assert [item["answer"] for item in ask(lang="fr").json()["items"]] == ["Until six."]


def test_a_website_without_questions_has_none(ask: Ask, faulty: FaultyServer) -> None:
    faulty.behave(website({"/": html("<h1>Teas</h1><p>All sorts.</p>")}))

    assert ask().json() == {"items": []}


@pytest.mark.parametrize(
    "page",
    [
        b'<meta charset="x-none"><h3>Is it?</h3><p>\xc3\xa4h</p>',
        b"<h3>Is it?</h3><p>\xe4h</p>",
        b"\xef\xbb\xbf<h3>Is it?</h3><p>\xc3\xa4h</p>",
        '<meta charset="utf-16"><h3>Is it?</h3><p>äh</p>'.encode(),
        "<h3>Is it?</h3><p>äh</p>".encode("utf-16"),
    ],
    ids=["unknown", "undeclared", "marked", "lied", "utf-16"],
)
def test_a_charset_is_found_out_as_browsers_do(ask: Ask, faulty: FaultyServer, page: bytes) -> None:
    faulty.behave(website({"/": page}))

    assert [item["question"] for item in ask().json()["items"]] == ["Is it?"]
    assert ask().json()["items"][0]["answer"] in ("äh", "Ã¤h")


def test_a_charset_in_the_header_that_there_is_not_is_no_error(ask: Ask, faulty: FaultyServer) -> None:
    page = faults.body("<h3>Is it?</h3><p>äh</p>".encode(), {"Content-Type": "text/html; charset=klingon"})
    faulty.behave(website({"/": page}))

    assert ask().json()["items"][0]["question"] == "Is it?"


def test_a_page_is_data_whatever_it_says(ask: Ask, faulty: FaultyServer) -> None:
    faulty.behave(
        website(
            {
                "/": "<h3>Is &lt;b&gt; bold?\0</h3><p>&lt;script&gt;alert(1)&lt;/script&gt;\ud83d</p>".encode(
                    "utf-8", "replace"
                )
            }
        )
    )

    assert ask().json()["items"][0]["answer"] == "<script>alert(1)</script>?"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1/", "loopback"),
        ("http://localhost/", "loopback"),
        ("http://[::1]/", "loopback"),
        ("http://[::ffff:169.254.169.254]/", "mapped"),
        ("http://169.254.169.254/latest/meta-data/", "link-local"),
        ("http://10.0.0.1/", "private"),
        ("http://100.64.0.1/", "carrier"),
        ("http://[64:ff9b::7f00:1]/", "NAT64"),
        ("http://[2002:7f00:1::]/", "6to4"),
        ("http://[2001::1]/", "Teredo"),
        ("http://0.0.0.0/", "this host"),
        ("http://2130706433/", "no host"),
        ("http://0x7f000001/", "no host"),
        ("http://0177.0.0.1/", "no address"),
        ("http://127.1/", "no host"),
        ("http://127.0.0.1:22/", "port 22"),
        ("http://user:pw@shop.example/", "user name"),
        ("file:///etc/passwd", "http or https"),
        ("shop.example", "http or https"),
        ("", "websiteUrl is ''"),
        (None, "websiteUrl is None"),
        (["https://shop.example"], "websiteUrl is"),
        ("https://shop.example/" + "a" * 2000, "up to 2000"),
    ],
)
def test_what_is_not_on_the_public_web_is_refused(
    ask: Ask, faulty: FaultyServer, url: object, reason: str
) -> None:  # D11
    response = ask(websiteUrl=url)

    assert response.status_code == 422
    assert reason in response.json()["problems"][0]
    assert faulty.log == []


def test_every_mistake_is_told_at_once(ask: Ask) -> None:
    response = ask(websiteUrl="ftp://x", lang="xx", count=0, topic=5)

    assert (response.status_code, [problem.split(" ")[0] for problem in response.json()["problems"]]) == (
        422,
        ["websiteUrl:", "lang", "count", "topic"],
    )


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'"x"', b"[" * 10_000])
def test_a_body_that_is_no_object_is_told(storage: Storage, key: str, body: bytes) -> None:
    with running(Starlette(routes=[generate_route(KeyCheck(storage.keys), environ={})])) as address:
        headers = {"X-Plugin-Key": key, **JSON}
        response = httpx2.post(address + PATH, content=body, headers=headers, trust_env=False)

    assert (response.status_code, response.json()["detail"]) == (422, "the body is no JSON object in UTF-8")


def test_a_huge_body_is_not_read(storage: Storage, key: str) -> None:
    with running(Starlette(routes=[generate_route(KeyCheck(storage.keys), environ={})])) as address:
        response = httpx2.post(
            address + PATH, content=b" " * 20_000, headers={"X-Plugin-Key": key, **JSON}, trust_env=False
        )

    assert response.status_code == 413


def test_a_key_is_needed_before_anything_is_read(storage: Storage, key: str, faulty: FaultyServer) -> None:
    allow = f"127.0.0.1:{faulty.port}"
    body = {"websiteUrl": faulty.base_url}
    with running(Starlette(routes=[generate_route(KeyCheck(storage.keys), generate_allow=allow)])) as address:
        without = httpx2.post(address + PATH, json=body, trust_env=False)
        wrong = httpx2.post(address + PATH, json=body, headers={"X-Plugin-Key": key + "x"}, trust_env=False)

    assert (without.status_code, wrong.status_code) == (401, 403)
    assert without.headers["www-authenticate"] == 'ApiKey header="X-Plugin-Key"'
    assert (key in wrong.text, faulty.log) == (False, [])


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({}, 415),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/json; charset=latin-1"}, 415),
        ({**JSON, "content-encoding": "gzip"}, 415),
        ({**JSON, "accept": "text/html"}, 406),
    ],
)
def test_another_form_than_json_is_refused_after_the_key(
    storage: Storage, key: str, form: dict[str, str], status: int
) -> None:
    with running(Starlette(routes=[generate_route(KeyCheck(storage.keys), environ={})])) as address:
        known = httpx2.post(
            address + PATH, content=b"{}", headers={"X-Plugin-Key": key, **form}, trust_env=False
        )
        stranger = httpx2.post(address + PATH, content=b"{}", headers=form, trust_env=False)

    assert (known.status_code, stranger.status_code) == (status, 401)


def test_it_is_asked_by_post_only(storage: Storage) -> None:  # V3
    with running(Starlette(routes=[generate_route(KeyCheck(storage.keys), environ={})])) as address:
        response = httpx2.get(address + PATH, trust_env=False)

    assert (response.status_code, response.headers["allow"]) == (405, "POST, OPTIONS")


@pytest.mark.parametrize(
    ("behaviour", "status", "reason"),
    [
        (website({"/": faults.status(500)}), 502, "answers 500"),
        (website({"/": faults.garbage}), 502, "does not answer as a website"),
        (website({"/": faults.redirect("http://169.254.169.254/")}), 422, "link-local"),
        (website({"/": faults.redirect("/")}), 502, "redirects more than 5 times"),
        (website({"/": "x", "/robots.txt": "User-agent: *\nDisallow: /"}), 422, "robots.txt"),
        # What runs out of time first depends on the machine: the visit, or all of it.
        (faults.hang, 504, ""),
        (faults.drip(0.05), 504, ""),
    ],
    ids=["500", "garbage", "redirect inside", "redirect loop", "robots", "hang", "drip"],
)
def test_a_website_that_fails_is_told_within_the_deadline(
    ask: Ask, faulty: FaultyServer, behaviour: faults.Behaviour, status: int, reason: str
) -> None:
    faulty.behave(behaviour)
    started = time.monotonic()

    response = ask({"FAQSVC_GENERATE_TIMEOUT": "1" if status == 504 else "30"})

    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    assert reason in response.json()["detail"]
    assert time.monotonic() - started < BUSY


def test_what_was_read_before_the_deadline_is_what_there_is(ask: Ask, faulty: FaultyServer) -> None:
    faulty.behave(website({"/": HOME, "/faq": faults.hang}))
    started = time.monotonic()

    response = ask({"FAQSVC_GENERATE_TIMEOUT": "3"})  # so long that a busy machine reads one page in it

    assert [item["question"] for item in response.json()["items"]] == ["When are you open?"]
    assert time.monotonic() - started < BUSY


def test_a_client_that_goes_ends_the_work(storage: Storage, key: str, faulty: FaultyServer) -> None:
    faulty.behave(website({"/": faults.hang}))
    allow = f"127.0.0.1:{faulty.port}"
    body = json.dumps({"websiteUrl": f"http://127.0.0.1:{faulty.port}/"}).encode()
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-Plugin-Key: {key}\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(body)}\r\n\r\n"
    with running(Starlette(routes=[generate_route(KeyCheck(storage.keys), generate_allow=allow)])) as address:
        with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as connection:
            connection.sendall(head.encode() + body)
            faulty.wait_for_requests(2)
        started = time.monotonic()
    # The server waits for what is running: had the visit gone on, it would wait for its deadline.

    assert time.monotonic() - started < BUSY


def test_what_is_allowed_is_logged_as_a_warning(storage: Storage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "faqsvc_embed"):
        generate_route(KeyCheck(storage.keys), environ={})
        assert caplog.records == []
        generate_route(KeyCheck(storage.keys), environ={"FAQSVC_GENERATE_ALLOW": "10.0.0.1:80,[::1]:8080"})

    assert [record.getMessage() for record in caplog.records] == [
        "generation may visit 10.0.0.1:80, ::1:8080 although they are not public: FAQSVC_GENERATE_ALLOW"
    ]


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "1e9", "nan"])
def test_a_deadline_is_a_number_of_seconds(storage: Storage, seconds: str) -> None:
    with pytest.raises(ConfigurationError, match="FAQSVC_GENERATE_TIMEOUT is"):
        generate_route(KeyCheck(storage.keys), environ={"FAQSVC_GENERATE_TIMEOUT": seconds})
