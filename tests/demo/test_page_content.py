"""The parser with which `python -m demo_apps --check` reads pages."""

import pytest

from demo_apps.page_content import PageContent

PAGE = """<!doctype html><html lang="ko"><head><title>Title</title><style nonce="n">p { color: red }</style>
<script type="application/ld+json">
  {"@graph": [{"@type": ["WebPage", "FAQPage"], "name": "one"}, {"@type": "FAQPage", "name": "two"}]}
</script></head><body><h1>Tea &amp;
coffee</h1><details><summary>Why?</summary>&lt;b&gt;</details><script>"hidden"</script></body></html>"""


def test_the_text_is_what_people_see() -> None:
    assert PageContent(PAGE).text == "Tea&coffeeWhy?<b>"


def test_language_items_and_nonces_are_found() -> None:
    content = PageContent(PAGE)
    assert (content.lang, content.details, content.nonces) == ("ko", 1, ["n", None, None])


def test_every_faq_page_is_found() -> None:
    assert [node["name"] for node in PageContent(PAGE).faq_pages] == ["one", "two"]


def test_json_ld_that_is_not_json_is_an_error() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        _ = PageContent('<script type="application/ld+json">{no</script>').faq_pages
