"""Work on a record grows linearly with its items, also if they are equal."""

from collections.abc import Callable
from typing import Any

import pytest

from faqsvc_embed import FAQ, to_json_ld
from faqsvc_embed.testing import fake_embed, faq_parity
from tests.support.growth import grows_linearly

FEW = 250

pytestmark = pytest.mark.matrix

Item = dict[str, Any]

ITEMS: dict[str, Callable[[int], Item]] = {
    "different questions": lambda n: {"question": f"Question {n}?"},
    "equal questions": lambda n: {"question": "Why?"},
    "questions with the same words": lambda n: {"question": "Why" + "?" * (n % 50)},
    "questions in another script": lambda n: {"question": "왜요?"},
    "equal ids": lambda n: {"question": f"Question {n}?", "id": "why"},
    "ids like numbered questions": lambda n: {"question": "why", "id": f"why__{n}" if n % 2 else None},
    "one section": lambda n: {"question": f"Question {n}?", "section": "Orders"},
    "a section for each question": lambda n: {"question": "Why?", "section": f"Section {n}"},
    "sections in turn": lambda n: {"question": "Why?", "section": f"Section {n % 7}"},
    "equal positions": lambda n: {"question": f"Question {n}?", "position": 1},
    "links": lambda n: {"question": f"Question {n}?", "answer": f"See https://a.example/{n} (or b)."},
}


def record(name: str, count: int, **fields: Any) -> FAQ:
    """Return a record of so many items."""
    items = [{"answer": "So.", **ITEMS[name](n)} for n in range(count)]
    return FAQ.from_dict({"slug": "p", "lang": "en", "items": items, **fields})


def each_html(faq: FAQ) -> None:
    for item in faq.items:
        assert item.html


@pytest.mark.parametrize("name", ITEMS)
def test_rendering_a_record(name: str) -> None:
    embed = fake_embed({})
    embed.render(FAQ("warm"))
    assert grows_linearly(embed.render, lambda count: record(name, count), FEW)


@pytest.mark.parametrize("name", ["different questions", "equal questions", "sections in turn"])
def test_json_ld_of_a_record(name: str) -> None:
    assert grows_linearly(to_json_ld, lambda count: record(name, count), FEW)
    assert grows_linearly(fake_embed({}).schema, lambda count: record(name, count), FEW)


@pytest.mark.parametrize("answer_format", ["text", "markdown"])
def test_the_html_of_each_item(answer_format: str) -> None:
    fields = {"answerFormat": answer_format}
    assert grows_linearly(each_html, lambda count: record("different questions", count, **fields), FEW)


def test_many_faqs_on_a_page() -> None:
    """The items are those of one record each."""
    embed = fake_embed({})

    def page(faq: FAQ) -> None:
        with embed.page():
            for item in faq.items:
                embed.render(FAQ(f"faq-{item.position}", items=(item,)), schema=False)

    assert grows_linearly(page, lambda count: record("different questions", count), FEW // 5)


@pytest.mark.parametrize("name", ["different questions", "questions with the same words", "one section"])
def test_a_part_by_all_questions_of_a_record(name: str) -> None:
    def parts(faq: FAQ) -> None:
        questions = [item.question for item in faq.items]
        assert faq.part(questions=questions).items
        assert faq.part(questions=[f" {question} " for question in questions]).items

    assert grows_linearly(parts, lambda count: record(name, count), FEW)


def test_a_part_by_unknown_questions() -> None:
    unknown = [f"an unknown thing {n}" for n in range(1000)]

    def part(faq: FAQ) -> None:
        with pytest.raises(LookupError):
            faq.part(questions=unknown)

    assert grows_linearly(part, lambda count: record("different questions", count), FEW)


@pytest.mark.parametrize("name", ["different questions", "sections in turn"])
def test_comparing_a_page_with_its_markup(name: str) -> None:
    pages: dict[FAQ, str] = {}

    def make(count: int) -> FAQ:
        faq = record(name, count)
        pages[faq] = str(fake_embed({}).render(faq))
        return faq

    assert grows_linearly(lambda faq: faq_parity(pages[faq]), make, FEW // 5)
