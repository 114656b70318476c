"""Numbers, times and amounts of money are compared, however a locale writes them."""

import pytest

from faqsvc_embed.generation.engines.facts import facts_of


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        ("it is 1,280 °c hot", "1280 degrees"),
        ("es sind 1.280 grad", "1,280 degrees"),
        ("1 280 habitants", "1280"),
        ("it costs 5,00 €", "5 euros"),
        ("it costs eur 5", "€5.00"),
        ("a pound is 2.50", "2,5"),
        ("open until 6 pm", "until 18:00"),
        ("open until 6:30 p.m.", "18.30 uhr"),
        ("geöffnet bis 18 uhr", "until 6 pm"),
        ("ouvert jusqu'à 18h30", "6:30 pm"),
        ("오후 6시 30분까지", "until 18:30"),
        ("下午6点关门", "18:00"),
        ("from 9 am to 6 pm", "from 9 to 18"),
        ("open until 6:30 pm", "hasta las 6:30 p. m."),
        ("open until 6:30 pm", "jusqu'à 18 h 30"),
        ("it costs €1,280.50", "1 280,50 €"),
        ("料金は1万2000円です", "12,000 yen"),
        ("3만원입니다", "₩30,000"),
        ("费用为500元", "¥500"),
        ("within 14 days", "14 days"),
        ("on 3.5.1999", "3.5.1999"),
        ("call +49 30 123456", "+49 30 123456"),
        ("nothing", "no numbers at all"),
    ],
)
def test_the_same_fact_in_another_notation_is_supported(page: str, answer: str) -> None:
    assert facts_of(page).support(answer)


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        ("it costs $5", "5 €"),
        ("it costs 50 €", "5 €"),
        ("open until 6 pm", "until 7 pm"),
        ("open until 6 am", "until 18:00"),
        ("within 14 days", "within 4 days"),
        ("1.280 and 15", "1.281"),
        ("it costs €1,280.50", "1 281,50 €"),
        ("open until 6:30 pm", "18 h 45"),
        ("nothing", "12"),
    ],
)
def test_another_fact_is_not_supported(page: str, answer: str) -> None:
    assert not facts_of(page).support(answer)
