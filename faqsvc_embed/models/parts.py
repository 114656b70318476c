"""What an FAQ shows, in which order and with which anchors, and the parts of an FAQ that a page may show."""

import difflib
import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from faqsvc_embed.errors import quoted
from faqsvc_embed.models.element_ids import MAX_READ, question_names, root_id, section_names
from faqsvc_embed.models.items import Item
from faqsvc_embed.text import normalized, question_key

COMPARED: Final = 200
"""Characters of a text that are compared to find similar ones."""
MAX_SIMILAR: Final = 3
MAX_CHOSEN: Final = 1000
"""Questions that a part may name."""
MAX_UNKNOWN: Final = 10
"""Unknown questions of a part that are reported, because a search for similar ones takes its time."""
_FRAGMENT: Final = re.compile(r"[(<'\"=:][ \t]*#")
"""The beginning of a link's fragment, in Markdown or HTML."""
_IDS: Final = r"[\w.-]+(\s*,\s*[\w.-]+)+"


class Part(NamedTuple):
    """Which questions of an FAQ are shown: those of a section, those that are named, or both."""

    section: str | None = None
    questions: tuple[str, ...] | None = None
    """Ids or texts, in the order in which they are shown."""

    @classmethod
    def of(cls, section: object, questions: Any) -> "Part":
        """Return a part from what a developer passes; a text may be several ids with commas.

        Raises:
            TypeError: `questions` is neither text nor a list.
        """
        if isinstance(questions, str):
            questions = questions.split(",") if re.fullmatch(_IDS, questions) else [questions]
        if questions is not None:
            questions = tuple(str(one).strip() for one in islice(iter(questions), MAX_CHOSEN))
        return cls(None if section is None else str(section).strip(), questions)


class _Row(NamedTuple):
    """An item that an FAQ shows, with its name and its key."""

    item: Item
    name: str
    key: int


class Shown(NamedTuple):
    """The items that an FAQ shows, in their order."""

    items: tuple[Item, ...]
    names: tuple[str, ...]
    """The ends of the ids of their elements."""
    sections: tuple[str, ...]
    """The titles of the sections; questions without one are in the section with an empty title."""
    anchors: tuple[str, ...]
    """What follows the slug in the ids of the questions, and then of the sections."""
    keys: tuple[int, ...]
    """Equal questions of a section have one key, and only one of them is marked up. A part keeps the keys."""

    @classmethod
    def of(cls, items: Iterable[Item]) -> "Shown":
        """Return what an FAQ shows of its items: those with a question and an answer."""
        shown = in_sections([item for item in items if item.question.strip() and item.answer.strip()])
        names, titles = question_names(shown), list(dict.fromkeys(item.section or "" for item in shown))
        headings = [f"_section-{name}" for name in section_names(titles)]
        anchors = (*(f"--{name}" for name in names), *headings)
        first = dict[object, int]()
        keys = [first.setdefault((one.section, question_key(one.question)), n) for n, one in enumerate(shown)]
        return cls(tuple(shown), tuple(names), tuple(titles), anchors, tuple(keys))

    def links(self, slug: str) -> dict[str, str]:
        """Return the address of each question on a page, by the `link_key` of each of its names."""
        base, found = root_id(slug), dict[str, str]()
        texts = (*self.names, *(item.question for item in self.items))
        for text, name in zip(texts, self.names * 2, strict=True):
            found.setdefault(link_key(text), f"#{base}--{name}")
        return found | {link_key(address): address for address in found.values()}

    def choose(self, part: Part) -> tuple[list[_Row], list[str]]:
        """Return the items of a part, and a problem for each unknown section or question."""
        rows, problems = list(map(_Row, self.items, self.names, self.keys)), list[str]()
        if part.section is not None:
            titles = _Texts(filter(None, self.sections))
            found = titles.same(part.section)
            if not found:
                problems.append(f"there is no section {quoted(part.section)}{titles.hint(part.section)}")
            rows = [row for row in rows if row.item.section in found]
        if part.questions is None or problems:
            return rows, problems
        by_name, by_question = {row.name: [row] for row in rows}, dict[str, list[_Row]]()
        for row in rows:
            by_question.setdefault(row.item.question, []).append(row)
        chosen = dict[str, _Row]()
        texts = _Texts(by_question, [row.item.id or "" for row in rows])
        where = "" if part.section is None else f" in section {quoted(part.section)}"
        for given in dict.fromkeys(part.questions):
            matching = by_name.get(given) or [row for text in texts.same(given) for row in by_question[text]]
            if not matching and len(problems) < MAX_UNKNOWN:
                problems.append(f"there is no question {quoted(given)}{where}{texts.hint(given)}")
            chosen.update((row.name, row) for row in matching)
        return list(chosen.values()), problems


class _Texts:
    """The titles of sections or the questions of an FAQ, which a developer may spell in another way."""

    def __init__(self, texts: Iterable[str], ids: Iterable[str] = ()) -> None:
        self._equal, self._alike = dict[object, list[str]](), dict[str, list[str]]()
        for text in texts:
            self._equal.setdefault(question_key(text), []).append(text)
            self._alike.setdefault(link_key(text), []).append(text)
        names = (*chain.from_iterable(self._equal.values()), *filter(None, ids))
        self._folded = {name[:COMPARED].casefold(): name for name in names}

    def same(self, given: str) -> list[str]:
        """Return the texts that are equal to one, else the only one with the same letters and digits."""
        if equal := self._equal.get(question_key(given)):
            return equal
        alike = self._alike.get(letters, []) if (letters := link_key(given)) else []
        return alike if len(alike) == 1 else []

    def hint(self, given: str) -> str:
        """Return what a developer may have meant."""
        similar = difflib.get_close_matches(given[:COMPARED].casefold(), self._folded, MAX_SIMILAR, 0.5)
        meant = ", ".join(quoted(self._folded[text]) for text in similar)
        return f"; did you mean {meant}?" if meant else ""


def may_link(texts: Iterable[str]) -> bool:
    """Return whether a text in Markdown may have a link to a question."""
    return any(map(_FRAGMENT.search, texts))


def link_key(name: str) -> str:
    """Return the letters and digits of a fragment or a question, without case.

    Websites make fragments in many ways, and editors change quotes and dashes.
    """
    return "".join(filter(str.isalnum, normalized("NFKC", unquote(name[:MAX_READ])).casefold()))


def in_sections(items: Sequence[Item]) -> list[Item]:
    """Return items as an FAQ shows them: in their order, and each section where it begins."""
    places: dict[str | None, int] = {}
    for item in items:
        places.setdefault(item.section, len(places))
    return sorted(items, key=lambda item: places[item.section])
