"""The life cycle of an FAQ: drafts, revisions, unpublished and purged, over each kind of database."""

from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from itertools import cycle
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import delete, select

from faqsvc_embed.errors import FAQNotFound
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import Storage, reading
from faqsvc_embed.service.storage.errors import (
    Gone,
    IdempotencyKeyReused,
    InvalidCursor,
    NotYourSite,
    QuotaExceeded,
    RevisionConflict,
)
from faqsvc_embed.service.storage.schema import events, revisions, translations
from faqsvc_embed.service.storage.values import Access, IdempotencyKey, Preconditions, Quota
from tests.service.storage.writes import a_month_later, access, put, title, write
from tests.support import samples
from tests.support.clock import Clock

NONE = Preconditions()


@pytest.fixture
def owner(storage: Storage) -> Access:
    """The access of a site."""
    return access(storage)


def states(storage: Storage, owner: Access, slug: str = "tea") -> list[tuple[int, str]]:
    """Return the revisions of an FAQ with their states, newest first."""
    found, _ = storage.history.revisions(owner, slug, None, limit=100)
    return [(revision.number, revision.state) for revision in found]


def recorded_events(storage: Storage) -> list[tuple[object, ...]]:
    with storage.database.reading() as connection:
        rows = connection.execute(select(events).order_by(events.c.number)).all()
    return [(row.number, row.slug, row.lang, row.revision) for row in rows]


def test_the_first_language_is_the_default(storage: Storage) -> None:
    faqs = samples.multilingual()
    for lang in ("ko", "en", "de"):
        put(storage, FAQ.from_dict(faqs[lang]))

    served = dict[str | None, str]()
    for language in (None, *faqs):
        found = storage.publications.get("pricing", language)
        served[language] = found.lang
    assert served == {
        None: "ko", "en": "en", "ko": "ko", "ja": "ko", "zh": "ko", "es": "ko", "fr": "ko", "de": "de",
    }  # fmt: skip
    assert list(storage.publications.languages("pricing")) == ["ko", "en", "de"]


def test_a_superseded_draft_is_published_under_a_new_number(storage: Storage, owner: Access) -> None:
    write(storage, owner, title="One")
    write(storage, owner, title="Two", is_draft=True)
    write(storage, owner, title="Three")
    published = storage.writer.publish(owner, "tea", 2, None, NONE)

    assert (published.number, title(storage)) == (4, "Two")
    assert states(storage, owner) == [
        (4, "published"),
        (3, "superseded"),
        (2, "superseded"),
        (1, "superseded"),
    ]
    write(storage, owner, title="Four", preconditions=Preconditions([published.digest]))


def test_an_unpublished_translation_falls_back_to_the_default(storage: Storage, owner: Access) -> None:
    write(storage, owner, lang="en", title="English")
    write(storage, owner, lang="de", title="Deutsch")
    write(storage, owner, lang="fr", title="Français")
    storage.removal.unpublish(owner, "tea", "de", NONE)
    assert title(storage, lang="de") == "English"
    storage.removal.unpublish(owner, "tea", "en", NONE)
    assert (title(storage), title(storage, lang="en")) == ("Français", "Français")
    storage.writer.publish(owner, "tea", 1, "en", NONE)
    assert title(storage) == "English"
    assert list(storage.publications.languages("tea")) == ["en", "fr"]


@pytest.mark.parametrize("is_draft", [True, False], ids=["a draft", "unpublished"])
def test_an_faq_whose_default_translation_was_purged_stays_with_its_owner(
    storage: Storage, owner: Access, is_draft: bool
) -> None:
    write(storage, owner, lang="en")
    write(storage, owner, lang="de", title="Deutsch", is_draft=is_draft)
    storage.removal.unpublish(owner, "tea", None, NONE)
    storage.removal.bin(owner, "tea", "en", NONE)
    token, _ = storage.history.create_preview(owner, "tea", None)
    shown = storage.history.preview(token, "tea", None)

    assert [(faq.slug, faq.title) for faq in storage.overview.page(owner.site, limit=5)[0]] == [
        ("tea", "Deutsch")
    ]
    assert storage.overview.faq(owner, "tea").title == "Deutsch"
    assert [number for number, _ in states(storage, owner)] == [1]
    assert shown is not None
    assert shown.lang == "de"


