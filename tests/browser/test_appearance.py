"""How the component looks: colours, theme, focus, hover, motion."""

import io
from itertools import pairwise

import pytest
from msgspec.structs import replace
from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page

from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.testing import fake_embed
from tests.browser.component import expanded, open_all, picture, share, toggles
from tests.browser.site import SECTIONS, VARIANTS

pytestmark = pytest.mark.system

ACCENT = (200, 30, 120)
TOGGLING = ("details", "disclosure")


def test_text_has_the_colours_of_the_host(page: Page, host: str) -> None:
    page.goto(f"{host}/details")
    closed = picture(page.locator(".faqsvc"))
    assert share(closed, (255, 255, 255)) > 0.8
    assert 0.005 < share(closed, (0, 0, 0)) < 0.2
    open_all(page)
    page.wait_for_function("document.querySelector('.faqsvc').getAnimations({subtree: true}).length === 0")
    opened = picture(page.locator(".faqsvc"))
    assert opened.height > closed.height + 60
    assert share(opened, (0, 0, 0), 60) * opened.height > share(closed, (0, 0, 0), 60) * closed.height
    page.goto(f"{host}/details?dark")
    dark = picture(page.locator(".faqsvc"))
    assert share(dark, (17, 17, 17)) > 0.8
    assert 0.005 < share(dark, (238, 238, 238)) < 0.2


# Theme


def test_a_theme_sets_the_accent_colour_and_the_question_size(page: Page, host: str) -> None:
    page.goto(f"{host}/details")
    assert share(picture(page.locator(".faqsvc")), ACCENT) == 0
    page.goto(f"{host}/themed")
    sizes = page.locator(".faqsvc-question").evaluate_all("all => all.map(e => getComputedStyle(e).fontSize)")
    assert sizes == ["32px"] * 3
    for toggle in toggles(page).all():  # only the marker has the colour
        row = picture(toggle)
        assert share(row.crop((0, 0, row.width - 60, row.height)), ACCENT) == 0
        assert share(row.crop((row.width - 60, 0, row.width, row.height)), ACCENT) > 0


@pytest.mark.parametrize("selector", [":root", "body", ".faqsvc", ".faqsvc-item"])
def test_custom_properties_of_the_host_win_over_a_theme(
    page: Page, markdown_host: str, selector: str
) -> None:
    page.goto(f"{markdown_host}/rich-details")
    page.add_style_tag(content=f"{selector} {{ --faqsvc-link: rgb(4, 5, 6) }}")
    open_all(page)
    link = page.locator(".faqsvc-answer a").evaluate("e => getComputedStyle(e).color")
    assert link == "rgb(4, 5, 6)"
    if selector == ".faqsvc-item":  # below the root, the other properties have been read already
        return
    page.add_style_tag(
        content=f"{selector} {{ --faqsvc-accent: rgb(1, 2, 3); --faqsvc-question-size: 31px }}"
    )
    marker = toggles(page).first.evaluate("e => getComputedStyle(e, '::after').backgroundImage")
    size = page.locator(".faqsvc-question").first.evaluate("e => getComputedStyle(e).fontSize")
    assert ("rgb(1, 2, 3)" in marker, size) == (True, "31px")


def test_all_cards_with_open_answers_have_the_same_border(page: Page, host: str) -> None:
    page.goto(f"{host}/open-cards")
    borders = page.locator(".faqsvc-item").evaluate_all("all => all.map(e => getComputedStyle(e).border)")
    assert len(set(borders)) == 1


@pytest.mark.parametrize("path", ["cards-details", "open-cards", "columns", "plain"])
def test_the_stylesheet_of_another_document_on_the_page_changes_no_look(
    page: Page, host: str, path: str
) -> None:
    page.goto(f"{host}/details")
    another = page.locator(".faqsvc style").evaluate("e => e.outerHTML")
    page.goto(f"{host}/{path}")
    before = picture(page.locator(".faqsvc"))
    page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", another)
    assert picture(page.locator(".faqsvc")) == before


# Focus and hover


def lines_across(page: Page, index: int) -> int:
    """Return how many horizontal lines cross a toggle and its surroundings, where there is no text."""
    box = toggles(page).nth(index).bounding_box()
    assert box is not None
    strip = FloatRect(x=box["x"] + box["width"] - 60, y=box["y"] - 9, width=1, height=box["height"] + 18)
    image = Image.open(io.BytesIO(page.screenshot(clip=strip))).convert("L")
    is_dark = [shade < 240 for shade in image.tobytes()]
    return sum(now and not before for before, now in pairwise([False, *is_dark]))


