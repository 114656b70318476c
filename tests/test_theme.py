"""A theme is parsed and written anew: a colour and a number, whatever the input."""

import json
import logging
import math
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from playwright.sync_api import Page

from faqsvc_embed import ConfigurationError, Theme
from tests.support.strategies import any_text, odd_values

WRITTEN = re.compile(
    r"#(?:[0-9a-f]{6}|[0-9a-f]{8})|currentcolor"
    r"|(?:lab|lch|oklab|oklch|color)\((?:[a-z0-9-]+ )?-?[0-9.]+ -?[0-9.]+ -?[0-9.]+(?: / [0-9.]+)?\)"
)
"""The whole alphabet of what may reach a stylesheet."""

COLOURS = {
    "#abc": "#aabbcc",
    "#abcd": "#aabbccdd",
    "#0A7A5C": "#0a7a5c",
    "#0a7a5c80": "#0a7a5c80",
    "teal": "#008080",
    "TEAL": "#008080",
    "rebeccapurple": "#663399",
    "transparent": "#00000000",
    "currentColor": "currentcolor",
    "rgb(10 122 92)": "#0a7a5c",
    "rgb(10, 122, 92)": "#0a7a5c",
    "rgba(10, 122, 92, 50%)": "#0a7a5c80",
    "rgb(20% 40% 60%)": "#336699",
    "rgb(300 -5 0)": "#ff0000",
    "rgb(none 1 2)": "#000102",
    "hsl(120 100% 50%)": "#00ff00",
    "hsl(0.5turn, 100%, 50%)": "#00ffff",
    "hsla(240 100% 50% / .5)": "#0000ff80",
    "hsl(none 100% 50%)": "#ff0000",
    "hwb(120 0% 0%)": "#00ff00",
    "lab(52% 40 59)": "lab(52 40 59)",
    "lch(52% 72 50)": "lch(52 72 50)",
    "oklab(40% .1 .1)": "oklab(0.4 0.1 0.1)",
    "oklch(52% 0.11 165)": "oklch(0.52 0.11 165)",
    "oklch(52% 0.11 165 / 50%)": "oklch(0.52 0.11 165 / 0.5)",
    "oklch(0.5 1e-300 20)": "oklch(0.5 0 20)",
    "color(display-p3 1 0.5 0)": "color(display-p3 1 0.5 0)",
    "color(srgb 1 0 0)": "#ff0000",
    "color(xyz 1 0 0)": "color(xyz-d65 1 0 0)",
    "  red\n": "#ff0000",
}

OTHER_TEXT = [
    "",
    " ",
    "#",
    "#12345",
    "#1234567",
    "#ggg",
    "#ＡＢＣ",
    "notacolour",
    "ſilver",
    "inherit",
    "initial",
    "unset",
    "revert",
    "none",
    "red;",
    "red}",
    "red;}body{display:none",
    "red!important",
    "red red",
    "red,blue",
    "red/**/",
    "/**/red",
    "r\\65 d",
    "\\red",
    "re\x00d",
    "red</style>",
    "</style><script>alert(1)</script>",
    "url(https://evil.example/x)",
    "url(#x)",
    "var(--x)",
    "attr(x)",
    "env(x)",
    "calc(1)",
    "expression(alert(1))",
    "image-set('x')",
    "rgb(1 2 3",
    "rgb(1 2 3;",
    "rgb(1 2 3))",
    "rgb(1 2 3) ;",
    "rgb(/**/1 2 3)",
    "rgb(var(--x))",
    "rgb(calc(1) 2 3)",
    "rgb(1 2)",
    "rgb()",
    "rgb(1 2 3 4)",
    "rgb(1e999 0 0)",
    "hsl(1e999 50% 50%)",
    "hsl(1e308turn 50% 50%)",
    "rgb(nan 0 0)",
    "rgb(infinity 0 0)",
    "color(foo 1 0 0)",
    "color(--mine 1 0 0)",
    "color-mix(in srgb, red, blue)",
    "oklch(from red l c h)",
    "url(",
    '"red"',
    "'",
    "@import 'x'",
    "<!--red-->",
    "red\u2028red",
    "red\ufeff",
    *("oklch(0.5 1e300 20)", "lab(50 1e200 -1e200)", "color(srgb-linear 1e300 0 0)"),
    "a" * 100_000,
    "rgb(" + "1" * 100_000 + " 0 0)",
    "rgb(" * 10_000,
]


