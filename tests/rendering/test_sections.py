"""Questions under common headings, and what a tall FAQ has for its script."""

import json
import re
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, Item
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import shown
from faqsvc_embed.rendering.fragments import Style
from faqsvc_embed.rendering.renderer import TALL, Place
from faqsvc_embed.settings.validators import Variant
from tests.rendering.support import PLAIN, fragment
from tests.support.parsed import Parsed


def faq(*sections: str | None, lang: str = "en", answer_format: str = "text", answer: str = "So.") -> FAQ:
    items = tuple(Item(n, f"Question {n}?", answer, section=section) for n, section in enumerate(sections))
    return FAQ("shop", title="Shop", lang=lang, items=items, answer_format=answer_format)  # type: ignore[arg-type]


def headings(html: str) -> list[tuple[str, str]]:
    return [
        (element.tag, "".join(element.itertext()))
        for element in Parsed(html).elements
        if re.fullmatch("h[1-6]", element.tag)
    ]


def questions(html: str) -> list[str]:
    return Parsed(html).texts("faqsvc-question")


def test_each_section_has_one_heading_where_it_begins() -> None:
    record = faq("Orders", None, "Returns", "Orders")
    html = fragment(record).html
    assert headings(html)[1:] == [
        ("h3", "Orders"),
        ("h4", "Question 0?"),
        ("h4", "Question 3?"),
        ("h3", "Question 1?"),
        ("h3", "Returns"),
        ("h4", "Question 2?"),
    ]
    page = json.loads(fragment(record).json_ld)
    assert [question["name"] for question in page["mainEntity"]] == questions(html)


@pytest.mark.parametrize("variant", ["details", "disclosure", "open"])
@pytest.mark.parametrize("level", [2, 4, 5, 6, None])
def test_no_level_of_headings_is_left_out(variant: Variant, level: int | None) -> None:
    record = faq(
        None, "Orders", "Returns", answer_format="markdown", answer="a\n\n# Heading\n\n## Lower\n\nb"
    )
    html = fragment(record, Style(heading_level=level, variant=variant)).html
    levels = [int(tag[1]) for tag, _ in headings(html)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert bool(levels) == (level is not None)
    assert Parsed(html).texts("faqsvc-section") == ["Orders", "Returns"]


titles = st.none() | st.text("aB!ä ", max_size=3)


@given(st.lists(titles, min_size=1, max_size=6))
def test_ids_are_unique_whatever_sections_are_called(sections: list[str | None]) -> None:
    record = faq(*sections)
    html = fragment(record).html + fragment(record, PLAIN, Place(2, (2,) * len(shown(record).anchors))).html
    ids = [element.get("id") for element in Parsed(html).elements if element.get("id")]
    assert len(set(ids)) == len(ids)
    assert " " not in "".join(map(str, ids))


def test_the_address_of_a_section_stays_when_others_come_and_go() -> None:
    def address(record: FAQ) -> set[str]:
        found: Iterable[object] = Parsed(fragment(record).html).elements
        return {e.get("id") for e in found if e.get("class") == "faqsvc-section"}  # type: ignore[attr-defined]

    assert address(faq("Über uns")) < address(faq("Orders", "Über uns"))
    assert address(faq("Orders")) == {"faq-shop_section-orders"}


@pytest.mark.parametrize(("variant", "count"), [("details", 6), ("disclosure", 6), ("open", 4)])
def test_a_tall_faq_has_texts_for_its_script_in_its_language(variant: Variant, count: int) -> None:
    def texts(lang: str) -> list[str]:
        tall = fragment(faq(*["Orders"] * TALL, lang=lang), Style(variant=variant))
        found: list[str] = Parsed(tall.html).root[0].get("data-texts").split("|")
        return found

    for lang in LANGUAGES:
        assert len(texts(lang)) == len(set(texts(lang))) == count
        assert "#" in texts(lang)[1]
        assert lang == "en" or set(texts(lang)).isdisjoint(texts("en"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_an_index_needs_two_sections_and_no_script(lang: str) -> None:
    page = Parsed(fragment(faq(None, "Orders", "A & B", lang=lang)).html)
    (index,) = page.tagged("nav")
    assert [(a.get("href"), a.text) for a in index.iter() if a.tag == "a"] == [
        ("#faq-shop_section-orders", "Orders"),
        ("#faq-shop_section-a-b", "A & B"),
    ]
    assert ("Contents" in index.get("aria-label")) == (lang == "en")
    for sections in (["Orders"], [None], [None, "Orders"]):
        assert "<nav" not in fragment(faq(*sections, lang=lang)).html
