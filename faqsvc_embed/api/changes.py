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
END: Final = -1
"""The end of the list of questions, and its beginning."""
ENOUGH: Final = 0.1
"""How similar a question must be to be one of the closest, from 0 to 1."""


class ChangeRefused(FAQError, ValueError):
    """A change cannot be made; `index` is its number from 0, `closest` are questions that it may mean.

    `code` is `unknown-question` if there is no question with the name, else `invalid-body`.
    """

    def __init__(self, index: int, refused: "_Refused") -> None:
        shown = ", ".join(map(quoted, refused.closest)) if refused.code == "unknown-question" else ""
        closest = f"; the closest: {shown}" if shown else ""
        super().__init__(f"changes[{index}]: {refused}{closest}", code=refused.code)
        self.index = index
        self.closest: tuple[str, ...] = tuple(refused.closest)


class _Refused(Exception):
    def __init__(self, reason: str, closest: Sequence[str] = (), code: Code = "invalid-body") -> None:
        super().__init__(reason)
        self.closest = closest
        self.code: Code = code


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
            raise ChangeRefused(index, refused) from None
    changed = list(questions)
    if not changed:
        nothing = _Refused("no question would remain: unpublish the FAQ instead")
        raise ChangeRefused(len(changes) - 1, nothing)
    return tuple(replace(item, position=position) for position, item in enumerate(changed))


