"""What host projects get for their own tests: FAQs at hand, and nothing else in the world."""

import asyncio
import socket
import threading
from typing import Any

import pytest
from jinja2 import DictLoader, Environment

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed, FAQNotFound, InvalidFAQ, Settings
from faqsvc_embed.jinja import install
from faqsvc_embed.testing import fake_embed, fake_faqs
from tests.support import samples
from tests.support.clock import Clock

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
    "given", [PRICING, samples.pricing(), without_slug()], ids=["FAQ", "wire", "no slug"]
)
@pytest.mark.usefixtures("no_network")
def test_a_fake_knows_the_records_that_it_was_given(given: FAQ | dict[str, Any]) -> None:
    threads = threading.active_count()
    with fake_embed({"pricing": given}) as embed:
        assert embed.get_faq("pricing") == PRICING
        assert embed.use_faq("pricing").data == PRICING
        html = embed.render("pricing")
        assert (html.count("<details"), html.count("application/ld+json")) == (3, 1)
    assert threading.active_count() == threads


@pytest.mark.usefixtures("no_network")
def test_every_other_slug_is_not_found() -> None:
    embed = fake_embed({"pricing": PRICING})
    with pytest.raises(FAQNotFound, match="no FAQ 'help' in this fake"):
        embed.get_faq("help")
    assert isinstance(embed.use_faq("help").error, FAQNotFound)
    assert embed.render("help") == ""
    with pytest.raises(FAQNotFound, match="is no slug"):
        embed.get_faq("a/b")


def test_a_fake_is_there_for_async_hosts_too() -> None:
    async def host() -> tuple[FAQ, FAQ | None, str]:
        async with fake_embed({"pricing": PRICING}) as embed:
            await embed.aprefetch("pricing", "help")
            state = await embed.ause_faq("pricing")
            return await embed.aget_faq("pricing"), state.data, await embed.arender("help")

    assert asyncio.run(host()) == (PRICING, PRICING, "")


@pytest.mark.usefixtures("no_network")
def test_a_fake_answers_in_whatever_language_is_asked_for() -> None:
    embed = fake_embed({"pricing": PRICING}, lang="de")
    assert embed.get_faq("pricing", lang="ko") == PRICING
    state = embed.use_faq("pricing")
    assert (state.lang_requested, state.lang_served) == ("de", "en")


@pytest.mark.usefixtures("no_network")
def test_fakes_take_the_place_of_what_an_application_has_and_its_settings_and_templates_stay() -> None:
    host = Environment(autoescape=True, loader=DictLoader({"faqsvc/faq.html": "{{ title }}"}))
    embed = FAQEmbed("https://faq.invalid", styles="none")
    install(host, embed)
    page = host.from_string('{{ faq("pricing", schema=false) }}')
    for title in ("One", "Two"):
        fake_faqs(embed, {"pricing": {**samples.pricing(), "title": title}})
        section = f'<section class="faqsvc" id="faq-pricing" lang="en" dir="ltr">{title}\n</section>'
        assert page.render() == section


@pytest.mark.usefixtures("no_network")
def test_fakes_are_there_for_an_application_that_is_offline_too() -> None:
    with fake_embed({"pricing": PRICING}, offline=True) as embed:
        assert embed.get_faq("pricing") == PRICING


@pytest.mark.usefixtures("no_network")
def test_a_fake_does_not_wait_and_does_not_forget_its_own(clock: Clock) -> None:
    embed = fake_embed({"pricing": PRICING}, wait=0)
    embed.cache.clock = clock.now
    assert embed.use_faq("pricing").data == PRICING
    clock.advance(1e6)
    state = embed.use_faq("pricing")
    assert (state.data, state.is_stale, state.error) == (PRICING, False, None)
    embed.forget()
    embed.close()
    assert embed.get_faq("pricing") == PRICING


@pytest.mark.usefixtures("no_network")
def test_settings_are_those_of_an_embed() -> None:
    embed = fake_embed({"pricing": PRICING}, settings=Settings(show_title=False, strict=True))
    assert "Pricing" not in embed.render("pricing")
    with pytest.raises(FAQNotFound):
        embed.render("help")
    assert fake_embed({}, base_url="https://faq.example.com").settings.base_url == "https://faq.example.com"
    with pytest.raises(ConfigurationError, match="'waits' is no setting; did you mean 'wait'"):
        fake_embed({}, waits=1)


@pytest.mark.parametrize(
    ("record", "path"),
    [({}, "items"), ({"items": [{"question": "Why?"}]}, "items[0].answer"), ({"items": 3}, "items")],
)
def test_a_mapping_that_is_no_record_is_refused_when_the_fake_is_made(
    record: dict[str, Any], path: str
) -> None:
    with pytest.raises(InvalidFAQ) as caught:
        fake_embed({"pricing": record})
    assert caught.value.path == path
