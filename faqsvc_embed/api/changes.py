"""Changes of single questions: what PATCH does to the items of an FAQ. Nothing here does I/O."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from faqsvc_embed.api.contract import Change
from faqsvc_embed.api.fields import MAX_ITEMS
from faqsvc_embed.errors import FAQError, quoted
from faqsvc_embed.models import Item
from faqsvc_embed.text import question_key

MAX_CLOSEST: Final = 3
COMPARED: Final = 200
"""Characters of a question that are compared to find the closest ones."""


class ChangeRefused(FAQError, ValueError):
    """A change cannot be made; `index` is its number from 0, `closest` are questions that it may mean."""

    def __init__(self, index: int, reason: str, closest: Sequence[str] = ()) -> None:
        shown = f"; the closest are {', '.join(map(quoted, closest))}" if closest else ""
        super().__init__(f"changes[{index}]: {reason}{shown}")
        self.index = index
        self.closest: tuple[str, ...] = tuple(closest)


def apply_changes(items: Iterable[Item], changes: Sequence[Change]) -> tuple[Item, ...]:
    """Return the items after changes, which are applied in order. Positions are counted from 0.

    Raises:
        ChangeRefused: a change cannot be made, or no question or too many would remain.
    """
    questions = _Questions(items)
    for index, change in enumerate(changes):
        try:
            questions.apply(change)
        except _Refused as refused:
            raise ChangeRefused(index, str(refused), refused.closest) from None
    changed = questions.items
    if not changed:
        raise ChangeRefused(len(changes) - 1, "no question would remain: unpublish the FAQ instead")
    return tuple(replace(item, position=position) for position, item in enumerate(changed))


class _Refused(Exception):
    def __init__(self, reason: str, closest: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.closest = closest


class _Questions:
    """The questions of an FAQ while they are changed; `keys` are those of `items`, in the same order."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.items = list(items)
        self.keys = [question_key(item.question) for item in self.items]

    def apply(self, change: Change) -> None:
        """Make one change. Raises _Refused."""
        values = (change.answer, change.new_question, change.section)
        if change.remove and any(value is not None for value in (*values, change.after)):
            raise _Refused("remove cannot be combined with other fields")
        place = self.place(change.question)
        if place is None:
            if change.answer is None or change.new_question is not None:
                raise self.unknown(change.question)
            self.add(change)
        elif change.remove:
            self.take(place)
        elif values == (None, None, None):
            raise _Refused("answer, newQuestion, section or remove is missing")
        else:
            self.edit(place, change)

    def add(self, change: Change) -> None:
        """Add a question. Without `section`, it gets the section of the question before it."""
        if len(self.items) >= MAX_ITEMS:
            raise _Refused(f"an FAQ has at most {MAX_ITEMS:,} questions")
        if change.section is not None and change.after is not None:
            raise _Refused("a new question has either section or after, not both")
        section = change.section
        if section is not None:
            place = self.end_of(section)
        else:
            before = len(self.items) - 1 if change.after is None else self.place(change.after)
            if before is None:
                raise self.unknown(change.after or "")
            place, section = before + 1, self.items[before].section if self.items else None
        self.put(place, Item(place, change.question, change.answer or "", section))

    def edit(self, place: int, change: Change) -> None:
        """Change the texts of a question, and move it to the end of a section if one is given."""
        item = self.items[place]
        if change.new_question is not None:
            if self.place(change.new_question) not in (None, place):
                raise _Refused(f"there is another question {quoted(change.new_question)} already")
            item = replace(item, question=change.new_question)
        if change.answer is not None:
            item = replace(item, answer=change.answer)
        self.take(place)
        if change.section is not None:
            place, item = self.end_of(change.section), replace(item, section=change.section)
        self.put(place, item)

    def put(self, place: int, item: Item) -> None:
        """Insert an item."""
        self.items.insert(place, item)
        self.keys.insert(place, question_key(item.question))

    def take(self, place: int) -> None:
        """Remove an item."""
        del self.items[place], self.keys[place]

    def place(self, question: str) -> int | None:
        """Return the index of a question, or None; its white space and its Unicode form do not matter."""
        key = question_key(question)
        if (count := self.keys.count(key)) > 1:
            raise _Refused(f"{quoted(question)} is in the FAQ {count} times: publish the whole FAQ instead")
        return self.keys.index(key) if count else None

    def end_of(self, section: str) -> int:
        """Return the index after the last item of a section; a new section begins at the end."""
        places = [index for index, item in enumerate(self.items) if item.section == section]
        return places[-1] + 1 if places else len(self.items)

    def unknown(self, question: str) -> _Refused:
        """Return the error for an unknown question, with the questions that are most similar to it."""
        wanted = _pairs(question)
        shares = [(_share(wanted, _pairs(item.question)), item.question) for item in self.items]
        best = sorted((found for found in shares if found[0]), key=lambda found: -found[0])[:MAX_CLOSEST]
        return _Refused(f"there is no question {quoted(question)}", [text for _, text in best])


def _pairs(text: str) -> set[str]:
    """Return the pairs of adjacent letters in a text; similar texts share many, in every language."""
    folded = text[:COMPARED].casefold()
    return {folded[index : index + 2] for index in range(len(folded) - 1)}


def _share(one: set[str], other: set[str]) -> float:
    return len(one & other) / (len(one | other) or 1)