def test_without_the_default_language_readers_and_lists_have_the_first_published_one(
    storage: Storage,
) -> None:
    owner = Access(None, storage.sites.create("listed", listed=True))
    write(storage, owner, lang="en", title="English", is_draft=True)
    write(storage, owner, lang="de", title="Deutsch")
    write(storage, owner, lang="ko", title="한국어")

    assert title(storage) == "한국어"
    assert list(storage.publications.languages("tea")) == ["ko", "de"]
    assert [faq.title for faq in storage.publications.listed(5)] == ["한국어"]


def test_a_deleted_faq_is_gone_and_no_other_site_can_use_its_slug(
    storage: Storage, owner: Access, clock: Clock
) -> None:
    other = access(storage, "other")
    write(storage, owner)
    storage.removal.bin(owner, "tea", None, NONE)
    with pytest.raises(Gone):
        storage.publications.get("tea")
    with pytest.raises(Gone):
        write(storage, owner)
    with pytest.raises(NotYourSite):
        write(storage, other)
    assert a_month_later(storage, clock) == 1
    clock.advance(timedelta(days=2).total_seconds())
    with pytest.raises(Gone):
        storage.publications.get("tea")
    with pytest.raises(Gone):
        write(storage, owner)
    storage.removal.unblock("tea")

    with pytest.raises(FAQNotFound):
        storage.publications.get("tea")
    with pytest.raises(NotYourSite):
        write(storage, other)
    assert write(storage, owner).number == 1


def test_a_translation_that_was_in_the_bin_for_a_month_is_written_again_only_after_a_lift(
    storage: Storage, owner: Access, clock: Clock
) -> None:
    for lang in ("en", "de"):
        write(storage, owner, lang=lang)
    storage.removal.bin(owner, "tea", "de", NONE)
    a_month_later(storage, clock)
    with pytest.raises(Gone):
        write(storage, owner, lang="de")
    assert storage.overview.blocked(owner.site, 10) == [("tea", "de")]
    storage.removal.unblock("tea")
    assert write(storage, owner, lang="de").number == 1


@pytest.mark.parametrize("removed", ["bin", "purge"])
def test_a_repeated_publication_of_a_deleted_faq_is_gone(
    storage: Storage, owner: Access, removed: str
) -> None:
    key = IdempotencyKey("once", "digest")
    write(storage, owner, is_draft=True, idempotency_key=key)
    getattr(storage.removal, removed)(owner, "tea", None, NONE)

    with pytest.raises(Gone):
        write(storage, owner, is_draft=True, idempotency_key=key)


def test_faqs_of_a_site_are_purged_and_published_at_the_same_time(storage: Storage, owner: Access) -> None:
    slugs = [f"tea-{number}" for number in range(30)]
    for slug in slugs:
        write(storage, owner, slug)

    def purge(slug: str) -> None:
        storage.removal.bin(owner, slug, None, NONE)

    with ThreadPoolExecutor(4) as threads:  # as many as write in a process of the service
        futures: list[Future[Any]] = [threads.submit(purge, slug) for slug in slugs]
        futures += [threads.submit(write, storage, owner, f"new-{slug}") for slug in slugs]
        for future in futures:
            future.result(60)
    with pytest.raises(Gone):
        storage.publications.get(slugs[-1])
    assert title(storage, f"new-{slugs[-1]}") is not None


def test_an_faq_without_its_default_translation_does_not_end_a_list(storage: Storage) -> None:
    """An earlier release could leave one."""
    owner = Access(None, storage.sites.create("listed", listed=True))
    for slug in ("a", "b", "c"):
        write(storage, owner, slug)
    with storage.database.writing() as connection:
        for table in (revisions, translations):
            connection.execute(delete(table).where(table.c.slug == "b"))
    first, after = storage.overview.page(owner.site, limit=2)
    rest, _ = storage.overview.page(owner.site, limit=2, after=after)

    assert [faq.slug for faq in (*first, *rest)] == ["c", "a"]
    assert [faq.slug for faq in storage.publications.listed(2)] == ["a", "c"]


