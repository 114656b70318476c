"""An accent colour that can be seen: corrected, by calculation, for light and for dark pages.

Contrast is that of WCAG 2.2 (relative luminance). A page's ground is not known to us, but its text is: text
can be read, so light text stands on a dark ground. The CSS written here looks at the colour of the text and
takes the accent for the ground that must be behind it, whatever made the page dark.

The forms of colours are those that `theme` writes; the arithmetic is that of CSS Color 4.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from faqsvc_embed.theme import css_number

GRAPHICS: Final = 3.0
"""The contrast that a marker or an underline needs (WCAG 2.2, 1.4.11)."""
TEXT: Final = 4.5
"""The contrast that text needs (WCAG 2.2, 1.4.3)."""
LIGHT_GROUND: Final = 0.8880
"""The luminance of #f2f2f2: whatever can be seen on it can be seen on white and on light paper, too."""
DARK_GROUND: Final = 0.0194
"""The luminance of #262626: so dark are the panels of dark pages, or darker."""

SUPPORTED: Final = "(color:oklab(from currentColor l a b))"
"""The condition of `@supports` below which a browser understands `adaptive`."""

Triple = tuple[float, float, float]
Matrix = tuple[Triple, Triple, Triple]

_BLACK: Final[Triple] = (0.0, 0.0, 0.0)
_WHITE: Final[Triple] = (1.0, 0.0, 0.0)

_XYZ_TO_SRGB: Final[Matrix] = (
    (3.2409699419, -1.5373831776, -0.4986107603),
    (-0.9692436363, 1.8759675015, 0.0415550574),
    (0.0556300797, -0.2039769589, 1.0569715142),
)
_D50_TO_D65: Final[Matrix] = (
    (0.9554734527, -0.0230985369, 0.0632593086),
    (-0.0283697070, 1.0099954580, 0.0210413990),
    (0.0123140016, -0.0205076964, 1.3303659366),
)
_RGB_TO_XYZ: Final[dict[str, Matrix]] = {
    "display-p3": (
        (0.4865709486, 0.2656676932, 0.1982172852),
        (0.2289745641, 0.6917385218, 0.0792869141),
        (0.0, 0.0451133819, 1.0439443689),
    ),
    "a98-rgb": (
        (0.5766690429, 0.1855582379, 0.1882286462),
        (0.2973449753, 0.6273635663, 0.0752914585),
        (0.0270313614, 0.0706888525, 0.9913375368),
    ),
    "prophoto-rgb": (
        (0.7977604897, 0.1351858373, 0.0313493495),
        (0.2880711282, 0.7118432178, 0.0000856540),
        (0.0, 0.0, 0.8251046026),
    ),
    "rec2020": (
        (0.6369580483, 0.1446169036, 0.1688809752),
        (0.2627002120, 0.6779980715, 0.0593017165),
        (0.0, 0.0280726930, 1.0609850577),
    ),
}
_D50_WHITE: Final[Triple] = (0.9642956764, 1.0, 0.8251046026)
_TO_OKLAB: Final[Matrix] = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)
_TO_LMS: Final[Matrix] = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
_OKLAB_TO_LMS: Final[Matrix] = (
    (1.0, 0.3963377774, 0.2158037573),
    (1.0, -0.1055613458, -0.0638541728),
    (1.0, -0.0894841775, -1.2914855480),
)
_LMS_TO_SRGB: Final[Matrix] = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)


@lru_cache(maxsize=256)
def accents(colour: str, ratio: float) -> tuple[str, str]:
    """Return the colour for light and for dark grounds, each with at least this contrast to them.

    Where it has that, it is left as it is; where not, it is mixed with black or white, in Oklab, so that
    its hue stays, and no more than it takes. A translucent colour that is too faint becomes opaque.
    """
    if colour == "currentcolor":
        return colour, colour
    rgb, alpha = _parsed(colour)
    return (
        colour if _shows(rgb, alpha, LIGHT_GROUND, ratio) else _mixed(rgb, _BLACK, LIGHT_GROUND, ratio),
        colour if _shows(rgb, alpha, DARK_GROUND, ratio) else _mixed(rgb, _WHITE, DARK_GROUND, ratio),
    )


def adaptive(on_light: str, on_dark: str) -> str:
    """Return the CSS colour that is `on_light` beside dark text, and `on_dark` beside light text.

    The lightness of the text, `l`, becomes 0 or 1, and chooses between the two, coordinate by coordinate.
    """
    pairs = zip(_oklab(_parsed(on_light)[0]), _oklab(_parsed(on_dark)[0]), strict=True)
    coordinates = (f"calc({css_number(a)} + {css_number(b - a)}*clamp(0,(l - .65)*99,1))" for a, b in pairs)
    return f"oklab(from currentColor {' '.join(coordinates)})"


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour as a screen for sRGB shows it, from 0 to 1."""
    return _luminance(_parsed(colour)[0])


def contrast(one: float, other: float) -> float:
    """Return the contrast of two luminances, from 1 to 21."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _shows(rgb: Triple, alpha: float, ground: float, ratio: float) -> bool:
    seen = rgb
    if alpha < 1:  # browsers blend the encoded values
        grey = _encoded(ground)
        seen = _map(lambda channel: _decoded(_encoded(channel) * alpha + grey * (1 - alpha)), rgb)
    return contrast(_luminance(seen), ground) >= ratio


