"""How a response becomes a page: its charset, language, text and links."""

import pytest

from faqsvc_embed.generation.crawl.fetcher import Response
from faqsvc_embed.generation.crawl.page import Link, Page, read_page
from tests.generation.websites import html


def read(body: bytes | str, charset: str | None = None) -> Page:
    content = body.encode() if isinstance(body, str) else body
    return read_page(Response("https://tea.example/a/b", 200, "text/html", charset, content))


@pytest.mark.parametrize(
    "body",
    [
        b'<meta charset="x-none"><h3>Is it?</h3><p>\xc3\xa4h</p>',
        b"<h3>Is it?</h3><p>\xe4h</p>",
        b"\xef\xbb\xbf<h3>Is it?</h3><p>\xc3\xa4h</p>",
        '<meta charset="utf-16"><h3>Is it?</h3><p>äh</p>'.encode(),
        "<h3>Is it?</h3><p>äh</p>".encode("utf-16"),
    ],
    ids=["unknown", "undeclared", "byte order mark", "wrong", "utf-16"],
)
def test_the_charset_is_found_as_browsers_do(body: bytes) -> None:
    [pair] = read(body).pairs

    assert (pair.question, pair.answer) == ("Is it?", "äh")


@pytest.mark.parametrize(
    ("question", "answer", "charset"),
    [
        ("駐車場はありますか？", "建物の裏に三台分あります。", "shift_jis"),
        ("예약을 취소할 수 있나요?", "하루 전까지 할 수 있습니다.", "euc-kr"),
        ("Можно ли взять с собой собаку?", "Да, если она маленькая.", "windows-1251"),
    ],
)
def test_an_undeclared_charset_is_guessed(question: str, answer: str, charset: str) -> None:
    [pair] = read(f"<h3>{question}</h3><p>{answer}</p>".encode(charset)).pairs

    assert (pair.question, pair.answer) == (question, answer)


def test_the_charset_of_the_header_is_used_if_it_exists_and_the_text_is_not_utf_8() -> None:
    assert read("<p>äh</p>", "iso-2022-jp").text == "äh"
    assert read(b"<p>\xe4h</p>", "iso-8859-1").text == "äh"
    assert read("<p>äh</p>", "klingon").text == "äh"


def test_text_is_without_markup_and_boilerplate() -> None:
    page = read(
        html(
            "<nav><a href='/'>Menu</a></nav><h1>Teas</h1><p>All &lt;sorts&gt;.</p>",
            "<title>Tea &amp; Co</title>",
        )
    )

    assert (page.title, page.text) == ("Tea & Co", "Teas\n\nAll <sorts>.")


def test_the_language_is_stated_or_detected() -> None:
    assert read(html("x", lang="de-AT")).lang == "de"
    assert read("<p>Wir liefern innerhalb von zwei Werktagen in alle Orte.</p>").lang == "de"
    assert read("<p>Which cards do you accept?</p><p>Visa.</p><p>When do you open?</p>").lang == "en"


KOREAN = "무료 배송은 오만 원 이상 주문하실 때 제공됩니다. " * 20
CHINESE = "订单满五十元即可享受免费送货服务，请在付款前确认。" * 20


@pytest.mark.parametrize(
    ("text", "stated", "lang"),
    [
        (KOREAN, "ja", "ko"),
        (KOREAN, "zh", "ko"),
        (KOREAN, "en", "ko"),
        (CHINESE, "ko", "zh"),
        (CHINESE, "en", "zh"),
        (CHINESE, "ja", "ja"),  # a Japanese text can be written in Chinese characters alone
        (KOREAN[:50], "ja", "ja"),  # too short to be sure
    ],
)
def test_a_stated_language_is_corrected_where_the_script_is_clearly_another(
    text: str, stated: str, lang: str
) -> None:
    assert read(html(f"<p>{text}</p>", lang=stated)).lang == lang


def test_links_are_absolute_with_text_and_language() -> None:
    page = read(
        html(
            '<a href="c?d=e#f"> Our <b>FAQ</b> </a><a href="http://[::1">x</a><a>none</a>',
            '<link rel="alternate" hreflang="de-AT" href="/de/">',
        )
    )

    assert page.links == (
        Link("https://tea.example/de/", "", "de"),
        Link("https://tea.example/a/c?d=e", "Our FAQ", None),
    )


def test_links_are_relative_to_the_base_of_the_page() -> None:
    page = read(
        html("<h1>FAQ</h1><h2>Where is it?</h2><p>See <a href='map'>map</a>.</p>", "<base href='/help/'>")
    )

    assert [link.url for link in page.links] == ["https://tea.example/help/map"]
    assert [pair.markdown for pair in page.pairs] == ["See [map](https://tea.example/help/map)."]


@pytest.mark.parametrize("base", ["http://[", "javascript:x", ""])
def test_a_base_that_is_no_address_is_no_error(base: str) -> None:
    page = read(html("<h1>FAQ</h1><h2>Is it?</h2><p><a href='/m'>Yes</a>.</p>", f"<base href='{base}'>"))

    assert [pair.answer for pair in page.pairs] == ["Yes."]
