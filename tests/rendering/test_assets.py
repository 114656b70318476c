"""The files that a host serves: named by their contents, and a theme's named by itself."""

import base64
import hashlib
import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import Theme
from faqsvc_embed.rendering.assets import (
    File,
    enhancer,
    enhancer_integrity,
    enhancer_name,
    file_named,
    stylesheet,
    stylesheet_name,
    theme_address,
    theme_rule,
)
from tests.support.strategies import any_text
from tests.test_theme import COLOURS

THEMES = [Theme(colour) for colour in COLOURS] + [Theme(question_size=17.123456), Theme("teal", 200)]


def digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def served(address: str) -> File | None:
    parts = urlsplit(address)
    return file_named(parts.path, dict(parse_qsl(parts.query)))


def test_the_stylesheet_and_the_enhancer_are_named_by_their_contents() -> None:
    assert stylesheet_name() == f"faqsvc.{digest(stylesheet(), 12)}.css"
    assert enhancer_name() == f"faqsvc.{digest(enhancer(), 12)}.js"
    assert served(stylesheet_name()) == (stylesheet(), "text/css")
    assert served(enhancer_name()) == (enhancer(), "text/javascript")
    sha384 = base64.b64encode(hashlib.sha384(enhancer().encode()).digest()).decode()
    assert enhancer_integrity() == f"sha384-{sha384}"


@pytest.mark.parametrize("theme", THEMES, ids=str)
def test_the_address_of_a_theme_gives_its_rule(theme: Theme) -> None:  # C3, T2
    address = theme_address(theme)
    assert re.fullmatch(r"faqsvc-[0-9a-f]{8}\.css\?[\w.%=&+-]+", address)
    assert served(address) == (theme_rule(theme)[1], "text/css")


def test_no_theme_has_no_address() -> None:
    assert theme_address(Theme()) == ""


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("faqsvc.css", {}),
        ("faqsvc.000000000000.css", {}),
        ("faqsvc-00000000.css", {}),
        ("faqsvc-00000000.css", {"accentColor": "#008080"}),  # another theme's name
        ("{}.css", {}),
        ("{}.css", {"accentColor": "#008080"}),
        ("{}.css", {"accentColor": "#008081", "questionSize": "18"}),
        ("{}.css", {"accentColor": "#008080;}", "questionSize": "18"}),
        ("{}.css", {"accentColor": "url(x)", "questionSize": "18"}),
        ("{}.css", {"accentColor": "#008080", "questionSize": "18px"}),
        ("{}.css", {"accentColor": "#008080", "questionSize": "1e1"}),
        ("{}.css", {"accentColor": "#008080", "questionSize": "nan"}),
        ("{}.css", {"accentColor": "#008080", "questionSize": "9" * 5000}),
        ("../{}.css", {"accentColor": "#008080", "questionSize": "18"}),
    ],
)
def test_any_other_address_gives_nothing(name: str, query: dict[str, str]) -> None:  # T2, D7
    teal, _ = theme_rule(Theme("teal", 18))
    assert file_named(f"{teal}.css", {"accentColor": "#008080", "questionSize": "18"}) is not None
    assert file_named(name.format(teal), query) is None


@given(any_text, st.dictionaries(st.sampled_from(["accentColor", "questionSize", "x"]), any_text))
def test_no_address_raises(name: str, query: dict[str, str]) -> None:  # R4
    assert file_named(name, query) is None
    file_named("faqsvc-00000000.css", query)


def test_the_enhancer_cannot_end_its_element() -> None:  # E3
    assert not re.search(r"[<\u2028\u2029]|eval|innerHTML", enhancer())
    assert len(enhancer()) < 2500
