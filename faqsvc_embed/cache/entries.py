"""What is held of each FAQ, and what to do with it at a given moment: decisions only, with injected clocks.

Durations and moments are seconds of a monotonic clock, so that a wall clock set forward or back neither
freezes nor storms anything; only `updated_at` is wall time, and only shown.
"""

import random
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, assert_never

import msgspec
from msgspec.structs import replace

from faqsvc_embed.api.reading import CachePolicy, Failed, Found, Missing, NotModified, Outcome, Validators
from faqsvc_embed.errors import FAQError, FAQUnavailable
from faqsvc_embed.models import FAQ, FAQState, Source

if TYPE_CHECKING:
    from faqsvc_embed.cache.stored import Copy

FIRST_BACK_OFF: Final = 1.0
LONGEST_BACK_OFF: Final = 60.0
CLOCKS_DIFFER: Final = 300.0
"""Seconds by which the clock of another machine may be ahead of ours."""
JITTER: Final = 0.05
"""Copies live up to this share longer than they must, so that FAQs fetched together part ways."""


NO_VALIDATORS: Final = Validators()
NO_POLICY: Final = CachePolicy()


class Key(NamedTuple):
    """What a copy is held under: an embed has one service, so slug and language name it."""

    slug: str
    lang: str | None


class Want(Enum):
    """What a call should do about the network."""

    NOTHING = "what is held is the answer for now"
    REFRESH = "show what is held, and fetch behind it"
    ANSWER = "there is nothing to show: fetch, and wait"


class Entry(msgspec.Struct, eq=False):
    """What is held under one key; replaced whole, so that a reader needs no lock."""

    key: Key
    faq: FAQ | None = None
    validators: Validators = NO_VALIDATORS
    fresh_until: float = 0.0
    keep_until: float = 0.0
    policy: CachePolicy = NO_POLICY
    """What the service said last of the reuse of `faq`."""
    updated_at: datetime | None = None
    error: FAQError | None = None
    """Why the last fetch failed, or that there is no such FAQ; None after a success."""
    failures: int = 0
    retry_at: float = 0.0
    """Nothing is asked of the service before this moment, unless `faq` is fresh anyway."""
    failed_at: float = 0.0
    """When the last fetch that failed did so."""
    came_from: Source = "network"
    """Who told us last: the service, or a store that had asked it."""
    used_at: float = 0.0
    """When it was last looked up; the only field that readers write."""
    state: FAQState | None = None
    """The snapshot while the copy is fresh, made once."""
    rendered: dict[Any, Any] = msgspec.field(default_factory=dict)
    """What renderers made of `faq`; dropped with it."""


def may_be_shown(entry: Entry, now: float) -> bool:
    """Tell whether there is a copy that is not older than it may be."""
    return entry.faq is not None and now < max(entry.keep_until, entry.fresh_until)


def want(entry: Entry | None, now: float) -> Want:
    """Decide whether a call at `now` needs the network."""
    if entry is None:
        return Want.ANSWER
    if now < entry.fresh_until or now < entry.retry_at:
        return Want.NOTHING
    if entry.faq is not None and now < entry.keep_until and not entry.policy.must_revalidate:
        return Want.REFRESH
    return Want.ANSWER


def snapshot(
    entry: Entry | None, key: Key, now: float, *, is_fetching: bool = False, source: Source = "memory"
) -> FAQState:
    """Return what to show at `now`; while a fetch is running, its predecessor's error is not repeated."""
    if entry is None:
        gone = FAQUnavailable(f"{key.slug!r} was forgotten, or fetching ended, while it was waited for")
        return FAQState(error=None if is_fetching else gone, is_fetching=is_fetching, lang_requested=key.lang)
    is_stale = now >= entry.fresh_until
    if entry.state is not None and not is_stale and source == "memory":
        return entry.state
    error = None if is_fetching or (entry.faq is not None and not is_stale) else entry.error
    if entry.faq is None or now >= max(entry.keep_until, entry.fresh_until):
        if error is None and not is_fetching:
            error = FAQUnavailable(f"the copy of {key.slug!r} is older than keep_for allows")
        return FAQState(error=error, is_fetching=is_fetching, lang_requested=key.lang)
    return FAQState(
        data=entry.faq,
        error=error,
        is_fetching=is_fetching,
        is_stale=is_stale,
        is_degraded=is_stale and entry.error is not None,
        source=source,
        updated_at=entry.updated_at,
        lang_requested=key.lang,
    )


def _settled(entry: Entry) -> FAQState:
    return FAQState(
        data=entry.faq, source="memory", updated_at=entry.updated_at, lang_requested=entry.key.lang
    )


