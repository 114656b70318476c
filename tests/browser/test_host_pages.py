"""The component and the host's own page and Content-Security-Policy: neither breaks the other."""

import pytest
from playwright.sync_api import Page

from tests.browser.component import errors_of, expanded, is_styled, open_all, toggles, visible
from tests.browser.site import VARIANTS
from tests.support.host import NOTE_VIOLATIONS

pytestmark = pytest.mark.system

# What one or the other website does to all its buttons.
BUTTONS = """
    button { display: inline-flex; justify-content: center; align-items: center; gap: 1em; width: auto;
        height: 60px; min-width: 200px; max-width: 300px; margin: 1em; padding: .6rem 1.2rem; border: 2px;
        border-radius: 6px; background: #0b5fff linear-gradient(red, blue); color: #fff;
        box-shadow: 0 2px 4px #000; font: 900 12px serif; letter-spacing: .1em; text-align: center;
        text-transform: uppercase; text-decoration: line-through; white-space: nowrap; overflow: hidden;
        opacity: .5; transform: scale(1.2) }
    button:is(:hover, :focus) { background: red; color: yellow; outline: 0; transform: translateY(-2px) }
    button::before { content: '»' }
    button.faqsvc-all::after { content: '«' }
"""
LOOKS = """all => all.map(e => [JSON.stringify(e.getBoundingClientRect()), ...[
    'backgroundImage', 'backgroundColor', 'color', 'font', 'textTransform', 'textDecorationLine', 'opacity',
    'outlineStyle', 'boxShadow', 'letterSpacing', 'borderWidth'].map(name => getComputedStyle(e)[name])])"""
STYLES_OUTSIDE = """() => [...document.querySelectorAll('*')]
    .filter(e => !e.closest('.faqsvc') && !['STYLE', 'SCRIPT', 'LINK'].includes(e.tagName))
    .map(e => {
        const found = {}
        for (const pseudo of [null, '::before', '::after', '::marker']) {
            const style = getComputedStyle(e, pseudo)
            for (const name of style) found[(pseudo || '') + name] = style.getPropertyValue(name)
        }
        return [e.tagName + '#' + e.id, found]
    })"""
# These depend on how much is on the page.
SIZES = {"block-size", "height", "perspective-origin", "transform-origin"}
AROUND = {"HTML#", "BODY#", "MAIN#host"}

FRAMEWORK = """
    h2 { font-size: 2rem; font-weight: 500; margin: 0 0 .5rem; line-height: 1.2 }
    h3 { font-size: 1.75rem; font-weight: 500; margin: 0 0 .5rem; padding: 0 10px; line-height: 1.2 }
    p { margin: 0 0 1rem }
    summary { display: list-item; cursor: pointer }
    summary h3 { display: inline-block }
    [hidden] { display: none !important }
"""
# The rules of Pico 2 for buttons and details, which are in no layer.
PICO = """
    :root { --pico-spacing: 1rem; --pico-color: rgb(1, 2, 3); --pico-border-width: 1px }
    details { margin-bottom: var(--pico-spacing) }
    button { --pico-background-color: rgb(1, 114, 173); --pico-color: #fff; width: 100%; outline: 0;
        --pico-form-element-spacing-vertical: 12px; --pico-form-element-spacing-horizontal: 16px;
        padding: var(--pico-form-element-spacing-vertical) var(--pico-form-element-spacing-horizontal);
        border: var(--pico-border-width) solid; background-color: var(--pico-background-color);
        color: var(--pico-color); text-align: center; margin-bottom: var(--pico-spacing) }
    button:is(:hover, :focus) { --pico-background-color: rgb(1, 127, 192); --pico-color: #fff }
"""


@pytest.mark.parametrize(("path", "media"), [("all", "screen"), ("themed", "print")])
def test_no_element_of_the_host_changes(page: Page, host: str, path: str, media: str) -> None:
    page.emulate_media(media="print" if media == "print" else "screen")
    page.goto(f"{host}/without")
    without = page.evaluate(STYLES_OUTSIDE)
    page.goto(f"{host}/{path}")
    beside = page.evaluate(STYLES_OUTSIDE)
    assert [name for name, _ in beside] == [name for name, _ in without]
    assert len(beside) > 20
    for (element, now), (_, before) in zip(beside, without, strict=True):
        changed = {name for name in before if now[name] != before[name]}
        assert changed <= (SIZES if element in AROUND else set()), (element, changed)


