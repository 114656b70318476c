"""The HTML of an FAQ: a balanced tree of the record's own words, whatever the record says."""

import unicodedata
from typing import Any

import pytest
from hypothesis import given

from faqsvc_embed import FAQ, Theme
from faqsvc_embed.rendering.fragments import ElementOptions, Style, link_element, problem_element
from faqsvc_embed.rendering.renderer import FIRST, Place, Renderer
from faqsvc_embed.testing import fake_embed
from tests.rendering.support import RENDERER, faq, fragment
from tests.support import samples
from tests.support.parsed import Parsed, json_ld, nonces, words
from tests.support.strategies import records

STYLES = [
    Style(theme, show_title, level)
    for theme in (Theme(), Theme("teal", 18))
    for show_title in (True, False)
    for level in (None, 2, 6)
]


def test_an_faq_is_a_section_with_a_title_and_details() -> None:
    page = Parsed(fragment(faq()).html)
    (section,) = page.root
    assert (section.tag, dict(section.attrib)) == (
        "section",
        {"class": "faqsvc", "id": "faq-pricing", "lang": "en", "dir": "ltr"},
    )
    assert [(e.tag, e.text) for e in section][:1] == [("h2", "Prices")]
    for details in section[1:]:
        assert (details.tag, dict(details.attrib)) == ("details", {"class": "faqsvc-item"})
        summary, answer = details
        assert (summary.tag, answer.tag) == ("summary", "div")
        assert [e.tag for e in summary.iter()] == ["summary", "h3", "span"]
    assert page.texts("faqsvc-question") == ["What?", "How?"]
    assert page.texts("faqsvc-answer") == ["Nothing.", "So."]
    ids = [e.get("id") for e in page.elements if e.get("class") == "faqsvc-answer"]
    assert ids == ["faq-pricing--what", "faq-pricing--how"]


@pytest.mark.parametrize(("title", "show_title"), [("Prices", False), ("", True), (" \n", True)])
def test_a_hidden_or_missing_title_leaves_no_element(title: str, show_title: bool) -> None:
    page = Parsed(fragment(faq(title=title), Style(show_title=show_title)).html)
    assert page.texts("faqsvc-title") == []
    assert page.texts("faqsvc-question") == ["What?", "How?"]


@pytest.mark.parametrize(
    ("lang", "attributes"),
    [
        ("de", {"lang": "de", "dir": "ltr"}),
        ("zh-Hant", {"lang": "zh-Hant", "dir": "ltr"}),
        ("AR-eg", {"lang": "AR-eg", "dir": "rtl"}),
        ("he", {"lang": "he", "dir": "rtl"}),
        (None, {"dir": "auto"}),
    ],
)
def test_the_section_has_the_language_of_the_record(lang: str | None, attributes: dict[str, str]) -> None:
    (section,) = Parsed(fragment(faq(lang=lang)).html).root
    assert {name: section.get(name) for name in ("lang", "dir") if name in section.attrib} == attributes


def test_a_theme_is_a_class_and_a_rule_for_it() -> None:
    themed = fragment(faq(), Style(Theme("teal", 18)))
    (section,) = Parsed(themed.html).root
    _, class_name = section.get("class").split()
    plain, (*_, rules) = fragment(faq()).css, themed.css.values()
    assert len(plain) == len(themed.css) - 1
    assert f".{class_name}{{" in rules
    assert ":18px" in rules
    assert 'style="' not in themed.html


def test_a_record_is_rendered_once_for_each_style() -> None:
    renderer, record = Renderer(), faq()
    first = renderer.fragment(record, Style())
    assert renderer.fragment(record, Style()) is first
    assert renderer.cached(record, (Style(Theme()), FIRST)) is first
    for style, place in ((Style(heading_level=3), FIRST), (Style(Theme("teal")), FIRST), (Style(), Place(2))):
        assert renderer.cached(record, (style, place)) is None
        other = renderer.fragment(record, style, place)
        assert other is not None
        assert other.html != first.html  # type: ignore[union-attr]
    assert renderer.fragment(record, Style()) is first


