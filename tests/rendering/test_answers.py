"""Answers in plain text: paragraphs, line breaks and, if the host asks for them, links."""

import pytest
from hypothesis import given

from faqsvc_embed.rendering.answers import paragraphs
from faqsvc_embed.testing import fake_embed
from tests.rendering.support import faq
from tests.support.html5 import Parsed, words
from tests.support.parsed import json_ld
from tests.support.strategies import any_text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("one", "<p>one</p>"),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("one\r\n\r\n \t\r\ntwo\rthree\r\n", "<p>one</p>\n<p>two<br>\nthree</p>"),
        ("  a & b  ", "<p>a &amp; b</p>"),
        ("- 1\n- 2", "<p>- 1<br>\n- 2</p>"),
        ("<p>\n\n</p>", "<p>&lt;p&gt;</p>\n<p>&lt;/p&gt;</p>"),
        ("a\0b", "<p>a\ufffdb</p>"),
        ("https://a.example/?b=1&c", "<p>https://a.example/?b=1&amp;c</p>"),
    ],
)
def test_blank_lines_separate_paragraphs_and_line_breaks_are_kept(text: str, html: str) -> None:
    assert paragraphs(text) == html


@given(any_text)
def test_a_text_is_paragraphs_and_line_breaks_and_nothing_else(text: str) -> None:
    page = Parsed(paragraphs(text.encode("utf-8", "replace").decode()))
    assert page.errors == []
    assert {e.tag for e in page.elements} <= {"p", "br"}


@pytest.mark.parametrize("rel", [None, "noopener"])
@pytest.mark.parametrize(
    "piece",
    [
        "one, two\n \nthree\n",
        "字https://a.example/b?c=1字",
        "\n" + " " * 9_000 + "\nx",
        "<&> and more words " * 9,
    ],
)
def test_a_long_text_is_the_same_html_as_its_parts(piece: str, rel: str | None) -> None:
    count = 70_000 // len(piece)
    paragraph = f"<p>{paragraphs(piece.strip(), rel)[3:-4]}"
    repeated = paragraphs("\n\n".join([piece.strip()] * count), rel)
    assert repeated == "\n".join([f"{paragraph}</p>"] * count)
    assert Parsed(paragraphs(piece * count, rel)).words == words(piece * count)


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("https://a.example", ["https://a.example"]),
        ("(https://a.example/b)", ["https://a.example/b"]),
        ("https://a.example/b_(c), and", ["https://a.example/b_(c)"]),
        ("[https://a.example/b]]", ["https://a.example/b"]),
        ("“https://a.example”", ["https://a.example"]),
        ("https://a.exampleをご覧ください。", ["https://a.example"]),
        ("http://[::1]:80/x!", ["http://[::1]:80/x"]),
        ("https://a.example/#q,\nhttp://b.example.", ["https://a.example/#q", "http://b.example"]),
        ("https://a.example/?b=1&c=2.", ["https://a.example/?b=1&c=2"]),
        ('"https://a.example/"><script>', ["https://a.example/"]),
        ("https://", []),
        ("javascript:alert(1) ftp://a.example www.a.example", []),
    ],
)
def test_a_url_becomes_a_link_without_the_punctuation_around_it(text: str, urls: list[str]) -> None:
    page = Parsed(paragraphs(text, "noopener"))
    assert [e.get("href") for e in page.tagged("a")] == urls
    assert page.words == words(text)


@given(any_text)
def test_links_change_no_word_of_a_text(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    page = Parsed(paragraphs(text, "noopener"))
    assert page.words == Parsed(paragraphs(text)).words
    assert {e.tag for e in page.elements} <= {"p", "br", "a"}


@pytest.mark.parametrize(
    ("settings", "rels"),
    [
        ({}, []),
        ({"link_urls": True}, ["noopener"]),
        ({"link_urls": True, "nofollow": True}, ["noopener nofollow"]),
        ({"answer_format": "markdown"}, ["noopener"]),
        ({"answer_format": "markdown", "nofollow": True}, ["noopener nofollow"]),
    ],
)
def test_links_say_what_the_settings_say(settings: dict[str, object], rels: list[str]) -> None:
    html = fake_embed({"p": faq(("Q?", "<https://a.example>"))}, **settings).render("p")  # type: ignore[arg-type]
    assert [e.get("rel") for e in Parsed(html).tagged("a")] == rels


def test_plain_text_is_in_json_ld_as_the_record_has_it() -> None:
    record = faq(("Q?", "A **b** https://example.com\n\n<i>"))
    for link_urls in (False, True):
        (node,) = json_ld(fake_embed({"p": record}, link_urls=link_urls).render("p"))
        assert node["mainEntity"][0]["acceptedAnswer"]["text"] == record.items[0].answer