def test_any_rule_of_the_host_wins(page: Page, host: str) -> None:
    page.goto(f"{host}/details")
    page.add_style_tag(
        content="""summary { display: flex; padding: 1px }
            summary::after { background-image: linear-gradient(rgb(1, 2, 3), rgb(1, 2, 3)) }"""
    )
    style = toggles(page).first.evaluate(
        """e => [getComputedStyle(e).display, getComputedStyle(e).paddingBlockStart,
            getComputedStyle(e, '::after').backgroundImage]"""
    )
    assert style == ["flex", "1px", "linear-gradient(rgb(1, 2, 3), rgb(1, 2, 3))"]


def test_headings_of_a_framework_leave_the_spacing_alone(page: Page, markdown_host: str) -> None:
    page.goto(f"{markdown_host}/all")
    page.add_style_tag(content=FRAMEWORK)
    found = page.locator("summary.faqsvc-toggle, button.faqsvc-toggle").evaluate_all(
        """all => all.map(e => {
            const box = e.getBoundingClientRect(), text = e.querySelector('.faqsvc-question')
            const question = text.getBoundingClientRect()
            return [parseFloat(getComputedStyle(text).fontSize), box.width - question.width,
                Math.abs(question.top - box.top - (box.bottom - question.bottom))]
        })"""
    )
    assert {size for size, _, _ in found} == {17.0}
    assert max(beside for _, beside, _ in found) < 40  # the marker
    assert max(off_center for _, _, off_center in found) <= 1
    gap = page.locator(".faqsvc-open .faqsvc-answer").first.evaluate(
        """e => e.parentElement.getBoundingClientRect().bottom
            - e.lastElementChild.getBoundingClientRect().bottom"""
    )
    assert 24 <= gap <= 32  # the paragraph's own margin is part of it


def test_an_open_faq_has_no_space_for_a_marker_in_an_element_of_the_host(page: Page, host: str) -> None:
    page.goto(f"{host}/all")
    page.locator(".faqsvc-open").evaluate(
        "e => { e.before(document.createElement('div')); e.previousSibling.className = 'faqsvc'; "
        "e.previousSibling.append(e) }"
    )
    widths = page.locator(".faqsvc-open .faqsvc-question").evaluate_all(
        "all => all.map(e => e.offsetWidth - e.closest('.faqsvc-item').offsetWidth)"
    )
    assert widths == [0, 0, 0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_card_contains_its_texts_whatever_the_widths_of_the_host(
    page: Page, markdown_host: str, variant: str
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 340, "height": 600})
    page.goto(f"{markdown_host}/cards-{variant}")
    reset = "*, ::before, ::after { margin: 0 } .faqsvc-question, .faqsvc-answer { max-inline-size: 80ch }"
    page.add_style_tag(content=FRAMEWORK + reset)
    page.locator(".faqsvc-question").first.evaluate("e => e.textContent = 'Where is my parcel? '.repeat(5)")
    open_all(page)
    outside = page.locator(".faqsvc-item").evaluate_all(
        """all => all.flatMap(item => [...item.querySelectorAll('.faqsvc-question, .faqsvc-answer')].map(e =>
            e.getBoundingClientRect().right - item.getBoundingClientRect().right))"""
    )
    assert len(outside) == 4
    assert max(outside) < -16


@pytest.mark.parametrize(("path", "beside"), [("details", ".faqsvc-toggle"), ("open", ".faqsvc-item")])
def test_what_a_template_of_the_host_puts_before_a_question_has_a_box(
    page: Page, host: str, path: str, beside: str
) -> None:
    page.goto(f"{host}/{path}")
    icon = '<i style="display: inline-block; width: 9px"></i>'
    page.locator(beside).first.evaluate("(e, icon) => e.insertAdjacentHTML('afterbegin', icon)", icon)
    assert page.locator(f"{beside} > i").evaluate("e => e.getBoundingClientRect().width") == 9


