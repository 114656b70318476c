"""Which suggestions of a model the pages support."""

import pytest

from faqsvc_embed.generation.crawl.page import Page
from faqsvc_embed.generation.engines.grounding import Excerpt, Suggestion, supported_items
from tests.support.growth import grows_linearly

TEXT = "We open at nine and close at six.\n\nParcels to Peru take 12 days – sometimes more."


def is_supported(text: str, support: str, answer: str, question: str = "Why?") -> bool:
    excerpt = Excerpt(Page(url="https://a.example/"), text)
    return bool(supported_items([Suggestion(question, answer, support)], [excerpt]).items)


@pytest.mark.parametrize(
    ("support", "answer"),
    [
        ("We open at seven.", "At nine."),
        ("", "At nine."),
        ("nine", "At nine."),
        ("  ...  ", "At nine."),
        ("nine and close at six.", "At nine."),
        ("We open at nine", "At nine."),
        ("We open at nine and close at six.", "At 10:30."),
        ("We open at nine and close at six.", "See https://evil.example/ for it."),
        ("We open at nine and close at six.", "Write to evil@evil.example."),
        ("We open at nine and close at six.", "Write to evil.example."),
        ("We open at nine and close at six.", "Pay at www.evil.example/pay."),
        ("We open at nine and close at six.", "In 1 day."),
        ("We open at nine and close at six.", "In 2 days."),
        ("We open at nine and close at six.", " "),
    ],
)
def test_a_suggestion_without_support_is_dropped(support: str, answer: str) -> None:
    assert not is_supported(TEXT, support, answer)


def test_a_suggestion_without_a_question_is_dropped() -> None:
    assert not is_supported(TEXT, "We open at nine and close at six.", "At nine.", question="?")


@pytest.mark.parametrize(
    ("text", "support", "answer", "expected"),
    [
        (TEXT, "parcels to  peru take 12 days - sometimes more", "12 days.", True),
        ("Lamps cost 40 euros.", "Lamps cost 40 euros", "40 euros.", True),
        ("Lamps cost 40 euros.", "Lamps cost 40 euros.", "4 euros, 0 in France.", False),
        ("We never ship lamps to France.", "ship lamps to France.", "Yes.", False),
        ("We never ship lamps to France.", "We never ship lamps", "Yes.", False),
        ("Lamps!\nWe ship to Peru\nsoon", "We ship to Peru soon", "Soon.", True),
        ("See shop.example. Or write to a@shop.example!", "See shop.example.", "shop.example", True),
        ("See not-shop.example there.", "See not-shop.example there.", "shop.example", False),
        ("送料は40ユーロです。返品は30日以内です。", "返品は30日以内です。", "30日です。", True),
        ("私たちは決して発送しません。", "決して発送しません。", "はい。", False),
    ],
)
def test_support_is_whole_sentences_with_all_numbers_and_addresses(
    text: str, support: str, answer: str, expected: bool
) -> None:
    assert is_supported(text, support, answer) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1. Open the app.\n2. Tap Return.", True),
        ("Do this:\n\n1) Open the app.\n2) Tap Return.", True),
        ("1. Open the app.\n2. Tap Return within 9 days.", False),
        ("3. Open the app.\n4. Tap Return.", False),
        ("1. Open the app and tap Return.", False),
        ("Closed on:\n1. January\n2. February", False),
    ],
)
def test_steps_may_be_numbered_though_the_page_does_not_number_them(answer: str, expected: bool) -> None:
    assert is_supported("Open the app. Tap Return.", "Open the app.", answer) is expected


@pytest.mark.parametrize(
    ("page", "answer", "expected"),
    [
        ("it is 1,280 °C hot here", "1280 degrees", True),
        ("es sind hier 1.280 Grad", "1,280 degrees", True),
        ("1 280 habitants", "1280", True),
        ("it costs 5,00 €", "5 euros", True),
        ("it costs EUR 5", "€5.00", True),
        ("a pound is 2.50", "2,5", True),
        ("it costs €1,280.50", "1 280,50 €", True),
        ("open until 6:30 p.m. today", "6:30 pm", True),
        ("on 3.5.1999 we opened", "3.5.1999", True),
        ("call us: +49 30 123456", "+49 30 123456", True),
        ("no numbers are here", "no numbers at all", True),
        ("it costs $5 today", "5 €", False),
        ("it costs 50 € today", "5 €", False),
        ("open until 6 pm", "until 7 pm", False),
        ("open until 6 pm", "until 6 am", False),
        ("within 14 days", "within 4 days", False),
        ("there are 1.280 and 15", "1.281", False),
        ("it costs €1,280.50", "1 281,50 €", False),
        ("no numbers are here", "12", False),
    ],
)
def test_a_number_may_have_other_separators_but_no_other_value_or_unit(
    page: str, answer: str, expected: bool
) -> None:
    assert is_supported(f"{page}.", f"{page}.", answer) is expected


@pytest.mark.parametrize("mark", ["\u200b", "\u00ad", "\u2060", "\ufeff"])
@pytest.mark.parametrize("answer", ["Delivery takes 5{}0 days.", "Pay at evil{}.example/pay."])
def test_an_invisible_character_hides_no_fact(answer: str, mark: str) -> None:
    text = "Delivery takes 5 days in all of Europe. Returns cost 0 euros."
    assert not is_supported(text, "Delivery takes 5 days in all of Europe.", answer.format(mark))


def test_the_page_with_the_sentence_is_the_source() -> None:
    pages = [Page(url="https://a.example/1", text="Nothing."), Page(url="https://a.example/2", text=TEXT)]
    suggestion = Suggestion("When?", "At nine.", "We open at nine and close at six.")

    [item] = supported_items([suggestion], [Excerpt(page, page.text) for page in pages]).items

    assert item.source.startswith("https://a.example/2#")


@pytest.mark.parametrize(
    "piece", ["a", "a.", "a@", "\n", "1."], ids=["word", "host", "mail", "lines", "number"]
)
def test_a_hostile_suggestion_costs_no_more_than_its_length(piece: str) -> None:
    page = Page(url="https://a.example/", text="We open at nine. " * 400)
    excerpts = [Excerpt(page, page.text)]

    def check(answer: str) -> None:
        assert supported_items([Suggestion("Why?", answer, "We open at nine." * 100)], excerpts).items == []

    assert grows_linearly(check, lambda count: piece * count + "x", 1_000)