@pytest.mark.parametrize("merged", [4, 5], ids=["more sites than are merged", "as many"])
def test_the_faqs_of_several_sites_are_one_list(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, merged: int
) -> None:
    monkeypatch.setattr(reading, "MAX_MERGED", merged)
    owners = [Access(None, storage.sites.create(f"listed {n}", listed=True)) for n in range(5)]
    owners.append(Access(None, storage.sites.create("unlisted")))
    for number in range(24):
        write(storage, owners[number % 6], f"tea-{number:02}")
    write(storage, owners[0], "tea-00", lang="de", title="Tee")
    write(storage, owners[1], "tea-01", is_draft=True, title="Draft")
    write(storage, owners[2], "tea-15-draft", is_draft=True)
    storage.removal.unpublish(owners[3], "tea-03", None, NONE)
    storage.removal.bin(owners[4], "tea-04", None, NONE)
    read = storage.publications
    pages = [[faq.slug for faq, *_ in read.translations(first=slug, limit=4)] for slug in read.starts(4)]

    named = [f"tea-{n:02}" for n in range(24) if n % 6 != 5 and n not in (3, 4)]
    assert pages == [named[start : start + 4] for start in range(0, len(named), 4)]


def test_one_of_many_racing_writers_wins(storage: Storage, owner: Access) -> None:
    digest = write(storage, owner).digest

    def race(number: int) -> bool:
        try:
            write(storage, owner, title=str(number), preconditions=Preconditions([digest]))
        except RevisionConflict:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(race, range(100))) == 1


def test_an_faq_that_many_create_at_once_is_counted_once(storage: Storage, owner: Access) -> None:
    for number in range(10):
        barrier = Barrier(4)

        def create(lang: str, slug: str = f"tea-{number}", barrier: Barrier = barrier) -> None:
            barrier.wait(60)
            write(storage, owner, slug, lang=lang)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(create, ("en", "de", "fr", "es")))

    assert storage.sites.list()[0].faq_count == 10


def test_every_published_change_is_an_event(storage: Storage, owner: Access) -> None:
    write(storage, owner, lang="en")
    write(storage, owner, lang="de", is_draft=True)
    storage.writer.publish(owner, "tea", 1, "de", NONE)
    storage.removal.unpublish(owner, "tea", None, NONE)
    with pytest.raises(RevisionConflict):
        write(storage, owner, preconditions=Preconditions(is_create_only=True))

    assert recorded_events(storage) == [
        (1, "tea", "en", 1),
        (2, "tea", "de", 1),
        (3, "tea", "de", None),
        (4, "tea", "en", None),
    ]


def test_a_preview_shows_the_newest_revision_for_an_hour(
    storage: Storage, owner: Access, clock: Clock
) -> None:
    write(storage, owner, title="Published")
    write(storage, owner, "other")
    token, _ = storage.history.create_preview(owner, "tea", None)
    write(storage, owner, title="Draft", is_draft=True)
    shown = storage.history.preview(token, "tea", "de")

    assert shown is not None
    assert FAQ.from_json(shown.record).title == "Draft"
    assert storage.history.preview(token, "other", None) is None
    assert storage.history.preview("wrong", "tea", None) is None
    clock.advance(3600)
    assert storage.history.preview(token, "tea", None) is None
    later, _ = storage.history.create_preview(owner, "tea", None)
    write(storage, owner, lang="de")
    storage.removal.bin(owner, "tea", "de", NONE)
    fallback = storage.history.preview(later, "tea", "de")
    assert fallback is not None
    assert fallback.lang == "en"
    storage.removal.bin(owner, "tea", None, NONE)
    assert storage.history.preview(later, "tea", None) is None


def test_the_list_has_the_last_changed_first_in_pages(storage: Storage, owner: Access, clock: Clock) -> None:
    for number in range(5):
        write(storage, owner, f"faq-{number}", title=str(number))
        clock.advance(number % 2)  # some at the same time
    write(storage, access(storage, "other"), "foreign")
    clock.advance(1)
    write(storage, owner, "faq-0", lang="de", title="Null")
    slugs, after = list[str](), None
    while True:
        page, after = storage.overview.page(owner.site, limit=2, after=after)
        slugs += [faq.slug for faq in page]
        if after is None:
            break
    first = storage.overview.page(owner.site, limit=1)[0][0]

    assert slugs == ["faq-0", "faq-4", "faq-3", "faq-2", "faq-1"]
    assert (first.title, first.languages, first.state) == ("0", ["en", "de"], "published")