@pytest.mark.parametrize("look", ["lines", "columns"])
def test_an_faq_has_a_width_where_its_host_centres_or_floats_it(page: Page, host: str, look: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    width = "e => e.getBoundingClientRect().width"
    sides = "all => all.map(e => e.getBoundingClientRect()).map(box => `${box.left} ${box.right}`)"
    for center in (
        "main { display: flex; flex-direction: column; align-items: center }",
        "main { float: left }",
        "section { display: flex; flex-direction: column; align-items: center }",
        "section { display: flex; align-items: center; justify-content: center }",
        "section { display: grid; place-items: center }",
    ):
        page.goto(f"{host}/{look}")
        page.add_style_tag(content=f"main {{ max-inline-size: none }} {center}")
        closed = page.locator(".faqsvc").evaluate(width)
        assert len(set(page.locator(".faqsvc-item").evaluate_all(sides))) == 1, center
        open_all(page)
        assert closed > 200, center
        if "display" in center:
            assert page.locator(".faqsvc").evaluate(width) == closed, center


def test_in_columns_the_questions_are_beside_the_title_whatever_margins_and_widths_the_host_sets(
    page: Page, host: str
) -> None:
    page.goto(f"{host}/columns")
    page.add_style_tag(content="* { margin: 0 } main { max-inline-size: none } details { width: 100% }")
    (_, end), (_, title), *items = page.locator(".faqsvc, .faqsvc-title, .faqsvc-item").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(box => [box.left, box.right])"
    )
    assert min(left for left, _ in items) >= title
    assert max(right for _, right in items) <= end


def test_a_summary_is_as_wide_as_its_item_if_the_host_makes_details_a_flexbox(page: Page, host: str) -> None:
    page.goto(f"{host}/details")
    page.add_style_tag(content="details { display: flex; flex-direction: column; align-items: flex-start }")
    widths = toggles(page).evaluate_all(
        "all => all.map(e => e.parentElement.clientWidth - e.getBoundingClientRect().width)"
    )
    assert max(widths) < 1


