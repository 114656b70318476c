"""The three variants to the letter, and groups of which one item is open."""

import re

import pytest

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed, Theme
from faqsvc_embed.page.context import Page
from faqsvc_embed.rendering.assets import enhancer, enhancer_integrity, enhancer_name
from faqsvc_embed.rendering.renderer import Look, Renderer, enhancer_element, script_element
from faqsvc_embed.settings.validators import Variant
from faqsvc_embed.testing import fake_embed
from tests.rendering.test_renderer import PLAIN, Reader, block, small
from tests.support import samples

DISCLOSURE = PLAIN._replace(variant="disclosure")
OPEN = PLAIN._replace(variant="open")


def embed(**settings: object) -> FAQEmbed:
    return fake_embed({"pricing": samples.pricing(), "nasty": samples.nasty()}, **settings)


def test_a_disclosure_is_a_heading_that_holds_a_button_and_a_panel_that_can_be_found() -> None:  # A2, P2
    assert block(small(), DISCLOSURE).html == (
        '<section class="faqsvc faqsvc-disclosure" id="faq-pricing" lang="en" dir="ltr">\n'
        '<h2 class="faqsvc-title">Prices</h2>\n'
        '<div class="faqsvc-item">\n'
        '<h3 class="faqsvc-heading"><button type="button" class="faqsvc-toggle" aria-expanded="false" '
        'aria-controls="faq-pricing--what"><span class="faqsvc-question">What?</span></button></h3>\n'
        '<div class="faqsvc-panel" hidden="until-found">\n'
        '<div class="faqsvc-answer" id="faq-pricing--what">\n<p>Nothing.</p>\n</div>\n</div>\n</div>\n'
        '<div class="faqsvc-item">\n'
        '<h3 class="faqsvc-heading"><button type="button" class="faqsvc-toggle" aria-expanded="false" '
        'aria-controls="faq-pricing--how"><span class="faqsvc-question">How?</span></button></h3>\n'
        '<div class="faqsvc-panel" hidden="until-found">\n'
        '<div class="faqsvc-answer" id="faq-pricing--how">\n<p>So.</p>\n</div>\n</div>\n</div>\n'
        "</section>"
    )


def test_an_open_block_is_headings_and_answers() -> None:  # A3
    assert block(small(), OPEN).html == (
        '<section class="faqsvc faqsvc-open" id="faq-pricing" lang="en" dir="ltr">\n'
        '<h2 class="faqsvc-title">Prices</h2>\n'
        '<div class="faqsvc-item">\n'
        '<h3 class="faqsvc-heading"><span class="faqsvc-question">What?</span></h3>\n'
        '<div class="faqsvc-answer" id="faq-pricing--what">\n<p>Nothing.</p>\n</div>\n</div>\n'
        '<div class="faqsvc-item">\n'
        '<h3 class="faqsvc-heading"><span class="faqsvc-question">How?</span></h3>\n'
        '<div class="faqsvc-answer" id="faq-pricing--how">\n<p>So.</p>\n</div>\n</div>\n'
        "</section>"
    )


@pytest.mark.parametrize("variant", ["disclosure", "open"])
@pytest.mark.parametrize("level", [None, 2, 6])
def test_every_variant_is_a_balanced_tree_of_the_words(variant: Variant, level: int | None) -> None:
    faq = FAQ.from_dict(samples.nasty())  # A4, H3, H8, J10
    rendered = block(faq, Look(Theme("teal"), True, level, variant, True))
    page = Reader(f"{rendered.html}{script_element([faq])}<i></i>")
    assert page.errors == []
    assert [e.tag for e in page.root] == ["section", "script", "i"]
    shown = [(" ".join(i.question.replace("\0", "\ufffd").split())) for i in faq.items]
    assert page.texts("faqsvc-question") == shown
    headings = {e.tag for e in page.elements() if re.fullmatch("h[1-6]", e.tag)}
    assert headings == (set() if level is None else {f"h{level}", f"h{min(level + 1, 6)}"})
    for button in (e for e in page.elements() if e.tag == "button"):
        assert [e.tag for e in button] == ["span"]
        assert [e.get("id") for e in page.elements()].count(button.get("aria-controls")) == 1
    assert not re.search(r'style="|\son[a-z]+="|role="region"|tabindex', rendered.html)  # C1, A5, A6


