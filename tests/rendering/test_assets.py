"""The files that a host serves: named by their content, and a theme's by the theme."""

import base64
import hashlib
import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import Theme
from faqsvc_embed.rendering import assets
from tests.support.strategies import any_text
from tests.test_theme import COLOURS

THEMES = [Theme(colour) for colour in COLOURS] + [Theme(question_size=17.123456), Theme("teal", 200)]


def served(url: str) -> assets.File | None:
    parts = urlsplit(url)
    return assets.find_file(parts.path, dict(parse_qsl(parts.query)))


@pytest.mark.parametrize(
    ("name", "content", "media_type"),
    [
        (assets.stylesheet_name(), assets.stylesheet(), "text/css"),
        (assets.script_name(), assets.script(), "text/javascript"),
    ],
)
def test_a_file_is_named_by_its_content(name: str, content: str, media_type: str) -> None:
    assert hashlib.sha256(content.encode()).hexdigest()[:12] in name
    assert served(name) == (content, media_type)


def test_the_script_has_a_digest_that_browsers_check() -> None:
    sha384 = base64.b64encode(hashlib.sha384(assets.script().encode()).digest()).decode()
    assert assets.script_integrity() == f"sha384-{sha384}"


@pytest.mark.parametrize("theme", THEMES, ids=str)
def test_the_url_of_a_theme_gives_its_rules(theme: Theme) -> None:
    url = assets.theme_name(theme)
    assert re.fullmatch(r"faqsvc-[0-9a-f]{8}\.css\?[\w.%=&+-]+", url)
    assert served(url) == (assets.theme_css(theme).rules, "text/css")


def test_themes_with_the_same_values_share_a_class_and_others_do_not() -> None:
    teal = assets.theme_css(Theme("teal", 18))
    assert assets.theme_css(Theme(accent_color="#008080", question_size=18.0)) == teal
    others = (Theme("teal"), Theme("teal", 19), Theme("#008081", 18), Theme(question_size=18))
    assert len({assets.theme_css(theme).class_name for theme in others} | {teal.class_name}) == 5


def test_a_theme_that_sets_nothing_has_no_file() -> None:
    assert assets.theme_name(Theme()) == ""
    assert assets.theme_css(Theme()) == ("", "")


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
def test_any_other_url_gives_nothing(name: str, query: dict[str, str]) -> None:
    teal = assets.theme_css(Theme("teal", 18)).class_name
    assert assets.find_file(f"{teal}.css", {"accentColor": "#008080", "questionSize": "18"}) is not None
    assert assets.find_file(name.format(teal), query) is None


@given(any_text, st.dictionaries(st.sampled_from(["accentColor", "questionSize", "x"]), any_text))
def test_no_url_raises(name: str, query: dict[str, str]) -> None:
    assert assets.find_file(name, query) is None
    assets.find_file("faqsvc-00000000.css", query)
