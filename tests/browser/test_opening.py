"""What opens and closes an item, and the index, button and links that the script adds to a tall FAQ."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.component import errors_of, expanded, toggles, visible
from tests.browser.site import ANSWER_IDS, VARIANTS
from tests.support.host import wait_until

pytestmark = pytest.mark.system

BOTH = pytest.mark.parametrize("variant", ["details", "disclosure"])


@BOTH
def test_a_click_opens_an_item_and_another_closes_it(page: Page, host: str, variant: str) -> None:
    page.goto(f"{host}/{variant}")
    assert (expanded(page), visible(page)) == ([False] * 3, [False] * 3)
    page.get_by_text("May I cancel?").click()
    assert expanded(page) == [False, False, True]
    wait_until(lambda: visible(page) == [False, False, True])
    page.get_by_text("Any time").click()
    assert expanded(page) == [False, False, True]
    page.get_by_text("May I cancel?").click()
    assert expanded(page) == [False] * 3
    wait_until(lambda: visible(page) == [False] * 3)


@BOTH
def test_the_keyboard_reaches_and_toggles_each_item_in_order(page: Page, host: str, variant: str) -> None:
    page.goto(f"{host}/{variant}")
    page.locator("#own-summary").focus()
    for index, key in enumerate(("Enter", "Space", "Enter")):
        page.keyboard.press("Tab")
        focused = "[...document.querySelectorAll('.faqsvc-toggle')].indexOf(document.activeElement)"
        assert page.evaluate(focused) == index
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press(key)
        assert expanded(page) == [n <= index for n in range(3)]
    page.keyboard.press("Space")
    assert expanded(page) == [True, True, False]
    wait_until(lambda: visible(page) == [True, True, False])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "field"


@BOTH
@pytest.mark.parametrize("javascript", [True, False])
def test_a_link_to_a_question_opens_it(chromium: Browser, host: str, variant: str, javascript: bool) -> None:
    context = chromium.new_context(java_script_enabled=javascript)
    page = context.new_page()
    page.goto(f"{host}/{variant}#{ANSWER_IDS[1]}")
    page.locator(f"#{ANSWER_IDS[1]}").wait_for(state="visible")
    if javascript:
        wait_until(lambda: expanded(page) == [False, True, False])
        page.evaluate(f"location.hash = '{ANSWER_IDS[2]}'")
        wait_until(lambda: expanded(page) == [False, True, True])
    context.close()


def test_the_script_opens_an_item_where_the_browser_does_not(page: Page, host: str) -> None:
    # Like an older browser, this page knows no `until-found`.
    page.add_init_script(
        """new MutationObserver(() => {
            for (const panel of document.querySelectorAll('.faqsvc-panel[hidden]')) panel.hidden = true
        }).observe(document, {childList: true, subtree: true})"""
    )
    page.goto(f"{host}/disclosure#{ANSWER_IDS[2]}")
    wait_until(lambda: expanded(page) == [False, False, True])


def test_a_fragment_that_names_no_item_is_no_error(page: Page, host: str) -> None:
    errors = errors_of(page)
    page.goto(f"{host}/disclosure#%E0%A4%A")
    for fragment in ("", "%", "nothing", "faq-pricing", "'\"><b", "%00", "section", "before"):
        page.evaluate("fragment => { location.hash = 'x'; location.hash = fragment }", fragment)
        assert expanded(page) == [False] * 3
    assert errors == []


@BOTH
def test_the_search_within_the_page_opens_an_item(page: Page, host: str, variant: str) -> None:
    page.goto(
        f"{host}/{variant}#:~:text=Any%20time"
    )  # a text fragment searches like the browser's own search
    page.locator(f"#{ANSWER_IDS[2]}").wait_for(state="visible")
    wait_until(lambda: expanded(page) == [False, False, True])


@BOTH
def test_an_exclusive_faq_has_one_open_item(page: Page, host: str, variant: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{host}/exclusive-{variant}")
    for index in (0, 2, 1):
        toggles(page).nth(index).click()
        assert expanded(page)[:3] == [n == index for n in range(3)]
        assert visible(page)[:3] == [n == index for n in range(3)]
    toggles(page).nth(1).click()
    assert expanded(page)[:3] == [False] * 3
    for other in toggles(page).all()[3:4]:  # another FAQ on the page
        other.click()
        toggles(page).nth(0).click()
        assert expanded(page) == [True, False, False, True, False]


def test_a_sticky_header_does_not_cover_an_open_item(page: Page, host: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 800, "height": 300})
    page.goto(f"{host}/exclusive-details")
    page.add_style_tag(
        content="""body { padding-bottom: 1000px }
            body::before { content: ''; display: block; position: sticky; top: 0; height: 90px }
            .faqsvc { --faqsvc-scroll-margin: 150px }"""
    )
    page.evaluate(f"location.hash = '{ANSWER_IDS[2]}'")
    answer = page.locator(f"#{ANSWER_IDS[2]}")
    answer.wait_for(state="visible")
    wait_until(lambda: bool(answer.evaluate("e => Math.abs(e.getBoundingClientRect().top - 150) < 2")))


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_index_leads_to_each_section(page: Page, host: str, variant: str) -> None:
    page.goto(f"{host}/sections-{variant}")
    index = page.get_by_role("navigation", name="Inhalt").get_by_role("link")
    assert index.all_text_contents() == ["Orders", "Payment", "Returns"]
    index.nth(2).click()
    expect(page.get_by_role("heading", name="Returns", exact=True)).to_be_in_viewport()


@BOTH
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
    assert page.get_by_role("navigation", name="Inhalt").get_by_role("link").count() == 3
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


def test_the_filter_finds_letters_in_both_cases_and_tells_japanese_sounds_apart(
    page: Page, host: str
) -> None:
    page.goto(f"{host}/sections-details")
    page.locator(".faqsvc-question").evaluate_all("""all => {
        all[0].textContent = 'パスワードを忘れました'
        all[1].textContent = 'バスで行けますか'
        all[2].textContent = 'Welche Straße?'
        all[3].textContent = 'Çay ılık mı?'
    }""")
    for query in ("バス\u3000行け", "バス", "strasse", "ILIK çay"):
        page.get_by_role("searchbox", name="Fragen suchen").fill(query)
        expect(page.get_by_role("status")).to_have_text("1 gefunden")
    for nothing in (" ", "´"):
        page.get_by_role("searchbox", name="Fragen suchen").fill(nothing)
        expect(page.get_by_role("status")).to_have_text("")


@pytest.mark.parametrize("fragment", ["", "#faq-sections--returns-1"])
def test_a_visitor_who_comes_back_to_a_filtered_faq_sees_what_the_filter_finds(
    page: Page, host: str, fragment: str
) -> None:
    page.goto(f"{host}/sections-details{fragment}")
    page.get_by_role("searchbox", name="Fragen suchen").fill("Payment")
    page.goto(f"{host}/details")
    page.go_back()
    expect(page.get_by_role("searchbox", name="Fragen suchen")).to_have_value("Payment")
    expect(page.get_by_role("status")).to_have_text("4 gefunden")


@BOTH
def test_the_filter_shows_the_questions_with_all_words_and_then_what_was_open(
    page: Page, host: str, variant: str
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{host}/sections-{variant}")
    toggles(page).nth(1).click()
    field, found = page.get_by_role("searchbox", name="Fragen suchen"), page.get_by_role("status")
    field.fill("PÁYMENT so.")  # one word of the question, one of the answer
    expect(found).to_have_text("4 gefunden")
    expect(page.locator(".faqsvc-item:not([hidden])")).to_have_count(4)
    toggles(page).nth(5).click()
    page.emulate_media(media="print")
    heights = page.locator(".faqsvc-question").evaluate_all("all => all.map(e => e.offsetHeight)")
    assert min(heights) > 8
    page.emulate_media(media="screen")
    field.fill("zzz")
    expect(page.get_by_role("button", name="Alle öffnen")).to_be_visible()  # none is shown, so none is open
    field.press("Escape")
    expect(found).to_have_text("")
    assert expanded(page) == [n == 1 for n in range(12)]
    field.fill("payment")
    page.get_by_role("link", name="Returns").click()  # a link to what is hidden
    expect(page.get_by_role("heading", name="Returns", exact=True)).to_be_in_viewport()
    expect(page.locator(".faqsvc-item:not([hidden])")).to_have_count(12)
    field.fill("returns")
    page.evaluate("location.hash = 'faq-sections--orders-3'")
    page.locator("#faq-sections--orders-3").wait_for(state="visible")
    expect(field).to_have_value("")
    index = page.locator(".faqsvc-answer").evaluate_all(
        "all => all.findIndex(answer => answer.id == 'faq-sections--orders-3')"
    )
    wait_until(lambda: expanded(page) == [n in (1, index) for n in range(12)])


@BOTH
def test_the_button_opens_and_closes_the_questions_that_the_filter_shows(
    page: Page, host: str, variant: str
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{host}/sections-{variant}")
    field = page.get_by_role("searchbox", name="Fragen suchen")
    field.fill("payment")
    page.get_by_role("button", name="Alle öffnen").click()
    wait_until(lambda: expanded(page).count(True) == 4)
    page.get_by_role("button", name="Alle schließen").click()
    wait_until(lambda: expanded(page).count(True) == 0)
    page.get_by_role("button", name="Alle öffnen").click()
    field.press("Escape")
    expect(page.get_by_role("button", name="Alle öffnen")).to_be_visible()
    assert expanded(page) == [False] * 12
    toggles(page).nth(5).click()
    field.fill(page.locator(".faqsvc-question").nth(5).inner_text())
    expect(page.get_by_role("status")).to_have_text("1 gefunden")
    expect(page.get_by_role("button", name="Alle schließen")).to_be_visible()