def _mixed(rgb: Triple, end: Triple, ground: float, ratio: float) -> str:
    """Return the colour mixed with as little of `end` as gives the contrast, found by halving."""
    start = _oklab(rgb)
    too_little, enough = 0.0, 1.0
    for _ in range(12):
        share = (too_little + enough) / 2
        if contrast(luminance(_hex(_between(start, end, share))), ground) >= ratio:
            enough = share
        else:
            too_little = share
    return _hex(_between(start, end, enough))


def _between(one: Triple, other: Triple, share: float) -> Triple:
    a, b, c = (x + (y - x) * share for x, y in zip(one, other, strict=True))
    return (a, b, c)


def _hex(oklab: Triple) -> str:
    rgb = _times(_LMS_TO_SRGB, _map(lambda lms: lms**3, _times(_OKLAB_TO_LMS, oklab)))
    return "#" + "".join(f"{round(_encoded(_clipped(channel)) * 255):02x}" for channel in rgb)


def _oklab(rgb: Triple) -> Triple:
    return _times(_TO_OKLAB, _map(math.cbrt, _times(_TO_LMS, rgb)))


def _luminance(rgb: Triple) -> float:
    red, green, blue = rgb
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parsed(colour: str) -> tuple[Triple, float]:
    """Return linear sRGB, clipped to what a screen shows, and alpha."""
    if colour.startswith("#"):
        channels = [int(colour[at : at + 2], 16) / 255 for at in range(1, len(colour), 2)]
        red, green, blue, *rest = channels
        return _map(_decoded, (red, green, blue)), rest[0] if rest else 1.0
    name, _, inside = colour.rstrip(")").partition("(")
    before, _, alpha = inside.partition("/")
    parts = before.split()
    space = parts.pop(0) if name == "color" else name
    a, b, c = map(float, parts)
    return _map(_clipped, _to_srgb(space, (a, b, c))), float(alpha or 1)


def _to_srgb(space: str, values: Triple) -> Triple:
    """Return linear sRGB of the coordinates in any space of CSS Color 4 but those written as hex."""
    if space in ("lch", "oklch"):
        lightness, chroma, hue = values
        angle = math.radians(hue)
        values = (lightness, chroma * math.cos(angle), chroma * math.sin(angle))
        space = space.replace("lch", "lab")
    if space == "oklab":
        return _times(_LMS_TO_SRGB, _map(lambda lms: lms**3, _times(_OKLAB_TO_LMS, values)))
    if space == "srgb-linear":
        return values
    if space == "lab":
        space, values = "xyz-d50", _xyz_of_lab(values)
    elif space in _RGB_TO_XYZ:
        values = _times(_RGB_TO_XYZ[space], _map(_LINEAR.get(space, _decoded), values))
        space = "xyz-d50" if space == "prophoto-rgb" else "xyz-d65"
    if space == "xyz-d50":
        values = _times(_D50_TO_D65, values)
    return _times(_XYZ_TO_SRGB, values)


def _xyz_of_lab(lab: Triple) -> Triple:
    lightness, a, b = lab
    y = (lightness + 16) / 116

    def part(f: float) -> float:
        return f**3 if f > 6 / 29 else (116 * f - 16) / (24389 / 27)

    white_x, white_y, white_z = _D50_WHITE
    return (white_x * part(y + a / 500), white_y * part(y), white_z * part(y - b / 200))


def _decoded(channel: float) -> float:
    """Return the linear value of an encoded one, of sRGB and of Display P3."""
    size = abs(channel)
    linear = size / 12.92 if size <= 0.04045 else ((size + 0.055) / 1.055) ** 2.4
    return math.copysign(linear, channel)


def _encoded(channel: float) -> float:
    size = abs(channel)
    encoded = size * 12.92 if size <= 0.0031308 else 1.055 * size ** (1 / 2.4) - 0.055
    return math.copysign(encoded, channel)


def _power(exponent: float) -> Callable[[float], float]:
    return lambda channel: math.copysign(abs(channel) ** exponent, channel)


_LINEAR: Final[dict[str, Callable[[float], float]]] = {
    "a98-rgb": _power(563 / 256),
    "prophoto-rgb": _power(1.8),
    "rec2020": _power(2.4),
}


def _clipped(channel: float) -> float:
    return min(max(channel, 0.0), 1.0)


def _map(function: Callable[[float], float], values: Triple) -> Triple:
    a, b, c = values
    return (function(a), function(b), function(c))


def _times(matrix: Matrix, values: Triple) -> Triple:
    a, b, c = values
    one, two, three = (x * a + y * b + z * c for x, y, z in matrix)
    return (one, two, three)
