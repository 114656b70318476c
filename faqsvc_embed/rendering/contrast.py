"""Makes accent colours visible on light and on dark pages (WCAG 2.2, contrast).

The background of a page is not known here, but light text means a dark background. So the CSS of this module
chooses a colour by the lightness of `currentColor`.
"""

from typing import Final

from coloraide import Color

from faqsvc_embed.theme import css_number

GRAPHICS: Final = 3.0
"""The contrast of a marker or an underline (WCAG 2.2, 1.4.11)."""
TEXT: Final = 4.5
"""The contrast of text (WCAG 2.2, 1.4.3)."""
LIGHT_BACKGROUND: Final = "#f2f2f2"
"""The darkest light background: a colour with enough contrast on it has enough on white, too."""
DARK_BACKGROUND: Final = "#363636"
"""The lightest background that counts as dark: that of a card on a page of #303030, as in dark themes."""


def accents(colour: str, ratio: float) -> tuple[str, str]:
    """Return the colour for light and for dark backgrounds, each with at least this contrast.

    A colour with too little contrast gets another lightness in OKLCH, as near as possible. It keeps its hue,
    and its chroma as far as screens can show it. A translucent colour then becomes opaque.
    """
    if colour == "currentcolor":
        return colour, colour
    return (
        _with_contrast(colour, LIGHT_BACKGROUND, 0, ratio),
        _with_contrast(colour, DARK_BACKGROUND, 1, ratio),
    )


def adaptive(on_light: str, on_dark: str) -> str:
    """Return the CSS colour that is `on_light` beside dark text, and `on_dark` beside light text.

    The lightness of the text, `l`, is turned into 0 or 1, which selects each coordinate.
    """
    pairs = zip(_oklab(on_light), _oklab(on_dark), strict=True)
    coordinates = (f"calc({css_number(a)} + {css_number(b - a)}*clamp(0,(l - .65)*99,1))" for a, b in pairs)
    return f"oklab(from currentColor {' '.join(coordinates)}/1)"


def _with_contrast(colour: str, background: str, end: float, ratio: float) -> str:
    given = _displayed(Color(colour))
    if Color.layer([given, Color(background)], space="srgb").contrast(background) >= ratio:
        return colour
    opaque = given.set("alpha", 1).convert("oklch")
    too_little, enough = float(opaque["lightness"]), end
    for _ in range(12):
        lightness = (too_little + enough) / 2
        if _with_lightness(opaque, lightness).contrast(background) >= ratio:
            enough = lightness
        else:
            too_little = lightness
    return _with_lightness(opaque, enough).to_string(hex=True)


def _with_lightness(colour: Color, lightness: float) -> Color:
    """Return a colour as a screen shows it: its hexadecimal form has 8 bits for each channel."""
    found = colour.clone().set("lightness", lightness).convert("srgb").fit(method="oklch-chroma")
    return Color(found.to_string(hex=True))


def _displayed(colour: Color) -> Color:
    return colour.convert("srgb").clip()


def _oklab(colour: str) -> list[float]:
    coordinates = _displayed(Color(colour)).convert("oklab").coords(nans=False)
    return [float(coordinate) for coordinate in coordinates]
