"""Without a record in the requested language and without the service, a cached translation is shown."""

from pathlib import Path

import pytest

from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import LONG, MakeEmbed, read, refreshed
from tests.support.faults import behaviours
from tests.support.faulty import Behaviour, FaultyServer
from tests.support.waiting import settle


@pytest.fixture(autouse=True)
def _translations(faulty: FaultyServer) -> None:
    for lang, record in samples.multilingual().items():
        faulty.serve(record, lang=lang)


@pytest.mark.parametrize("behaviour", [behaviours.refuse, behaviours.status(500), behaviours.hang])
def test_a_cached_translation_is_shown_with_its_own_language(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, behaviour: Behaviour
) -> None:
    embed = make_embed(timeout=1)
    read(embed, clock, lang="ko")
    faulty.behave(behaviour)
    for _ in range(2):
        state = embed.use_faq("pricing", lang="de")
        assert (state.lang_requested, state.lang_served) == ("de", "ko")
        assert (state.is_stale, state.source) == (True, "memory")
        settle(embed)
    assert state.is_degraded
    assert 'lang="ko"' in embed.render("pricing", lang="de")


def test_the_log_does_not_say_that_nothing_is_shown_where_a_translation_is(
    make_embed: MakeEmbed, faulty: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:
    embed = make_embed()
    embed.get_faq("pricing", lang="ko")
    faulty.refuse()
    embed.render("pricing", lang="de")
    settle(embed)
    assert "in 'de'" in caplog.text


def test_the_default_language_comes_first(make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    embed = make_embed(lang="es")
    for lang in ("ja", "ko", "es"):
        embed.get_faq("pricing", lang=lang)
    faulty.refuse()
    assert embed.use_faq("pricing", lang="de").lang_served == "es"
    embed = make_embed()
    faulty.accept()
    for own in ("ja", None):
        embed.get_faq("pricing", lang=own)
    faulty.refuse()
    assert embed.use_faq("pricing", lang="de").lang_served == "en"


def test_a_translation_that_is_shown_instead_is_not_the_first_to_be_evicted(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed(max_entries=4)
    for lang in ("en", "ko", "es"):
        embed.get_faq("pricing", lang=lang)
        clock.advance(1)
    faulty.refuse()
    assert refreshed(embed, lang="de").lang_served == "en"
    faulty.accept()
    for lang in ("fr", "zh"):
        clock.advance(1)
        embed.get_faq("pricing", lang=lang)
    assert {health["lang"] for health in embed.health()} == {"en", "es", "fr", "zh"}


def test_the_requested_language_is_shown_once_the_service_responds(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed()
    embed.get_faq("pricing", lang="ko")
    faulty.refuse()
    assert refreshed(embed, lang="de").lang_served == "ko"
    faulty.accept()
    clock.advance(LONG)
    state = refreshed(embed, lang="de")
    assert (state.lang_served, state.error, state.is_stale) == ("de", None, False)


def test_no_translation_replaces_an_faq_that_does_not_exist(
    make_embed: MakeEmbed, faulty: FaultyServer
) -> None:
    embed = make_embed()
    embed.get_faq("pricing", lang="ko")
    faulty.behave(behaviours.status(404))
    assert embed.use_faq("pricing", lang="de").data is None


def test_a_translation_that_is_too_old_is_not_shown(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock
) -> None:
    embed = make_embed(keep_for=100)
    embed.get_faq("pricing", lang="ko")
    faulty.refuse()
    clock.advance(LONG)
    assert embed.use_faq("pricing", lang="de").data is None


def test_after_a_restart_the_translation_comes_from_the_store(
    make_embed: MakeEmbed, faulty: FaultyServer, tmp_path: Path
) -> None:
    store = f"file:{tmp_path}"
    make_embed(store=store).get_faq("pricing", lang="ko")
    faulty.refuse()
    state = make_embed(store=store).use_faq("pricing", lang="de")
    assert (state.lang_requested, state.lang_served, state.is_degraded) == ("de", "ko", True)