# Whatever the record says


def assert_parity(record: FAQ, style: Style) -> None:
    """The section and the JSON-LD say what the record says, and nothing else."""
    shown = [item for item in record.items if item.question.strip() and item.answer.strip()]
    rendered = RENDERER.fragment(record, style)
    if rendered is None:
        assert not shown
        return
    rendered.joined(ElementOptions(), rendered.needs, schema=True).encode()
    page = Parsed(
        f"{rendered.joined(ElementOptions(), rendered.needs, schema=True)}<i class='sentinel'>still here</i>"
    )
    assert page.errors == []
    assert [e.tag for e in page.root] == ["section", "i"]  # balanced
    pairs = list(zip(page.texts("faqsvc-question"), page.texts("faqsvc-answer"), strict=True))
    assert pairs == [(words(item.question), words(item.answer)) for item in shown]
    title = words(record.title)
    assert page.texts("faqsvc-title") == ([title] if style.show_title and title else [])
    once = dict[str, tuple[str, str]]()
    for question, answer in pairs:
        once.setdefault(unicodedata.normalize("NFC", question), (question, answer))
    (node,) = json_ld(rendered.joined(ElementOptions(), rendered.needs, schema=True))
    marked_up = [(words(q["name"]), words(q["acceptedAnswer"]["text"])) for q in node["mainEntity"]]
    assert marked_up == list(once.values())
    allowed = {"section", "h2", "h3", "h6", "p", "details", "summary", "span", "div", "br", "script", "i"}
    assert {e.tag for e in page.elements} <= allowed | {"style"}
    names = {name for e in page.elements for name in e.attrib if not name.startswith("data-")}
    assert names <= {"class", "id", "lang", "dir", "type"}
    ids = [e.get("id") for e in page.elements if e.get("id")]
    former = [e for e in page.tagged("span") if e.get("id")]
    assert len(set(ids)) == len(ids) == len(shown) + 1 + len(former)


@given(record=records)
@pytest.mark.parametrize("style", [STYLES[1], STYLES[6]])
def test_any_record_is_a_balanced_tree_of_its_own_words(style: Style, record: dict[str, Any]) -> None:
    assert_parity(FAQ.from_dict({**record, "cta": None}), style)


@pytest.mark.parametrize("style", STYLES)
def test_markup_in_a_record_is_text_in_every_style(style: Style) -> None:
    assert_parity(FAQ.from_dict(samples.nasty()), style)


# The elements around it


@pytest.mark.parametrize("variant", ["details", "disclosure"])
@pytest.mark.parametrize("nonce", ['a"b', '"><script>alert(1)</script>', "\ud800", "plain="])
def test_a_nonce_is_on_every_element_and_adds_no_attribute(nonce: str, variant: Any) -> None:
    html = fake_embed({"p": faq()}).render("p", nonce=nonce, variant=variant, theme=Theme("teal"))
    html.encode()
    found = nonces(html)
    assert set(found) == {nonce if nonce == "plain=" else None}  # E7: the others are not valid
    assert len(found) == (3 if variant == "disclosure" else 2)
    allowed = {"nonce", "type"}
    assert all(set(e.attrib) <= allowed for e in Parsed(html).tagged("style", "script"))


@pytest.mark.parametrize("nonce", [None, ""])
def test_without_a_nonce_there_is_no_such_attribute(nonce: str | None) -> None:
    assert set(nonces(fake_embed({"p": faq()}).render("p", nonce=nonce))) == {None}


def test_a_url_and_a_message_are_escaped() -> None:
    (link,) = Parsed(link_element('/a"b.css" onload="x')).root
    assert link.attrib == {"rel": "stylesheet", "href": '/a"b.css" onload="x'}
    page = Parsed(problem_element("<b>&\ud800"))
    assert [e.tag for e in page.elements] == ["p", "strong"]
    assert page.words == "faqsvc: <b>&?"
