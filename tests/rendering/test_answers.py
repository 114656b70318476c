"""Answers as HTML: text or Markdown, as the record says, and `item.html` for markup of one's own."""

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import html5lib
import pytest
from hypothesis import given
from markupsafe import Markup, escape
from msgspec.structs import replace

from faqsvc_embed import FAQ, FAQEmbed, InvalidFAQ, Item, to_json_ld
from faqsvc_embed.files import WRITERS, Document, read_file
from faqsvc_embed.files.markdown_cost import MAX_RECORD_COST
from faqsvc_embed.models import AnswerFormat
from faqsvc_embed.rendering.answers import paragraphs
from faqsvc_embed.testing import fake_embed
from tests.support.growth import grows_linearly
from tests.support.parsed import Parsed, words
from tests.support.strategies import any_text


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("one", "<p>one</p>"),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("one\r\n\r\n \t\r\ntwo\rthree\r\n", "<p>one</p>\n<p>two<br>\nthree</p>"),
        ("one\vtwo\u2028three", "<p>one<br>\ntwo<br>\nthree</p>"),
        ("  a & b  ", "<p>a &amp; b</p>"),
        ("- 1\n- 2", "<p>- 1<br>\n- 2</p>"),
        ("<p>\n\n</p>", "<p>&lt;p&gt;</p>\n<p>&lt;/p&gt;</p>"),
        ("a\0b", "<p>a\ufffdb</p>"),
        (
            "https://a.example/?b=1&c",
            '<p><a href="https://a.example/?b=1&amp;c" rel="noopener">https://a.example/?b=1&amp;c</a></p>',
        ),
    ],
)
def test_blank_lines_separate_paragraphs_and_line_breaks_are_kept(text: str, html: str) -> None:
    assert paragraphs(text) == html


