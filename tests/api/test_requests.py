"""The request that reads an FAQ, and which texts are slugs."""

import unicodedata
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import example, given

from faqsvc_embed import FAQNotFound
from faqsvc_embed.api.fields import MAX_SLUG, invalid_slug, is_slug
from faqsvc_embed.api.requests import NO_VALIDATORS, Validators, read_request
from faqsvc_embed.languages import LANGUAGES
from tests.support.strategies import any_text

BASE = "https://faq.example.com/sub"
HERE = "http://faq.example.com:8700/api/v1/faq/pricing"
DATE = "Sat, 21 Nov 2026 08:00:00 GMT"


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
    "slug", ["a", "a b", "%2e%2e", "...", "..a", "요금", "👩\u200d👩", "<b>'\"", " ", "a+b&c=d"]
)
def test_almost_any_text_can_be_a_slug(slug: str) -> None:
    assert is_slug(slug)
    longer = slug * (MAX_SLUG + 1)
    assert is_slug(longer[:MAX_SLUG])
    assert not is_slug(longer[: MAX_SLUG + 1])


@pytest.mark.parametrize("slug", ["", ".", "..", "a/b", "a\\b", "a\r\nX: y", "\0", "\x7f", "\x85", "a\udfff"])
def test_a_text_that_could_leave_its_path_segment_is_not_a_slug(slug: str) -> None:
    assert not is_slug(slug)
    assert isinstance(invalid_slug(slug), FAQNotFound)


@pytest.mark.parametrize("value", [None, 5, 1.5, b"pricing", ["pricing"], {}, object()])
def test_a_value_that_is_not_text_is_not_a_slug(value: object) -> None:
    assert not is_slug(value)
    assert isinstance(invalid_slug(value), FAQNotFound)


@given(any_text)
def test_the_error_for_an_invalid_slug_is_one_short_printable_line(slug: str) -> None:
    message = str(invalid_slug(slug * 50))
    assert message.isprintable()
    assert len(message) < 250


@given(any_text)
@example("..")
@example("%2e%2e")
@example("a?lang=ko#x")
@example("@evil.example")
@example(":80")
def test_a_slug_is_one_segment_of_the_path_and_changes_nothing_else(slug: str) -> None:
    assert is_slug(slug) == (
        0 < len(slug) <= MAX_SLUG
        and slug not in (".", "..")
        and not any(c in "/\\" or unicodedata.category(c) in ("Cc", "Cs") for c in slug)
    )
    if not is_slug(slug):
        return
    url = read_request(BASE, slug).url
    parts = urlsplit(url)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("https", "faq.example.com", "", "")
    prefix, _, segment = parts.path.rpartition("/")
    assert (prefix, unquote(segment)) == ("/sub/api/v1/faq", slug)
    assert segment not in (".", "..")
    assert url.isascii()
    assert url.isprintable()
    assert " " not in url
