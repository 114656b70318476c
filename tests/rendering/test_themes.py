"""Themes on a page: an accent can be seen on light and dark pages, and an invalid theme costs nothing."""

import colorsys
import random

import pytest
from playwright.sync_api import Page

from faqsvc_embed import Theme
from faqsvc_embed.rendering.assets import minified, theme_css
from faqsvc_embed.rendering.contrast import GRAPHICS, TEXT, accents, adaptive

LIGHT = ("#ffffff", "#f2f2f2")
DARK = ("#000000", "#363636")
EXTREMES = ["#ffffff", "#000000", "#ffff00", "#0000ff", "#767676", "#f2f2f2", "#363636"]


def channels(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours by the definition of WCAG 2.2, without a library."""
    found = []
    for colour in (one, other):
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels(colour))
        found.append(0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05)
    return max(found) / min(found)


def some_accents(count: int) -> list[str]:
    chance = random.Random(7)
    return [f"#{chance.randrange(1 << 24):06x}" for _ in range(count)]


@pytest.mark.parametrize("ratio", [GRAPHICS, TEXT])
@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.matrix)])
def test_any_accent_is_seen_on_any_background(ratio: float, count: int) -> None:
    for accent in [*some_accents(count), *EXTREMES]:
        on_light, on_dark = accents(accent, ratio)
        assert min(contrast(on_light, background) for background in LIGHT) >= ratio - 0.01, accent
        assert min(contrast(on_dark, background) for background in DARK) >= ratio - 0.01, accent


def test_an_accent_with_enough_contrast_is_not_changed() -> None:
    assert accents("#0b6e75", GRAPHICS)[0] == "#0b6e75"
    assert accents("#ffff00", TEXT)[1] == "#ffff00"
    assert accents("#808080", GRAPHICS) == ("#808080", "#808080")
    assert accents("oklch(0.5 0.1 200)", TEXT)[0] == "oklch(0.5 0.1 200)"
    assert accents("currentcolor", TEXT) == ("currentcolor", "currentcolor")


def test_an_accent_is_changed_no_more_than_needed() -> None:
    for accent in some_accents(50):
        for corrected, background in zip(accents(accent, TEXT), (LIGHT[1], DARK[1]), strict=True):
            assert corrected == accent or contrast(corrected, background) < TEXT + 0.15, accent


def test_a_corrected_accent_keeps_its_hue() -> None:
    for accent in ("#ffe14d", "#ff6b74", "#10106a", "#00ffff", "#7cfc00"):
        hue = colorsys.rgb_to_hls(*channels(accent))[0]
        for corrected in accents(accent, TEXT):
            turned = abs(colorsys.rgb_to_hls(*channels(corrected))[0] - hue)
            assert min(turned, 1 - turned) < 0.06, (accent, corrected)


def test_an_accent_that_is_too_translucent_becomes_opaque() -> None:
    assert accents("#00000000", GRAPHICS)[0] == "#000000"
    assert accents("#0b6e7520", GRAPHICS)[0] == "#0b6e75"
    assert accents("#0b6e75f0", GRAPHICS)[0] == "#0b6e75f0"


# In a browser


def pixels(page: Page, colours: list[str]) -> list[str]:
    """Return the colours that Chromium paints."""
    found: list[list[int]] = page.evaluate(
        """colours => {
            const canvas = new OffscreenCanvas(1, 1)
            const context = canvas.getContext('2d', {willReadFrequently: true})
            return colours.map(colour => {
                context.clearRect(0, 0, 1, 1)
                context.fillStyle = colour
                context.fillRect(0, 0, 1, 1)
                return [...context.getImageData(0, 0, 1, 1).data]
            })
        }""",
        colours,
    )
    return ["#{:02x}{:02x}{:02x}".format(*pixel) for pixel in found]


@pytest.mark.system
@pytest.mark.parametrize(
    ("text", "backgrounds"), [("#000", LIGHT), ("#555", LIGHT), ("#fff", DARK), ("#bbb", DARK)]
)
def test_the_text_of_a_page_chooses_the_accent(page: Page, text: str, backgrounds: tuple[str, ...]) -> None:
    wanted = [*some_accents(150), "#ffff00", "#ffffff", "#000000", "color(display-p3 0 1 0)", "#12345620"]
    themes = [theme_css(Theme(accent)) for accent in wanted]
    page.set_content(
        f"<style>i {{ color: {text} }} {''.join(theme.rules for theme in themes)}</style>"
        + "".join(f'<i class="{theme.class_name}"></i>' for theme in themes)
    )
    # The accent is used by elements whose own text has the colour of the page's.
    for name, ratio in (("accent", GRAPHICS), ("link", TEXT)):
        page.add_style_tag(content=minified(f"i {{ border: 1px solid var(--_f-theme-{name}, red) }}"))
        seen = page.locator("i").evaluate_all("all => all.map(e => getComputedStyle(e).borderTopColor)")
        for accent, colour in zip(wanted, pixels(page, seen), strict=True):
            for background in backgrounds:
                assert contrast(colour, background) >= ratio - 0.06, (accent, colour, background)


@pytest.mark.system
def test_an_adaptive_colour_follows_the_text(page: Page) -> None:
    page.set_content(f"<i style='border: 1px solid {adaptive('#123456', '#abcdef')}'></i>")
    border = "e => getComputedStyle(e).borderTopColor"
    for text, accent in (("black", "#123456"), ("white", "#abcdef")):
        page.locator("i").evaluate("(e, text) => { e.style.color = text }", text)
        assert pixels(page, [page.locator("i").evaluate(border)]) == [accent]