def test_a_question_that_is_open_is_never_larger_than_the_title(page: Page, host: str) -> None:
    page.goto(f"{host}/open")
    page.add_style_tag(content="h2 { font-size: 2rem } h3 { font-size: 2.92rem }")  # as in Materialize
    sizes = page.locator(".faqsvc-title, .faqsvc-question").evaluate_all(
        "all => all.map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert max(sizes[1:]) < sizes[0]


def test_code_is_readable_where_a_theme_shows_it_on_a_dark_background(page: Page, markdown_host: str) -> None:
    page.goto(f"{markdown_host}/rich-details")
    page.locator(".faqsvc-answer").first.evaluate("e => e.innerHTML = '<pre>curl</pre>'")
    page.evaluate(
        """() => {
            const theirs = document.createElement('style')
            theirs.textContent = '@layer utilities { pre { background: #1e2939; color: #e5e7eb } }'
            document.head.prepend(theirs)
        }"""
    )
    colour = page.locator(".faqsvc-answer pre").evaluate("e => getComputedStyle(e).color")
    assert colour == page.locator(".faqsvc-answer").first.evaluate("e => getComputedStyle(e).color")


def test_a_closed_panel_can_be_found_where_hidden_elements_have_no_display(page: Page, host: str) -> None:
    page.goto(f"{host}/disclosure")
    page.add_style_tag(content=FRAMEWORK)
    display = page.locator(".faqsvc-panel").first.evaluate("e => getComputedStyle(e).display")
    assert display == "block"
    assert visible(page) == [False] * 3


def test_buttons_of_the_host_are_not_questions(page: Page, host: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    found = list[object]()
    for css in ("i {}", BUTTONS):
        page.goto(f"{host}/sections-disclosure")
        page.add_style_tag(content=css)
        toggles(page).first.click()
        toggles(page).first.press("Shift")  # shows the focus
        page.mouse.move(0, 0)
        found.append(page.locator(".faqsvc *:not(style, script)").evaluate_all(LOOKS))
        toggles(page).nth(1).hover()
        found.append(toggles(page).nth(1).evaluate_all(LOOKS))
    assert found[:2] == found[2:]


def test_pico_paints_no_blue_button_and_moves_no_item(page: Page, host: str) -> None:
    page.goto(f"{host}/all")
    page.add_style_tag(content=PICO)
    toggle = page.locator("button.faqsvc-toggle").first
    toggle.hover()
    assert toggle.evaluate(
        """e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color,
            getComputedStyle(e).borderTopWidth, getComputedStyle(e).padding, e.offsetHeight > 50,
            e.querySelector('.faqsvc-question').getBoundingClientRect().left
                - e.closest('.faqsvc').getBoundingClientRect().left,
            getComputedStyle(e.querySelector('.faqsvc-question')).textAlign]"""
    ) == ["rgba(0, 0, 0, 0)", "rgb(0, 0, 0)", "0px", "0px", True, 0, "start"]
    gaps = page.locator(".faqsvc-item + .faqsvc-item").evaluate_all(
        """all => all.map(e => e.getBoundingClientRect().top
            - e.previousElementSibling.getBoundingClientRect().bottom)"""
    )
    assert {round(gap, 3) for gap in gaps} == {0}


@pytest.mark.parametrize(("variant", "look"), [("details", "lines"), ("disclosure", "cards")])
@pytest.mark.parametrize("reset", ["margin: 0", "margin: 0; padding: 0", "box-sizing: border-box"])
def test_a_reset_of_all_elements_keeps_the_space_around_a_question(
    page: Page, host: str, variant: str, look: str, reset: str
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 340, "height": 600})
    page.goto(f"{host}/sections-{variant}")
    page.locator(".faqsvc").evaluate("(e, look) => e.classList.add('faqsvc-' + look)", look)
    page.add_style_tag(content=f"*, ::before, ::after {{ {reset} }} html {{ font-size: 62.5% }}")
    page.locator(".faqsvc-question").first.evaluate("e => e.textContent = 'Where is my parcel? '.repeat(5)")
    toggles(page).first.click()
    page.mouse.move(0, 0)
    found = page.locator(".faqsvc-item").first.evaluate(
        """item => {
            const box = e => item.querySelector(e).getBoundingClientRect(), row = box('.faqsvc-toggle')
            const marker = getComputedStyle(item.querySelector('.faqsvc-toggle'), '::after')
            const lines = document.createRange()
            lines.selectNodeContents(item.querySelector('.faqsvc-question'))
            const first = lines.getClientRects()[0], anchor = box('.faqsvc-anchor')
            return {
                above: first.top - row.top,
                marker: row.top + parseFloat(marker.top) + parseFloat(marker.height) / 2
                    - (first.top + first.bottom) / 2,
                beside: row.right - parseFloat(marker.right) - parseFloat(marker.width)
                    - box('.faqsvc-question').right,
                below: item.getBoundingClientRect().bottom - anchor.bottom,
                link: anchor.top - item.querySelector('.faqsvc-answer p').getBoundingClientRect().bottom,
                size: anchor.height,
            }
        }"""
    )
    assert found["above"] > 12
    assert abs(found["marker"]) < 3
    assert found["beside"] > 8
    assert found["below"] > -1
    assert found["link"] > -1
    assert found["size"] >= 24
    around = page.locator(".faqsvc").evaluate(
        """faq => {
            const box = e => faq.querySelector(e).getBoundingClientRect()
            const words = document.createRange()
            words.selectNodeContents(faq.querySelector('.faqsvc-title'))
            const title = words.getClientRects()[0], section = faq.querySelectorAll('.faqsvc-section')[1]
            words.selectNodeContents(section)
            const before = section.previousElementSibling.getBoundingClientRect()
            const index = box('.faqsvc-index'), introduction = box('.faqsvc-introduction p')
            return [introduction.top - title.bottom, index.top - introduction.bottom,
                box('.faqsvc-tools').top - index.bottom, words.getClientRects()[0].top - before.bottom]
        }"""
    )
    assert min(around) > 10


def test_the_host_style_of_menus_does_not_change_the_index(page: Page, host: str) -> None:
    page.goto(f"{host}/sections-details")
    styles = ["position", "backgroundColor", "color", "padding", "display", "fontSize", "textDecorationLine"]
    look = f"all => all.map(e => {styles}.map(name => getComputedStyle(e)[name]))"
    parts = page.locator(".faqsvc-index, .faqsvc-index *")
    before = parts.evaluate_all(look)
    page.add_style_tag(
        content="""nav { position: fixed; top: 0; display: grid; padding: 1em; background: #222; color: #fff }
            nav ul { display: block; padding: 2em } nav li { float: left; padding: 1em }
            nav a { padding: 1em; color: #fff; font-size: 2em; text-decoration: none }"""
    )
    assert parts.evaluate_all(look) == before
    page.locator(".faqsvc-index a").first.focus()
    page.keyboard.press("Shift")
    ring = page.locator(".faqsvc-index a").first.evaluate("e => getComputedStyle(e).outlineStyle")
    assert ring == "solid"


def test_the_tools_and_questions_of_a_long_faq_have_the_size_of_its_text(page: Page, host: str) -> None:
    page.goto(f"{host}/sections-details")
    page.add_style_tag(content="html { font-size: 62.5% } main { font-size: 20px }")
    sizes = page.locator(".faqsvc-filter, .faqsvc-all, .faqsvc-index a, .faqsvc-question").evaluate_all(
        "all => all.map(e => getComputedStyle(e).fontSize)"
    )
    assert set(sizes) == {"18.75px", "21.25px"}


@pytest.mark.parametrize(
    ("fixture", "csp"),
    [("host", "nonce"), ("host", "hashes"), ("linked_host", "self"), ("linked_host", "nonce")],
)
def test_a_strict_policy_allows_every_variant(
    page: Page, request: pytest.FixtureRequest, fixture: str, csp: str
) -> None:
    address: str = request.getfixturevalue(fixture)
    page.add_init_script(NOTE_VIOLATIONS)
    messages, requested = list[str](), list[str]()
    page.on("console", lambda message: messages.append(message.text))
    page.on("request", lambda request: requested.append(request.url))
    errors = errors_of(page)
    for path in ("rich-details", "rich-disclosure", "all"):
        page.goto(f"{address}/{path}?csp={csp}")
        open_all(page)
        assert all(expanded(page))
        assert (page.evaluate("window.violations"), messages, errors) == ([], [], []), path
        measure = page.locator(".faqsvc").first.evaluate("e => getComputedStyle(e).maxInlineSize")
        assert measure == "736px"
        if path.startswith("rich"):  # the rules of the theme apply, too
            size = page.locator(".faqsvc-question").first.evaluate("e => getComputedStyle(e).fontSize")
            assert size == "20px"
    assert [url for url in requested if not url.startswith(f"{address}/")] == []


def test_these_policies_stop_what_they_do_not_allow(page: Page, host: str, linked_host: str) -> None:
    page.goto(f"{host}/details?csp=self")  # inline styles, where only files are allowed
    assert not is_styled(page)
    page.add_init_script(NOTE_VIOLATIONS)
    page.goto(f"{linked_host}/disclosure?csp=hashes")  # files, where only inline elements are allowed
    assert len(page.evaluate("window.violations")) == 2


@pytest.mark.parametrize("fixture", ["host", "linked_host"])
def test_no_request_leaves_the_host(page: Page, request: pytest.FixtureRequest, fixture: str) -> None:
    address: str = request.getfixturevalue(fixture)
    requested = list[str]()
    page.on("request", lambda request: requested.append(request.url))
    page.goto(f"{address}/many")
    assert requested[0] == f"{address}/many"
    assert [url for url in requested if not url.startswith(f"{address}/")] == []
    assert is_styled(page)
