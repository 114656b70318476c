"""The whole public API, with the types that the type checker of a host finds; mypy reads this file."""

from collections.abc import Mapping
from typing import Any, Literal, assert_type

from markupsafe import Markup

from faqsvc_embed import (
    FAQ,
    FAQClient,
    FAQEmbed,
    FAQError,
    FAQState,
    Item,
    Publication,
    Settings,
    Theme,
    aget_faq,
    get_faq,
    to_json_ld,
    to_json_ld_string,
)
from faqsvc_embed.testing import fake_embed


def records() -> FAQ:
    faq = assert_type(FAQ.from_dict({"slug": "pricing", "items": []}), FAQ)
    assert_type(faq.items, tuple[Item, ...])
    assert_type(faq.title, str)
    assert_type(faq.to_dict(), dict[str, Any])
    assert_type(faq.to_json(), str)
    assert_type(to_json_ld(faq), dict[str, Any])
    assert_type(to_json_ld_string(faq), str)
    return faq


def embed() -> FAQEmbed:
    theme = Theme(accent_color="teal", question_size=18)
    with FAQEmbed("https://faq.example.com", lang="ko", theme=theme, wait=0.5, keep_for=None) as faqs:
        state = assert_type(faqs.use_faq("pricing", wait=0), FAQState)
        assert_type(state.data, FAQ | None)
        assert_type(state.error, FAQError | None)
        assert_type(state.is_loading, bool)
        assert_type(faqs.get_faq("pricing", lang="de"), FAQ)
        assert_type(faqs.render("pricing", theme={"accentColor": "teal"}, heading_level=None), Markup)
        assert_type(faqs.schema(records(), nonce="n"), Markup)
        faqs.prefetch("pricing", "legal", lang="ko")
        faqs.forget("pricing")
    return fake_embed({"pricing": records(), "legal": {"items": []}}, lang="ko")


def settings() -> Settings:
    given = Settings(base_url="https://faq.example.com", theme={"accentColor": "teal"}, store=None)
    assert_type(given.keep_for, float | None)
    assert_type(given.theme, Theme)
    assert_type(given.heading_level, int | None)
    assert_type(given.variant, Literal["details", "disclosure", "open"])
    assert_type(given.insecure_hosts, tuple[str, ...])
    FAQEmbed(base_url=None, settings=given, variant="open", heading_level=None, max_entries=5)
    FAQClient("https://faq.example.com", api_key="fs_live_x", insecure_hosts="faqs", timeout=1)
    from_config = Settings.from_mapping({"FAQSVC_LANG": "ko"}, theme=Theme(question_size=20))
    return assert_type(from_config.replace(keep_for=None, styles="linked"), Settings)


async def asynchronous(faqs: FAQEmbed) -> None:
    async with faqs:
        assert_type(await faqs.aget_faq("pricing"), FAQ)
        assert_type(await faqs.ause_faq("pricing"), FAQState)
        assert_type(await faqs.arender("pricing", schema=False), Markup)
        await faqs.aprefetch("pricing")
    assert_type(FAQEmbed(settings=Settings(base_url="https://faq.example.com")).settings, Settings)
    assert_type(await aget_faq("pricing", "ko", base_url="https://faq.example.com"), FAQ)
    assert_type(get_faq("pricing"), FAQ)


def client(items: list[tuple[str, str]], more: list[Mapping[str, str]]) -> None:
    with FAQClient("https://faq.example.com", api_key="fs_live_x") as writer:
        publication = writer.publish_faq(
            website_url="https://example.com",
            website_name="Example",
            items=[*items, *more, Item(0, "q", "a")],
        )
        assert_type(publication, Publication)
        assert_type(publication.slug, str)
