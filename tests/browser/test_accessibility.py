"""WCAG 2.2 AA: axe, target sizes, narrow pages, large and spaced text, markers, motion."""

from itertools import product

import pytest
from playwright.sync_api import Page

from tests.browser.component import LOOKS, open_all, open_look, picture, toggles
from tests.browser.site import VARIANTS
from tests.support.axe import violations

pytestmark = pytest.mark.system

SPACED = """
    * { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }
    p { margin-block-end: 2em !important }
"""
CUT = """() => {
    const all = document.querySelectorAll('.faqsvc, .faqsvc *')
    return [...all].filter(e => !e.closest('nav')).filter(e => {  // the index scrolls
        const edge = e.closest('.faqsvc').getBoundingClientRect()
        const box = e.getBoundingClientRect(), display = getComputedStyle(e).display
        return !['SCRIPT', 'STYLE'].includes(e.tagName) && display !== 'contents' && (
            box.right > edge.right + 1 || box.left < edge.left - 1
            || display !== 'inline' && e.scrollWidth > e.clientWidth + 1
            || display === 'block' && e.scrollHeight > e.clientHeight + 2)
    }).map(e => e.outerHTML.slice(0, 80))
}"""


@pytest.mark.parametrize(
    ("path", "look"),
    [
        *product(["all", "sections-details", "sections-disclosure"], LOOKS[:2]),
        *product(["all"], LOOKS[2:]),
        ("nasty", "light"),
        ("arabic", "dark"),
    ],
)
def test_axe_finds_nothing(page: Page, markdown_host: str, path: str, look: str) -> None:
    open_look(page, f"{markdown_host}/{path}", look)
    assert violations(page) == []
    open_all(page)
    assert violations(page) == []


@pytest.mark.parametrize("path", ["all", "smallest"])
def test_each_toggle_is_large_enough_to_hit(page: Page, host: str, path: str) -> None:
    page.goto(f"{host}/{path}")
    sizes = toggles(page).evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(box => Math.min(box.width, box.height))"
    )
    assert min(sizes) >= 24


def test_a_narrow_page_cuts_nothing_and_does_not_scroll_sideways(page: Page, markdown_host: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 320, "height": 640})
    paths = ("all", *(f"sections-{variant}" for variant in VARIANTS), "long", "themed", "arabic", "columns")
    for path in paths:
        page.goto(f"{markdown_host}/{path}")
        open_all(page)
        for styles in ("html { font-size: 100% }", "html { font-size: 200% }", SPACED):
            added = page.add_style_tag(content=styles)
            assert page.evaluate(CUT) == [], (path, styles)
            sides = page.locator(".faqsvc").evaluate_all(
                "all => all.map(e => e.getBoundingClientRect()).map(box => [box.left, box.right])"
            )
            assert all(0 <= left < right <= 320 for left, right in sides), (path, styles)
            added.evaluate("style => style.remove()")


@pytest.mark.parametrize(
    ("variant", "look"),
    [*product(["details"], LOOKS), ("disclosure", "light"), ("disclosure", "forced dark")],
)
def test_the_shape_of_the_marker_shows_what_is_open(page: Page, host: str, variant: str, look: str) -> None:
    open_look(page, f"{host}/rich-{variant}", look)
    page.emulate_media(reduced_motion="reduce")

    def marker() -> bytes:
        row = picture(toggles(page).first).convert("L")
        return row.crop((row.width - 24, 0, row.width, row.height)).tobytes()

    closed = marker()
    toggles(page).first.click()
    page.mouse.move(0, 0)
    opened = marker()
    assert all(max(shades) - min(shades) > 80 for shades in (closed, opened))
    assert closed != opened


def test_nothing_moves_with_reduced_motion(page: Page, host: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{host}/all")
    moving = page.locator(".faqsvc, .faqsvc *").evaluate_all(
        """all => all.flatMap(e => [null, '::after', '::details-content'].map(p => getComputedStyle(e, p)))
            .filter(s => s.transitionDuration !== '0s' || s.animationName !== 'none').length"""
    )
    assert moving == 0