@given(any_text)
def test_a_text_is_its_words_in_paragraphs_with_line_breaks_and_links(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    page = Parsed(paragraphs(text))
    assert page.errors == []
    assert page.words == words(text.replace("\0", "\ufffd"))
    assert {e.tag for e in page.elements} <= {"p", "br", "a"}


@pytest.mark.parametrize(
    "piece",
    [
        "one, two\n \nthree\n",
        "字https://a.example/b?c=1字",
        "\n" + " " * 9_000 + "\nx",
        "<&> and more words " * 9,
    ],
)
def test_a_long_text_is_the_same_html_as_its_parts(piece: str) -> None:
    count = 70_000 // len(piece)
    paragraph = f"<p>{paragraphs(piece.strip())[3:-4]}"
    repeated = paragraphs("\n\n".join([piece.strip()] * count))
    assert repeated == "\n".join([f"{paragraph}</p>"] * count)
    assert Parsed(paragraphs(piece * count)).words == words(piece * count)


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
    page = Parsed(paragraphs(text))
    assert [e.get("href") for e in page.tagged("a")] == urls
    assert page.words == words(text)


@pytest.mark.parametrize("answer_format", ["text", "markdown"])
def test_a_link_gives_the_page_it_leads_to_no_handle_on_ours(answer_format: AnswerFormat) -> None:
    html = fake_embed({"p": record("<https://a.example>", answer_format)}).render("p")
    assert [e.get("rel") for e in Parsed(html).tagged("a")] == ["noopener"]


TABLE = "| Plan | Price |\n| --- | ---: |\n| Basic | 10 € |\n| **Pro** | [ask](https://heron.example) |"


ANSWER = "Five **euros** & more.\n\n- one\n- two\n\n# Heading\n\nSee [this](https://x.example) and https://y.example"


def record(answer: str = ANSWER, answer_format: AnswerFormat = "markdown", section: str | None = None) -> FAQ:
    item = Item(0, "How?", answer, section)
    return FAQ("pricing", "Pricing", "Heron", "en", (item,), answer_format=answer_format)


def embed(answer: str, answer_format: AnswerFormat = "markdown") -> FAQEmbed:
    return fake_embed({"pricing": record(answer, answer_format)})


def test_the_wire_states_markdown_and_leaves_out_text() -> None:
    assert record("*Yes*").to_dict()["answerFormat"] == "markdown"
    assert "answerFormat" not in record("Yes", "text").to_dict()
    assert FAQ.from_dict(record("Yes", "text").to_dict()) == record("Yes", "text")


@pytest.mark.parametrize("stated", ["html", "", None, 5, ["markdown"], "x" * 500])
def test_an_unknown_format_of_a_response_counts_as_text(stated: object) -> None:
    written = {**record("Yes", "text").to_dict(), "answerFormat": stated}
    assert FAQ.from_dict(written).answer_format == "text"
    assert FAQ.from_json(json.dumps(written)).answer_format == "text"


def test_an_unknown_format_is_refused_in_python() -> None:
    with pytest.raises(InvalidFAQ) as refused:
        record("Yes", "html")  # type: ignore[arg-type]
    assert refused.value.path == "answerFormat"


def test_a_page_shows_the_format_of_the_record() -> None:
    assert "<em>Yes</em>" in embed("*Yes*").render("pricing")
    assert "*Yes*" in embed("*Yes*", "text").render("pricing")


def test_a_table_is_a_table_on_the_page_and_lines_in_the_json_ld() -> None:
    html = embed(TABLE).render("pricing")
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    cells = ["".join(cell.itertext()) for cell in tree.findall(".//table//*") if cell.tag in ("th", "td")]
    assert cells == ["Plan", "Price", "Basic", "10 €", "Pro", "ask"]
    text = to_json_ld(record(TABLE))["mainEntity"][0]["acceptedAnswer"]["text"]
    assert "table" not in text
    shown = html5lib.parseFragment(text, namespaceHTMLElements=False)
    assert "".join(shown.itertext()).split() == ["Plan", "Price", "Basic", "10", "€", "Pro", "ask"]
    assert [row.tag for row in shown] == ["div"] * 3


@pytest.mark.parametrize(
    "written",
    [
        lambda count: "|a" * 100 + "|\n" + "|-" * 100 + "|\n" + "a\n" * count,
        lambda count: "|a" * 100 + "|\r" + "|-" * 100 + "|\r" + "a\r" * count,
        lambda count: "-" * count + "x|",
    ],
    ids=["rows", "returns", "hyphens"],
)
def test_a_table_of_short_rows_costs_no_more_than_its_length(written: Callable[[int], str]) -> None:
    def render(embed: FAQEmbed) -> None:
        assert "<table" not in embed.render("pricing")

    assert grows_linearly(render, lambda count: embed(written(count)), 300)


def test_files_and_records_keep_the_format_and_the_introduction(tmp_path: Path) -> None:
    faq = replace(record("*Yes*"), introduction="*We* sell it.\n\nAnd more.")
    assert FAQ.from_json(faq.to_json()) == faq
    for ending, write in WRITERS.items():
        path = tmp_path / f"pricing{ending}"
        path.write_text(write(Document.from_faq(faq)))
        assert read_file(path).to_faq("pricing") == faq


@pytest.mark.parametrize("answer_format", ["text", "markdown"])
@pytest.mark.parametrize("section", [None, "Orders"])
def test_an_item_has_the_html_that_the_faq_prints(answer_format: AnswerFormat, section: str | None) -> None:
    faqs = fake_embed({"pricing": record(ANSWER, answer_format, section)})
    shown = faqs.render("pricing")
    state = faqs.use_faq("pricing")
    assert state.data is not None
    for read in (state.data, faqs.get_faq("pricing")):
        html = read.items[0].html
        assert isinstance(html, Markup)
        assert f">{html}</div>" in shown


def test_a_record_that_no_embed_has_read_has_html_too() -> None:
    assert "<strong>euros</strong>" in record().items[0].html
    assert "**euros** &amp;" in record(ANSWER, "text").items[0].html
    assert Item(0, "What?", "<b>").html == "<p>&lt;b&gt;</p>"
    assert Item(0, "What?", " \n").html == ""


def test_an_item_is_compared_by_its_content_and_keeps_its_record_in_a_copy() -> None:
    faq = record()
    bare = Item(0, "How?", ANSWER)
    assert faq.items == (bare,)
    assert hash(faq.items[0]) == hash(bare)
    assert repr(faq.items[0]) == repr(bare)
    for other in (copy.deepcopy(faq), pickle.loads(pickle.dumps(faq)), copy.copy(faq)):
        assert other == faq
        assert other.items[0].html == faq.items[0].html
        assert fake_embed({}).render(other) == fake_embed({}).render(faq)
    assert b"<strong>" not in pickle.dumps(faq)  # another version may render it differently


def test_a_record_does_not_keep_the_html_of_items_with_changed_answers() -> None:
    (item,) = record().items
    changed = [replace(item, answer=f"*{number}*") for number in range(3)]
    assert changed[2].html == "<p><em>2</em></p>"
    assert [one.html is one.html for one in (item, *changed)].count(True) == 1


def test_an_answer_that_failed_once_is_rendered_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    (item,) = record().items
    with monkeypatch.context() as failing:
        failing.setattr("faqsvc_embed.rendering.answers._rendered", fail)
        assert item.html == escape(ANSWER)
    assert "<strong>" in item.html


def test_records_that_share_an_item_have_their_own_format() -> None:
    (item,) = record(ANSWER, "text").items
    markdown = FAQ("b", items=(item,), answer_format="markdown")
    assert "<strong>" in markdown.items[0].html
    assert "**" in item.html


def test_markdown_that_takes_too_long_is_text_here_too() -> None:
    items = tuple(Item(n, f"What {n}?", "*a* " * 1_000) for n in range(MAX_RECORD_COST // 2_000 + 1))
    faq = FAQ("pricing", items=items, answer_format="markdown")
    assert "<em>" not in faq.items[0].html
    assert "*a*" in faq.items[0].html
