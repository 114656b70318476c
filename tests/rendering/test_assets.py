"""The stylesheet and the files that a host serves, and the hashes that a Content-Security-Policy needs."""

import base64
import hashlib
import re
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
import tinycss2
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQEmbed, Theme
from faqsvc_embed.rendering import assets
from faqsvc_embed.rendering.assets import script, stylesheet, theme_css
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.strategies import any_text
from tests.test_theme import COLOURS


def rules(content: Any, parent: str = "") -> list[tuple[str, Any]]:
    """Return selector and declarations of each style rule below a list of CSS tokens, at any depth."""
    found, declarations = list[tuple[str, Any]](), []
    for node in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
        assert node.type != "error", node
        if node.type == "declaration":
            declarations.append(node)
            continue
        prelude = tinycss2.serialize(node.prelude).strip()
        if node.type == "at-rule" and node.at_keyword == "keyframes":
            assert prelude.startswith("faqsvc-")
        elif node.type == "at-rule":
            assert node.at_keyword in ("media", "container")
            assert "::" not in parent  # browsers of 2024 ignore declarations there
            found += rules(node.content, parent)
        else:
            selector = prelude.replace("&", parent) if "&" in prelude else f"{parent} {prelude}".strip()
            found += rules(node.content, selector)
    return ([(parent, declarations)] if declarations else []) + found


def layer() -> list[tuple[str, Any]]:
    (node,) = tinycss2.parse_stylesheet(stylesheet(), skip_comments=True, skip_whitespace=True)
    assert (node.at_keyword, tinycss2.serialize(node.prelude).strip()) == ("layer", "faqsvc")
    return rules(node.content)


def test_the_stylesheet_is_one_layer_below_one_class() -> None:
    for selector, _ in layer():
        plain = selector
        while "(" in plain:
            plain = re.sub(r"\([^()]*\)", "", plain)
        for part in plain.split(","):
            assert re.match(r"(button|details|div)?\.faqsvc(-[a-z]+)?(?![\w-])", part.strip()), selector


def test_the_stylesheet_uses_logical_properties_only() -> None:
    for selector, declarations in layer():
        for declaration in declarations:
            assert not re.search(r"left|right|^(width|height|(min|max)-(width|height))$", declaration.name)
            value = tinycss2.serialize(declaration.value)
            assert not re.search(r"\b(left|right)\b", value), (selector, declaration.name)


def test_any_rule_of_the_host_wins_except_for_buttons_and_menus_and_where_content_would_be_lost() -> None:
    important = {
        (selector, declaration.name)
        for selector, declarations in layer()
        for declaration in declarations
        if declaration.important
        and not selector.startswith(("button", ".faqsvc-tools", ".faqsvc-index", ".faqsvc-columns"))
    }
    assert important == {
        (".faqsvc :is(.faqsvc-item,.faqsvc-section)[hidden]", "display"),
        # The space below an answer or an introduction is one, not two.
        (".faqsvc-introduction>:last-child", "margin-block-end"),
        (".faqsvc-answer >:nth-last-child(1 of :not(.faqsvc-anchor))", "margin-block-end"),
        ('.faqsvc-panel[hidden="until-found"]', "display"),
        (".faqsvc-panel[hidden]", "display"),  # on paper
        # The heading of a question has neither a box nor a size.
        (".faqsvc-toggle >:has(.faqsvc-question)", "display"),
        (".faqsvc-toggle >:has(.faqsvc-question)", "font-size"),
        ("div.faqsvc-item>:has(.faqsvc-question)", "display"),
        ("div.faqsvc-item>:has(.faqsvc-question)", "font-size"),
    }


def test_styles_and_script_load_nothing_and_cannot_end_their_element() -> None:
    assert not re.search(r"url\(|@import|@font-face|[<\\]", stylesheet())
    assert not re.search(r"[<\u2028\u2029]|eval|innerHTML", script())
    assert "/*" not in stylesheet() + script()
    assert len(script(is_whole=False)) < len(script()) < 4_500


THEMES = [Theme(colour) for colour in COLOURS] + [Theme(question_size=17.123456), Theme("teal", 200)]


def served(url: str) -> assets.File | None:
    parts = urlsplit(url)
    return assets.requested_file("GET", f"/faqsvc/{parts.path}", parts.query)


