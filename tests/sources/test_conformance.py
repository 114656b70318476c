"""What every source promises, whatever it is: the same FAQs, errors, cache and budgets, by the public API."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from flask import Flask, render_template_string

from faqsvc_embed import FAQError, FAQGone, FAQNotFound, FAQUnavailable
from faqsvc_embed.flask import FAQExtension
from tests.sources.backends import GERMAN, Backend, Host, Remote, faq
from tests.support.clock import Clock
from tests.support.embeds import LONG, SLACK, refreshed, seconds, title, use_clock
from tests.support.parsed import faq_pages
from tests.support.waiting import settle, wait_until


def test_an_faq_is_read_and_rendered_in_its_default_language(backend: Backend) -> None:
    with backend.embed(wait=30) as embed:
        assert embed.get_faq("pricing").title == "Pricing"
        assert embed.use_faq("pricing").data == embed.get_faq("pricing")
        html = embed.render("pricing")
        assert "Pricing: 5 €" in html
        assert len(faq_pages(html)) == 1


def test_a_translation_is_read_and_a_missing_one_is_the_default(backend: Backend) -> None:
    with backend.embed(wait=30) as embed:
        titles = [embed.get_faq("pricing", lang=lang).title for lang in ("de", "ko")]
        assert titles == (["Preise", "Pricing"] if backend.has_languages else ["Pricing"] * 2)
        assert embed.use_faq("pricing", lang="ko").lang_requested == "ko"


def test_it_is_awaited_in_an_event_loop(backend: Backend) -> None:
    async def main() -> tuple[str, str]:
        async with backend.embed(wait=30) as embed:
            await embed.aprefetch("pricing")
            return (await embed.aget_faq("pricing")).title, await embed.arender("pricing")

    name, html = asyncio.run(main())
    assert name == "Pricing"
    assert "Pricing: 5 €" in html


def test_a_missing_faq_is_an_error_of_this_faq_only(backend: Backend) -> None:
    with backend.embed(wait=30) as embed:
        with pytest.raises(FAQError):
            embed.get_faq("nope")
        assert embed.render("nope") == ""
        assert embed.get_faq("pricing").title == "Pricing"


@pytest.mark.parametrize("slug", ["", "a/b", "..", "\n", 5, None, []])
def test_an_invalid_slug_is_not_found(backend: Backend, slug: str) -> None:
    with backend.embed() as embed:
        assert isinstance(embed.use_faq(slug).error, FAQNotFound)
    if isinstance(backend, Remote):
        assert backend.reads == 0


def test_it_may_be_forgotten_and_closed_at_any_time(backend: Backend) -> None:
    embed = backend.embed(wait=30)
    for step in (embed.forget, embed.close, embed.close):
        embed.forget("pricing")
        assert embed.get_faq("pricing").title == "Pricing"
        step()
    assert embed.render("pricing") != ""
    embed.close()


def test_its_health_costs_no_read(backend: Backend) -> None:
    with backend.embed(wait=30) as embed:
        embed.get_faq("pricing")
        (line, *_) = embed.health()
        assert (line["slug"], line["freshness"], line["error"]) == ("pricing", "fresh", None)
    if isinstance(backend, Remote):
        assert backend.reads == 1


def test_a_source_that_answers_at_once_is_not_counted_as_fetched(backend: Backend) -> None:
    with backend.embed(wait=30) as embed:
        for _ in range(3):
            embed.render("pricing")
        assert embed.reader.reporter.lookups["fetched"] == (1 if backend.may_fail else 0)


def test_a_visitor_with_an_invalid_preview_token_sees_the_published_faq(backend: Backend) -> None:
    app = Flask("host")
    app.add_url_rule("/", view_func=lambda: render_template_string('<p>{{ faq("pricing") }}</p>'))
    with backend.embed(wait=30) as embed:
        FAQExtension(app, embed=embed)
        response = app.test_client().get("/?faq_preview=token")
        assert response.status_code == 200
        assert "Pricing: 5 €" in response.text


# Sources that change, fail and hang


def test_many_callers_make_one_read(remote: Remote) -> None:
    release = remote.hold()
    with remote.embed(wait=30) as embed, ThreadPoolExecutor(20) as pool:
        reads = [pool.submit(embed.get_faq, "pricing") for _ in range(20)]
        wait_until(lambda: remote.reads == 1)
        release.set()
        assert {read.result().title for read in reads} == {"Pricing"}
    assert remote.reads == 1


def test_a_cached_record_costs_no_read_and_a_stale_one_a_read_behind_the_page(
    remote: Remote, clock: Clock
) -> None:
    with remote.embed(wait=30) as embed:
        use_clock(embed, clock)
        for _ in range(3):
            embed.get_faq("pricing")
        assert remote.reads == 1
        remote.publish(faq(title="New"))
        clock.advance(LONG)
        assert title(embed.use_faq("pricing")) == "Pricing"
        settle(embed)
        assert title(embed.use_faq("pricing")) == "New"
        assert remote.reads == 2


def test_a_forgotten_faq_is_read_again_in_every_language(remote: Remote) -> None:
    with remote.embed(wait=30) as embed:
        embed.prefetch("pricing")
        embed.prefetch("pricing", lang="de")
        remote.publish(faq(title="New"))
        remote.publish(faq(title="Neu", lang="de"))
        embed.forget("pricing")
        assert [embed.get_faq("pricing", lang=lang).title for lang in (None, "de")] == ["New", "Neu"]


def test_the_last_good_record_is_shown_through_an_outage_and_a_restart(
    remote: Remote, clock: Clock, tmp_path: Path
) -> None:
    store = f"file:{tmp_path / 'store'}"
    with remote.embed(wait=30, store=store) as embed:
        use_clock(embed, clock)
        embed.get_faq("pricing")
        remote.fail()
        clock.advance(LONG)
        state = refreshed(embed)
        assert (title(state), state.is_degraded) == ("Pricing", True)
    with remote.embed(wait=30, store=store) as restarted:
        use_clock(restarted, clock)  # by the real one, its record may be too old
        assert title(restarted.use_faq("pricing")) == "Pricing"
        remote.heal()
        remote.publish(faq(title="New"))
        restarted.forget("pricing")
        assert restarted.get_faq("pricing").title == "New"


def test_an_outage_at_the_first_start_is_an_error_until_it_ends(remote: Remote, clock: Clock) -> None:
    remote.fail()
    with remote.embed(wait=30) as embed:
        use_clock(embed, clock)
        with pytest.raises(FAQUnavailable):
            embed.get_faq("pricing")
        reads = remote.reads
        assert embed.render("pricing") == ""  # it backs off
        assert remote.reads == reads
        remote.heal()
        clock.advance(LONG)
        assert embed.get_faq("pricing").title == "Pricing"


def test_an_unpublished_faq_leaves_cache_and_store(remote: Remote, clock: Clock, tmp_path: Path) -> None:
    store = f"file:{tmp_path / 'store'}"
    with remote.embed(wait=30, store=store) as embed:
        use_clock(embed, clock)
        embed.get_faq("pricing")
        remote.unpublish()
        clock.advance(LONG)
        assert isinstance(refreshed(embed).error, FAQGone)
        assert embed.render("pricing") == ""
    remote.fail()
    with remote.embed(wait=30, store=store) as restarted, pytest.raises(FAQUnavailable):
        restarted.get_faq("pricing")


def test_a_page_waits_no_longer_than_its_budget(remote: Remote) -> None:
    release = remote.hold()
    with remote.embed(wait=0.05, timeout=30) as embed:
        state = embed.use_faq("pricing")
        assert (state.is_loading, state.data) == (True, None)
        assert seconds(lambda: [embed.render("pricing") for _ in range(3)]) < SLACK
        release.set()
        settle(embed)
        assert title(embed.use_faq("pricing")) == "Pricing"


def test_a_read_is_given_up_after_the_timeout(remote: Remote) -> None:
    remote.hold()
    with remote.embed(wait=30, timeout=0.05) as embed:
        with pytest.raises(FAQUnavailable):
            embed.get_faq("pricing")
        remote.heal()


def test_while_it_hangs_a_cached_translation_is_shown(remote: Remote) -> None:
    with remote.embed(wait=30, timeout=0.5) as embed:
        wait_until(lambda: embed.use_faq("pricing", lang="de").data == GERMAN)
        remote.hold()
        embed.use_faq("pricing", lang="fr")
        settle(embed)
        assert title(embed.use_faq("pricing", lang="fr")) == "Preise"
        remote.heal()


def test_records_of_two_sources_share_a_store_and_never_mix(tmp_path: Path, remote: Remote) -> None:
    store = f"file:{tmp_path / 'store'}"
    other = Host(tmp_path)
    other.shop.name = "another shop"
    other.publish(faq(title="Other"))
    with remote.embed(wait=30, store=store) as one, other.embed(wait=30, store=store) as two:
        assert [one.get_faq("pricing").title, two.get_faq("pricing").title] == ["Pricing", "Other"]
        settle(one)
        settle(two)
    remote.fail()
    with remote.embed(wait=30, store=store) as restarted:
        assert title(restarted.use_faq("pricing")) == "Pricing"
