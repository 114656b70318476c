"""Cache entries, and how a response changes them: pure functions of values and of the time.

Times are seconds of a monotonic clock, so that changes of the wall clock neither stop refreshes nor start all
of them at once. Only `updated_at` is wall time, which processes can compare.
"""

from datetime import datetime
from enum import Enum
from typing import Final, NamedTuple, assert_never

import msgspec
from msgspec.structs import replace

from faqsvc_embed.api.requests import NO_VALIDATORS, Validators
from faqsvc_embed.api.responses import (
    NO_CACHE_CONTROL,
    CacheControl,
    Failed,
    FAQChange,
    Fetched,
    Gone,
    NotFound,
    Outcome,
)
from faqsvc_embed.errors import FAQError, FAQNotFound, FAQUnavailable
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ, FAQState, StateSource
from faqsvc_embed.runtime.backoff import longest_backoff

JITTER: Final = 0.05
"""Lifetimes are shortened by up to this share, so that FAQs fetched together expire at different times."""
MIN_REFRESH_INTERVAL: Final = 1.0
"""Minimum seconds between two refreshes of a record with the lifetime 0. Pages show it meanwhile."""
MAX_CLOCK_SKEW: Final = 300.0
"""Seconds by which the clock of another machine may be ahead of this one's."""
AWAITED_FOR: Final = 60.0
"""Seconds after which a response without an announced change is believed, because a feed may be wrong."""


