"""How questions, FAQs and calls to action are recognised in each language."""

import pytest

from faqsvc_embed.generation.extraction.questions import announces_faq, is_call_to_action, is_question


@pytest.mark.parametrize(
    "text",
    [
        "What is it",
        "How to pay",
        "Can I pay later",
        "Is it?",
        "Wie lange dauert es",
        "Kann ich zahlen",
        "Wie ist das Wetter",
        "Gibt es Rabatt",
        "Comment puis-je payer",
        "Est-ce que c'est ouvert",
        "¿Cuánto cuesta",
        "Cómo puedo pagar",
        "환불이 되나요",
        "어떻게 합니까",
        "返品できますか",
        "いくらですか。",
        "可以退款吗",
        "如何退款",
        "多久发货",
        "Πότε ανοίγετε;",
        "เปิดกี่โมง",
    ],
)
def test_a_question_is_recognised_without_a_question_mark(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "Prices",
        "Author [?]",
        "How it is made",
        "Why teams love us",
        "What we do",
        "Preise",
        "Wie wir arbeiten",
        "Istanbul",
        "AI features",
        "배송",
        "価格",
    ],
)
def test_a_title_is_not_a_question(text: str) -> None:
    assert not is_question(text)


def test_an_faq_is_announced_in_many_languages() -> None:
    titles = ["FAQs", "Frequently asked questions", "Häufig gestellte Fragen", "Questions fréquentes"]
    titles += ["Preguntas frecuentes", "자주 묻는 질문", "よくあるご質問", "常见问题", "Q&A"]
    titles += ["Συχνές Ερωτήσεις", "Часті запитання", "Časté dotazy", "Gyakori kérdések", "שאלות נפוצות"]

    assert [title for title in titles if not announces_faq(title)] == []
    assert not announces_faq("Afaqir")


def test_a_question_about_help_is_not_a_call_to_action() -> None:
    assert not is_call_to_action("Do you offer help with moving?")
    assert not is_call_to_action("Is your help desk open on Sundays?")
    assert not is_call_to_action("Are you open on Sundays?")
    assert not is_call_to_action("Hi ha descomptes?")  # Catalan
    assert is_call_to_action("Need help?")
    assert is_call_to_action("Can’t find answer ?")
    assert is_call_to_action("Was your question not answered?")
    assert is_call_to_action("Hai una domanda specifica?")
    assert is_call_to_action("找不到您的問題？")