@pytest.mark.parametrize("limit", [1, 3])
def test_pages_miss_no_faq_that_is_changed_meanwhile(
    storage: Storage, owner: Access, clock: Clock, limit: int
) -> None:
    slugs = [f"faq-{number}" for number in range(7)]
    for slug in slugs:
        clock.advance(1)
        write(storage, owner, slug)
    found, after = list[str](), None
    changes = cycle(["faq-0", "faq-3"])
    for _ in range(30):
        page, after = storage.overview.page(owner.site, limit=limit, after=after)
        found += [item.slug for item in page]
        assert page  # clients take an empty page for the last one
        if after is None:
            break
        clock.advance(1)
        write(storage, owner, next(changes), title=f"Changed at {clock.wall()}")
    assert after is None
    assert set(found) == set(slugs)
    assert max(map(found.count, found)) <= 2


@pytest.mark.parametrize("limit", [1, 5])
def test_pages_miss_no_faq_after_the_clock_was_a_year_ahead(
    storage: Storage, owner: Access, clock: Clock, limit: int
) -> None:
    for slug in ("a", "b", "c", "d"):
        clock.advance(1)
        write(storage, owner, slug)
    right = clock.wall()
    clock.set_wall(right + timedelta(days=365))
    for slug in ("x", "y", "z"):
        write(storage, owner, slug)
    clock.set_wall(right + timedelta(seconds=1))
    page, after = storage.overview.page(owner.site, limit=limit)
    found = [faq.slug for faq in page]
    clock.advance(1)
    write(storage, owner, "a", title="Changed")
    while after is not None:
        page, after = storage.overview.page(owner.site, limit=limit, after=after)
        found += [faq.slug for faq in page]

    assert set(found) == {"a", "b", "c", "d", "x", "y", "z"}
    assert max(map(found.count, found)) <= 2


def test_the_list_leaves_out_translations_that_were_taken_back(storage: Storage, owner: Access) -> None:
    def languages() -> list[str]:
        return list(storage.overview.page(owner.site, limit=1)[0][0].languages)

    for lang in ("en", "de", "ko"):
        write(storage, owner, lang=lang, is_draft=lang == "ko")
    assert languages() == ["en", "ko", "de"]
    storage.removal.unpublish(owner, "tea", "de", NONE)
    assert languages() == ["en", "ko"]
    write(storage, owner, lang="de", title="Anew", is_draft=True)
    assert languages() == ["en", "ko", "de"]
    storage.removal.unpublish(owner, "tea", None, NONE)
    storage.removal.bin(owner, "tea", "ko", NONE)
    storage.removal.bin(owner, "tea", "de", NONE)
    assert languages() == ["en"]


def test_an_invalid_cursor_is_refused(storage: Storage, owner: Access) -> None:
    write(storage, owner)
    for cursor in ("", "x", "%", "1-", "MjAyNi0wMS0wMSBh", "eCAgYQ==", "\ud800"):
        with pytest.raises(InvalidCursor):
            storage.overview.page(owner.site, limit=1, after=cursor)
        with pytest.raises(InvalidCursor):
            storage.history.revisions(owner, "tea", None, limit=1, after=cursor)


def test_a_site_has_quotas(storage: Storage, owner: Access, clock: Clock) -> None:
    storage.writer.quota = Quota(faqs=2, bytes=600)
    write(storage, owner, "one")
    write(storage, owner, "two")
    with pytest.raises(QuotaExceeded):
        write(storage, owner, "three")
    with pytest.raises(QuotaExceeded):
        write(storage, owner, "two", title="x" * 200)
    storage.removal.bin(owner, "one", None, NONE)
    write(storage, owner, "three")
    [site] = storage.sites.list()

    assert (site.faq_count, title(storage, "two") is not None) == (2, True)


def test_the_size_of_a_site_is_in_bytes(storage: Storage, owner: Access) -> None:
    write(storage, owner, "tea", title="차")
    write(storage, owner, "coffee", title="커피")
    storage.removal.purge(owner, "coffee", None, NONE)
    tea = storage.publications.get("tea")
    assert storage.sites.list()[0].byte_count == len(tea.record.encode())
    storage.removal.purge(owner, "tea", None, NONE)
    assert storage.sites.list()[0].byte_count == 0


