"""Finds the title, the sections and the questions among the openers of a Markdown file.

An opener is a line that may begin a question (`openers.py`). The questions are the openers of the kind that
asks most: the headings of one level, or one other form. Openers above them are sections, and openers below
them are part of their answers.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, zip_longest
from typing import Final

from faqsvc_embed.files.asking import asks, begins_as_guide, ends_asking, is_of_guide, says_faq
from faqsvc_embed.files.boxes import boxes
from faqsvc_embed.files.markdown_lines import DECORATION, NUMBER, split_id
from faqsvc_embed.files.markdown_source import Source
from faqsvc_embed.files.markdown_text import plain_text
from faqsvc_embed.files.openers import (
    INNER,
    Form,
    Line,
    Opener,
    bold,
    labelled,
    listed,
    plain,
    question_label,
    rows,
    terms,
    text_after,
)
from faqsvc_embed.models.parts import link_key

_TOP: Final = 2
"""The level of a question without a section in a written file."""
_SEVERAL: Final = 2
_LONG_TEXT: Final = 20
"""Maximum lines of text between the heading of a section and its first question; more are an answer."""
_FORMS: Final[tuple[Form, ...]] = (labelled, boxes, rows, terms, bold, listed, plain)
"""All forms but headings, from the clearest to the vaguest."""
_CERTAIN: Final[tuple[Form, ...]] = (labelled, boxes, rows)
"""Forms whose openers are certainly questions."""
_VAGUE: Final[tuple[Form, ...]] = (listed, plain)
"""Forms that also occur in answers."""


@dataclass(slots=True)
class Outline:
    """The openers of a file, as its title, questions, sections and other headings."""

    title: Opener | None = None
    questions: list[tuple[Opener, Opener | None]] = field(default_factory=list)
    """Each question with its section."""
    sections: list[Opener] = field(default_factory=list)
    others: list[Opener] = field(default_factory=list)
    """Headings with a text that is no answer."""

    def is_faq(self, title: str, *, says_so: bool) -> bool:
        """Return whether the file reads as an FAQ; `says_so` is whether one of its titles says FAQ.

        Most possible questions must ask. A question mark counts for more than a first word that asks, because
        the headings of guides begin with such words. If a title says FAQ, headings that do not ask may be
        questions, too, except the headings of guides.
        """
        questions = [one for one, _ in self.questions]
        asking = [one for one in questions if one.asks]
        number = len(questions) + len(self.others)
        guides = sum(is_of_guide(one.text) for one in (*questions, *self.others))
        if says_so:
            if len(asking) * 2 >= max(number, 1):
                return True
            is_list = len(questions) >= max(_SEVERAL, sum(1 for _ in _walk(self.others)))
            is_list &= not any(is_of_guide(one.text) for one in questions)
            return is_list and bool(asking or not (self.others or is_of_guide(title)))
        if is_of_guide(title):
            return False
        if len(asking) == number:
            only = asking[0] if number == 1 else None
            if only is not None and only.shape and not only.is_explicit:
                return False  # any text may have one bold line that asks
            # A single question of level 1 may be the title of a guide.
            if only is not None and not title and only.level > 1:
                return True
            return not all(begins_as_guide(one.text) for one in asking)
        marked = sum(one.is_explicit or ends_asking(split_id(one.text)[0]) for one in asking)
        return len(asking) + marked > number + guides and not begins_as_guide(title)

    def says_faq(self) -> bool:
        """Return whether the title or each section says FAQ; without a title, the first section."""
        above = [section or self.title for _, section in self.questions]
        return all(one is not None and says_faq(one.text) for one in above[: None if self.title else 1])


def outline_of(source: Source, title: str = "") -> Outline:
    """Return the outline of a file; `title` is the title that its front matter states."""
    outline, headings = Outline(), source.headings
    if source.is_written:
        headings = _written(source)
    elif (inner := _inner(source)) and sum(one.asks for one in inner) >= sum(one.asks for one in headings):
        within = {number for one in inner for number in range(one.line, one.end or one.below)}
        firsts = {one.line - one.above: one for one in inner}
        for one in headings:
            box = firsts.get(one.below)
            if box is not None and link_key(source.plain(one.text)) == link_key(source.plain(box.text)):
                box.above = box.line - one.line  # the heading repeats the title of the box
                within.add(one.line)
        headings = _in_order(inner, (one for one in headings if one.line not in within))
        headings = _without_inner_headings(headings, source.lines)
    else:
        headings = _in_order(headings, _around(source))
    _look_below(headings, source.lines)
    roots = _tree(headings)
    outline.title = _title(roots, title)
    if outline.title is not None:
        roots[:1] = outline.title.children
    _sort(roots, _main_level(roots), None, outline)
    return outline


def _written(source: Source) -> list[Opener]:
    """Return the title, the sections and the questions of a file in the form of `markdown_writer`.

    Every heading of level 2 is a question, also if it does not ask. But directly above one of level 3 it is a
    section, whose questions are on level 3. Other headings belong to the answers.
    """
    found, is_section = list[Opener](), False
    _look_below(source.headings, source.lines)
    for one, following in zip_longest(source.headings, source.headings[1:]):
        if one.level == _TOP:
            is_above = following is not None and following.level == _TOP + 1
            is_section = is_above and not (one.asks or one.has_text)
        one.asks = one.level == _TOP + is_section
        if one.asks or one.level == _TOP or (one.level == 1 and not found):
            found.append(one)
    return found


def _around(source: Source) -> Iterator[Opener]:
    """Yield the titles of boxes that do not ask, but contain headings that do: they are sections."""
    numbers = [one.line for one in source.headings]
    for box in boxes([Line.of(line, number) for number, line in enumerate(source.texts)]):
        inner = source.headings[bisect(numbers, box.line) : bisect(numbers, (box.end or 0) - 1)]
        if any(one.asks for one in inner) and not asks(box.text):
            level = max(min(one.level for one in inner) - 1, 1)
            yield Opener(box.line, box.below, box.text, level, box.rest, above=box.above)


def _in_order(*openers: Iterable[Opener]) -> list[Opener]:
    return sorted(chain(*openers), key=lambda one: one.line)


def _look_below(openers: Sequence[Opener], lines: Sequence[str]) -> None:
    """Note which openers have a text of their own: a list of questions alone is a table of contents."""
    for one, following in zip_longest(openers, openers[1:]):
        end = following.line - following.above if following else len(lines)
        numbers = range(one.below, end if one.end is None else one.end)
        one.has_text = bool(one.rest) or any(
            not DECORATION.fullmatch(lines[number].strip()) for number in numbers
        )


def _inner(source: Source) -> list[Opener]:
    """Return the openers of the form that asks most, other than headings; earlier forms win."""
    best, most = list[Opener](), 0
    lines = [Line.of(line, number) for number, line in enumerate(source.texts)]
    taken = {one.line for one in source.headings}
    for form in _FORMS:
        found = [one for one in form(lines) if form is boxes or one.line not in taken]
        _ask(found, ends_asking if form in _VAGUE else asks)
        _look_below(_in_order(source.headings, found), source.lines)
        _look_below(_in_order(source.headings, apart := _apart(found)), source.lines)
        answered = [one for one in apart if one.has_text or one.level < INNER]
        siblings = answered if form is boxes else _siblings(answered)
        asking = sum(one.asks for one in siblings)
        is_stray = form not in _CERTAIN and asking * 2 < len(source.headings) - 1  # without the title
        if form in _VAGUE:
            is_stray |= len(answered) * 2 < len(apart)
            own = [one for one in source.headings if one.has_text]
            is_stray |= len(answered) < max(len(own), len(source.headings) - 1)
            is_stray |= sum(one.asks for one in source.headings) >= _SEVERAL
        if asking > most and not is_stray:
            best, most = siblings, asking
        if form is boxes:  # everything in a box is its text
            taken.update(number for one in best for number in range(one.line, one.end or 0))
    return best


def _apart(openers: Sequence[Opener]) -> list[Opener]:
    """Return the openers, except those that do not ask directly below one that asks: they are its answer."""
    found = list[Opener]()
    for one in openers:
        if one.asks or not found or found[-1].has_text or not found[-1].asks:
            found.append(one)
    return found


def _without_inner_headings(openers: Sequence[Opener], lines: Sequence[str]) -> list[Opener]:
    """Return the openers without the headings in answers.

    The first heading of such a level is below a question, and most headings of it have a text of their own.
    """
    _look_below(openers, lines)
    levels, texts = dict[int, bool](), Counter[int]()
    for above, one in pairwise(openers):
        levels.setdefault(one.level, above.level == INNER and one.level > _TOP)
        texts[one.level] += 1 if one.has_text else -1
    inner = {level for level, is_inner in levels.items() if is_inner and texts[level] > 0} - {INNER}
    return [one for one in openers if one.level not in inner or one.end]


def _ask(openers: Iterable[Opener], asks: Callable[[str], bool]) -> None:
    """Note which openers ask, and take the labels off their texts."""
    for one in openers:
        text = plain_text(one.text, {})
        if not one.is_explicit and (label := question_label(text)):
            one.text, one.is_explicit = text_after(label), True
        one.asks = one.is_explicit or asks(text)


def _siblings(openers: Sequence[Opener]) -> list[Opener]:
    """Return the openers that ask, and others of their shape if at least half of that shape ask.

    The shape of the first opener always counts: it is no part of an answer, since no question is above it.
    """
    more = Counter[str]()
    for one in openers:
        more[one.shape] += 1 if one.asks else -1
    if openers and not openers[0].asks:
        more[openers[0].shape] = 0
    return [one for one in openers if one.asks or more[one.shape] >= 0]


def _tree(openers: Sequence[Opener]) -> list[Opener]:
    """Return the openers of the highest levels, with those below them as their children."""
    roots, above = list[Opener](), list[Opener]()
    for one in openers:
        while above and (above[-1].level >= one.level or one.line >= (above[-1].end or one.line + 1)):
            above.pop()
        (above[-1].children if above else roots).append(one)
        above.append(one)
    return roots


def _title(roots: list[Opener], stated: str) -> Opener | None:
    """Return the first heading if it is the title: of level 1, or alone, and not one of several sections."""
    if not roots:
        return None
    first, others = roots[0], roots[1:]
    asking = sum(one.asks for one in first.children)
    is_first = bool(stated) and first.has_text and asking * 2 >= len(first.children)
    if first.level == INNER or (first.asks and (others or is_first or not first.children)):
        return None
    alike = [one for one in others if one.level == first.level and bool(one.children) == bool(first.children)]
    # A heading that says FAQ is the title, unless it is one of several such as "1. General questions".
    is_one = NUMBER.match(first.text) or (first.children and link_key(stated) not in link_key(first.text))
    if says_faq(first.text) and not is_one:
        alike = [one for one in alike if says_faq(one.text)]
    if alike and (first.children or stated):
        return None
    is_lower = others and not first.children and first.level > others[0].level
    return first if first.level == 1 or is_lower or says_faq(first.text) else None


def _walk(roots: Sequence[Opener]) -> Iterator[Opener]:
    for one in roots:
        yield one
        yield from _walk(one.children)


def _main_level(roots: Sequence[Opener]) -> int:
    """Return the level on which most openers ask; if none asks, the level of most openers."""
    asking, own = Counter[int](), Counter[int]()
    for one in _walk(roots):
        asking[one.level] += one.asks
        own[one.level] += not one.children
    return max(own, key=lambda level: (asking[level], own[level], -level), default=INNER)


def _sort(siblings: Sequence[Opener], level: int, section: Opener | None, outline: Outline) -> None:
    """Sort siblings into sections, questions and others.

    If at least half of a level ask, all openers of this level are questions.
    """
    sections = {one for one in siblings if _is_section(one, level)}
    asking = sum(one.asks for one in siblings)
    sections -= {one for one in sections if _has_long_text(one) and asking * 2 > len(siblings)}
    if (asking or level < INNER) and not any(one.level == level for one in _walk(siblings)):
        level = _main_level(siblings)
    more = Counter[int]()
    """By level, the number of openers that ask minus the number of those that do not."""
    for one in siblings:
        more[one.level] += 1 if one.asks else 0 if one in sections else -1
    for one, following in zip_longest(siblings, siblings[1:]):
        is_bare = _is_bare(siblings[0]) and _is_bare(one)
        if one in sections and one.asks and one.has_text:
            outline.questions.append((one, section))  # it has an answer of its own
            _sort(one.children, level, section, outline)
        elif one in sections:
            outline.sections.append(one)
            _sort(one.children, level, one, outline)
        elif is_bare and following and following.level == one.level:
            outline.sections.append(one)  # a section on the level of its questions
            section = one
        elif one.asks or one.level == level or more[one.level] >= 0:
            outline.questions.append((one, section))
        else:
            outline.others.append(one)


def _has_long_text(one: Opener) -> bool:
    """Return whether an opener that does not ask has more text of its own than sections have."""
    return not one.asks and bool(one.children) and one.children[0].line - one.below > _LONG_TEXT


def _is_bare(one: Opener) -> bool:
    """Return whether an opener neither asks nor has anything below it."""
    return not (one.asks or one.has_text or one.children)


def _is_section(one: Opener, level: int) -> bool:
    """Return whether questions are below an opener: one of the main level, or most of its children."""
    asking = sum(child.asks for child in one.children)
    if not one.children or one.level >= level:
        is_answer = sum((one.asks, one.has_text, len(one.children) == 1)) > 1
        share = 1.0 if one.asks or one.has_text else 0.0 if says_faq(one.text) else 0.5
        return not is_answer and asking >= max(len(one.children) * share, 1)
    is_main = any(child.level == level for child in _walk(one.children))
    is_bare = not (one.asks or one.has_text)
    return is_bare or asking * 2 >= len(one.children) or (is_main and (asking > 0 or not one.asks))
