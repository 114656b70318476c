"""The look that a developer may choose: parsed, written out anew, never pasted into CSS."""

import logging
import re
from collections.abc import Mapping
from typing import Any, Final, Self

import msgspec
from msgspec.structs import asdict, force_setattr, replace

from faqsvc_embed.errors import ConfigurationError, quoted

logger = logging.getLogger("faqsvc_embed")

MIN_QUESTION_SIZE: Final = 8
MAX_QUESTION_SIZE: Final = 200
LARGEST: Final = 10_000.0
"""No coordinate of a colour that can be seen comes near it."""

_KEYS: Final = {
    "accentColor": "accent_color",
    "accent_color": "accent_color",
    "questionSize": "question_size",
    "question_size": "question_size",
}
# One hash, one name, or one closed function of plain arguments. What this refuses (comments, escapes,
# nested and unclosed functions) a lenient CSS parser would let through.
_SHAPE: Final = r"(?ai)#[0-9a-f]{3,8}|[a-z]{3,40}|[a-z]{3,5}\([a-z0-9%,./+\- \t\n]{1,120}\)"
_COLOURS = (
    "a CSS colour by name or in numbers, such as #0a7a5c, rgb(10 122 92), hsl(164 85% 26%), "
    "oklch(52% 0.11 165) or teal,"
)


class Theme(msgspec.Struct, frozen=True):
    """An accent colour and a question size; None leaves each to the stylesheet.

    `accent_color` is a CSS colour (hex, name, rgb, hsl, hwb, lab, lch, oklab, oklch, color), kept as it is
    written to the page; none that depends on anything else, such as var(), color-mix(), rgb(from …) or a
    colour of the system (rules T2 and D7). `question_size` is in CSS pixels, from 8 to 200.

    Raises:
        ConfigurationError: a value is no colour, or no size.
    """

    accent_color: str | None = None
    question_size: float | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "accent_color", _colour(self.accent_color))
        force_setattr(self, "question_size", _size(self.question_size))

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Read the keys of the specification, `accentColor` and `questionSize`, or their snake_case.

        Other keys are ignored with a warning.

        Raises:
            ConfigurationError: a value is no colour, or no size.
        """
        values, unknown = _known(mapping)
        if unknown:
            logger.warning("%s", unknown)
        return cls(**values)

    def merged(self, wish: object) -> "tuple[Theme, list[str]]":
        """Return this theme with what `wish` sets, and what was wrong with the rest of it.

        `wish` comes from a template, so a bad value is a message in the list, never an exception.
        """
        problems = list[str]()
        if isinstance(wish, Theme):
            values = asdict(wish)
        elif isinstance(wish, Mapping):
            values, unknown = _known(wish)
            problems += [unknown] if unknown else []
        else:
            return self, [f"theme is {quoted(wish)}: a Theme or a mapping with accentColor, questionSize"]
        theme = self
        for name, value in values.items():
            try:
                theme = replace(theme, **{name: value}) if value is not None else theme
            except ConfigurationError as error:
                problems.append(str(error))
        return theme, problems


def _known(mapping: Mapping[Any, Any]) -> tuple[dict[str, Any], str]:
    """Return the values of the known keys, and a sentence about the others, empty if there are none."""
    unknown = [key for key in mapping if key not in _KEYS]
    values = {_KEYS[key]: value for key, value in mapping.items() if key in _KEYS}
    return values, f"theme: {quoted(unknown)} ignored; known are accentColor, questionSize" if unknown else ""


def _size(value: object) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and MIN_QUESTION_SIZE <= value <= MAX_QUESTION_SIZE:  # type: ignore[operator]  # NaN is not
        return value  # type: ignore[return-value]
    raise ConfigurationError(
        f"questionSize is {quoted(value)}: a number of CSS pixels, "
        f"{MIN_QUESTION_SIZE} to {MAX_QUESTION_SIZE}, is accepted"
    )


def _colour(value: object) -> str | None:
    if value is None:
        return None
    written = _rewritten(value.strip()) if isinstance(value, str) else None
    if written is None:
        raise ConfigurationError(f"accentColor is {quoted(value)}: {_COLOURS} is accepted")
    return written


def _rewritten(text: str) -> str | None:
    """Return the colour that `text` is, in a form made of nothing but its own numbers; or None."""
    if len(text) > 130 or re.fullmatch(_SHAPE, text) is None:
        return None
    from tinycss2.color4 import parse_color  # lazily: a page without a theme needs no CSS parser

    colour = parse_color(text)
    if colour is None:
        return None
    if isinstance(colour, str):
        return "currentcolor"
    numbers = [0.0 if number is None else float(number) for number in (*colour.coordinates, colour.alpha)]
    if not all(abs(number) <= LARGEST for number in numbers):  # which NaN is not
        return None
    *coordinates, alpha = numbers
    alpha = min(max(alpha, 0.0), 1.0)
    if colour.space == "srgb":
        return _hex(coordinates, alpha)
    if colour.space in ("hsl", "hwb"):
        return _hex([float(c or 0.0) for c in colour.to("srgb").coordinates], alpha)
    inside = " ".join(map(css_number, coordinates)) + ("" if alpha == 1 else f" / {css_number(alpha)}")
    if colour.space in ("lab", "lch", "oklab", "oklch"):
        return f"{colour.space}({inside})"
    return f"color({colour.space} {inside})"


def _hex(coordinates: list[float], alpha: float) -> str:
    channels = coordinates if alpha == 1 else [*coordinates, alpha]
    return "#" + "".join(f"{int(min(max(channel, 0.0), 1.0) * 255 + 0.5):02x}" for channel in channels)


def css_number(value: float) -> str:
    """Return a number as CSS writes it, without an exponent."""
    return f"{value:.5f}".rstrip("0").rstrip(".")
