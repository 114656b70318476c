"""Fakes for the tests of host projects: FAQs without a service."""

import asyncio
import socket
import threading
from typing import Any

import pytest
from jinja2 import DictLoader, Environment

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed, FAQNotFound, InvalidFAQ
from faqsvc_embed.jinja import install
from faqsvc_embed.testing import fake_embed, fake_faqs
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import use_clock, warnings_of

PRICING = FAQ.from_dict(samples.pricing())


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a fake embed opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def without_slug() -> dict[str, Any]:
    return {name: value for name, value in samples.pricing().items() if name != "slug"}


@pytest.mark.parametrize(
    "record", [PRICING, samples.pricing(), without_slug()], ids=["FAQ", "mapping", "mapping without slug"]
)
@pytest.mark.usefixtures("no_network")
def test_a_fake_embed_has_its_records_and_starts_no_thread(record: FAQ | dict[str, Any]) -> None:
    threads = threading.active_count()
    with fake_embed({"pricing": record}) as embed:
        assert embed.get_faq("pricing") == PRICING
        assert embed.use_faq("pricing").data == PRICING
        html = embed.render("pricing")
        assert (html.count("<details"), html.count("application/ld+json")) == (3, 1)
    assert threading.active_count() == threads


@pytest.mark.usefixtures("no_network")
def test_every_other_slug_is_not_found() -> None:
    embed = fake_embed({"pricing": PRICING})
    with pytest.raises(FAQNotFound):
        embed.get_faq("help")
    assert isinstance(embed.use_faq("help").error, FAQNotFound)
    assert embed.render("help") == ""
    with pytest.raises(FAQNotFound):
        embed.get_faq("a/b")


def test_a_slug_that_a_fake_embed_lacks_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    embed = fake_embed({"pricing": samples.pricing()})
    assert embed.render("prices") == ""
    assert warnings_of(caplog) == ["there is no FAQ 'prices' in this fake"]


def test_a_fake_embed_works_in_an_event_loop() -> None:
    async def main() -> tuple[FAQ, FAQ | None, str]:
        async with fake_embed({"pricing": PRICING}) as embed:
            await embed.aprefetch("pricing", "help")
            state = await embed.ause_faq("pricing")
            return await embed.aget_faq("pricing"), state.data, await embed.arender("help")

    assert asyncio.run(main()) == (PRICING, PRICING, "")


@pytest.mark.usefixtures("no_network")
def test_a_fake_embed_returns_its_record_in_every_language() -> None:
    embed = fake_embed({"pricing": PRICING}, lang="de")
    assert embed.get_faq("pricing", lang="ko") == PRICING
    state = embed.use_faq("pricing")
    assert (state.lang_requested, state.lang_served) == ("de", "en")


@pytest.mark.usefixtures("no_network")
def test_fake_faqs_replace_those_of_an_application_and_keep_its_settings_and_templates() -> None:
    host = Environment(autoescape=True, loader=DictLoader({"faqsvc/faq.html": "{{ title }}"}))
    embed = FAQEmbed("https://faq.invalid", styles="none")
    install(host, embed)
    page = host.from_string('{{ faq("pricing", schema=false) }}')
    for title in ("One", "Two"):
        fake_faqs(embed, {"pricing": {**samples.pricing(), "title": title}})
        section = f'<section class="faqsvc" id="faq-pricing" lang="en" dir="ltr">{title}\n</section>'
        assert page.render() == section


@pytest.mark.usefixtures("no_network")
def test_a_fake_embed_may_be_offline() -> None:
    with fake_embed({"pricing": PRICING}, offline=True) as embed:
        assert embed.get_faq("pricing") == PRICING


@pytest.mark.usefixtures("no_network")
def test_a_fake_record_never_expires_and_cannot_be_forgotten() -> None:
    embed, clock = fake_embed({"pricing": PRICING}, wait=0), Clock()
    use_clock(embed, clock)
    assert embed.use_faq("pricing").data == PRICING
    clock.advance(1e6)
    state = embed.use_faq("pricing")
    assert (state.data, state.is_stale, state.error) == (PRICING, False, None)
    embed.forget()
    embed.close()
    assert embed.get_faq("pricing") == PRICING


@pytest.mark.usefixtures("no_network")
def test_a_fake_embed_has_the_settings_of_an_embed() -> None:
    embed = fake_embed({"pricing": PRICING}, show_title=False, strict=True)
    assert "Pricing" not in embed.render("pricing")
    with pytest.raises(FAQNotFound):
        embed.render("help")
    assert fake_embed({}, base_url="https://faq.example.com").settings.base_url == "https://faq.example.com"
    with pytest.raises(ConfigurationError):
        fake_embed({}, waits=1)  # type: ignore[call-arg]


@pytest.mark.parametrize("wrong", ["pricing", [FAQ.from_dict(samples.pricing())], {"pricing": "text"}])
def test_something_else_than_records_by_slug_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match="by slug"):
        fake_embed(wrong)


@pytest.mark.parametrize(
    ("record", "path"),
    [({}, "items"), ({"items": [{"question": "Why?"}]}, "items[0].answer"), ({"items": 3}, "items")],
)
def test_an_invalid_mapping_is_refused_when_the_fake_is_made(record: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidFAQ) as caught:
        fake_embed({"pricing": record})
    assert caught.value.path == path
