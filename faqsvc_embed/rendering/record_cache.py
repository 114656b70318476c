"""A cache of values computed from records: bounded in bytes, and values are dropped with their record."""

from collections.abc import Hashable
from typing import Final, Generic, TypeVar
from weakref import ref

from faqsvc_embed.models import FAQ
from faqsvc_embed.runtime.threads import Lock

T = TypeVar("T")

MAX_TOTAL_BYTES: Final = 64 * 1_048_576


class _Values(Generic[T]):
    """The values that were computed from one record."""

    def __init__(self, faq: "ref[FAQ]") -> None:
        self.faq = faq
        self.by_key: dict[Hashable, T] = {}
        self.size = 0


class RecordCache(Generic[T]):
    """Values by record and key. Records are compared by identity, because comparing their content is slow.

    When a record is dropped, its values are, too. Above the limit in bytes, the values of the oldest records
    are dropped; a record whose values exceed the limit alone loses them.
    """

    def __init__(self, max_total_bytes: int = MAX_TOTAL_BYTES) -> None:
        self._max_total_bytes = max_total_bytes
        self._values: dict[int, _Values[T]] = {}
        self._lock = Lock()

    def get(self, faq: FAQ, key: Hashable) -> T | None:
        """Return a value of a record, if it is cached."""
        values = self._values.get(id(faq))
        return values.by_key.get(key) if values is not None and values.faq() is faq else None

    def put(self, faq: FAQ, key: Hashable, value: T, size: int) -> None:
        """Cache a value of a record; `size` is in bytes."""
        if size > self._max_total_bytes:
            return
        identity, all_values = id(faq), self._values
        with self._lock.own():
            values = all_values.get(identity)
            if values is None or values.faq() is not faq:
                # The callback runs at any moment and takes no lock: a dictionary's pop is atomic.
                values = _Values[T](ref(faq, lambda _: all_values.pop(identity, None)))
                all_values[identity] = values
            if key in values.by_key:
                return  # another thread has done it
            if values.size + size > self._max_total_bytes:
                values.by_key, values.size = {}, 0
            values.by_key[key] = value
            values.size += size
            self._evict(identity)

    def _evict(self, newest: int) -> None:
        total = sum(values.size for values in list(self._values.values()))
        for identity in list(self._values):
            if total <= self._max_total_bytes:
                break
            if identity != newest and (values := self._values.pop(identity, None)) is not None:
                total -= values.size

    def clear(self) -> None:
        """Forget everything: the templates may have changed."""
        self._values.clear()