def finder(items: Iterable[Item]) -> Callable[[str | None, str | None], Item | None]:
    """Return a function that finds an item by the `question` or `id` of a change, as `apply_changes` does.

    It returns None if there is no such question, or several.
    """
    questions = _Questions(items)

    def find(question: str | None, item_id: str | None) -> Item | None:
        try:
            return questions.items[questions.named(question, item_id)]
        except _Refused:
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
    """The questions of an FAQ while they are changed, by numbers of ours, in a linked list.

    So a change takes the same time in a long FAQ as in a short one.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self.items = dict(enumerate(items))
        numbers = list(self.items)
        self.following = dict(zip([END, *numbers], [*numbers, END], strict=True))
        self.preceding = {number: before for before, number in self.following.items()}
        self.names = dict[object, dict[int, None]]()
        """The questions that have a text, a spelling or an id; the inner dictionaries are ordered sets."""
        self.last = dict[str | None, int]()
        """The last question of a section, where it is known."""
        self.sections = dict[str, str]()
        """The sections by their spelling."""
        for number, item in self.items.items():
            self.know(number, item)

    def __iter__(self) -> Iterator[Item]:
        number = self.following[END]
        while number != END:
            yield self.items[number]
            number = self.following[number]

    def apply(self, change: Change) -> None:
        """Make one change. Raises _Refused."""
        texts = (change.answer, change.new_question, change.section, change.after)
        if change.remove and (change.add or any(text is not None for text in texts)):
            raise _Refused("remove cannot be combined with other fields")
        if change.add:
            self.add(change)
            return
        number = self.named(change.question, change.id)
        new_id = change.id if change.question is not None and change.id != self.items[number].id else None
        if change.remove:
            self.forget(number)
            self.take(number)
        elif new_id is not None or any(text is not None for text in texts):
            self.edit(number, change, new_id)
        else:
            raise _Refused("answer, newQuestion, section, after, id or remove is missing")

    def add(self, change: Change) -> None:
        """Add a question. Without `section`, it gets the section of the question before it."""
        if len(self.following) > MAX_ITEMS:  # it counts the end, too
            raise _Refused(f"an FAQ has at most {MAX_ITEMS:,} questions")
        if change.question is None or change.answer is None or change.new_question is not None:
            raise _Refused("a question that is added needs question and answer, and no newQuestion")
        self.check_free(change.question, change.id)
        number = len(self.items)
        self.items[number] = Item(number, change.question, change.answer, id=change.id)
        self.know(number, self.items[number])
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
        self.know(number, self.items[number])
        if change.section is not None or change.after is not None:
            self.take(number)
            self.put(number, change)

    def put(self, number: int, change: Change) -> None:
        """Insert a question where a change says: at the end of a section, after a question, or at the end.

        After a question, it may have a new section, or that of the question.
        """
        name = _section_name(change.section)
        is_new = bool(name) and name not in self.sections
        if change.section is not None and change.after is None:
            section = self.sections.setdefault(name, change.section) if name else None
            before = END if is_new else self.last_of(section)
            before = self.preceding[END] if before == END else before
            self.last[section] = number
        else:
            before = self.before(change.after)
            beside = self.following[END] if before == END else before
            section = None if beside == END else self.items[beside].section
            if is_new:
                section = self.sections[name] = change.section or ""
            elif change.section is not None and name != _section_name(section):
                raise _Refused(f"after names a place in another section: {quoted(section or '')}")
            self.last.pop(section, None)
        after = self.following[before]
        self.following[before] = self.preceding[after] = number
        self.following[number], self.preceding[number] = after, before
        self.items[number] = replace(self.items[number], section=section)

    def before(self, after: str | None) -> int:
        """Return the question after which one is put; END is the beginning."""
        if after is None:
            return self.preceding[END]
        if not after.strip():
            return END
        number = self.find(after)
        if number is None:
            raise self.unknown(after, advice="`after` names one that is there")
        if number not in self.following:
            raise _Refused(f"{quoted(after)} cannot come after itself")
        return number

    def take(self, number: int) -> None:
        """Remove a question from the list."""
        before, after = self.preceding.pop(number), self.following.pop(number)
        self.following[before], self.preceding[after] = after, before
        if self.last.get(section := self.items[number].section) == number:
            del self.last[section]

    def know(self, number: int, item: Item) -> None:
        """Let a question be found by its names."""
        for name in _names(item):
            self.names.setdefault(name, {})[number] = None
        if item.section is not None:
            self.sections.setdefault(_section_name(item.section), item.section)

    def forget(self, number: int) -> None:
        """Let a question no longer be found."""
        for name in _names(self.items[number]):
            self.names[name].pop(number, None)

    def named(self, question: str | None, item_id: str | None) -> int:
        """Return the question that a change names. Raises _Refused."""
        named = self.find(question) if question is not None else self.only(("id", item_id))
        if named is None:
            raise self.unknown(question, item_id)
        return named

    def find(self, text: str) -> int | None:
        """Return the question with this text, spelling or id, or None. Raises _Refused."""
        names = (("text", question_key(text)), ("spelling", spelling(text)), ("id", text))
        return next((found for name in names if (found := self.only(name)) is not None), None)

    def only(self, name: tuple[str, object]) -> int | None:
        """Return the question with a name, or None. Raises _Refused if there are several."""
        found = list(self.names.get(name, ()))
        if len(found) > 1:
            texts = [self.items[number].question for number in found[:MAX_CLOSEST]]
            reason = (
                f"{quoted(name[1] if name[0] == 'id' else texts[0])} may be any of {len(found)} questions"
            )
            raise _Refused(f"{reason}: name it by its id, or publish the whole FAQ instead", texts)
        return found[0] if found else None

    def check_free(self, question: str | None, item_id: str | None) -> None:
        """Raise _Refused if there is a question with this text in any spelling, or with this id."""
        question = question or ""
        for name in (("spelling", spelling(question)), ("text", question_key(question)), ("id", item_id)):
            for number in self.names.get(name, ()):
                text = self.items[number].question
                what = f"the id {quoted(item_id)}" if name[0] == "id" else "this question"
                raise _Refused(f"the FAQ has {what} already: {quoted(text)}", [text])

    def last_of(self, section: str | None) -> int:
        """Return the last question of a section, or END."""
        if section not in self.last:
            number = self.preceding[END]
            while number != END and self.items[number].section != section:
                number = self.preceding[number]
            self.last[section] = number
        return self.last[section]

    def unknown(
        self,
        question: str | None,
        item_id: str | None = None,
        advice: str = "name an existing one, or add it, with `add`",
    ) -> _Refused:
        """Return the error for an unknown question, with the questions that it may mean."""
        if question is None:
            return _Refused(f"there is no question with the id {quoted(item_id)}", (), "unknown-question")
        found = [item.question for item in self if item_id and item.id == item_id]
        found = found or closest(question, [item.question for item in self])
        return _Refused(f"there is no question {quoted(question)}: {advice}", found, "unknown-question")


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
