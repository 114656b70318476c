"""Changes of single questions: what PATCH does to the items of an FAQ. Nothing here does I/O."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from faqsvc_embed.api.contract import Change
from faqsvc_embed.api.fields import MAX_ITEMS, Code
from faqsvc_embed.errors import FAQError, quoted
from faqsvc_embed.models import Item
from faqsvc_embed.text import letters, question_key, spelling

MAX_CLOSEST: Final = 3
COMPARED: Final = 200
"""Characters of a question that are compared to find the closest ones."""
MIN_SIMILARITY: Final = 0.15
"""How similar one of the closest questions must be, from 0 to 1; also half as similar as the best one."""

_Group = tuple[str, str]
"""A section, without its spelling, and an answer."""


class ChangeRefused(FAQError, ValueError):
    """A change cannot be made; `index` is its number from 0, `closest` are questions that it may mean.

    The message ends with these questions, shortened; `reason` is the message without them.
    `code` is `unknown-question` if there is no question with the name, else `invalid-body`.
    """

    def __init__(self, index: int, reason: str, closest: Sequence[str], code: Code) -> None:
        self.reason: str = f"changes[{index}]: {reason}"
        named = f"; the closest: {', '.join(map(quoted, closest))}" if code == "unknown-question" else ""
        super().__init__(f"{self.reason}{named if closest else ''}", code=code)
        self.index = index
        self.closest: tuple[str, ...] = tuple(closest)


def apply_changes(items: Iterable[Item], changes: Sequence[Change]) -> tuple[Item, ...]:
    """Return the items after changes, which are applied in order. Positions are counted from 0.

    Raises:
        ChangeRefused: a change cannot be made, or no question or too many would remain.
    """
    questions = _Questions(items)
    for index, change in enumerate(changes):
        questions.index = index
        questions.apply(change)
    if not questions.order:
        raise questions.refused("no question would remain: unpublish the FAQ instead")
    return tuple(
        Item(position, one.question, one.answer, one.section, one.id)
        for position, one in enumerate(questions.order)
    )


def finder(items: Sequence[Item]) -> Callable[[Change], Item | None]:
    """Return a function that finds the question that a change names, as `apply_changes` does.

    It returns None if there is no such question, or several.
    """
    questions = _Questions(items)

    def find(change: Change) -> Item | None:
        try:
            return items[questions.order.index(questions.named(change))]
        except ChangeRefused:
            return None

    return find


def closest(question: str, questions: Iterable[str]) -> list[str]:
    """Return the questions that are most similar to one: those that share most pairs of adjacent letters.

    It names the right one of ten for 74 of 76 paraphrases in seven languages; no measure of difflib or of
    rapidfuzz names more. None tells a paraphrase from another question, so nothing depends on the values.
    """
    wanted = _pairs(question)
    rated = [(_similarity(wanted, _pairs(text)), text) for text in questions]
    best = sorted(rated, key=lambda one: -one[0])[:MAX_CLOSEST]
    return [text for similarity, text in best if similarity >= max(MIN_SIMILARITY, best[0][0] / 2)]


@dataclass(eq=False, slots=True)
class _Question:
    """A question while its FAQ is changed."""

    question: str
    answer: str
    section: str | None = None
    id: str | None = None

    def names(self) -> Iterator[tuple[str, object]]:
        """Yield the names by which a change can refer to the question."""
        yield "text", question_key(self.question)
        if written := spelling(self.question):
            yield "spelling", written
        if self.id is not None:
            yield "id", self.id

    def group(self) -> _Group:
        """Return what tells the question apart from others with the same name."""
        return _section_name(self.section), self.answer


class _Questions:
    """The questions of an FAQ while they are changed."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.order = [_Question(item.question, item.answer, item.section, item.id) for item in items]
        self.titles = {_section_name(one.section): one.section for one in reversed(self.order)}
        """The sections by their spelling; of several with one spelling, the first."""
        self.names = defaultdict[tuple[str, object], dict[_Group, dict[_Question, None]]](dict)
        """The questions with a text, a spelling or an id, in groups of equal ones, which keep their order."""
        self.index = 0
        """The number of the change that is being made."""
        for one in self.order:
            self.know(one)

    def refused(self, reason: str, closest: Sequence[str] = (), code: Code = "invalid-body") -> ChangeRefused:
        """Return the error for a change that cannot be made."""
        return ChangeRefused(self.index, reason, closest, code)

    def apply(self, change: Change) -> None:
        if change.add and not change.remove:
            self.add(change)
            return
        one = self.named(change)
        new_id = change.id if change.question is not None and change.id != one.id else None
        texts = (change.answer, change.new_question, change.section, change.after)
        if change.remove:
            others = (change.new_question, change.after, new_id)
            if change.add or not _meant([one.group()], change) or others != (None, None, None):
                raise self.refused("remove cannot be combined with fields that change the question")
            self.forget(one)
            self.order.remove(one)
        elif new_id is not None or any(text is not None for text in texts):
            self.edit(one, change, new_id)
        else:
            raise self.refused("answer, newQuestion, section, after, id or remove is missing or empty")

    def add(self, change: Change) -> None:
        """Add a question. Without `section`, it gets the section of the question before it."""
        if len(self.order) >= MAX_ITEMS:
            raise self.refused(f"an FAQ has at most {MAX_ITEMS:,} questions")
        if change.question is None or change.answer is None or change.new_question is not None:
            raise self.refused("a question that is added needs question and answer, and no newQuestion")
        self.check_free(change.question, change.id)
        one = _Question(change.question, change.answer, id=change.id)
        self.know(one)
        self.put(one, change)

    def edit(self, one: _Question, change: Change, new_id: str | None) -> None:
        """Change the texts, the id and the place of a question.

        Beside a new text, the section that the question is in only tells which one is meant. Beside a place
        outside of this section, it moves the section.
        """
        is_own = change.section is not None and bool(_meant([one.group()], change))
        has_text = (change.answer, change.new_question) != (None, None)
        stays = change.section is None or (has_text and is_own)
        self.forget(one)
        self.check_free(change.new_question, new_id)
        one.question = change.new_question or one.question
        one.answer = change.answer or one.answer
        one.id = new_id or one.id
        self.know(one)
        if not stays or change.after is not None:
            moves_section = is_own and change.after is not None and one.section is not None
            section = [other for other in self.order if other.section == one.section] if moves_section else []
            place = self.order.index(one)
            del self.order[place]
            self.put(one, change, place)
            if moves_section:
                self.gather(one, section)

    def gather(self, one: _Question, section: Sequence[_Question]) -> None:
        """Let a section follow one of its questions that was moved away from it."""
        place = self.order.index(one)
        beside = {*self.order[max(place - 1, 0) : place], *self.order[place + 1 : place + 2]}
        if beside.isdisjoint(section):
            others = {*section} - {one}
            rest = [other for other in self.order if other not in others]
            place = rest.index(one)
            self.order = [*rest[:place], *section, *rest[place + 1 :]]

    def put(self, one: _Question, change: Change, old_place: int | None = None) -> None:
        """Insert a question where a change says: at the end of a section, after a question, or at the end.

        After a question, it gets the section of that question, or a new one. Between two sections, it may
        get any section.
        """
        name = _section_name(change.section)
        is_new = name not in self.titles and bool(name)
        section = self.titles.setdefault(name, change.section) if name else None
        if change.section is not None and change.after is None:
            place = self.end_of_section(section, one.section, old_place)
        else:
            place = self.place_after(change.after, one)
            beside = self.order[max(place - 1, 0)].section if self.order else None
            is_within = 0 < place < len(self.order) and self.order[place].section == beside
            if change.section is None or name == _section_name(beside):
                section = beside
            elif is_within and not is_new:
                raise self.refused(f"after names a place within another section: {quoted(beside or '')}")
        if section != one.section:
            self.forget(one)
            one.section = section
            self.know(one)
        self.order.insert(place, one)

    def end_of_section(self, section: str | None, left: str | None, old_place: int | None) -> int:
        """Return the place after a section; if it is new, the place after the section `left`.

        If that is empty now, the new section takes the `old_place` of the question: so a section is renamed.
        """
        sections = [other.section for other in self.order]
        is_new = section not in sections and None not in (section, left)
        near = left if is_new else section
        if near in sections:
            return len(sections) - sections[::-1].index(near)
        return old_place if is_new and old_place is not None else len(sections)

    def place_after(self, after: str | None, moved: _Question) -> int:
        """Return the place after a question; the end for None, the beginning for an empty text."""
        if after is None:
            return len(self.order)
        if not after.strip():
            return 0
        found = self.find(after, Change())
        if found is None:
            raise self.unknown(after, advice="`after` names another question, or is empty for the beginning")
        if found is moved:
            raise self.refused(f"{quoted(after)} cannot come after itself")
        return self.order.index(found) + 1

    def know(self, one: _Question) -> None:
        """Let a question be found by its names."""
        group = one.group()
        for name in one.names():
            self.names[name].setdefault(group, {})[one] = None

    def forget(self, one: _Question) -> None:
        """Let a question no longer be found."""
        group = one.group()
        for groups in map(self.names.__getitem__, one.names()):
            del groups[group][one]
            if not groups[group]:
                del groups[group]

    def first(self, name: tuple[str, object]) -> list[_Question]:
        """Return the first questions with a name."""
        return list(islice(chain.from_iterable(self.names[name].values()), MAX_CLOSEST))

    def named(self, change: Change) -> _Question:
        """Return the question that a change names."""
        if change.question is None:
            one = self.only(("id", change.id), change)
            if one is None:
                reason = f"there is no question with the id {quoted(change.id)}: name it by its text"
                raise self.refused(reason, code="unknown-question")
            return one
        one = self.find(change.question, change)
        if one is None:
            raise self.unknown(change.question, change.id)
        return one

    def find(self, text: str, change: Change) -> _Question | None:
        """Return the question with this text, spelling or id, or None."""
        names = (("text", question_key(text)), ("spelling", spelling(text)), ("id", text))
        return next((found for name in names if (found := self.only(name, change)) is not None), None)

    def only(self, name: tuple[str, object], change: Change) -> _Question | None:
        """Return the only question with a name, or None.

        If several have the name, the id of the change tells which is meant, or else its section, or the
        answer of a question to remove. Of equal questions, the last one is meant. In all other cases, the
        change is refused.
        """
        groups, found = self.names[name], self.first(name)
        if len(found) > 1:
            for one in self.first(("id", change.id)):
                if name in one.names():
                    return one
            meant = _meant(groups, change)
            if len(meant) == 1:
                return next(reversed(groups[meant[0]]))
            texts = [one.question for one in found]
            named = quoted(name[1] if name[0] == "id" else texts[0])
            reason = (
                f"{named} is the name of {sum(map(len, groups.values()))} questions: name one by its id, or "
                "add its section; to remove one, you can add its answer instead"
            )
            raise self.refused(reason, texts)
        return found[0] if found else None

    def check_free(self, question: str | None, item_id: str | None) -> None:
        """Refuse a question whose text, in any spelling, or whose id another one has."""
        question = question or ""
        for name in (("spelling", spelling(question)), ("text", question_key(question)), ("id", item_id)):
            for one in self.first(name):
                what = f"the id {quoted(item_id)}" if name[0] == "id" else "this question"
                raise self.refused(f"the FAQ has {what} already: {quoted(one.question)}", [one.question])

    def unknown(
        self,
        question: str,
        item_id: str | None = None,
        advice: str = "name an existing one, or add it, with `add`",
    ) -> ChangeRefused:
        """Return the error for an unknown question, with the questions that it may mean."""
        named = [one.question for one in self.first(("id", item_id))]
        found = named or closest(question, [one.question for one in self.order])
        return self.refused(f"there is no question {quoted(question)}: {advice}", found, "unknown-question")


def _meant(groups: Iterable[_Group], change: Change) -> list[_Group]:
    """Return the groups with the section of a change and, if it removes a question, also with its answer."""
    section = None if change.section is None else _section_name(change.section)
    answer = change.answer if change.remove else None
    return [one for one in groups if section in (None, one[0]) and answer in (None, one[1])]


def _section_name(title: str | None) -> str:
    """Return the form that all spellings of a section's title have in common; empty without a section."""
    return spelling(title or "") or (title or "").strip()


def _pairs(text: str) -> set[str]:
    """Return the pairs of adjacent letters in a text, without accents and signs, and its ideographs."""
    folded = letters(text[:COMPARED])
    pairs = {folded[index : index + 2] for index in range(len(folded) - 1)}
    return pairs.union(letter for letter in folded if letter >= "\u3400")


def _similarity(one: set[str], other: set[str]) -> float:
    """Return how many pairs two texts share: the mean of Dice's coefficient and the overlap coefficient."""
    shared, sizes = len(one & other), (len(one), len(other))
    return shared / (sum(sizes) or 1) + shared / (2 * (min(sizes) or 1))
