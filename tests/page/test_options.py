"""The options of one call: resolved against the settings and the page, with a warning for what is invalid."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils.functional import SimpleLazyObject

from faqsvc_embed import ConfigurationError, FAQEmbed, Theme
from faqsvc_embed.page.page import REQUEST, Page
from tests.support import samples
from tests.support.embeds import warnings_of
from tests.support.faults.behaviours import slow_head
from tests.support.faulty import FaultyServer
from tests.support.pages import A, embed, environment, renders
from tests.support.parsed import attributes, text_of

Render = Callable[..., str]
# Against the settings


@renders
def test_an_option_that_is_left_out_or_none_is_as_in_the_settings(render: Render) -> None:
    settings: dict[str, Any] = {"show_title": False, "variant": "open", "exclusive": True, "heading_level": 4}
    expected = render(embed(), "pricing", **settings)
    assert render(embed(**settings), "pricing") == expected
    left_out = dict.fromkeys(("lang", "theme", "show_title", "schema", "nonce", "variant", "exclusive"))
    assert render(embed(**settings), "pricing", **left_out) == expected


@renders
def test_an_option_beats_the_setting(render: Render) -> None:
    faqs = embed(show_title=False, variant="open", heading_level=4)
    options = {"show_title": True, "variant": "details", "heading_level": 2}
    assert render(faqs, "pricing", **options) == render(embed(), "pricing")


@renders
def test_options_may_have_their_names_in_javascript(render: Render) -> None:
    faqs = embed(strict=True)
    expected = render(faqs, "pricing", show_title=False, heading_level=4)
    assert render(faqs, "pricing", showTitle=False, headingLevel=4) == expected
    with pytest.raises(ConfigurationError):
        render(faqs, "pricing", headingLevel=1)


@pytest.mark.parametrize(
    ("level", "headings", "title"),
    [(2, ["h2", "h3"], 0), (5, ["h5", "h6"], 0), (6, ["h6"], 0), (None, [], 1)],
)
def test_the_level_of_headings_counts_from_the_title(
    level: int | None, headings: list[str], title: int
) -> None:
    html = embed().render("pricing", heading_level=level)
    assert (
        sorted({element for element in ("h1", "h2", "h3", "h4", "h5", "h6") if f"<{element}" in html})
        == headings
    )
    assert len(text_of(html, "p.faqsvc-title")) == title


def test_the_theme_of_a_call_completes_that_of_the_settings() -> None:
    faqs = embed(theme={"accentColor": "teal", "questionSize": 20})
    both = embed().render("pricing", theme=Theme("navy", 20))
    assert faqs.render("pricing", theme={"accent_color": "navy"}) == both
    assert faqs.render("pricing", theme=Theme(accent_color="navy")) == both


# Against the page


class HostPage(Page):
    """The page of a host that has chosen a language and a nonce."""

    def language(self, default: str | None) -> str | None:
        return "ko"

    def nonce(self) -> object:
        return lambda: "page"


def on_page(page: Page, call: Callable[[], str]) -> str:
    token = REQUEST.set(page)
    try:
        return call()
    finally:
        REQUEST.reset(token)


def test_an_argument_beats_the_page_which_beats_the_setting(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, lang="fr") as faqs:
        for page, lang in ((HostPage(), "de-CH"), (HostPage(), None), (Page(), None)):
            on_page(page, lambda lang=lang: str(faqs.render("pricing", lang=lang)))  # type: ignore[misc]
    assert [request.lang for request in faulty.log] == ["de", "ko", "fr"]


def test_the_nonce_of_an_argument_beats_that_of_the_page_which_beats_that_of_the_template() -> None:
    host = environment()
    host.globals["csp_nonce"] = "template"
    template = host.from_string("{{ faq('pricing', nonce=given) }}")
    for page, given, nonce in (
        (HostPage(), "argument", "argument"),
        (HostPage(), SimpleLazyObject(lambda: "argument"), "argument"),  # such as the nonce of Django
        (HostPage(), None, "page"),
        (Page(), None, "template"),
    ):
        html = on_page(page, lambda given=given: template.render(given=given))  # type: ignore[misc]
        assert set(attributes(html, "style, script", "nonce")) == {nonce}


def test_without_a_request_an_faq_lacks_a_nonce_that_is_read_from_one() -> None:  # as in an email
    unread = SimpleLazyObject(lambda: REQUEST.get().nonce())  # type: ignore[union-attr]
    html = environment().from_string("{{ faq('pricing', nonce=given) }}").render(given=unread)
    assert html == embed().render("pricing") != ""


# What is invalid

INVALID: list[tuple[dict[str, Any], str]] = [
    ({"theme": {"accentColor": "url(//x)"}}, "accentColor"),
    ({"theme": {"questionSize": float("nan")}}, "questionSize"),
    ({"theme": {"colour": "red"}}, "'colour'"),
    ({"theme": ("teal",)}, "theme"),  # mappings become tuples, but tuples are not accepted
    ({"theme": "red"}, "theme"),
    ({"theme": {"accentColor": "red;}"}}, "accentColor"),
    ({"heading_level": 1}, "heading_level"),
    ({"heading_level": True}, "heading_level"),
    ({"heading_level": "two"}, "heading_level"),
    ({"variant": "accordion"}, "variant"),
    ({"show_title": "perhaps"}, "show_title"),
    ({"exclusive": "perhaps"}, "exclusive"),
    ({"schema": "perhaps"}, "schema"),
    ({"lang": "xx"}, "lang"),
    ({"lang": ["de"]}, "lang"),
    ({"nonce": 7}, "nonce"),
    ({"colour": "red"}, "'colour'"),
    ({"themes": "red"}, "'theme'"),
]


@renders
@pytest.mark.parametrize(("options", "named"), INVALID, ids=lambda value: str(value)[:40])
def test_an_invalid_option_falls_back_with_one_warning_and_raises_if_strict(
    render: Render, options: dict[str, Any], named: str, caplog: pytest.LogCaptureFixture
) -> None:
    faqs = embed()
    assert [render(faqs, "pricing", **options) for _ in range(3)] == [render(embed(), "pricing")] * 3
    (warning,) = warnings_of(caplog)
    assert named in warning
    with pytest.raises(ConfigurationError, match=named):
        render(embed(strict=True), "pricing", **options)


def test_an_invalid_option_of_a_record_is_reported_with_its_slug(caplog: pytest.LogCaptureFixture) -> None:
    embed().render(A, heading_level=9)
    (warning,) = warnings_of(caplog)
    assert "'pricing'" in warning
    assert "items" not in warning


def test_an_invalid_option_is_logged_once_for_each_template_and_not_for_each_slug(
    caplog: pytest.LogCaptureFixture,
) -> None:  # a visitor may choose the slug
    source = "{{ faq(slug, heading_level=9) }}"
    host = environment(templates={"a.html": source, "b.html": source})
    for number in range(20):
        for name in ("a.html", "b.html"):
            host.get_template(name).render(slug=f"slug-{number}")
    named = [warning for warning in warnings_of(caplog) if "heading_level" in warning]
    assert [("a.html" in warning, "b.html" in warning) for warning in named] == [(True, False), (False, True)]


def test_a_flood_of_unknown_slugs_hides_no_invalid_option(caplog: pytest.LogCaptureFixture) -> None:
    faqs = embed()
    for number in range(50):
        faqs.render(f"{number}")
    faqs.render("pricing", colour="red")  # type: ignore[call-arg]
    assert "unknown option 'colour'" in caplog.text


@pytest.mark.parametrize("wait", ["soon", -1, float("inf"), 1e10, True])
def test_an_invalid_wait_of_a_reading_call_is_that_of_the_settings(
    wait: Any, caplog: pytest.LogCaptureFixture
) -> None:
    faqs = embed()
    assert {faqs.use_faq(slug, wait=wait).status for slug in ("pricing", "nope")} == {"success", "error"}
    (warning,) = warnings_of(caplog)
    assert "wait" in warning
    with pytest.raises(ConfigurationError, match="wait"):
        embed(strict=True).use_faq("pricing", wait=wait)


def test_an_option_of_another_function_has_no_effect(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    faulty.behave(slow_head(0.3))
    with FAQEmbed(faulty.base_url, wait=0) as faqs:
        assert faqs.render("pricing", wait=30) == ""  # type: ignore[call-arg]
