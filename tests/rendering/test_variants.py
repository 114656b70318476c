"""The variants `disclosure` and `open`, and groups of which one item is open."""

import re
from typing import Any

import pytest

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed, Theme
from faqsvc_embed.rendering import assets
from faqsvc_embed.rendering.fragments import Style, linked_script_element
from faqsvc_embed.rendering.renderer import Place
from faqsvc_embed.settings.validators import Variant
from faqsvc_embed.testing import fake_embed
from tests.rendering.support import faq, fragment
from tests.support import samples
from tests.support.parsed import Parsed, words


def embed(**settings: Any) -> FAQEmbed:
    return fake_embed({"pricing": faq(), "other": faq(slug="other")}, **settings)


def names(html: str, tag: str = "details") -> list[str | None]:
    return [element.get("name") for element in Parsed(html).tagged(tag)]


def test_a_disclosure_is_sent_as_headings_and_answers_that_everybody_can_read() -> None:
    sent = fragment(faq(), Style(variant="disclosure")).html
    assert Parsed(sent).root[0].get("class") == "faqsvc faqsvc-panels"
    assert sent.replace("faqsvc-panels", "faqsvc-open") == fragment(faq(), Style(variant="open")).html


def test_an_open_faq_is_headings_and_answers() -> None:
    page = Parsed(fragment(faq(), Style(variant="open")).html)
    assert [e.tag for e in page.tagged("h2", "h3", "button", "details", "script")] == ["h2", "h3", "h3"]
    assert page.texts("faqsvc-answer") == ["Nothing.", "So."]
    assert [e.get("hidden") for e in page.elements] == [None] * len(page.elements)


@pytest.mark.parametrize("variant", ["details", "disclosure", "open"])
@pytest.mark.parametrize("level", [None, 2, 6])
def test_every_variant_is_a_balanced_tree_of_the_words(variant: Variant, level: int | None) -> None:
    record = FAQ.from_dict(samples.nasty())
    html = fragment(record, Style(Theme("teal"), True, level, variant, True)).html
    page = Parsed(f"{html}<i></i>")
    assert page.errors == []
    assert [e.tag for e in page.root] == ["section", "i"]
    assert page.texts("faqsvc-question") == [words(item.question) for item in record.items]
    assert page.texts("faqsvc-answer") == [words(item.answer) for item in record.items]
    headings = {e.tag for e in page.elements if re.fullmatch("h[1-6]", e.tag)}
    assert headings == (set() if level is None else {f"h{level}", f"h{min(level + 1, 6)}"})
    for element in page.elements:
        assert not {name for name in element.attrib if name == "style" or name.startswith("on")}
        assert {"role", "tabindex"}.isdisjoint(element.attrib)


def test_the_items_of_an_exclusive_faq_share_a_name() -> None:
    record = faq()
    exclusive = Style(exclusive=True)
    assert names(fragment(record).html) == [None, None]
    assert names(fragment(record, exclusive).html) == ["faq-pricing"] * 2
    assert names(fragment(record, exclusive, Place(2)).html) == ["faq-pricing__2"] * 2
    assert [e.get("open") for e in Parsed(fragment(record, exclusive).html).tagged("details")] == [None] * 2
    disclosure = Parsed(fragment(record, Style(variant="disclosure", exclusive=True)).html).root[0]
    assert "faqsvc-exclusive" in disclosure.get("class").split()
    assert "exclusive" not in fragment(record, Style(variant="open", exclusive=True)).html


def test_only_a_disclosure_has_a_script_and_a_page_only_one() -> None:
    faqs = embed()
    assert not re.search("<script>", faqs.render("pricing") + faqs.render("pricing", variant="open"))
    with faqs.page():
        page = faqs.render("pricing", variant="disclosure") + faqs.render("other", variant="disclosure")
    assert page.count(assets.script()) == 1


def test_the_script_is_a_deferred_file_with_its_digest() -> None:
    (element,) = Parsed(linked_script_element('/static"', "n")).root
    assert element.attrib == {
        "src": f'/static"/{assets.script_name()}',
        "defer": "",
        "integrity": assets.script_integrity(),
        "nonce": "n",
    }


def test_a_call_chooses_otherwise_than_the_settings() -> None:
    faqs = embed(variant="disclosure", exclusive=True)
    assert "faqsvc-exclusive" in faqs.render("pricing")
    for _ in range(2):  # rendered, and from the cache
        assert names(faqs.render("pricing", variant="details")) == ["faq-pricing"] * 2
        assert names(faqs.render("pricing", variant="details", exclusive=False)) == [None] * 2


@pytest.mark.parametrize("variant", ["accordion", "Details", "", 5, ["open"]])
def test_an_unknown_variant_is_refused_in_settings_and_ignored_on_a_page(
    variant: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ConfigurationError):
        embed(variant=variant)
    with pytest.raises(ConfigurationError):
        embed(strict=True).render("pricing", variant=variant)
    faqs = embed()
    assert faqs.render("pricing", variant=variant) == faqs.render("pricing", variant=variant)
    assert faqs.render("pricing", variant=variant) == embed().render("pricing")
    assert len(caplog.records) == 1


@pytest.mark.parametrize("look", ["lines", "cards", "columns", "plain"])
def test_a_look_is_a_class_and_changes_no_other_markup(look: Any) -> None:
    faqs = embed()
    plain = faqs.render("pricing", schema=False)
    shown = faqs.render("pricing", schema=False, look=look)
    classes = Parsed(shown).root[0].get("class").split()
    assert classes == (["faqsvc"] if look == "lines" else ["faqsvc", f"faqsvc-{look}"])
    without = [re.sub("<style>.*?</style>", "", html) for html in (shown, plain)]
    assert without[0].replace(f"faqsvc faqsvc-{look}", "faqsvc") == without[1]
    assert embed(look=look).render("pricing", schema=False) == shown


def test_an_unknown_look_is_refused_in_settings_and_ignored_on_a_page() -> None:
    unknown: Any = "boxes"
    with pytest.raises(ConfigurationError):
        embed(look=unknown)
    assert embed(look="cards").render("pricing", look=unknown) == embed(look="cards").render("pricing")


@pytest.mark.parametrize(
    ("count", "options", "is_tall"),
    [(11, {}, False), (12, {}, True), (12, {"exclusive": True}, True), (12, {"variant": "open"}, True)],
)
def test_an_faq_with_many_questions_has_the_script(count: int, options: Any, is_tall: bool) -> None:
    record = faq(*((f"{number}?", "So.") for number in range(count)), slug="tall", lang="fr")
    html = fake_embed({"tall": record}).render("tall", **options)
    assert (assets.script(is_whole=False) in html) == is_tall
    assert ("Rechercher" in html) == is_tall
    assert ("Tout ouvrir" in html) == (
        is_tall and not options
    )  # elsewhere there is nothing to open, or one at a time