@pytest.mark.parametrize("variant", TOGGLING)
@pytest.mark.parametrize("is_open", [False, True])
def test_the_focus_ring_replaces_the_lines_beside_it(
    page: Page, host: str, variant: str, is_open: bool
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{host}/{variant}")
    if is_open:
        toggles(page).nth(1).click()
    toggles(page).nth(0).focus()
    page.keyboard.press("Tab")
    assert expanded(page)[1] == is_open
    assert lines_across(page, 1) == 2  # the upper and the lower side of the ring


@pytest.mark.parametrize("variant", TOGGLING)
def test_the_marker_ends_where_the_lines_end(page: Page, host: str, variant: str) -> None:
    page.goto(f"{host}/{variant}")
    row = picture(toggles(page).first).convert("L")
    edge = row.crop((row.width - 2, 2, row.width, row.height - 2))
    assert min(edge.tobytes()) < 100


@pytest.mark.parametrize("variant", TOGGLING)
def test_only_a_pointer_that_hovers_underlines_a_question(chromium: Browser, host: str, variant: str) -> None:
    for is_touch in (False, True):
        context = chromium.new_context(has_touch=is_touch, is_mobile=is_touch)
        page = context.new_page()
        page.goto(f"{host}/{variant}")
        toggle = toggles(page).first
        toggle.tap() if is_touch else toggle.hover()
        line = page.locator(".faqsvc-question").first.evaluate("e => getComputedStyle(e).textDecorationLine")
        assert line == ("none" if is_touch else "underline")
        context.close()


# Motion


@pytest.mark.parametrize("variant", TOGGLING)
def test_an_item_opens_and_closes_gradually(page: Page, host: str, variant: str) -> None:
    page.goto(f"{host}/{variant}")
    follow = """toggle => new Promise(done => {
        const item = toggle.closest('.faqsvc-item'), heights = [item.offsetHeight]
        const watch = () => {  // until the height is the same for ten frames
            heights.push(item.offsetHeight)
            const last = heights.slice(-10)
            const is_still = heights.length > 10 && last.every(height => height === last[0])
            is_still ? done(heights) : requestAnimationFrame(watch)
        }
        toggle.click()
        requestAnimationFrame(watch)
    })"""
    for grows in (True, False):
        heights = toggles(page).first.evaluate(follow)
        assert heights == sorted(heights, reverse=not grows)
        assert len(set(heights)) > 3


@pytest.mark.parametrize("fixture", ["host", "linked_host"])
def test_nothing_moves_while_a_page_loads(page: Page, request: pytest.FixtureRequest, fixture: str) -> None:
    page.add_init_script(
        "window.shifts = []; new PerformanceObserver(list => window.shifts.push(...list.getEntries()"
        ".map(e => e.value))).observe({type: 'layout-shift', buffered: true})"
    )
    address: str = request.getfixturevalue(fixture)
    for path in ("all", *(f"sections-{variant}" for variant in VARIANTS)):
        page.goto(f"{address}/{path}")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        shifts = page.evaluate("window.shifts")
        # A linked script may come after the first paint; it puts a line above a long FAQ.
        is_late = fixture == "linked_host" and path.startswith("sections")
        assert shifts == [] or (is_late and sum(shifts) < 0.1), path


def test_the_script_changes_no_box(page: Page, linked_host: str) -> None:
    boxes = """all => all
        .filter(e => !e.matches('.faqsvc-item > *, .faqsvc-toggle, .faqsvc-panel *'))
        .filter(e => !e.closest('.faqsvc-tools'))
        .filter(e => !e.closest('.faqsvc-panels .faqsvc-answer, .faqsvc-anchor'))
        .map(e => JSON.stringify(e.getBoundingClientRect()))"""
    page.route("**/*.js", lambda route: route.abort())
    page.goto(f"{linked_host}/disclosure")
    before = page.locator("body *").evaluate_all(boxes)
    page.unroute("**/*.js")
    page.goto(f"{linked_host}/disclosure")
    assert page.locator("body *").evaluate_all(boxes) == before
    page.locator(".faqsvc-panel").first.wait_for(state="attached")


def test_the_placeholder_of_the_filter_is_legible_on_a_phone_and_on_a_dark_page(page: Page) -> None:
    faqs = [replace(SECTIONS, slug=lang, lang=lang) for lang in LANGUAGES]
    html = "".join(map(fake_embed({}).render, faqs))
    dark = '<body style="background: #15171a; color: #e9e7e2; font: 16px sans-serif; margin: 24px">'
    page.set_viewport_size({"width": 320, "height": 700})
    page.set_content(f"<!doctype html>{dark}<style>::placeholder {{ color: #bbb }}</style>{html}")
    found = page.get_by_role("searchbox").evaluate_all("""all => all.map(field => {
        const pen = document.createElement("canvas").getContext("2d"), style = getComputedStyle(field);
        pen.font = style.font;
        const room = field.clientWidth - 2 * parseFloat(style.paddingLeft);
        const width = pen.measureText(field.placeholder).width;
        return [width <= room, getComputedStyle(field, "::placeholder").color];
    })""")
    assert found == [[True, "rgb(233, 231, 226)"]] * len(LANGUAGES)
