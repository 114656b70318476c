"""The format of the answers of a record: text or Markdown, whatever the setting says."""

import json
import time
from pathlib import Path

import html5lib
import pytest

from faqsvc_embed import FAQ, FAQEmbed, InvalidFAQ, Item, to_json_ld
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import StoredFAQ
from faqsvc_embed.files import WRITERS, Document, read_file
from faqsvc_embed.models import AnswerFormat
from faqsvc_embed.testing import fake_embed

TABLE = "| Plan | Price |\n| --- | ---: |\n| Basic | 10 € |\n| **Pro** | [ask](https://heron.example) |"


def record(answer: str, answer_format: AnswerFormat = "markdown") -> FAQ:
    return FAQ("pricing", "Pricing", "Heron", "en", (Item(0, "How?", answer),), answer_format=answer_format)


def embed(answer: str, answer_format: AnswerFormat = "markdown", **settings: AnswerFormat) -> FAQEmbed:
    return fake_embed(
        {"pricing": record(answer, answer_format)}, answer_format=settings.get("setting", "text")
    )


def test_the_wire_states_markdown_and_leaves_out_text() -> None:
    assert record("*Yes*").to_dict()["answerFormat"] == "markdown"
    assert "answerFormat" not in record("Yes", "text").to_dict()
    assert FAQ.from_json(record("*Yes*").to_json()) == record("*Yes*")
    assert FAQ.from_dict(record("Yes", "text").to_dict()) == record("Yes", "text")


@pytest.mark.parametrize("stated", ["html", "", None, 5, ["markdown"], "x" * 500])
def test_a_format_of_the_wire_that_is_neither_counts_as_text(stated: object) -> None:
    written = {**record("Yes", "text").to_dict(), "answerFormat": stated}
    assert FAQ.from_dict(written).answer_format == "text"
    assert FAQ.from_json(json.dumps(written)).answer_format == "text"


def test_a_format_that_is_neither_is_refused_in_python() -> None:
    with pytest.raises(InvalidFAQ) as refused:
        record("Yes", "html")  # type: ignore[arg-type]
    assert refused.value.path == "answerFormat"


def test_a_page_shows_the_format_of_the_record() -> None:
    assert "<em>Yes</em>" in embed("*Yes*").render("pricing")
    assert "*Yes*" in embed("*Yes*", "text").render("pricing")
    assert "<em>Yes</em>" in embed("*Yes*", "text", setting="markdown").render("pricing")


def test_the_json_ld_of_markdown_is_html_everywhere() -> None:
    faqs = embed("*Yes*")
    assert '"text":"\\u003cp\\u003e\\u003cem\\u003eYes' in faqs.render("pricing")
    assert to_json_ld(record("*Yes*"))["mainEntity"][0]["acceptedAnswer"]["text"] == "<p><em>Yes</em></p>"
    assert to_json_ld(record("*Yes*", "text"))["mainEntity"][0]["acceptedAnswer"]["text"] == "*Yes*"


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
    "answer",
    [
        "|a" * 100 + "|\n" + "|-" * 100 + "|\n" + "a\n" * 2500,
        "|a" * 100 + "|\r" + "|-" * 100 + "|\r" + "a\r" * 2500,
        "-" * 39_000 + "x|",
        "> |a|\n> |-|\n" + "> a\n" * 2000,
    ],
    ids=["rows", "returns", "hyphens", "quote"],
)
def test_a_table_of_short_rows_takes_no_time(answer: str) -> None:
    begin = time.process_time()
    assert "<table" not in embed(answer).render("pricing")
    assert time.process_time() - begin < 0.8


def test_files_and_stores_keep_the_format(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    faq = record("*Yes*")
    for ending, write in WRITERS.items():
        path = tmp_path / f"pricing{ending}"
        path.write_text(write(Document.from_faq(faq)))
        assert read_file(path).answer_format == "markdown"
    stored = StoredFAQ(faq, "en", datetime(2026, 1, 1, tzinfo=UTC), 60.0)
    text = stored.to_json("https://faq.example").encode()
    assert StoredFAQ.from_json(text, "https://faq.example", Key("pricing", "en")).faq == faq
