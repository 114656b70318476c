"""Headers that name the FAQs of a page, for the caches in front of a host."""

from typing import Any

import pytest

from faqsvc_embed.page.headers import MAX_LENGTH, applied, page_changes
from faqsvc_embed.page.page import Page
from faqsvc_embed.testing import fake_embed
from tests.support import hosts, samples

PAGE = "<title>Prices</title>{{ faq('pricing') }}{{ faq('no such') }}{{ use_faq('pricing') and '' }}"
NAMES = ("Cache-Groups", "Surrogate-Key", "Cache-Tag")


@pytest.mark.parametrize("host", hosts.HOSTS)
def test_a_page_names_all_its_faqs_even_missing_ones(host: Any) -> None:
    embed = fake_embed({"pricing": samples.pricing()}, cache_tags=True)
    _, headers = host(embed, PAGE)("/")
    assert [headers[name] for name in NAMES] == [
        '"faq-pricing", "faq-no%20such"',
        "faq-pricing faq-no%20such",
        "faq-pricing,faq-no%20such",
    ]


@pytest.mark.parametrize("host", hosts.HOSTS)
def test_a_page_without_faqs_and_a_page_by_default_name_none(host: Any) -> None:
    for page, cache_tags in (("<title>Prices</title>", True), (PAGE, False)):
        _, headers = host(fake_embed({"pricing": samples.pricing()}, cache_tags=cache_tags), page)("/")
        assert not any(name in headers for name in NAMES)


def test_the_tags_of_the_host_are_kept() -> None:
    headers = [("cache-tag", "home"), ("Surrogate-Key", "a b"), ("cache-groups", '"x";p'), ("Vary", "Accept")]
    page = Page(slugs=dict.fromkeys(["a,b", "한국"]))
    assert applied(headers, page_changes(page, headers)) == [
        ("Vary", "Accept"),
        ("Cache-Groups", '"x";p, "faq-a%2Cb", "faq-%ED%95%9C%EA%B5%AD"'),
        ("Surrogate-Key", "a b faq-a%2Cb faq-%ED%95%9C%EA%B5%AD"),
        ("Cache-Tag", "home,faq-a%2Cb,faq-%ED%95%9C%EA%B5%AD"),
    ]


def test_many_faqs_and_invalid_slugs_do_not_make_headers_too_long() -> None:
    slugs = ["a\r\nb", "\ud800", "가" * 200, "\N{GRINNING FACE}" * 200, *map(str, range(1000))]
    headers = page_changes(Page(slugs=dict.fromkeys(slugs)), [])
    tags = str(headers["Surrogate-Key"]).split()
    assert tags == [f"faq-{number}" for number in range(len(tags))]
    assert len(tags) > 80
    assert max(len(str(value)) for value in headers.values()) <= MAX_LENGTH
    assert page_changes(Page(slugs={}), [("Cache-Tag", "home")]) == {}
