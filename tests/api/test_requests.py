"""The request that reads an FAQ, and where its redirects may lead."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed.api.requests import NO_VALIDATORS, Validators, read_request, redirect_target
from faqsvc_embed.languages import LANGUAGES
from tests.support.strategies import any_text

BASE = "https://faq.example.com/sub"
HERE = "http://faq.example.com:8700/api/v1/faq/pricing"
DATE = "Sat, 21 Nov 2026 08:00:00 GMT"


def test_a_read_is_a_get_without_key_or_cookie() -> None:
    request = read_request(BASE, "pricing")
    assert (request.method, request.url, request.body) == ("GET", f"{BASE}/api/v1/faq/pricing", b"")
    assert set(request.headers) == {"accept", "accept-encoding"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_language_is_a_parameter_of_the_query(lang: str) -> None:
    assert read_request(BASE, "pricing", lang).url == f"{BASE}/api/v1/faq/pricing?lang={lang}"


@pytest.mark.parametrize(
    ("validators", "headers"),
    [
        (NO_VALIDATORS, {}),
        (Validators('W/"a"', DATE), {"if-none-match": 'W/"a"'}),
        (Validators(None, DATE), {"if-modified-since": DATE}),
    ],
)
def test_a_request_is_conditional_if_there_are_validators(
    validators: Validators, headers: dict[str, str]
) -> None:
    sent = read_request(BASE, "pricing", None, validators).headers
    assert {name: value for name, value in sent.items() if name.startswith("if-")} == headers


@pytest.mark.parametrize(
    ("url", "location", "target"),
    [
        (HERE, "/moved", "http://faq.example.com:8700/moved"),
        (HERE, "other", "http://faq.example.com:8700/api/v1/faq/other"),
        (HERE, "?lang=ko", f"{HERE}?lang=ko"),
        (HERE, "//faq.example.com:8700/x", "http://faq.example.com:8700/x"),
        ("http://h/a", "http://h:80/b", "http://h:80/b"),
        ("https://h:443/a", "https://h/b", "https://h/b"),
        ("https://h/a", "https://H/b", "https://H/b"),
    ],
)
def test_a_redirect_within_the_origin_is_followed(url: str, location: str, target: str) -> None:
    assert redirect_target(url, location) == target


@pytest.mark.parametrize(
    "location",
    [
        None,
        "",
        "http://evil.example/",
        "//evil.example/",
        "http://faq.example.com/",  # another port
        "https://faq.example.com:8700/",
        "http://faq.example.com.evil.example:8700/",
        "http://evil.example\\@faq.example.com:8700/",
        "http://faq.example.com:8700\\@evil.example/",
        "http://faq.example.com:8700@evil.example/",
        "http://user@faq.example.com:8700/",
        "http://:@faq.example.com:8700/",
        "http://faq.example.com:x/",
        "http://[::1/",
        "file://faq.example.com:8700/etc/passwd",
        "javascript:alert(1)",
        "\t//evil.example/",
        "/\t/evil.example/",
        "ht\ntp://evil.example/",
    ],
)
def test_a_redirect_to_another_origin_is_refused(location: str | None) -> None:
    assert redirect_target(HERE, location) is None


@pytest.mark.parametrize("location", ["http://h/", "http://h:443/", "//h:80/"])
def test_a_redirect_from_https_to_http_is_refused(location: str) -> None:
    assert redirect_target("https://h/a", location) is None


@given(
    st.one_of(
        any_text, st.text("htps:/\\@.#?[]%evil \t\n012", max_size=40), st.text("/\\@:evil", max_size=12)
    )
)
def test_no_location_leads_to_another_origin_or_raises(location: str) -> None:
    target = redirect_target(HERE, location)
    if target is not None:
        parts = urlsplit(target)
        assert (parts.scheme, parts.hostname, parts.port) == ("http", "faq.example.com", 8700)
        assert parts.username is None