class Cache:
    """The copies of one embed, at most `max_entries`; the least recently used give way, empty ones first."""

    def __init__(
        self,
        *,
        fresh_for: float = 3600.0,
        keep_for: float | None = None,
        not_found_for: float = 60.0,
        max_entries: int = 1000,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.clock = clock
        self.wall_clock = wall_clock
        self.chance = chance
        self._fresh_for = fresh_for
        self._keep_for = float("inf") if keep_for is None else keep_for
        self._not_found_for = not_found_for
        self._max_entries = max_entries
        self._entries: dict[Key, Entry] = {}
        self.lock = threading.Lock()
        self.get = self._entries.get  # the look-up of every page, without a frame of our own

    def reset_lock(self) -> None:
        """Make a new lock, after a fork: a thread that does not exist here may have held the old one."""
        self.lock = threading.Lock()

    def apply(self, key: Key, outcome: Outcome) -> Entry:
        """Hold what a fetch of `key` led to, and return the entry."""
        with self.lock:
            entry = self.after(self._entries.get(key), key, outcome)
            self._entries[key] = entry
            if len(self._entries) > self._max_entries:
                self._evict(key)
        return entry

    def adopt(self, key: Key, copy: "Copy") -> Entry:
        """Hold a copy that another process had of the service, unless ours is newer; return the entry."""
        with self.lock:
            held = self._entries.get(key)
            if held is not None and held.updated_at is not None and held.updated_at > copy.confirmed_at:
                return held
            entry = self._entries[key] = self._adopted(held or Entry(key), copy)
            if len(self._entries) > self._max_entries:
                self._evict(key)
        return entry

    def _adopted(self, held: Entry, copy: "Copy") -> Entry:
        now, wall = self.clock(), self.wall_clock()
        age = (wall - copy.confirmed_at).total_seconds()
        # A copy from the future says that a clock was set: it is shown, and the service asked.
        left = copy.fresh_for - max(age, 0.0) if age > -CLOCKS_DIFFER else 0.0
        is_the_same = held.faq == copy.faq
        entry = Entry(
            key=held.key,
            faq=held.faq if is_the_same else copy.faq,
            rendered=held.rendered if is_the_same else {},
            validators=copy.validators,
            fresh_until=now + left,
            keep_until=now + left + self._keep_for,
            policy=CachePolicy(copy.lifetime, copy.must_revalidate),
            updated_at=min(copy.confirmed_at, wall),
            came_from="store",
            used_at=now,
        )
        if left > 0:
            return replace(entry, state=_settled(entry))
        return replace(entry, error=held.error, failures=held.failures, retry_at=held.retry_at)

    def copy_of(self, entry: Entry) -> "Copy | None":
        """Return what of an entry that was just confirmed can outlive the process."""
        if entry.faq is None or entry.updated_at is None:
            return None
        from faqsvc_embed.cache.stored import Copy  # whoever fetches has it already

        return Copy(
            entry.faq,
            entry.key.lang,
            entry.updated_at,
            max(0.0, entry.fresh_until - self.clock()),
            entry.validators,
            entry.policy.must_revalidate,
            entry.policy.lifetime,
        )

    def expire(self) -> None:
        """Let every copy be asked for again before it is trusted; what is held is shown meanwhile."""
        with self.lock:
            now = self.clock()
            for key, entry in self._entries.items():
                if entry.fresh_until > now:
                    self._entries[key] = replace(entry, fresh_until=now, state=None)

    def after(self, held: Entry | None, key: Key, outcome: Outcome) -> Entry:
        """Return the entry that follows `held` after a fetch of `key` ended in `outcome`."""
        now = self.clock()
        match outcome:
            case Found():
                return self._confirmed(
                    Entry(key, outcome.faq, outcome.validators, used_at=now), outcome.policy, now
                )
            case NotModified():
                if held is None or held.faq is None:
                    lost = FAQUnavailable(
                        f"the service says {key.slug!r} has not changed, but no copy is held"
                    )
                    return self._failed(held or Entry(key, used_at=now), lost, now)
                validators = Validators(
                    outcome.validators.etag or held.validators.etag,
                    outcome.validators.last_modified or held.validators.last_modified,
                )
                policy = outcome.policy or replace(held.policy, age=outcome.age)
                return self._confirmed(replace(held, validators=validators), policy, now)
            case Missing():
                until = now + self._not_found_for
                return Entry(key, error=outcome.error, retry_at=until, used_at=now)
            case Failed():
                return self._failed(held or Entry(key, used_at=now), outcome.error, now)
            case _:
                assert_never(outcome)

    def _confirmed(self, entry: Entry, policy: CachePolicy, now: float) -> Entry:
        left = policy.left
        lifetime = self._fresh_for if left is None else left
        fresh_until = now + lifetime * (1 + JITTER * self.chance())
        confirmed = replace(
            entry,
            fresh_until=fresh_until,
            keep_until=fresh_until + self._keep_for,
            policy=policy,
            updated_at=self.wall_clock(),
            error=None,
            failures=0,
            retry_at=0.0,
            came_from="network",
        )
        return replace(confirmed, state=_settled(confirmed))

    def _failed(self, entry: Entry, error: FAQError, now: float) -> Entry:
        longest = min(FIRST_BACK_OFF * 2.0 ** min(entry.failures, 10), LONGEST_BACK_OFF)
        pause = max(longest * self.chance(), error.retry_after or 0.0)
        failures = entry.failures + 1
        return replace(entry, error=error, failures=failures, retry_at=now + pause, failed_at=now)

    def _evict(self, newest: Key) -> None:
        """Make room, some at a time so that a flood of slugs costs little; a real FAQ outlives the flood."""
        room = self._max_entries - self._max_entries // 20
        others = [entry for key, entry in self._entries.items() if key != newest]
        others.sort(key=lambda entry: (entry.faq is not None, entry.used_at))
        for entry in others[: len(self._entries) - room]:
            del self._entries[entry.key]

    def forget(self, slug: str | None = None) -> None:
        """Drop every copy of `slug`, in all languages; or of all FAQs."""
        with self.lock:
            for key in [key for key in self._entries if slug is None or key.slug == slug]:
                del self._entries[key]

    def entries(self) -> Iterable[Entry]:
        """Return the entries at this moment, in no order."""
        with self.lock:
            return list(self._entries.values())
