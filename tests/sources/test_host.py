"""A source of the host itself: how its `get` is called, and what becomes of what it returns or raises."""

import asyncio
import threading
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from faqsvc_embed import (
    FAQ,
    ConfigurationError,
    FAQEmbed,
    FAQGone,
    FAQNotFound,
    FAQUnavailable,
    InvalidFAQ,
    Settings,
)
from faqsvc_embed.errors import FAQTimeout
from faqsvc_embed.flask import FAQExtension, faqs_from
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.sources.host import MAX_CALLS
from tests.sources.backends import ENGLISH, AsyncShop, Shop, faq
from tests.support.clock import Clock
from tests.support.embeds import LONG, failure, refreshed, title, use_clock
from tests.support.waiting import settle, wait_until

Get = Callable[[str, str | None], Any]


class Source:
    """A source with this function."""

    def __init__(self, get: Get) -> None:
        self.get = get


ONE = Source(lambda slug, lang: ENGLISH)
"""A source that settings can name by a dotted path."""


class One:
    """A source that settings can name by the dotted path to its class."""

    def get(self, slug: str, lang: str | None) -> FAQ | None:
        return ENGLISH


@pytest.mark.parametrize("make", [Shop, AsyncShop])
def test_it_is_never_called_on_the_thread_of_a_page(make: type[Shop]) -> None:
    shop = make()
    shop.faqs["pricing", None] = ENGLISH

    async def main() -> None:
        await embed.aget_faq("pricing")
        embed.forget()
        await embed.arender("pricing")

    with FAQEmbed(source=shop, wait=30) as embed:
        embed.get_faq("pricing")
        embed.forget()
        asyncio.run(main())
    assert len(shop.calls) == 3
    assert threading.get_ident() not in shop.threads


def test_a_missing_language_asks_for_the_default_once() -> None:
    shop = Shop()
    shop.faqs["pricing", None] = ENGLISH
    with FAQEmbed(source=shop, wait=30) as embed:
        assert embed.get_faq("pricing", lang="ko") == ENGLISH
        with pytest.raises(FAQNotFound):
            embed.get_faq("other")
    assert shop.calls == [("pricing", "ko"), ("pricing", None), ("other", None)]


@pytest.mark.parametrize("make", [Shop, AsyncShop])
def test_there_is_one_call_for_an_faq_at_a_time_in_all_languages(make: type[Shop]) -> None:
    shop = make()
    shop.release.clear()
    shop.faqs.update({("pricing", lang): ENGLISH for lang in (None, "de", "ko")})
    with FAQEmbed(source=shop, wait=0) as embed:
        for lang in (None, "de", "ko"):
            embed.use_faq("pricing", lang=lang)
        embed.use_faq("legal")
        wait_until(lambda: len(shop.calls) == 2)
        assert {slug for slug, _ in shop.calls} == {"pricing", "legal"}
        shop.release.set()
        settle(embed)
        assert sorted(slug for slug, _ in shop.calls) == ["legal", *["pricing"] * 3]


def test_an_faq_that_hangs_in_all_languages_does_not_hold_up_others() -> None:
    shop, release = Shop(), threading.Event()
    shop.faqs["pricing", None] = ENGLISH

    def get(slug: str, lang: str | None) -> FAQ | None:
        if slug == "legal":
            release.wait(60)
        return shop.get(slug, lang)

    with FAQEmbed(source=Source(get), wait=0, timeout=60) as embed:
        for lang in (None, *LANGUAGES):
            embed.use_faq("legal", lang=lang)
        assert embed.get_faq("pricing") == ENGLISH
        release.set()
        settle(embed)


def test_what_returns_late_is_used_and_the_faq_is_asked_for_again_after(clock: Clock) -> None:
    shop = Shop()
    shop.release.clear()
    shop.faqs["pricing", None] = ENGLISH
    with FAQEmbed(source=shop, wait=30, timeout=0.05) as embed:
        use_clock(embed, clock)
        for _ in range(3):
            state = embed.use_faq("pricing")
            assert type(state.error) is FAQTimeout
            assert not state.is_fetching
            clock.advance(LONG)
        wait_until(lambda: len(shop.calls) == 1)
        shop.release.set()
        wait_until(lambda: embed.use_faq("pricing").data == ENGLISH)
        assert len(shop.calls) == 1
        clock.advance(LONG)
        assert refreshed(embed).data == ENGLISH
        wait_until(lambda: len(shop.calls) == 2)


