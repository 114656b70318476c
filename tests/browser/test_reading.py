"""What people and machines read: the text of the record, in every variant, without scripts, on paper."""

import pytest
from playwright.sync_api import Browser, Dialog, Page

from faqsvc_embed import FAQ
from tests.browser.component import expanded, open_all, texts, toggles, visible, words
from tests.browser.site import LONG, NASTY, PRICING, VARIANTS
from tests.support.host import wait_until

pytestmark = pytest.mark.system


@pytest.mark.parametrize(("path", "faq"), [("details", PRICING), ("nasty", NASTY), ("long", LONG)])
def test_the_page_shows_the_text_of_the_record(page: Page, host: str, path: str, faq: FAQ) -> None:
    dialogs = list[str]()

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.goto(f"{host}/{path}")
    assert texts(page, ".faqsvc-title") == [words(faq.title)]
    assert texts(page, ".faqsvc-question") == [words(item.question) for item in faq.items]
    link = " ".join(texts(page, ".faqsvc-anchor")[:1])  # which the script adds to the answers of a long FAQ
    answers = [answer.removesuffix(link) for answer in texts(page, ".faqsvc-answer")]
    assert answers == [words(item.answer) for item in faq.items]
    assert dialogs == []
    assert page.locator("#section #h3").count() == 1  # the rest of the page is still there


@pytest.mark.parametrize("variant", VARIANTS)
def test_without_scripts_every_answer_can_be_read(chromium: Browser, host: str, variant: str) -> None:
    context = chromium.new_context(java_script_enabled=False, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{host}/{variant}")
    if variant == "details":
        for toggle in toggles(page).all():
            toggle.click()
    assert visible(page) == [True] * 3
    context.close()


@pytest.mark.parametrize("path", [*VARIANTS, "all", "nasty"])
def test_every_answer_is_printed(page: Page, host: str, path: str) -> None:
    page.goto(f"{host}/{path}")
    before = expanded(page)
    page.emulate_media(media="print")
    wait_until(lambda: all(visible(page)))  # the new layout takes a frame
    assert expanded(page) == before
    markers = toggles(page).evaluate_all("all => all.map(e => getComputedStyle(e, '::after').display)")
    assert set(markers) <= {"none"}
    own = page.locator("#own-answer").evaluate("e => e.checkVisibility({contentVisibilityAuto: true})")
    assert not own  # the host's own details element stays closed


def test_a_right_to_left_language_starts_at_the_right(page: Page, host: str) -> None:
    page.goto(f"{host}/arabic")
    assert page.locator(".faqsvc").evaluate("e => [e.lang, getComputedStyle(e).direction]") == ["ar", "rtl"]
    edges = page.evaluate(
        "['.faqsvc', '.faqsvc-question'].map(s => document.querySelector(s).getBoundingClientRect().right)"
    )
    assert abs(edges[0] - edges[1]) < 1


def test_a_screen_reader_finds_headings_and_buttons(page: Page, host: str) -> None:
    page.goto(f"{host}/disclosure")
    name = "What does it cost?"
    heading = page.get_by_role("heading", level=3, name=name, exact=True)
    assert (heading.count(), heading.locator("> *").count()) == (1, 1)
    assert page.get_by_role("button", name=name, exact=True, expanded=False).count() == 1
    page.goto(f"{host}/details")
    assert page.get_by_role("heading", level=3, name=name, exact=True).count() == 1


def test_a_link_in_an_answer_works(page: Page, markdown_host: str) -> None:
    page.goto(f"{markdown_host}/rich-details")
    open_all(page)
    link = page.get_by_role("link", name="more")
    assert link.evaluate("e => getComputedStyle(e).textDecorationLine") == "underline"
    page.route("https://example.com/more", lambda route: route.fulfill(body="there"))
    link.click()
    page.wait_for_url("https://example.com/more")