class Key(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """The key of an entry: an embed has one source, so slug and requested language are enough."""

    slug: str
    """In NFC, as all slugs of a service."""
    lang: str | None
    token: str | None = None
    """The preview token with which a draft is read. No entry has one: drafts are not cached."""

    def __repr__(self) -> str:
        return f"Key({self.slug!r}, {self.lang!r})"  # error reports show local variables


def translations(slug: str, default: str | None = None) -> list[Key]:
    """Return the keys of an FAQ in all languages, the default language first."""
    return [Key(slug, lang) for lang in dict.fromkeys((None, default, *LANGUAGES))]


class Announcement(msgspec.Struct, frozen=True):
    """A change of the FAQ of one cache entry. Until it arrives, requests bypass stores and HTTP caches."""

    change: FAQChange
    at: float
    """When the first change that has not arrived was announced."""
    before: FAQ | None
    """The record that was cached then."""

    def is_awaited(self, now: float) -> bool:
        """Return whether responses without the change are not believed yet."""
        return self.change.state is not None and now < self.at + AWAITED_FOR


class Entry(msgspec.Struct, eq=False):
    """The cache entry of one FAQ in one language. It is replaced, not changed, so readers need no lock."""

    key: Key
    faq: FAQ | None = None
    is_file: bool = False
    """Whether `faq` is a file of the folder, which is shown until the source has responded."""
    validators: Validators = NO_VALIDATORS
    cache_control: CacheControl = NO_CACHE_CONTROL
    fresh_until: float = 0.0
    keep_until: float = 0.0
    """The time until which `faq` may be shown if it cannot be refreshed."""
    updated_at: datetime | None = None
    """When the source last confirmed `faq`, in UTC."""
    source: StateSource = "network"
    error: FAQError | None = None
    """Why the last fetch failed, or why there is no such FAQ; None after a success."""
    failures: int = 0
    """Failed fetches in a row."""
    retry_at: float = 0.0
    """No fetch is started before this time."""
    missing_since: float | None = None
    """Time of the first 404 since the record was last confirmed, or of the 404 or 410 that removed it."""
    announced: Announcement | None = None
    """A change that no response has contained yet."""
    used_at: float = 0.0
    """When it was last looked up. Readers write only this field."""
    size: int = 0
    """Bytes of the record in memory, once it is there."""
    fresh_state: FAQState | None = None
    """The state while the record is fresh; created once, when it is put into memory."""

    @property
    def is_known(self) -> bool:
        """Whether the source has sent a record of this FAQ, or has said that there is none."""
        return not self.is_file and (self.faq is not None or self.missing_since is not None)

    @property
    def response(self) -> Fetched | None:
        """The record as the response that the source last sent or confirmed; None without a record."""
        return None if self.faq is None else Fetched(self.faq, self.cache_control, self.validators)

    @property
    def is_missing(self) -> bool:
        """Whether the source has said that there is no such FAQ (404, 410)."""
        return self.faq is None and isinstance(self.error, FAQNotFound)

    def is_fresh(self, now: float) -> bool:
        """Return whether the record may be used without a fetch (RFC 9111, 4.2)."""
        return self.faq is not None and now < self.fresh_until

    def is_usable(self, now: float) -> bool:
        """Return whether there is a record that may be shown, fresh or not."""
        return self.faq is not None and now < max(self.keep_until, self.fresh_until)

    def freshness(self, now: float) -> str:
        """Return `fresh`, `stale`, `expired` (older than `keep_for`), `missing` (404, 410) or `failed`."""
        if self.faq is None:
            return "failed" if self.failures else "missing"
        if self.is_fresh(now):
            return "fresh"
        return "stale" if self.is_usable(now) else "expired"

    def age(self, wall: datetime) -> float | None:
        """Return the seconds since the source last confirmed the record."""
        return None if self.updated_at is None else max(0.0, (wall - self.updated_at).total_seconds())


class StoredFAQ(NamedTuple):
    """The part of an entry that outlives the process, in a store."""

    faq: FAQ
    updated_at: datetime
    """When the source last confirmed the record, in UTC, by the clock of the machine that fetched it."""
    fresh_for: float
    """Seconds after `updated_at` during which the record is fresh."""
    validators: Validators = NO_VALIDATORS
    cache_control: CacheControl = NO_CACHE_CONTROL


class Need(Enum):
    """Whether a look-up needs a fetch."""

    NOTHING = "the entry is fresh, or backs off"
    REFRESH = "a stale record is shown, and refreshed in the background"
    FETCH = "there is nothing to show"


def need(entry: Entry | None, now: float) -> Need:
    """Return whether a look-up at this time needs a fetch."""
    if entry is None:
        return Need.FETCH
    if entry.is_fresh(now) or now < entry.retry_at:
        return Need.NOTHING
    return Need.REFRESH if entry.is_usable(now) else Need.FETCH


def state_of(
    entry: Entry | None, key: Key, now: float, *, is_fetching: bool = False, source: StateSource = "memory"
) -> FAQState:
    """Return the state of an FAQ at this time. While a fetch runs, it has no error of an earlier fetch."""
    if entry is None:
        error = None if is_fetching else FAQUnavailable(f"FAQ {key.slug!r} was forgotten during the fetch")
        return FAQState(error=error, is_fetching=is_fetching, lang_requested=key.lang)
    is_fresh = entry.is_fresh(now)
    if is_fresh and source == "memory" and entry.fresh_state is not None:
        return entry.fresh_state
    last_error = None if is_fetching or is_fresh else entry.error
    if not entry.is_usable(now):
        if last_error is None and not is_fetching:
            last_error = FAQUnavailable(f"the cached record of {key.slug!r} is older than keep_for allows")
        return FAQState(error=last_error, is_fetching=is_fetching, lang_requested=key.lang)
    return FAQState(
        data=entry.faq,
        error=last_error,
        is_fetching=is_fetching,
        is_stale=not is_fresh,
        is_degraded=not is_fresh and entry.error is not None,
        source=source,
        updated_at=entry.updated_at,
        lang_requested=key.lang,
    )


class Moment(NamedTuple):
    """The time of a change in both clocks, with a random number for jitter."""

    now: float
    wall: datetime
    random: float


class Lifetimes(msgspec.Struct, frozen=True):
    """The settings for the lifetimes of entries, in seconds."""

    fresh_for: float
    keep_for: float
    not_found_for: float
    max_fresh: float = float("inf")

    def after(self, entry: Entry | None, key: Key, outcome: Outcome | StoredFAQ, at: Moment) -> Entry:
        """Return the entry that replaces `entry` when a fetch ends, or its record is read from the store."""
        entry = entry or Entry(key, used_at=at.now)
        if _is_outdated(entry, outcome, at.now):
            message = f"FAQ {key.slug!r}: the service, or a cache in front of it, still sends the old record"
            return _failed(entry, Failed(FAQUnavailable(message)), at)
        match outcome:
            case Fetched():
                return self._confirmed(entry, outcome, at)
            case StoredFAQ():
                return self._adopted(entry, outcome, at)
            case NotFound():
                return self._not_found(entry, outcome, at)
            case Gone():
                return self._missing(entry, outcome.error, at)
            case Failed():
                return _failed(entry, outcome, at)
            case _:
                assert_never(outcome)

    def before_change(
        self, entry: Entry, change: FAQChange, outcome: Outcome | StoredFAQ, at: Moment
    ) -> Entry:
        """Return the entry after a fetch during which a change was announced: stale, and waiting for it."""
        # The request was made before the change, so a response without it is no failure.
        after = self.after(replace(entry, announced=None), entry.key, outcome, at)
        announcement = awaiting(entry, change, at.now).announced
        return expired(replace(after, announced=announcement, retry_at=at.now), at.now)

    def _confirmed(self, entry: Entry, response: Fetched, at: Moment) -> Entry:
        stated = response.cache_control.fresh_for
        lifetime = min(self.fresh_for if stated is None else stated, self.max_fresh)
        fresh_until = at.now + lifetime * (1 - JITTER * at.random)
        return Entry(
            entry.key,
            entry.faq if entry.faq == response.faq else response.faq,  # an equal record keeps its fragments
            validators=response.validators,
            cache_control=response.cache_control,
            fresh_until=fresh_until,
            keep_until=max(fresh_until + self.keep_for, at.now + MIN_REFRESH_INTERVAL),
            updated_at=at.wall,
            retry_at=at.now + MIN_REFRESH_INTERVAL,
            used_at=entry.used_at,
            size=entry.size,
        )

    def _adopted(self, entry: Entry, stored: StoredFAQ, at: Moment) -> Entry:
        """Return an entry with a record from the store, unless `entry` has a newer one."""
        if entry.updated_at is not None and entry.updated_at > stored.updated_at:
            return entry
        age = (at.wall - stored.updated_at).total_seconds()
        # A time far in the future means that a clock was changed: the record counts as stale.
        fresh_for = stored.fresh_for - max(age, 0.0) if age > -MAX_CLOCK_SKEW else 0.0
        adopted = Entry(
            entry.key,
            entry.faq if entry.faq == stored.faq else stored.faq,
            validators=stored.validators,
            cache_control=stored.cache_control,
            fresh_until=at.now + fresh_for,
            keep_until=at.now + fresh_for + self.keep_for,
            updated_at=min(stored.updated_at, at.wall),
            source="store",
            # Forget the first 404 if another process has fetched the record since.
            missing_since=entry.missing_since if entry.updated_at == stored.updated_at else None,
            used_at=at.now,
            size=entry.size,
        )
        if fresh_for > 0:
            return adopted
        return replace(adopted, error=entry.error, failures=entry.failures, retry_at=entry.retry_at)

    def _not_found(self, entry: Entry, outcome: NotFound, at: Moment) -> Entry:
        """Remove a cached record. If a proxy may have sent the 404, remove it only after a second one."""
        since = at.now if entry.missing_since is None else entry.missing_since
        interval = max(self.not_found_for, MIN_REFRESH_INTERVAL)
        if outcome.is_direct or not entry.is_usable(at.now) or at.now - since >= interval:
            return self._missing(entry, outcome.error, at)
        return replace(entry, error=outcome.error, missing_since=since, retry_at=at.now + interval)

    def _missing(self, entry: Entry, error: FAQError, at: Moment) -> Entry:
        retry_at = at.now + self.not_found_for
        return Entry(entry.key, error=error, retry_at=retry_at, missing_since=at.now, used_at=entry.used_at)


def _failed(entry: Entry, outcome: Failed, at: Moment) -> Entry:
    """Back off exponentially with full jitter, and at least for Retry-After."""
    failures = entry.failures + (1 if outcome.was_sent else 0)
    backoff = max(longest_backoff(failures) * at.random, outcome.error.retry_after or 0.0)
    failed = replace(entry, error=outcome.error, failures=failures, retry_at=at.now + backoff)
    return failed if entry.announced is None else expired(failed, at.now)


def expired(entry: Entry, now: float) -> Entry:
    """Return an entry whose record is stale."""
    return replace(entry, fresh_until=min(entry.fresh_until, now))


def awaiting(entry: Entry, change: FAQChange, now: float) -> Entry:
    """Return an entry that waits for a change; if it is one of this translation, its record is stale."""
    if entry.faq is not None and change.lang not in (None, entry.key.lang, entry.faq.lang):
        change = FAQChange(change.slug, state=None)  # of another translation: this one may be unchanged
    earlier = entry.announced
    if earlier is None or not earlier.is_awaited(now):
        entry = replace(entry, announced=Announcement(change, now, entry.faq))
    elif change.state is not None:
        entry = replace(entry, announced=replace(earlier, change=change))
    if change.state is None or entry.faq is None:
        return entry
    return expired(replace(entry, retry_at=now), now)


def _is_outdated(entry: Entry, outcome: Outcome | StoredFAQ, now: float) -> bool:
    """Return whether a response has the record before an announced change."""
    announced = entry.announced
    if announced is None or not announced.is_awaited(now) or not isinstance(outcome, Fetched):
        return False
    change = announced.change
    # Revisions of two translations cannot be compared.
    is_same = change.state == "published" and change.lang in (None, outcome.faq.lang)
    if is_same and outcome.revision is not None and change.revision is not None:
        return outcome.revision < change.revision
    # After a 410, the record from before may have been published again.
    return entry.faq is not None and outcome.faq == announced.before