def test_a_call_is_not_given_up_because_the_process_was_suspended(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, running = Shop(), time.monotonic
    shop.faqs["pricing", None] = ENGLISH
    with FAQEmbed(source=shop, wait=0) as embed:
        use_clock(embed, clock)
        embed.get_faq("pricing")
        clock.advance(LONG)
        shop.release.clear()
        embed.use_faq("pricing")
        wait_until(lambda: len(shop.calls) == 2)
        monkeypatch.setattr(time, "monotonic", lambda: running() + 3600)
        embed.use_faq("other")  # its call wakes the background loop
        wait_until(lambda: len(shop.calls) == 3)
        assert embed.use_faq("pricing").error is None
        shop.release.set()
        settle(embed)
        assert not embed.use_faq("pricing").is_stale


def test_no_page_gets_what_returns_after_its_faq_was_forgotten() -> None:
    shop = Shop()
    shop.release.clear()
    shop.faqs["pricing", None] = faq(title="Old")
    with FAQEmbed(source=shop, wait=30, timeout=0.05) as embed:
        embed.use_faq("pricing")
        embed.forget("pricing")
        embed.use_faq("pricing")
        shop.faqs["pricing", None] = faq(title="New")
        shop.release.set()
        titles = set[str | None]()

        def has_arrived() -> bool:
            titles.add(title(embed.use_faq("pricing")))
            return "New" in titles

        wait_until(has_arrived)
        assert "Old" not in titles


class Hanging:
    """Sources whose `get` hangs until `release` is set, and count the calls that run."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.running = self.most = 0
        self._lock = threading.Lock()

    def count(self, number: int) -> None:
        with self._lock:
            self.running += number
            self.most = max(self.most, self.running)


class HangingThread(Hanging):
    def get(self, slug: str, lang: str | None) -> FAQ | None:
        self.count(1)
        self.release.wait(60)
        self.count(-1)
        return faq(slug)


class HangingTask(Hanging):
    async def get(self, slug: str, lang: str | None) -> FAQ | None:
        self.count(1)
        while not self.release.is_set():  # it swallows its cancellation
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        self.count(-1)
        return faq(slug)


@pytest.mark.parametrize("make", [HangingThread, HangingTask])
def test_a_source_that_hangs_never_has_more_calls_at_once_than_allowed(
    make: type[HangingThread] | type[HangingTask], clock: Clock
) -> None:
    source = make()
    with FAQEmbed(source=source, wait=0, timeout=0.02) as embed:
        use_clock(embed, clock)
        for number in range(MAX_CALLS * 3):
            embed.use_faq(f"faq-{number}", wait=5)
            clock.advance(LONG)  # the next probe is due
        wait_until(lambda: source.most == MAX_CALLS)
        source.release.set()
        wait_until(lambda: source.running == 0)
        wait_until(lambda: embed.use_faq("faq-0").data is not None)

        def is_read() -> bool:
            clock.advance(LONG)  # on a busy machine, a try may time out, and the next one is due later
            return embed.use_faq("faq-new", wait=5).data is not None

        wait_until(is_read)
    assert source.most == MAX_CALLS


def test_a_coroutine_that_is_given_up_is_cancelled(clock: Clock) -> None:
    cancelled = threading.Event()

    async def get(slug: str, lang: str | None) -> FAQ | None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return None

    with FAQEmbed(source=Source(get), timeout=0.05) as embed:
        assert isinstance(failure(embed), FAQUnavailable)
        assert cancelled.wait(60)


def test_a_function_may_return_an_awaitable() -> None:
    async def found() -> FAQ:
        return ENGLISH

    def get(slug: str, lang: str | None) -> Awaitable[FAQ]:
        return found()

    with FAQEmbed(source=Source(get)) as embed:
        assert embed.get_faq("pricing") == ENGLISH


# What it raises and returns


@pytest.mark.parametrize(
    "error",
    [
        OSError("disk"),
        TimeoutError("socket"),
        StopIteration(),
        asyncio.CancelledError(),
        SystemExit(1),
        KeyboardInterrupt(),
        BaseException("gevent.Timeout is one"),
    ],
)
@pytest.mark.parametrize("make", [Shop, AsyncShop])
def test_any_exception_is_a_failed_refresh(
    make: type[Shop], error: Any, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    shop = make()
    shop.faqs["pricing", None] = ENGLISH
    with FAQEmbed(source=shop, wait=30) as embed:
        use_clock(embed, clock)
        embed.get_faq("pricing")
        shop.failure = error
        for _ in range(3):
            clock.advance(LONG)
            state = refreshed(embed)
            assert (state.data, state.is_degraded) == (ENGLISH, True)
            assert type(state.error) is FAQUnavailable
            assert type(error).__name__ in str(state.error)
    assert len([record for record in caplog.records if record.exc_info]) == 1


def test_an_error_of_a_call_that_was_given_up_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    shop = Shop()
    shop.release.clear()
    shop.failure = OSError("late")
    with FAQEmbed(source=shop, timeout=0.05) as embed:
        failure(embed)
        shop.release.set()
        wait_until(lambda: len(shop.calls) == 1)
    assert "late" not in caplog.text


@pytest.mark.parametrize("found", [{"slug": "pricing"}, "pricing", 5, faq("other")])
def test_something_else_than_this_faq_is_an_error_that_names_it(found: Any) -> None:
    with FAQEmbed(source=Source(lambda slug, lang: found)) as embed:
        error = failure(embed)
    assert isinstance(error, InvalidFAQ)
    assert "Source.get()" in str(error)


def test_a_larger_record_than_the_limit_is_an_error() -> None:
    with FAQEmbed(source=Source(lambda slug, lang: faq(title="x" * 5000)), max_bytes=5000) as embed:
        assert isinstance(failure(embed), InvalidFAQ)


# Leaving and coming back


@pytest.mark.parametrize("failure", [FAQGone, FAQGone("unpublished"), None])
def test_a_removed_faq_is_not_shown_after_the_next_refresh(
    failure: Any, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Shop()
    shop.faqs["pricing", None] = ENGLISH
    with FAQEmbed(source=shop, wait=30, max_fresh=10) as embed:
        use_clock(embed, clock)
        assert embed.get_faq("pricing") == ENGLISH
        shop.failure = failure
        del shop.faqs["pricing", None]
        clock.advance(10)
        refreshed(embed)
        assert embed.render("pricing") == ""
    assert not [record for record in caplog.records if record.exc_info]


def test_the_current_record_is_shown_after_max_fresh(clock: Clock) -> None:
    shop = Shop()
    with FAQEmbed(source=shop, wait=30, max_fresh=10) as embed:
        use_clock(embed, clock)
        assert embed.render("pricing") == ""
        shop.faqs["pricing", None] = ENGLISH
        clock.advance(10)
        assert embed.get_faq("pricing") == ENGLISH


def test_an_faq_that_is_published_again_is_shown_although_it_is_the_same(
    clock: Clock, tmp_path: Path
) -> None:
    shop = Shop()
    shop.faqs["pricing", None] = ENGLISH
    with FAQEmbed(source=shop, wait=30, max_fresh=10, store=f"file:{tmp_path}") as embed:
        use_clock(embed, clock)
        assert embed.get_faq("pricing") == ENGLISH
        shop.failure = FAQGone("unpublished")
        clock.advance(10)
        assert refreshed(embed).data is None
        shop.failure = None
        clock.advance(60)
        assert refreshed(embed).data == ENGLISH


# Settings


@pytest.mark.parametrize("path", [f"{__name__}.ONE", f"{__name__}.One"])
def test_a_setting_may_be_the_dotted_path_to_a_source_or_to_its_class(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = Flask("host")
    app.config["FAQSVC_SOURCE"] = path
    FAQExtension(app)
    with faqs_from(app) as embed:
        assert embed.get_faq("pricing") == ENGLISH
    monkeypatch.setenv("FAQSVC_SOURCE", path)
    with FAQEmbed() as embed:
        assert embed.get_faq("pricing") == ENGLISH


@pytest.mark.parametrize(
    "source", ["pricing", "no_such_module.Shop", f"{__name__}.Nothing", "", 5, {"pricing": ENGLISH}, object()]
)
def test_an_invalid_source_is_refused(source: Any) -> None:
    with pytest.raises(ConfigurationError, match="source"):
        FAQEmbed(source=source)


def test_an_error_of_the_module_of_a_source_shows_where_it_was_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop_faqs.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigurationError, match="no_such_module") as caught:
        FAQEmbed(source="shop_faqs.Shop")
    assert "shop_faqs.py" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("name", ["base_url", "directory"])
def test_a_source_excludes_a_service_and_a_folder(name: str, tmp_path: Path) -> None:
    value = "https://faq.example.com" if name == "base_url" else str(tmp_path)
    other: dict[str, Any] = {name: value}
    with pytest.raises(ConfigurationError, match=name):
        FAQEmbed(source=ONE, **other)
    with pytest.raises(ConfigurationError, match=name):
        FAQEmbed(settings=Settings(source=ONE, **other))


def test_a_source_as_a_keyword_beats_a_service_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://faq.example.com")
    with FAQEmbed(source=ONE) as embed:
        assert embed.get_faq("pricing") == ENGLISH
        assert embed.settings.base_url == ""
    monkeypatch.setenv("FAQSVC_SOURCE", f"{__name__}.ONE")
    assert FAQEmbed("https://faq.example.com").settings.source is None
    with pytest.raises(ConfigurationError, match="base_url"):
        FAQEmbed()


def test_a_repr_of_the_settings_does_not_show_the_source() -> None:
    class Secret(One):
        def __repr__(self) -> str:
            return "postgresql://shop:secret@db"

    assert "secret" not in repr(Settings(source=Secret()))
