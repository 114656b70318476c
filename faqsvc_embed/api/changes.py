"""Changes of single questions: what PATCH does to the items of an FAQ. Nothing here does I/O."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from faqsvc_embed.api.contract import Change
from faqsvc_embed.api.fields import MAX_ITEMS, Code
from faqsvc_embed.errors import FAQError, quoted
from faqsvc_embed.models import Item
from faqsvc_embed.text import letters, question_key, spelling

MAX_CLOSEST: Final = 3
COMPARED: Final = 200
"""Characters of a question that are compared to find the closest ones."""
ENOUGH: Final = 0.1
"""How similar a question must be to be one of the closest, from 0 to 1."""


class ChangeRefused(FAQError, ValueError):
    """A change cannot be made; `index` is its number from 0, `closest` are questions that it may mean.

    `code` is `unknown-question` if there is no question with the name, else `invalid-body`.
    """

    def __init__(self, index: int, reason: str, closest: Sequence[str], code: Code) -> None:
        if closest and code == "unknown-question":
            reason += f"; the closest: {', '.join(map(quoted, closest))}"
        super().__init__(f"changes[{index}]: {reason}", code=code)
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
        replace(questions.items[number], position=position, section=section)
        for position, (number, section) in enumerate(zip(questions.order, questions.sections, strict=True))
    )


def finder(items: Iterable[Item]) -> Callable[[Change], Item | None]:
    """Return a function that finds the question that a change names, as `apply_changes` does.

    It returns None if there is no such question, or several.
    """
    questions = _Questions(items)

    def find(change: Change) -> Item | None:
        try:
            return questions.items[questions.named(change)]
        except ChangeRefused:
            return None

    return find


def closest(question: str, questions: Iterable[str], enough: float = ENOUGH) -> list[str]:
    """Return the questions that are most similar to one: those that share most pairs of adjacent letters.

    It names the right one of ten for 74 of 76 paraphrases in seven languages; no measure of difflib or of
    rapidfuzz names more. None tells a paraphrase from another question, so nothing depends on the values.
    """
    wanted = _pairs(question)
    shares = [(_similarity(wanted, _pairs(text)), text) for text in questions]
    best = sorted((found for found in shares if found[0] >= enough), key=lambda found: -found[0])
    return [text for _, text in best[:MAX_CLOSEST]]


class _Questions:
    """The questions of an FAQ while they are changed. Each keeps its number, wherever it is moved."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.items = dict(enumerate(items))
        self.order = list(self.items)
        self.sections = [item.section for item in self.items.values()]
        """The section of each question in `order`."""
        self.titles = {_section_name(section): section for section in reversed(self.sections)}
        """The sections by their spelling; of several with one spelling, the first."""
        self.names = dict[tuple[str, object], list[int]]()
        """The numbers of the questions with a text, a spelling or an id."""
        self.index = 0
        """The number of the change that is being made."""
        for number in self.order:
            self.know(number)

    def refused(self, reason: str, closest: Sequence[str] = (), code: Code = "invalid-body") -> ChangeRefused:
        """Return the error for a change that cannot be made."""
        return ChangeRefused(self.index, reason, closest, code)

    def apply(self, change: Change) -> None:
        """Make one change."""
        if change.add and not change.remove:
            self.add(change)
            return
        number = self.named(change)
        new_id = change.id if change.question is not None and change.id != self.items[number].id else None
        texts = (change.answer, change.new_question, change.section, change.after)
        if change.remove:
            if (
                change.add
                or not self.has(number, change)
                or (change.new_question, change.after, new_id) != (None,) * 3
            ):
                raise self.refused("remove cannot be combined with fields that change the question")
            self.forget(number)
            self.take(number)
        elif new_id is not None or any(text is not None for text in texts):
            self.edit(number, change, new_id)
        else:
            raise self.refused("answer, newQuestion, section, after, id or remove is missing")

    def add(self, change: Change) -> None:
        """Add a question. Without `section`, it gets the section of the question before it."""
        if len(self.order) >= MAX_ITEMS:
            raise self.refused(f"an FAQ has at most {MAX_ITEMS:,} questions")
        if change.question is None or change.answer is None or change.new_question is not None:
            raise self.refused("a question that is added needs question and answer, and no newQuestion")
        self.check_free(change.question, change.id)
        number = len(self.items)
        self.items[number] = Item(number, change.question, change.answer, id=change.id)
        self.know(number)
        self.put(number, change)

    def edit(self, number: int, change: Change, new_id: str | None) -> None:
        """Change the texts, the id and the place of a question."""
        item = self.items[number]
        self.forget(number)
        self.check_free(change.new_question, new_id)
        self.items[number] = replace(
            item,
            question=item.question if change.new_question is None else change.new_question,
            answer=item.answer if change.answer is None else change.answer,
            id=item.id if new_id is None else new_id,
        )
        self.know(number)
        if change.section is not None or change.after is not None:
            self.take(number)
            self.put(number, change)

    def put(self, number: int, change: Change) -> None:
        """Insert a question where a change says: at the end of a section, after a question, or at the end.

        After a question, it may have a new section, or that of the question.
        """
        name = _section_name(change.section)
        is_new = name not in self.titles and bool(name)
        section = self.titles.setdefault(name, change.section) if name else None
        if change.section is not None and change.after is None:
            behind = self.sections[::-1].index(section) if section in self.sections else 0
            place = len(self.order) - behind
        else:
            place = self.place_after(change.after)
            beside = self.sections[max(place - 1, 0)] if self.sections else None
            if change.section is not None and not is_new and name != _section_name(beside):
                raise self.refused(f"after names a place in another section: {quoted(beside or '')}")
            section = section if is_new else beside
        self.order.insert(place, number)
        self.sections.insert(place, section)

    def place_after(self, after: str | None) -> int:
        """Return the place after a question; the end for None, the beginning for an empty text."""
        if after is None:
            return len(self.order)
        if not after.strip():
            return 0
        number = self.find(after, Change())
        if number is None:
            raise self.unknown(after, advice="`after` names one that is there")
        if number not in self.order:
            raise self.refused(f"{quoted(after)} cannot come after itself")
        return self.order.index(number) + 1

    def take(self, number: int) -> None:
        """Remove a question from its place."""
        place = self.order.index(number)
        del self.order[place], self.sections[place]

    def know(self, number: int) -> None:
        """Let a question be found by its names."""
        for name in _names(self.items[number]):
            self.names.setdefault(name, []).append(number)

    def forget(self, number: int) -> None:
        """Let a question no longer be found."""
        for name in _names(self.items[number]):
            self.names[name].remove(number)

    def named(self, change: Change) -> int:
        """Return the number of the question that a change names."""
        if change.question is None:
            number = self.only(("id", change.id), change)
            if number is None:
                reason = f"there is no question with the id {quoted(change.id)}: name it by its text"
                raise self.refused(reason, code="unknown-question")
            return number
        number = self.find(change.question, change)
        if number is None:
            raise self.unknown(change.question, change.id)
        return number

    def find(self, text: str, change: Change) -> int | None:
        """Return the number of the question with this text, spelling or id, or None."""
        names = (("text", question_key(text)), ("spelling", spelling(text)), ("id", text))
        return next((found for name in names if (found := self.only(name, change)) is not None), None)

    def only(self, name: tuple[str, object], change: Change) -> int | None:
        """Return the number of the only question with a name, or None.

        Of several, it is the only one in the section of the change or, to be removed, with its answer; of
        equal ones, the last. Otherwise, several are an error.
        """
        found = self.names.get(name, [])
        if len(found) > 1:
            texts = [self.items[number].question for number in found[:MAX_CLOSEST]]
            meant = [number for number in found if self.has(number, change)]
            if len({(self.items[number].answer, self.section_of(number)) for number in meant}) == 1:
                return meant[-1]
            named = quoted(name[1] if name[0] == "id" else texts[0])
            reason = (
                f"{named} is the name of {len(found)} questions: name one by its id, or with its section; or "
                "remove one, with its answer"
            )
            raise self.refused(reason, texts)
        return found[0] if found else None

    def has(self, number: int, change: Change) -> bool:
        """Return whether a question is in the section of a change and, to be removed, has its answer."""
        is_there = change.section is None or _section_name(change.section) == self.section_of(number)
        return is_there and not (change.remove and change.answer not in (None, self.items[number].answer))

    def section_of(self, number: int) -> str:
        """Return the section of a question, in the form that all spellings have in common."""
        return _section_name(self.sections[self.order.index(number)])

    def check_free(self, question: str | None, item_id: str | None) -> None:
        """Refuse a question whose text, in any spelling, or whose id another one has."""
        question = question or ""
        for name in (("spelling", spelling(question)), ("text", question_key(question)), ("id", item_id)):
            for number in self.names.get(name, ()):
                text = self.items[number].question
                what = f"the id {quoted(item_id)}" if name[0] == "id" else "this question"
                raise self.refused(f"the FAQ has {what} already: {quoted(text)}", [text])

    def unknown(
        self,
        question: str,
        item_id: str | None = None,
        advice: str = "name an existing one, or add it, with `add`",
    ) -> ChangeRefused:
        """Return the error for an unknown question, with the questions that it may mean."""
        texts = [self.items[number].question for number in self.order]
        named = [self.items[number].question for number in self.names.get(("id", item_id), ())]
        found = named or closest(question, texts)
        return self.refused(f"there is no question {quoted(question)}: {advice}", found, "unknown-question")


def _section_name(title: str | None) -> str:
    """Return the form that all spellings of a section's title have in common; empty without a section."""
    return spelling(title or "") or (title or "").strip()


def _names(item: Item) -> Iterator[tuple[str, object]]:
    yield "text", question_key(item.question)
    if written := spelling(item.question):
        yield "spelling", written
    if item.id is not None:
        yield "id", item.id


def _pairs(text: str) -> set[str]:
    """Return the pairs of adjacent letters in a text, without accents and signs, and its ideographs."""
    folded = letters(text[:COMPARED])
    pairs = {folded[index : index + 2] for index in range(len(folded) - 1)}
    return pairs.union(letter for letter in folded if letter >= "\u3400")


def _similarity(one: set[str], other: set[str]) -> float:
    """Return how many pairs two texts share: the mean of Dice's coefficient and the overlap coefficient."""
    shared, sizes = len(one & other), (len(one), len(other))
    return shared / (sum(sizes) or 1) + shared / (2 * (min(sizes) or 1))
