"""What the script adds to a tall FAQ: an index, a button that opens all answers, and links to copy."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.component import expanded, visible
from tests.browser.site import VARIANTS
from tests.support.host import wait_until

pytestmark = pytest.mark.system

TOGGLING = pytest.mark.parametrize("variant", ["details", "disclosure"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_index_leads_to_each_section(page: Page, host: str, variant: str) -> None:
    page.goto(f"{host}/sections-{variant}")
    index = page.get_by_role("navigation", name="Inhalt").get_by_role("link")
    assert index.all_text_contents() == ["Orders", "Payment", "Returns"]
    index.nth(2).click()
    expect(page.get_by_role("heading", name="Returns", exact=True)).to_be_in_viewport()


@TOGGLING
def test_one_button_opens_and_closes_all_answers(page: Page, host: str, variant: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{host}/sections-{variant}")
    page.get_by_role("button", name="Alle öffnen").click()
    assert (expanded(page), visible(page)) == ([True] * 12, [True] * 12)
    page.locator(".faqsvc-toggle").first.click()
    page.get_by_role("button", name="Alle öffnen").click()
    page.get_by_role("button", name="Alle schließen").click()
    assert expanded(page) == [False] * 12


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_link_to_a_question_is_copied(chromium: Browser, host: str, variant: str) -> None:
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{host}/sections-{variant}#faq-sections--payment-1")
    link = page.locator("#faq-sections--payment-1 .faqsvc-anchor")
    link.focus()
    link.click()
    page.get_by_text("Link kopiert").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{host}/sections-{variant}#faq-sections--payment-1"
    context.close()


def test_a_short_faq_and_an_exclusive_one_have_no_tools(page: Page, host: str) -> None:
    for path in ("details", "disclosure", "exclusive-details"):
        page.goto(f"{host}/{path}")
        assert page.locator(".faqsvc-tools, .faqsvc-anchor").count() == 0


def test_without_scripts_a_tall_faq_has_its_sections_and_answers(chromium: Browser, host: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{host}/sections-disclosure")
    assert visible(page) == [True] * 12
    assert page.locator(".faqsvc-section").all_text_contents() == ["Orders", "Payment", "Returns"]
    assert page.locator(".faqsvc-tools, .faqsvc-anchor").count() == 0
    context.close()


def test_a_part_of_a_page_that_is_loaded_later_has_its_buttons(page: Page, host: str) -> None:
    page.goto(f"{host}/disclosure")
    page.evaluate("""async () => {
        const html = await (await fetch('sections-disclosure')).text()
        const part = document.createRange().createContextualFragment(html)  // runs its scripts
        document.body.append(part.querySelector('.faqsvc'))
    }""")
    wait_until(lambda: page.locator("#faq-sections .faqsvc-toggle").count() == 12)
    page.locator("#faq-sections .faqsvc-toggle").first.click()
    assert expanded(page)[3]