def test_the_items_of_an_exclusive_block_share_a_name() -> None:  # P5
    exclusive = PLAIN._replace(exclusive=True)
    first, second = block(small(), exclusive).html, block(small(), exclusive, ordinal=2).html
    assert re.findall(r' name="([^"]*)"', first) == ["faq-pricing"] * 2
    assert re.findall(r' name="([^"]*)"', second) == ["faq-pricing__2"] * 2
    assert first.replace(' name="faq-pricing"', "") == block(small()).html
    assert "open" not in re.findall(r"<details[^>]*>", first)[0]
    disclosure = block(small(), DISCLOSURE._replace(exclusive=True)).html
    assert disclosure == block(small(), DISCLOSURE).html.replace(
        "faqsvc-disclosure", "faqsvc-disclosure faqsvc-exclusive", 1
    )
    assert block(small(), OPEN._replace(exclusive=True)).html == block(small(), OPEN).html


def test_only_a_disclosure_has_a_script_and_a_page_only_one() -> None:  # P6
    faqs, page = embed(), Page()
    assert enhancer() not in faqs.render("pricing") + faqs.render("pricing", variant="open")
    looks = [{"what": "pricing"}, *({"what": w, "variant": "disclosure"} for w in ("nasty", "pricing"))]
    whole = "".join(str(faqs.showing.render(page, **look)) for look in looks)  # type: ignore[arg-type]
    assert whole.count(enhancer()) == whole.count("application/ld+json") == 1


def test_the_script_is_a_file_where_the_host_serves_it() -> None:  # P6, C4
    src, integrity = f"/faqsvc/{enhancer_name()}", enhancer_integrity()
    element = f'\n<script src="{src}" defer integrity="{integrity}" nonce="n"></script>'
    assert enhancer_element("/faqsvc", "n") == element
    assert enhancer_element(None, "n") == f'\n<script nonce="n">{enhancer()}</script>'
    page = Page()
    page.assets = "/faqsvc"
    html = embed(variant="disclosure").showing.render(page, "pricing", nonce="n")
    assert element in html
    assert enhancer() not in html


def test_settings_choose_and_a_call_chooses_otherwise() -> None:
    disclosing = embed(variant="disclosure", exclusive=True)
    assert "faqsvc-exclusive" in disclosing.render("pricing")
    for _ in range(2):  # rendered, and remembered
        assert "<details" in disclosing.render("pricing", variant="details")
        assert ' name="faq-pricing"' in disclosing.render("pricing", variant="details")
        assert ' name="' not in disclosing.render("pricing", variant="details", exclusive=False)


@pytest.mark.parametrize("variant", ["accordion", "Details", "", 5, ["open"]])
def test_an_unknown_variant_is_told(variant: object, caplog: pytest.LogCaptureFixture) -> None:
    accepted = 'variant is .*: "details", "disclosure" or "open" is accepted'
    with pytest.raises(ConfigurationError, match=accepted):
        embed(variant=variant)
    with pytest.raises(ConfigurationError, match=accepted):
        embed(strict=True).render("pricing", variant=variant)  # type: ignore[arg-type]
    assert embed().render("pricing", variant=variant) == embed().render("pricing")  # type: ignore[arg-type]
    assert [record.message.startswith("variant is ") for record in caplog.records] == [True]


def test_markdown_is_a_setting_and_reaches_every_surface() -> None:  # J8, J12, H7
    record = samples.record("pricing", ("Q?", "a **b**\n\n# c"), ("Empty?", "---"))
    faqs = fake_embed({"pricing": record}, answer_format="markdown", heading_level=3)
    html = faqs.render("pricing")
    assert "<p>a <strong>b</strong></p>\n<h5>c</h5>" in html
    text = '"text":"\\u003cp\\u003ea \\u003cstrong\\u003eb\\u003c/strong\\u003e\\u003c/p\\u003e\\n'
    assert text + '\\u003ch5\\u003ec\\u003c/h5\\u003e"' in html
    assert html.count("<details") == html.count('"Question"') == 1
    page = Page()
    faqs.showing.render(page, "pricing", schema=False)
    assert text in page.schema()
    assert text in faqs.schema(faqs.get_faq("pricing"))


def test_markdown_without_its_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faqsvc_embed.settings.validators.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"faqsvc-embed\[markdown\]"):
        embed(answer_format="markdown")


def test_each_variant_has_a_template_that_a_host_can_replace() -> None:  # T7
    from jinja2 import DictLoader, Environment

    mine = {"faqsvc/open.html": "{% for item in items %}<hr>{{ item.question }}{% endfor %}"}
    rendered = Renderer(Environment(loader=DictLoader(mine))).block(small(), OPEN)
    assert rendered is not None
    assert rendered.html.endswith("</h2><hr>What?<hr>How?\n</section>")