def test_an_idempotency_key_stands_for_one_publication_of_one_site_within_a_day(
    storage: Storage, owner: Access, clock: Clock
) -> None:
    once = IdempotencyKey("once", "digest")

    def publish(_: int) -> str:
        return write(storage, owner, None, idempotency_key=once).slug

    with ThreadPoolExecutor(4) as threads:
        [slug] = set(threads.map(publish, range(8)))
    assert slug != write(storage, access(storage, "other"), None, idempotency_key=once).slug
    with pytest.raises(IdempotencyKeyReused):
        write(storage, owner, None, idempotency_key=IdempotencyKey("once", "another"))
    clock.advance(24 * 3600 + 1)
    assert publish(0) != slug


def test_a_repeated_publication_is_not_taken_for_a_later_one_with_its_number(
    storage: Storage, owner: Access, clock: Clock
) -> None:
    key = IdempotencyKey("once", "digest")
    write(storage, owner, idempotency_key=key)
    storage.removal.purge(owner, "tea", None, NONE)
    storage.removal.unblock("tea")
    clock.advance(60)
    assert write(storage, owner, title="Later").number == 1
    with pytest.raises(Gone):
        write(storage, owner, idempotency_key=key)


def test_the_history_of_a_translation_in_the_bin_is_not_found(storage: Storage, owner: Access) -> None:
    for lang in ("en", "de"):
        write(storage, owner, lang=lang)
    storage.removal.bin(owner, "tea", "de", NONE)
    with pytest.raises(FAQNotFound):
        storage.history.revisions(owner, "tea", "de", limit=10)


def test_an_faq_in_the_bin_is_restored_if_it_matches(storage: Storage, owner: Access) -> None:
    write(storage, owner)
    storage.removal.bin(owner, "tea", None, NONE)
    with pytest.raises(RevisionConflict):
        storage.removal.restore(owner, "tea", Preconditions(if_match=["another"]))
    storage.removal.restore(owner, "tea", Preconditions(if_match=[]))
    assert title(storage) is not None


def test_a_restored_faq_keeps_the_time_of_its_publication(
    storage: Storage, owner: Access, clock: Clock
) -> None:
    write(storage, owner)
    first = storage.publications.get("tea")
    clock.advance(60)
    storage.removal.unpublish(owner, "tea", None, NONE)
    storage.removal.restore(owner, "tea")
    again = storage.publications.get("tea")
    assert first.published_at == again.published_at


def test_a_clock_that_is_wrong_for_an_hour_does_not_empty_the_bin(
    storage: Storage, owner: Access, clock: Clock
) -> None:
    write(storage, owner)
    storage.removal.bin(owner, "tea", None, NONE)
    for _ in range(48):
        clock.advance(3600)
        storage.removal.empty_bin()
    right = clock.wall()
    for minutes in (0, 10, 60):  # of two processes, and of the next hour
        clock.set_wall(right + timedelta(days=365, minutes=minutes))
        assert storage.removal.empty_bin() == 0
    clock.set_wall(right + timedelta(hours=1))
    assert storage.removal.empty_bin() == 0
    storage.removal.restore(owner, "tea")
    assert title(storage) is not None


def test_a_site_can_be_deleted_by_two_calls_at_once(
    storage: Storage, owner: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(storage, owner, "tea-0")
    write(storage, owner, "tea-1")

    def purge_beside_another(*arguments: Any) -> None:
        monkeypatch.undo()
        storage.removal.purge(*arguments)
        assert storage.removal.delete_site(owner.site) == 1

    monkeypatch.setattr(storage.removal, "purge", purge_beside_another)
    assert storage.removal.delete_site(owner.site) == 1
    assert storage.sites.list() == []


def test_a_site_can_be_deleted_while_its_bin_is_emptied_and_its_faqs_are_written(
    storage: Storage, owner: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        write(storage, owner, f"tea-{number}")
    purge, pending = storage.removal.purge, iter(["late"])

    def purge_beside_others(*arguments: Any) -> None:
        purge(*arguments)
        for slug in pending:  # what others do after the first purge
            write(storage, owner, slug)
            purge(owner, "tea-1", None, NONE)

    monkeypatch.setattr(storage.removal, "purge", purge_beside_others)
    assert storage.removal.delete_site(owner.site) == 3
    assert storage.sites.list() == []
    for slug in ("tea-0", "tea-1", "tea-2", "late"):
        with pytest.raises(Gone):
            storage.publications.get(slug)
