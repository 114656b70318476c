"""A folder beside a service: its files are shown until the service has responded."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from faqsvc_embed import FAQEmbed, FAQNotFound
from faqsvc_embed.cache.memory import Mark
from faqsvc_embed.cache.shared import SharedStore
from faqsvc_embed.sources import service as feed
from tests.folder.support import PREISE, PRICING, folder
from tests.support import faulty as faults
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import LONG, use_clock
from tests.support.faulty import FaultyServer
from tests.support.feed_service import feed_service
from tests.support.waiting import settle, wait_until


@pytest.fixture
def faqs(tmp_path: Path) -> Path:
    """A folder with an FAQ in two languages, and one that the service does not have."""
    return folder(tmp_path, pricing__md=PRICING, pricing__de__md=PREISE, terms__md=PRICING)


def title(embed: FAQEmbed, slug: str = "pricing", lang: str | None = None) -> str | None:
    """Return what a page shows now, once running fetches have ended."""
    state = embed.use_faq(slug, lang=lang)
    settle(embed)
    return state.data.title if state.data else None


def test_the_first_page_shows_the_file_and_the_next_the_record_of_the_service(
    faulty: FaultyServer, faqs: Path
) -> None:
    faulty.serve(samples.record("pricing", title="From the service"))
    with FAQEmbed(faulty.base_url, directory=faqs) as embed:
        state = embed.use_faq("pricing")
        assert (state.data and state.data.title, state.is_stale, state.source) == ("Pricing", True, "memory")
        settle(embed)
        assert title(embed) == "From the service"
        assert not embed.use_faq("pricing").is_stale


@pytest.mark.parametrize("has_store", [False, True])
def test_a_file_of_the_folder_is_shown_without_a_wait_for_the_service(
    faulty: FaultyServer, faqs: Path, tmp_path: Path, has_store: bool
) -> None:
    store = f"file:{tmp_path / 'store'}" if has_store else None
    faulty.behave(faults.hang)
    with FAQEmbed(faulty.base_url, directory=faqs, store=store, timeout=60, wait=60) as embed:
        assert embed.get_faq("pricing", lang="de").title == "Preise"
        assert embed.get_faq("pricing", lang="de").title == "Preise"  # of the cache
        assert embed.reader.fetcher.is_fetching()


def test_no_page_shows_a_file_before_the_store_was_read(
    faulty: FaultyServer, faqs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"file:{tmp_path / 'store'}"
    faulty.behave(faults.status(410))
    with FAQEmbed(faulty.base_url, directory=faqs, store=store) as embed:
        title(embed)
    release, tombstone = threading.Event(), SharedStore.tombstone

    async def tombstone_slowly(store: SharedStore, slug: str) -> Mark | None:
        await asyncio.to_thread(release.wait)
        return await tombstone(store, slug)

    async def release_later() -> None:
        release.set()

    async def pages(embed: FAQEmbed) -> Any:
        return await asyncio.gather(embed.arender("pricing"), embed.arender("pricing"), release_later())

    monkeypatch.setattr(SharedStore, "tombstone", tombstone_slowly)
    faulty.behave(faults.hang)
    with FAQEmbed(faulty.base_url, directory=faqs, store=store, wait=60) as embed:
        assert asyncio.run(pages(embed)) == ["", "", None]


def test_a_file_is_shown_without_a_wait_while_the_change_feed_refreshes_it(
    faqs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "SETTLE", 0.02)
    with (
        feed_service() as service,
        FAQEmbed(service.url, directory=faqs, store=f"file:{tmp_path / 'store'}", timeout=60) as embed,
    ):
        service.is_down = True
        assert title(embed) == "Pricing"
        service.may_read.clear()
        service.send('{"slug": "pricing", "lang": "en", "revision": 2, "state": "published"}')
        wait_until(lambda: embed.reader.fetcher.is_fetching())
        now = embed.reader.cache.clock()
        embed.reader.cache.clock = lambda: now + 60
        assert embed.use_faq("pricing", wait=60).is_fetching
        service.may_read.set()


@pytest.mark.parametrize("behaviour", [faults.refuse, faults.hang, faults.garbage, faults.status(503)])
def test_an_outage_at_the_first_boot_shows_the_folder(
    faulty: FaultyServer, faqs: Path, behaviour: faults.Behaviour
) -> None:
    faulty.behave(behaviour)
    with FAQEmbed(faulty.base_url, directory=faqs, timeout=0.3) as embed:
        assert [embed.get_faq("pricing", lang=lang).title for lang in (None, "de", "ko")] == [
            "Pricing",
            "Preise",
            "Pricing",
        ]
        settle(embed)
        state = embed.use_faq("pricing")
        assert (state.data is not None, state.is_degraded) == (True, True)


def test_the_folder_is_shown_for_the_whole_of_an_outage(faulty: FaultyServer, faqs: Path) -> None:
    faulty.refuse()
    with FAQEmbed(faulty.base_url, directory=faqs, keep_for=0) as embed:
        assert title(embed) == "Pricing"
        now = embed.reader.cache.clock()
        embed.reader.cache.clock = lambda: now + 10 * 365 * 86_400
        assert title(embed) == "Pricing"


def test_an_unpublished_faq_stays_gone_after_it_was_forgotten(faulty: FaultyServer, faqs: Path) -> None:
    faulty.behave(faults.status(410))
    with FAQEmbed(faulty.base_url, directory=faqs) as embed:
        assert title(embed) == "Pricing"
        assert title(embed) is None
        embed.forget("pricing")
        faulty.refuse()
        assert title(embed) is None
        assert title(embed, lang="de") is None
        assert embed.render("pricing") == ""


@pytest.mark.parametrize("is_late", [False, True])
def test_a_file_is_not_shown_again_when_the_newer_record_of_the_service_is_forgotten(
    faulty: FaultyServer, faqs: Path, clock: Clock, is_late: bool
) -> None:
    faulty.serve(samples.record("pricing", title="From the service"))
    faulty.behave(faults.status(503) if is_late else faults.healthy)
    with FAQEmbed(faulty.base_url, directory=faqs) as embed:
        use_clock(embed, clock)
        assert title(embed) == "Pricing"
        faulty.behave(faults.healthy)
        clock.advance(LONG)
        title(embed)
        assert title(embed) == "From the service"
        faulty.serve(samples.record("pricing", title="Edited"))
        embed.forget("pricing")
        assert embed.get_faq("pricing").title == "Edited"


@pytest.mark.parametrize("lang", [None, "de"])
def test_an_unpublished_faq_stays_gone_after_a_restart_if_there_is_a_store(
    faulty: FaultyServer, faqs: Path, tmp_path: Path, lang: str | None
) -> None:
    store = f"file:{tmp_path / 'store'}"
    faulty.behave(faults.status(410))
    with FAQEmbed(faulty.base_url, directory=faqs, store=store) as embed:
        title(embed)
        assert title(embed) is None
    faulty.refuse()
    with FAQEmbed(faulty.base_url, directory=faqs, store=store) as embed:
        assert title(embed, lang=lang) is None
        assert title(embed, "terms") == "Pricing"


def test_an_faq_that_was_published_again_is_shown_after_a_restart(
    faulty: FaultyServer, faqs: Path, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"directory": faqs, "store": f"file:{tmp_path / 'store'}"}
    faulty.behave(faults.status(410))
    with FAQEmbed(faulty.base_url, **settings) as embed:
        title(embed)
        assert title(embed) is None
        faulty.behave(faults.healthy)
        faulty.serve(samples.record("pricing", title="Again"))
        embed.forget("pricing")
        assert embed.get_faq("pricing").title == "Again"
    with FAQEmbed(faulty.base_url, **settings) as embed:  # now that it has been stored
        embed.forget("pricing")
    with FAQEmbed(faulty.base_url, **settings) as embed:
        assert [title(embed), title(embed)] == ["Pricing", "Again"]


def test_without_a_store_a_line_names_the_file_to_delete(
    faulty: FaultyServer, faqs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faulty.behave(faults.status(410))
    with FAQEmbed(faulty.base_url, directory=faqs) as embed:
        for _ in range(3):
            title(embed)
    lines = [record.getMessage() for record in caplog.records if str(faqs) in record.getMessage()]
    assert len(lines) == 1
    assert "pricing.md" in lines[0]


def test_a_repeated_404_ends_what_the_folder_shows(faulty: FaultyServer, faqs: Path) -> None:
    with FAQEmbed(faulty.base_url, directory=faqs, not_found_for=0) as embed:
        assert title(embed, "terms") == "Pricing"
        assert title(embed, "terms") == "Pricing"
        now = embed.reader.cache.clock()
        embed.reader.cache.clock = lambda: now + 5
        title(embed, "terms")
        assert isinstance(embed.use_faq("terms").error, FAQNotFound)


def test_a_record_in_the_store_is_shown_instead_of_the_file(
    faulty: FaultyServer, faqs: Path, tmp_path: Path
) -> None:
    faulty.serve(samples.record("pricing", title="From the service"))
    store = f"file:{tmp_path / 'store'}"
    with FAQEmbed(faulty.base_url, store=store) as embed:
        assert title(embed) == "From the service"
    faulty.refuse()
    with FAQEmbed(faulty.base_url, directory=faqs, store=store) as embed:
        assert title(embed) == "From the service"
        assert title(embed, "terms") == "Pricing"


def test_more_faqs_than_the_cache_holds_are_all_shown(faulty: FaultyServer, tmp_path: Path) -> None:
    faqs = folder(tmp_path, **{f"faq-{number}__md": PRICING for number in range(20)})
    faulty.refuse()
    with FAQEmbed(faulty.base_url, directory=faqs, max_entries=5) as embed:
        assert [title(embed, f"faq-{number % 20}") for number in range(40)] == ["Pricing"] * 40


@pytest.mark.parametrize("behaviour", [faults.refuse, faults.status(503), faults.hang])
def test_an_edited_file_is_shown_while_the_service_has_never_responded(
    faulty: FaultyServer, faqs: Path, behaviour: faults.Behaviour
) -> None:
    faulty.behave(behaviour)
    with FAQEmbed(faulty.base_url, directory=faqs, reload=True, timeout=0.2) as embed:
        assert title(embed) == "Pricing"
        (faqs / "pricing.md").write_text(PRICING.replace("title: Pricing", "title: Edited"))
        assert [title(embed), title(embed)] == ["Edited", "Edited"]
        (faqs / "pricing.md").write_text("---\nlang: en\n---\n")
        assert "pricing.md" in str(embed.use_faq("pricing").error)
        assert "pricing.md" in embed.render("pricing")
        for _ in range(2):
            assert title(embed, "new") is None
            (faqs / "new.md").write_text("---\nlang: en\n---\n")
            assert "new.md" in embed.render("new")
            (faqs / "new.md").write_text(PRICING)
            assert title(embed, "new") == "Pricing"
            (faqs / "new.md").unlink()


def test_after_a_404_a_new_file_is_not_shown_though_the_service_fails(
    faulty: FaultyServer, faqs: Path, clock: Clock
) -> None:
    with FAQEmbed(faulty.base_url, directory=faqs, reload=True) as embed:
        use_clock(embed, clock)
        assert title(embed, "new") is None
        faulty.behave(faults.status(503))
        (faqs / "new.md").write_text(PRICING)
        for _ in range(2):
            clock.advance(LONG)
            assert title(embed, "new") is None


def test_without_reload_an_edited_file_waits_for_the_next_start(faulty: FaultyServer, faqs: Path) -> None:
    faulty.refuse()
    with FAQEmbed(faulty.base_url, directory=faqs) as embed:
        assert title(embed) == "Pricing"
        (faqs / "pricing.md").write_text(PRICING.replace("title: Pricing", "title: Edited"))
        assert title(embed) == "Pricing"


def test_an_edited_file_does_not_replace_a_record_of_the_service(faulty: FaultyServer, faqs: Path) -> None:
    faulty.serve(samples.record("pricing", title="From the service"))
    with FAQEmbed(faulty.base_url, directory=faqs, reload=True) as embed:
        title(embed)
        (faqs / "pricing.md").write_text("---\nlang: en\n---\n")
        assert title(embed) == "From the service"
