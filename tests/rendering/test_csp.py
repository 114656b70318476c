"""The hashes that a Content-Security-Policy without nonces needs: of our elements, and of no others."""

import base64
import hashlib
import re
from typing import Any

import pytest

from faqsvc_embed import FAQEmbed, Theme
from faqsvc_embed.rendering.assets import script, stylesheet, theme_css
from faqsvc_embed.testing import fake_embed
from tests.support import samples

TEAL = Theme("teal", 18)


def embed(**settings: Any) -> FAQEmbed:
    return fake_embed({"pricing": samples.pricing(), "nasty": samples.nasty()}, **settings)


def hashes(*texts: str) -> list[str]:
    return [f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in texts]


def theme_rules(theme: Theme) -> str:
    return theme_css(theme).rules


@pytest.mark.parametrize(
    ("options", "styles", "scripts"),
    [
        ({}, [stylesheet()], []),
        ({"theme": TEAL}, [stylesheet() + theme_rules(TEAL)], []),
        ({"theme": Theme("#767676")}, [stylesheet() + theme_rules(Theme("#767676"))], []),
        ({"theme": Theme(question_size=18)}, [stylesheet() + theme_rules(Theme(question_size=18))], []),
        ({"variant": "disclosure"}, [stylesheet()], [script()]),
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


def test_a_page_needs_what_was_printed_on_it_so_far() -> None:
    faqs = embed()
    with faqs.page():
        assert faqs.csp_sources() == {"style-src": [], "script-src": []}
        body = faqs.render("pricing")
        assert faqs.csp_sources() == {"style-src": hashes(stylesheet()), "script-src": []}
        body += faqs.render("nasty", theme=TEAL, variant="disclosure") + faqs.render("pricing", theme=TEAL)
        assert faqs.csp_sources() == faqs.csp_sources(body)
        assert faqs.csp_sources() == {
            "style-src": hashes(stylesheet(), theme_rules(TEAL)),
            "script-src": hashes(script()),
        }
    assert faqs.csp_sources() == {"style-src": [], "script-src": []}


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
