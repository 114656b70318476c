"""The hashes that a Content-Security-Policy without nonces needs: of our elements, and of nobody else's."""

import base64
import hashlib

import pytest
from markupsafe import Markup

from faqsvc_embed.page import context as pages
from faqsvc_embed.page.context import Page
from faqsvc_embed.rendering.assets import enhancer, stylesheet, theme_rule
from faqsvc_embed.rendering.csp import ours_in
from faqsvc_embed.testing import fake_embed
from faqsvc_embed.theme import Theme
from tests.support import samples

TEAL = Theme("teal", 18)
EMBED = fake_embed({"pricing": samples.pricing(), "nasty": samples.nasty()})


def hashed(*texts: str) -> list[str]:
    return [f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in texts]


def test_a_render_needs_its_styles() -> None:  # C5
    assert EMBED.csp_sources(EMBED.render("pricing")) == {"style-src": hashed(stylesheet()), "script-src": []}
    assert EMBED.csp_sources(EMBED.render("pricing", theme=TEAL)) == {
        "style-src": hashed(stylesheet() + theme_rule(TEAL)[1]),
        "script-src": [],
    }
    assert EMBED.csp_sources(EMBED.render("pricing", variant="disclosure")) == {
        "style-src": hashed(stylesheet()),
        "script-src": hashed(enhancer()),
    }


def test_a_page_needs_what_was_printed_on_it_so_far() -> None:  # C5
    token = pages.begin(Page())
    try:
        assert EMBED.csp_sources() == {"style-src": [], "script-src": []}
        body = EMBED.render("pricing")
        first = EMBED.csp_sources()
        body += EMBED.render("nasty", theme=TEAL, variant="disclosure") + EMBED.render("pricing", theme=TEAL)
        assert first == {"style-src": hashed(stylesheet()), "script-src": []}
        assert EMBED.csp_sources() == EMBED.csp_sources(body)
        assert EMBED.csp_sources() == {
            "style-src": hashed(stylesheet(), theme_rule(TEAL)[1]),
            "script-src": hashed(enhancer()),
        }
    finally:
        pages.end(token)
    assert EMBED.csp_sources() == {"style-src": [], "script-src": []}


@pytest.mark.parametrize("styles", ["none", "linked"])
def test_what_is_not_inline_needs_no_hash(styles: str) -> None:
    embed = fake_embed({"pricing": samples.pricing()}, styles=styles)
    page = Page()
    page.assets = "/faqsvc"
    token = pages.begin(page)
    try:
        html = embed.render("pricing", theme=TEAL)
        assert embed.csp_sources() == embed.csp_sources(html) == {"style-src": [], "script-src": []}
    finally:
        pages.end(token)


@pytest.mark.parametrize(
    "html",
    [
        "<style>p { color: red }</style>",
        "<style></style>",
        f"<style>{stylesheet()} p {{}}</style>",
        f"<style>{stylesheet()}@layer faqsvc{{.faqsvc-00000000{{}}p{{}}}}</style>",
        "<script>alert(1)</script>",
        f"<script>{enhancer()};alert(1)</script>",
        f'<script src="x">{enhancer()}</script>',
        '<script type="application/ld+json">{}</script>',
    ],
)
def test_nothing_of_others_is_allowed(html: str) -> None:
    assert ours_in(html) == []
    assert len(ours_in(Markup(html) + EMBED.render("pricing"))) == 1
