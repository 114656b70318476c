"""The text between the title and the first question."""

from faqsvc_embed import FAQ, Item
from faqsvc_embed.testing import fake_embed
from tests.support.parsed import json_ld

ITEMS = (Item(0, "Why?", "So."),)


def test_an_introduction_is_between_title_and_questions_and_not_in_the_markup() -> None:
    faq = FAQ("tea", "Tea", items=ITEMS, introduction="We *sell* it.", answer_format="markdown")
    page = str(fake_embed({"tea": faq}).render("tea"))
    shown = '<div class="faqsvc-introduction"><p>We <em>sell</em> it.</p></div>'
    assert page.index("Tea</h2>") < page.index(shown) < page.index("Why?")
    assert "sell" not in str(json_ld(page))


def test_an_introduction_in_plain_text_is_text() -> None:
    page = str(fake_embed({"tea": FAQ("tea", items=ITEMS, introduction="a < b\nc")}).render("tea"))
    assert '<div class="faqsvc-introduction"><p>a &lt; b<br>\nc</p></div>' in page
