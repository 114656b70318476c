"""What was made of each record, kept for as long as the record lives."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import ref

from faqsvc_embed.records import FAQ

T = TypeVar("T")


class ByRecord(Generic[T]):
    """One thing for each record, made when it is first asked for; of more than `most`, the oldest go.

    What is kept must not hold its record, which would live as long. Records are told apart by identity: to
    compare them, or to hash one, takes as long as to read it.
    """

    def __init__(self, make: Callable[[], T], most: int = 2000) -> None:
        self._make = make
        self._most = most
        self._made = OrderedDict[int, tuple[ref[FAQ], T]]()

    def __len__(self) -> int:
        return len(self._made)

    def of(self, faq: FAQ) -> T:
        """Return what is kept of a record; two threads that ask first may get one each."""
        key, made = id(faq), self._made
        if (found := made.get(key)) is not None and found[0]() is faq:
            return found[1]
        thing = self._make()
        made[key] = ref(faq, lambda _: made.pop(key, None)), thing
        if len(made) > self._most:
            made.popitem(last=False)
        return thing

    def clear(self) -> None:
        """Drop what was made of all records."""
        self._made.clear()