def test_a_colour_in_any_syntax_is_written_anew() -> None:
    for written, parsed in COLOURS.items():
        theme = Theme(accent_color=written)
        assert (written, theme.accent_color) == (written, parsed)
        assert Theme(theme.accent_color) == theme


@pytest.mark.parametrize("text", OTHER_TEXT, ids=lambda text: repr(text[:30]))
def test_other_text_is_refused_with_one_short_message(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"accentColor is .* is accepted") as caught:
        Theme(accent_color=text)
    assert len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("value", [5, 0x0A7A5C, True, b"red", ["red"], ("red",), {"r": 1}, 1.5, object()])
def test_another_type_is_not_a_colour(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="accentColor"):
        Theme(accent_color=value)


OPENINGS = ["rgb(", "hsl(", "oklch(", "color(", "srgb ", "url(", "var(--x)", "calc(", "/*", "</style", "<!--"]
ENDINGS = [")", ";", "}", "{", "*/", "\\", "\n", "\x00", "'", '"', "@", "!", "\u2028", " ", ", ", " / "]
VALUES = ["red", "#abc", "1", "-2.5", "50%", "1e9", "none", "deg", "turn", "e"]
pieces = st.lists(st.sampled_from([*OPENINGS, *ENDINGS, *VALUES]), max_size=10).map("".join)
functions = st.builds(
    "{}({})".format,
    st.sampled_from(
        ["rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "RGB", "url"]
    ),
    st.lists(
        st.one_of(
            st.integers(-400, 400).map(str),
            st.floats(-1e6, 1e6).map(str),
            st.sampled_from(["none", "50%", "0", "1", "/", "srgb", "display-p3", "120deg", "1turn"]),
        ),
        max_size=6,
    ).map(" ".join),
)


@given(st.one_of(any_text, pieces, functions))
@example("red;}</style><script>")
@example("rgb(0 0 0/0.00001)")
@example("oklab(0.5 -0.0000001 0)")
def test_any_input_is_a_colour_or_refused(text: str) -> None:
    try:
        written = Theme(accent_color=text).accent_color
    except ConfigurationError:
        return
    assert written is not None
    assert WRITTEN.fullmatch(written), written


@pytest.mark.system
def test_chromium_sees_the_same_colours(page: Page) -> None:
    page.set_content("<canvas width=1 height=1></canvas>")
    compare = """colours => colours.map(colour => {
        if (!CSS.supports('color', colour)) return null;
        const context = document.querySelector('canvas').getContext('2d', {willReadFrequently: true});
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data];
    })"""
    given_, ours = (page.evaluate(compare, list(colours)) for colours in (COLOURS, COLOURS.values()))
    for text, theirs, mine in zip(COLOURS, given_, ours, strict=True):
        assert theirs is not None, text
        assert mine is not None, text
        difference = max(abs(a - b) for a, b in zip(theirs, mine, strict=True))
        assert difference <= 2, f"{text}: {theirs}, {mine}"


class Raising:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


@pytest.mark.parametrize("size", [8, 8.0, 16, 17.5, 200, None])
def test_a_size_is_a_number_of_pixels(size: float | None) -> None:
    assert Theme(question_size=size).question_size == size


@pytest.mark.parametrize(
    "size",
    [
        7,
        7.99,
        200.5,
        0,
        -16,
        -0.0,
        10**400,
        10**5000,
        -(10**5000),
        math.nan,
        math.inf,
        -math.inf,
        True,
        "16",
        "16px",
        b"16",
        [16],
    ],
    ids=lambda size: repr(size) if not isinstance(size, int) or abs(size) < 1e9 else "huge",
)
def test_anything_else_is_not_a_size(size: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"questionSize is .* 8 to 200"):
        Theme(question_size=size)


@given(st.one_of(odd_values, st.floats(), st.integers()))
def test_a_size_is_finite_and_within_its_bounds_or_refused(value: Any) -> None:
    try:
        size = Theme(question_size=value).question_size
    except ConfigurationError:
        return
    assert size is None or (isinstance(size, int | float) and 8 <= size <= 200)


@pytest.mark.parametrize(
    "mapping",
    [
        {"accentColor": "teal", "questionSize": 18},
        {"accent_color": "teal", "question_size": 18},
        {"accentColor": "teal", "question_size": 18},
    ],
)
def test_keys_are_those_of_the_specification_or_their_snake_case(mapping: dict[str, Any]) -> None:
    assert Theme.from_mapping(mapping) == Theme("teal", 18)


def test_unknown_keys_are_ignored_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    theme = Theme.from_mapping({"accentColor": "teal", "radius": 4, "evil\nline": 1})
    assert theme == Theme("teal")
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "radius" in caplog.messages[0]
    assert "\n" not in caplog.messages[0]


def test_known_keys_give_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    assert Theme.from_mapping({}) == Theme()
    assert Theme.from_mapping({"accentColor": None}) == Theme()
    assert caplog.records == []


@pytest.mark.parametrize("mapping", [{"accentColor": "nonsense"}, {"questionSize": "16"}])
def test_an_invalid_value_in_a_mapping_is_an_error(mapping: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        Theme.from_mapping(mapping)


@pytest.mark.parametrize("wrong", [None, "teal", 5, [("accentColor", "teal")]])
def test_a_theme_is_made_of_a_mapping(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match="mapping"):
        Theme.from_mapping(wrong)


def test_a_theme_of_a_template_changes_what_it_names() -> None:
    theme = Theme("teal", 18)
    assert theme.merged({"questionSize": 20}) == (Theme("teal", 20), [])
    assert theme.merged(Theme("red")) == (Theme("red", 18), [])
    assert theme.merged({}) == (theme, [])
    assert theme.merged({"accentColor": None}) == (theme, [])


@pytest.mark.parametrize(
    ("theme", "expected", "problems"),
    [
        ({"accentColor": "red;"}, Theme("teal", 18), 1),
        ({"accentColor": "red;", "questionSize": 20}, Theme("teal", 20), 1),
        ({"accentColor": "red;", "questionSize": "20"}, Theme("teal", 18), 2),
        ({"radius": 4, "questionSize": 20}, Theme("teal", 20), 1),
        ("red", Theme("teal", 18), 1),
        (5, Theme("teal", 18), 1),
        (("teal",), Theme("teal", 18), 1),
        ((), Theme("teal", 18), 1),
        ({}, Theme("teal", 18), 0),
        (Theme(), Theme("teal", 18), 0),
        ({5: 6}, Theme("teal", 18), 1),
        ({"accentColor": Raising()}, Theme("teal", 18), 1),
        ({"questionSize": 10**5000}, Theme("teal", 18), 1),
        ([("accentColor", "red")], Theme("teal", 18), 1),
    ],
)
def test_an_invalid_theme_of_a_template_is_a_message(theme: object, expected: Theme, problems: int) -> None:
    merged, messages = Theme("teal", 18).merged(theme)
    assert merged == expected
    assert len(messages) == problems


@given(st.one_of(odd_values, st.dictionaries(st.sampled_from(["accentColor", "questionSize"]), odd_values)))
def test_no_theme_of_a_template_raises(theme: Any) -> None:
    merged, messages = Theme("teal", 18).merged(theme)
    assert WRITTEN.fullmatch(merged.accent_color or "")
    assert all(message.isprintable() for message in messages)


def test_a_theme_is_a_value() -> None:
    theme = Theme("teal", 18)
    assert theme == Theme("#008080", 18.0)
    assert hash(theme) == hash(Theme("rgb(0 128 128)", 18))
    with pytest.raises(AttributeError):
        theme.accent_color = "red"  # type: ignore[misc]
    assert json.dumps([theme.accent_color, theme.question_size]) == '["#008080", 18]'
