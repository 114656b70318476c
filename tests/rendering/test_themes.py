"""Themes on a page: an invalid one costs neither the FAQ nor the page."""

from typing import Any

import pytest

from faqsvc_embed import ConfigurationError, Theme
from faqsvc_embed.testing import fake_embed
from tests.rendering.support import faq
from tests.support import samples


@pytest.mark.parametrize(
    "theme", [("teal",), 5, "teal", {"accentColor": "red;}"}, {"questionSize": "x"}, [1]]
)
def test_an_invalid_theme_on_a_page_costs_neither_the_faq_nor_the_page(
    theme: Any, caplog: pytest.LogCaptureFixture
) -> None:
    embed = fake_embed({"pricing": samples.pricing()}, theme=Theme("teal"))
    plain = embed.render("pricing")
    for _ in range(2):
        assert embed.render("pricing", theme=theme) == plain
    assert len(caplog.records) == 1
    with pytest.raises(ConfigurationError):
        fake_embed({"pricing": samples.pricing()}, strict=True).render("pricing", theme=theme)


def test_the_mistakes_of_many_faqs_are_one_line_and_hide_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """A visitor may choose the slug."""
    embed = fake_embed({"pricing": samples.pricing()})
    for number in range(300):
        embed.render(faq(slug=f"other-{number}"), theme={"accentColor": "red;"})
    assert len(caplog.records) == 1
    embed.render("pricing", heading_level=9)
    assert len(caplog.records) == 2
