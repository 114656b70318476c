"""The differences between two revisions of an FAQ, by word."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from faqsvc_embed.service.desk.draft import Draft, DraftItem

MAX_PAIRS: Final = 1_000_000
"""Maximum number of pairs of words or lines that a page compares, because the time grows with it.

The texts that differ share this number. A text that is too long is compared by line, or shown whole.
"""

_SETTINGS: Final = {
    "Title": "title",
    "Website": "website_name",
    "Address": "website_url",
    "Page that shows it": "page_url",
    "Introduction": "introduction",
    "Answers are": "answer_format",
}
# Words with the space after them; Chinese, Japanese and Thai characters count as words of their own.
_WORDS: Final = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|"
    r"[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|\s+|."
)
_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")


class Piece(NamedTuple):
    """A part of a text; `kind` is `same`, `old` for what was removed or `new` for what was added."""

    kind: str
    text: str


class Change(NamedTuple):
    """One field that differs, with its text before and after."""

    label: str
    kind: str
    """`changed`, `added`, `removed` or `moved`."""
    old: int | None
    """The index of the question before the change, if the field belongs to a question."""
    new: int | None
    """The index after the change."""
    before: list[Piece]
    after: list[Piece]


_Difference = tuple[str, str, int | None, int | None, str, str]
"""A change with its texts, which are not compared yet."""


def changes(before: Draft, after: Draft) -> list[Change]:
    """Return the fields that differ, settings first and then the questions in their new order."""
    fields = ((label, getattr(before, name), getattr(after, name)) for label, name in _SETTINGS.items())
    found: list[_Difference] = [
        (label, "changed", None, None, old, new) for label, old, new in fields if old != new
    ]
    found += _item_changes(before.items, after.items)
    max_pairs = MAX_PAIRS // max(1, len(found))
    return [Change(label, kind, i, j, *words(old, new, max_pairs)) for label, kind, i, j, old, new in found]


def aligned(items: Sequence[DraftItem], made_from: Draft, source: Draft) -> tuple[DraftItem, ...]:
    """Return the items of a translation in the order of `source`, with an empty item for each new question.

    Items whose question is no longer in the source come last. `made_from` is the source from which the
    translation was made: an item without an id translates the question at the same place there.
    """
    by_id = {item.id: place for place, item in enumerate(items) if item.id}
    matched = _matches(made_from.items, source.items)
    rest = dict(enumerate(items))
    found = list[DraftItem]()
    for new, original in enumerate(source.items):
        place = by_id.get(original.id, matched.get(new, -1))
        is_of_another = place in rest and rest[place].id not in ("", original.id)
        found.append(
            DraftItem(id=original.id) if is_of_another else rest.pop(place, DraftItem(id=original.id))
        )
    return (*found, *rest.values())


def words(before: str, after: str, max_pairs: int = MAX_PAIRS) -> tuple[list[Piece], list[Piece]]:
    """Return the pieces of both texts; those that differ are marked `old` or `new`."""
    for parts in (_WORDS, _LINES):
        old, new = parts.findall(before), parts.findall(after)
        if len(old) * len(new) <= max_pairs:
            break
    else:
        old, new = [before], [after]
    runs = _runs(old, new)
    left = [Piece("same" if run.is_same else "old", "".join(run.old)) for run in runs if run.old]
    right = [Piece("same" if run.is_same else "new", "".join(run.new)) for run in runs if run.new]
    return left, right


class _Run(NamedTuple):
    is_same: bool
    old: list[str]
    new: list[str]

    @property
    def length(self) -> int:
        return max(sum(not word.isspace() for word in text) for text in self[1:])


def _runs(old: list[str], new: list[str]) -> list[_Run]:
    """Return the parts of two texts that are the same, and those that differ.

    Words between two changes count as changed if neither change is shorter, so that a sentence with mostly
    different words is not cut into pieces. A change never crosses an unchanged line break.
    """
    runs = list[_Run]()
    for tag, i, j, k, l in SequenceMatcher(None, old, new).get_opcodes():  # noqa: E741 - as in difflib
        runs.append(_Run(tag == "equal", old[i:j], new[k:l]))
        while len(runs) > 2 and not runs[-1].is_same:
            first, between, last = runs[-3:]
            if between.length > min(first.length, last.length) or any("\n" in word for word in between.old):
                break
            runs[-3:] = [_Run(False, first.old + between.old + last.old, first.new + between.new + last.new)]
    return runs


def _item_changes(before: Sequence[DraftItem], after: Sequence[DraftItem]) -> Iterator[_Difference]:
    """Yield the items that were changed, added, moved or removed."""
    matched = _matches(before, after)
    unmoved = _ascending([matched[new] for new in sorted(matched)])
    for new, item in enumerate(after):
        label, old = f"Question {new + 1}", matched.get(new)
        if old is None:
            if item.has_text:  # a form may have empty items
                yield label, "added", None, new, "", _text(item)
        elif before[old] != item:
            yield label, "changed", old, new, _text(before[old]), _text(item)
        elif old not in unmoved:
            yield f"{label}, was {old + 1}", "moved", old, new, item.question, item.question
    for old in _unmatched(before, matched):
        yield f"Former question {old + 1}", "removed", old, None, _text(before[old]), ""


def _text(item: DraftItem) -> str:
    lines = [item.question, item.answer]
    lines += [f"Section: {item.section}"] if item.section else []
    return "\n\n".join(lines + ([f"Id: {item.id}"] if item.id else []))


def _matches(before: Sequence[DraftItem], after: Sequence[DraftItem]) -> dict[int, int]:
    """Return the old index of each new item that has one: by equal ids, questions, answers, then places."""
    matched = dict[int, int]()
    for name in ("id", "question", "answer"):
        free = dict[str, list[int]]()
        for old in reversed(_unmatched(before, matched)):
            free.setdefault(getattr(before[old], name), []).append(old)
        if name == "id":
            free.pop("", None)  # most questions have none
        for new, item in enumerate(after):
            if new not in matched and (same := free.get(getattr(item, name))):
                matched[new] = same.pop()
    for place in _unmatched(before, matched):
        if place < len(after) and place not in matched and _is_similar(before[place], after[place]):
            matched[place] = place
    return matched


def _unmatched(before: Sequence[DraftItem], matched: dict[int, int]) -> list[int]:
    return sorted(set(range(len(before))) - set(matched.values()))


def _is_similar(before: DraftItem, after: DraftItem) -> bool:
    old, new = set(_WORDS.findall(" ".join(before[:2]))), set(_WORDS.findall(" ".join(after[:2])))
    return len(old & new) * 2 > min(len(old), len(new))


def _ascending(numbers: list[int]) -> set[int]:
    """Return the numbers of a long ascending subsequence: the items that did not move."""
    matcher = SequenceMatcher(None, numbers, sorted(numbers), autojunk=False)
    return {
        numbers[i] for block in matcher.get_matching_blocks() for i in range(block.a, block.a + block.size)
    }