@pytest.mark.parametrize(
    ("name", "content", "media_type"),
    [
        (assets.stylesheet_url("base", "cards"), assets.stylesheet("base", "cards"), "text/css"),
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
    rules = assets.theme_css(theme).rules
    url = assets.stylesheet_url(assets.theme_query(theme))
    assert re.fullmatch(r"faqsvc\.[0-9a-f]{12}\.css\?[\w.%=&+-]+", url)
    assert served(url) == (rules, "text/css")
    url = assets.stylesheet_url("base", assets.theme_query(theme))
    assert served(url) == (stylesheet("base") + rules, "text/css")


def test_themes_with_the_same_values_share_a_class_and_others_do_not() -> None:
    teal = assets.theme_css(Theme("teal", 18))
    assert assets.theme_css(Theme(accent_color="#008080", question_size=18.0)) == teal
    others = (Theme("teal"), Theme("teal", 19), Theme("#008081", 18), Theme(question_size=18))
    assert len({assets.theme_css(theme).class_name for theme in others} | {teal.class_name}) == 5


def test_a_theme_that_sets_nothing_has_no_file() -> None:
    assert assets.theme_query(Theme()) == ""
    assert assets.theme_css(Theme()) == ("", "")


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("faqsvc.css", {}),
        ("faqsvc.000000000000.css", {}),
        ("faqsvc.000000000000.css", {"accentColor": "#008080"}),  # another theme's name
        ("{}", {}),
        ("{}", {"accentColor": "#008080"}),
        ("{}", {"accentColor": "#008081", "questionSize": "18"}),
        ("{}", {"accentColor": "#008080;}", "questionSize": "18"}),
        ("{}", {"accentColor": "url(x)", "questionSize": "18"}),
        ("{}", {"accentColor": "#008080", "questionSize": "18px"}),
        ("{}", {"accentColor": "#008080", "questionSize": "1e1"}),
        ("{}", {"accentColor": "#008080", "questionSize": "nan"}),
        ("{}", {"accentColor": "#008080", "questionSize": "9" * 5000}),
        ("{}", {"accentColor": "#008080", "questionSize": "18", "p": "base"}),
        ("../{}", {"accentColor": "#008080", "questionSize": "18"}),
    ],
)
def test_any_other_url_gives_nothing(name: str, query: dict[str, str]) -> None:
    teal = urlsplit(assets.stylesheet_url("accentColor=%23008080&questionSize=18")).path
    assert _file(teal, {"accentColor": "#008080", "questionSize": "18"}) is not None
    assert _file(name.format(teal), query) is None


def _file(name: str, query: dict[str, str]) -> assets.File | None:
    return assets.requested_file("GET", f"/faqsvc/{name}", urlencode(query, errors="replace"))


@given(any_text, st.dictionaries(st.sampled_from(["accentColor", "questionSize", "x"]), any_text))
def test_no_url_raises(name: str, query: dict[str, str]) -> None:
    assert _file(name, query) is None
    assert _file("faqsvc.000000000000.css", query) is None


TEAL = Theme("teal", 18)


def embed(**settings: Any) -> FAQEmbed:
    return fake_embed({"pricing": samples.pricing(), "nasty": samples.nasty()}, **settings)


def hashes(*texts: str) -> list[str]:
    return [f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in texts]


NEEDED = stylesheet("base", "toggle", "details")
"""What an FAQ of the usual variant and look needs."""


@pytest.mark.parametrize(
    ("options", "styles", "scripts"),
    [
        ({}, [NEEDED], []),
        ({"theme": TEAL}, [NEEDED + theme_css(TEAL).rules], []),
        ({"theme": Theme("#767676")}, [NEEDED + theme_css(Theme("#767676")).rules], []),
        ({"theme": Theme(question_size=18)}, [NEEDED + theme_css(Theme(question_size=18)).rules], []),
        ({"variant": "disclosure"}, [stylesheet("base", "toggle", "headings", "disclosure")], [script()]),
        ({"look": "cards"}, [stylesheet("base", "toggle", "details", "cards")], []),
        ({"lang": "de"}, [NEEDED], []),
    ],
)
def test_a_rendering_needs_its_styles_and_its_script(
    options: dict[str, Any], styles: list[str], scripts: list[str]
) -> None:
    html = embed().render("pricing", **options)
    sources = embed().csp_sources(html)
    assert sources == {"style-src": hashes(*styles), "script-src": hashes(*scripts)}
    inline = re.findall(r"<(style|script)(?![^>]*ld\+json)[^>]*>([^<]*)</", html)
    assert [hashes(text) for _, text in inline] == [[h] for name in sources for h in sources[name]]


def test_a_page_needs_the_elements_of_all_its_faqs() -> None:
    faqs = embed()
    with faqs.page():
        body = faqs.render("pricing") + faqs.render("nasty", theme=TEAL, variant="disclosure")
        body += faqs.render("pricing", theme=TEAL)
    assert faqs.csp_sources(body) == {
        "style-src": hashes(NEEDED, stylesheet("headings", "disclosure", "long") + theme_css(TEAL).rules),
        "script-src": hashes(script()),
    }


def test_without_inline_styles_no_hash_is_needed() -> None:
    faqs = embed(styles="none")
    html = faqs.render("pricing", theme=TEAL)
    assert "<style" not in html
    assert faqs.csp_sources(html) == {"style-src": [], "script-src": []}


@pytest.mark.parametrize(
    "html",
    [
        "<style>p { color: red }</style>",
        "<style></style>",
        "<style>@layer faqsvc{</style>",
        "<style>@layer faqsvc{}</style>",
        f"<style>{stylesheet('base')[:-1]}p{{}}}}</style>",
        f"<style>{stylesheet()} p {{}}</style>",
        f"<style>{stylesheet()}@layer faqsvc{{.faqsvc-00000000{{}}p{{}}}}</style>",
        "<style>@layer faqsvc{.faqsvc-00000000{}p{}}</style>",
        "<script>alert(1)</script>",
        f"<script>{script()};alert(1)</script>",
        f'<script src="x">{script()}</script>',
        '<script type="application/ld+json">{}</script>',
    ],
)
def test_elements_of_others_are_not_allowed(html: str) -> None:
    faqs = embed()
    assert faqs.csp_sources(html) == {"style-src": [], "script-src": []}
    assert faqs.csp_sources(html + faqs.render("pricing")) == faqs.csp_sources(faqs.render("pricing"))
