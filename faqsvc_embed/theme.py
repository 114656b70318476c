"""The theme of an FAQ: an accent colour and a question size, parsed and normalized for CSS."""

import re
from collections.abc import Mapping
from typing import Any, Final, Self

import msgspec
from msgspec.structs import asdict, force_setattr, replace

from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.runtime.bounded_log import logger

MIN_QUESTION_SIZE: Final = 8
MAX_QUESTION_SIZE: Final = 200
MAX_COORDINATE: Final = 10_000.0
"""Limit of the coordinates of a colour, far beyond visible colours."""

_KEYS: Final = {
    "accentColor": "accent_color",
    "accent_color": "accent_color",
    "questionSize": "question_size",
    "question_size": "question_size",
}
# One hash, one name, or one closed function of plain arguments. Comments, escapes, nested and unclosed
# functions, which a lenient CSS parser accepts, do not match.
_SHAPE: Final = r"(?ai)#[0-9a-f]{3,8}|[a-z]{3,40}|[a-z]{3,5}\([a-z0-9%,./+\- \t\n]{1,120}\)"
_HEX_SPACES: Final = ("srgb", "hsl", "hwb")
_FUNCTIONS: Final = ("lab", "lch", "oklab", "oklch")
_CSS_SPACES: Final = (
    *_FUNCTIONS,
    *("srgb-linear", "display-p3", "a98-rgb", "prophoto-rgb", "rec2020", "xyz-d50", "xyz-d65"),
)
_COLOURS: Final = (
    "a CSS colour by name or in numbers, such as #0a7a5c, rgb(10 122 92), hsl(164 85% 26%), "
    "oklch(52% 0.11 165) or teal,"
)


class Theme(msgspec.Struct, frozen=True):
    """An accent colour and a question size; for None, the stylesheet decides.

    `accent_color` is a CSS colour (hex, name, rgb, hsl, hwb, lab, lch, oklab, oklch or color), kept in the
    form in which it is written to the page. Colours that depend on something else are refused: var(),
    color-mix(), rgb(from …), system colours. `question_size` is in CSS pixels, from 8 to 200.

    Raises:
        ConfigurationError: a value is not a colour, or not a size.
    """

    accent_color: str | None = None
    question_size: float | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "accent_color", _colour(self.accent_color))
        force_setattr(self, "question_size", _size(self.question_size))

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], *, strict: bool = False) -> Self:
        """Read the keys `accentColor` and `questionSize`, or their snake_case.

        Other keys are ignored with a warning, or refused if `strict` is set.
        """
        if not isinstance(mapping, Mapping):
            raise ConfigurationError(f"theme is {quoted(mapping)}: a mapping is accepted")
        values, unknown = _known(mapping)
        if unknown and strict:
            raise ConfigurationError(unknown)
        if unknown:
            logger.warning("%s", unknown)
        return cls(**values)

    def merged(self, theme: object) -> "tuple[Theme, list[str]]":
        """Return this theme with the values of `theme`, and what was wrong with the rest of it.

        `theme` comes from a template, so that an invalid value is a message in the list, not an exception.
        """
        problems = list[str]()
        if isinstance(theme, Theme):
            values = asdict(theme)
        elif isinstance(theme, Mapping):
            values, unknown = _known(theme)
            problems += [unknown] if unknown else []
        else:
            accepted = "a Theme or a mapping with accentColor and questionSize is accepted"
            return self, [f"theme is {quoted(theme)}: {accepted}"]
        merged = self
        for name, value in values.items():
            try:
                merged = replace(merged, **{name: value}) if value is not None else merged
            except ConfigurationError as error:
                problems.append(str(error))
        return merged, problems


def css_number(value: float) -> str:
    """Return a number as CSS writes it, without an exponent."""
    return f"{value:.5f}".rstrip("0").rstrip(".")


def _known(mapping: Mapping[Any, Any]) -> tuple[dict[str, Any], str]:
    """Return the values of known keys, and a warning about unknown keys, or an empty string."""
    values = {_KEYS[key]: value for key, value in mapping.items() if key in _KEYS}
    unknown = [key for key in mapping if key not in _KEYS]
    if not unknown:
        return values, ""
    return values, f"theme has no key {quoted(unknown[0])}; accentColor and questionSize are accepted"


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
    """Return a colour written from its parsed numbers, or None if `text` is not a colour."""
    if len(text) > 130 or re.fullmatch(_SHAPE, text) is None:
        return None
    if text.lower() == "currentcolor":
        return "currentcolor"
    from coloraide import Color  # imported here: only themes need it

    try:
        colour = Color(text)
    except ValueError:
        return None
    space, alpha = colour.space(), min(max(colour.alpha(nans=False), 0.0), 1.0)
    coordinates = colour.coords(nans=False)
    if not all(abs(number) <= MAX_COORDINATE for number in coordinates):  # false for NaN
        return None
    if space in _HEX_SPACES:
        return colour.convert("srgb").clip().set("alpha", alpha).to_string(hex=True)
    if space not in _CSS_SPACES:
        return None
    inside = " ".join(map(css_number, coordinates)) + ("" if alpha == 1 else f" / {css_number(alpha)}")
    return f"{space}({inside})" if space in _FUNCTIONS else f"color({space} {inside})"
