"""`item.html`: the answer as an FAQ prints it, for markup of the host's own."""

import copy
import pickle
from typing import Any

import pytest
from jinja2 import Environment
from markupsafe import Markup

from faqsvc_embed import FAQ, Item
from faqsvc_embed.jinja import install
from faqsvc_embed.rendering.markdown import MAX_RECORD_COST
from faqsvc_embed.testing import fake_embed

ANSWER = "Five **euros** & more.\n\n- one\n- two\n\n# Heading\n\nSee [this](https://x.example) and https://y.example"


def record(answer_format: str = "markdown", answer: str = ANSWER, **item: Any) -> FAQ:
    items = [{"question": "What?", "answer": answer, **item}]
    return FAQ.from_dict({"slug": "pricing", "lang": "en", "items": items, "answerFormat": answer_format})


@pytest.mark.parametrize("answer_format", ["text", "markdown"])
@pytest.mark.parametrize("section", [None, "Orders"])
@pytest.mark.parametrize(
    "settings", [{}, {"answer_format": "markdown"}, {"link_urls": True}, {"nofollow": True}], ids=str
)
def test_an_item_has_the_html_that_the_faq_prints(
    answer_format: str, section: str | None, settings: dict[str, Any]
) -> None:
    faqs = fake_embed({"pricing": record(answer_format, section=section)}, **settings)
    shown = faqs.render("pricing")
    state = faqs.use_faq("pricing")
    assert state.data is not None
    for faq in (state.data, faqs.get_faq("pricing")):
        html = faq.items[0].html
        assert isinstance(html, Markup)
        assert f">\n{html}\n</div>" in shown


def test_a_template_prints_it_as_html() -> None:
    host = Environment(autoescape=True)
    install(host, fake_embed({"pricing": record()}))
    source = '{% for item in use_faq("pricing").data.items %}<dd>{{ item.html }}</dd>{% endfor %}'
    html = host.from_string(source).render()
    assert "<strong>euros</strong> &amp; more" in html
    assert "**" not in html


def test_a_record_that_no_embed_has_read_has_html_too() -> None:
    assert "<strong>euros</strong>" in record().items[0].html
    assert "**euros** &amp;" in record("text").items[0].html
    assert Item(0, "What?", "<b>").html == "<p>&lt;b&gt;</p>"
    assert Item(0, "What?", " \n").html == ""


def test_an_item_is_compared_by_its_content_and_keeps_its_record_in_a_copy() -> None:
    faq = record()
    bare = Item(0, "What?", ANSWER)
    assert faq.items == (bare,)
    assert hash(faq.items[0]) == hash(bare)
    assert repr(faq.items[0]) == repr(bare)
    for other in (copy.deepcopy(faq), pickle.loads(pickle.dumps(faq)), copy.copy(faq)):
        assert other == faq
        assert other.items[0].html == faq.items[0].html


def test_records_that_share_an_item_have_their_own_format() -> None:
    (item,) = record("text").items
    markdown = FAQ("b", items=(item,), answer_format="markdown")
    assert "<strong>" in markdown.items[0].html
    assert "**" in item.html


def test_each_embed_has_its_own_html_of_a_record() -> None:
    faq = record("text")
    plain, linking = fake_embed({"pricing": faq}), fake_embed({"pricing": faq}, link_urls=True)
    for _ in range(2):
        assert "<a" not in plain.get_faq("pricing").items[0].html
        assert "<a" in linking.get_faq("pricing").items[0].html


def test_markdown_that_takes_too_long_is_text_here_too() -> None:
    items = tuple(Item(n, f"What {n}?", "*a* " * 1_000) for n in range(MAX_RECORD_COST // 2_000 + 1))
    faq = FAQ("pricing", items=items, answer_format="markdown")
    assert "<em>" not in faq.items[0].html
    assert "*a*" in faq.items[0].html
