"""Finds the title, the sections and the questions among the openers of a Markdown file.

An opener is a line that may begin a question (`openers.py`). A reading makes each opener a question, a
section or other text. Its score rises with each question that asks, and falls with each that does not, and
with text that is left out. There is one reading for each level of headings and each other form in which the
questions may be. The outline is the reading with the highest score.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, takewhile, zip_longest
from typing import Final

from faqsvc_embed.files.asking import asks, begins_as_guide, clearly_asks, ends_asking, is_of_guide, says_faq
from faqsvc_embed.files.boxes import boxes
from faqsvc_embed.files.markdown_lines import DECORATION, split_id
from faqsvc_embed.files.markdown_source import Source
from faqsvc_embed.files.markdown_text import plain_text
from faqsvc_embed.files.openers import (
    INNER,
    VAGUE,
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
_MAX_DEPTH: Final = 20
"""Maximum depth of openers; deeper ones are text."""
_SCREEN: Final = 20
"""Lines of text on a screen."""
_FORMS: Final[tuple[Form | None, ...]] = (labelled, boxes, rows, None, terms, bold, listed, plain)
"""All forms from the clearest to the vaguest; None stands for headings alone."""
_VAGUE: Final[tuple[Form, ...]] = (listed, plain)
"""Forms that also occur in answers."""

# What raises the score of a reading:
_ASKING: Final = 3  # a question that asks
_VAGUELY_ASKING: Final = 2  # a question that asks, in a vague form
# What lowers it:
_NOT_ASKING: Final = 1  # a question that does not ask; a heading that does not, where an answer should begin
_DIVIDED: Final = 1  # a question with others below it, which end its answer
_ELSEWHERE: Final = 2  # a question that is not on the level of the questions
_LEFT_OUT: Final = 2  # a heading, or a screen of text, that belongs to no question


@dataclass(slots=True)
class Outline:
    """The openers of a file, as its title, questions, sections and other headings."""

    title: Opener | None = None
    questions: list[tuple[Opener, Opener | None]] = field(default_factory=list)
    """Each question with its section."""
    sections: list[Opener] = field(default_factory=list)
    others: list[Opener] = field(default_factory=list)
    """Headings whose text belongs to no question."""
    score: int = 0

    def add(self, other: "Outline", section: Opener | None = None) -> None:
        """Add another outline; its questions without a section get this one."""
        self.questions += [(one, inner or section) for one, inner in other.questions]
        self.sections += other.sections
        self.others += other.others
        self.score += other.score

    def is_faq(self, title: str, *, says_so: bool) -> bool:
        """Return whether the file reads as an FAQ; `says_so` is whether one of its titles says FAQ.

        Most possible questions must ask, or name a problem. Both count for more than a first word that asks,
        because the headings of guides begin with such words. If a title says FAQ, headings that do not ask
        may be questions, too, except the headings of guides.
        """
        questions = [one for one, _ in self.questions]
        asks_clearly = partial(clearly_asks, title="" if says_so else title)
        clear = [one for one in questions if one.is_explicit or asks_clearly(split_id(one.text)[0])]
        asking = [one for one in questions if one.asks or one in clear]
        number = len(questions) + len(self.others)
        if is_of_guide(title) and len(clear) < max(number, _SEVERAL):
            return False
        if not any(one.asks for one in questions) and any(asks_clearly(one.text) for one in self.others):
            return False  # these may be the questions
        if says_so:
            is_list = len(questions) >= max(_SEVERAL, sum(1 for _ in _walk(self.others)))
            is_list &= not any(is_of_guide(one.text) for one in questions)
            is_list &= bool(asking) or not (self.others or any(one.has_text for one in self.sections))
            return is_list or len(asking) * 2 >= max(number, 1)
        if len(asking) == number == 1:
            if asking[0].shape and not asking[0].is_explicit:
                return False  # any text may have one bold line that asks
            if asking[0].level > 1 and not title:
                return True  # one of level 1 may be the title of a guide
        if len(asking) == number:
            return not all(begins_as_guide(one.text) for one in asking)
        guides = sum(is_of_guide(one.text) for one in (*questions, *self.others))
        return len(asking) + len(clear) > number + guides and not begins_as_guide(title)

    def says_faq(self) -> bool:
        """Return whether the title or each section says FAQ; without a title, the first section."""
        above = [section or self.title for _, section in self.questions]
        return all(one is not None and says_faq(one.text) for one in above[: None if self.title else 1])


def outline_of(source: Source, title: str = "") -> Outline:
    """Return the outline of a file; `title` is the title that its front matter states."""
    if source.is_written:
        return _written(source)
    readings = chain.from_iterable(_readings(openers, source, title) for openers in _by_form(source))
    return max(readings, key=lambda one: (bool(one.questions), one.score), default=Outline())


def _written(source: Source) -> Outline:
    """Return the outline of a file in the form of `markdown_writer`.

    Every heading of level 2 is a question, even if it does not ask. The exception is a section, directly
    above a heading of level 3: its questions are on level 3. Other headings belong to the answers.
    """
    outline, section = Outline(), None
    _set_has_text(source.headings, source.lines)
    for one, below in zip_longest(source.headings, source.headings[1:]):
        if one.level == _TOP:
            is_above = below is not None and below.level == _TOP + 1
            section = one if is_above and not (one.asks or one.has_text) else None
        if section is one:
            outline.sections.append(section)
        elif one.level == (_TOP + 1 if section else _TOP):
            outline.questions.append((one, section))
        elif one.level == 1 and not (outline.sections or outline.questions):
            outline.title = outline.title or one
    return outline


def _by_form(source: Source) -> Iterator[list[Opener]]:
    """Yield the headings with the openers of one other form at a time, the clearest form first, and alone."""
    lines = [Line.of(line, number) for number, line in enumerate(source.texts)]
    taken = {one.line for one in source.headings}
    clearer = set[int]()
    for form in _FORMS:
        found = _openers(form, lines, source, clearer | taken if form in _VAGUE else taken) if form else []
        clearer.update(one.line for one in found if one.asks)
        end = 0
        for one in found if form is boxes else ():  # everything in a box is its text
            taken.update(range(max(one.line, end), one.end or 0))
            end = max(one.end or 0, end)
        if form is None or (found and form is boxes) or any(one.asks for one in found):
            own_lines = {one.line for one in found}
            yield _in_order((one for one in source.headings if one.line not in own_lines), found)


def _openers(form: Form, lines: Sequence[Line], source: Source, taken: set[int]) -> list[Opener]:
    """Return the openers of a form, if most have a text of their own; a list alone is a table of contents."""
    found = [one for one in form(lines) if form is boxes or one.line not in taken]
    for one in found:
        text = plain_text(one.text, {})
        if not one.is_explicit and (label := question_label(text)):
            one.text, one.is_explicit = text_after(label), True
        one.asks = one.is_explicit or (ends_asking if form in _VAGUE else asks)(text)
        one.level = VAGUE if form in _VAGUE else one.level
    if form is boxes:
        return found
    _set_has_text(_in_order(source.headings, found), source.lines)
    kept = list[Opener]()
    for one in found:
        if one.asks or not kept or kept[-1].has_text or not kept[-1].asks:
            kept.append(one)  # what does not ask directly below a question is its answer
    _set_has_text(_in_order(source.headings, kept), source.lines)
    # Bold lines directly above questions are sections if the file begins with one.
    has_sections = form is bold and bool(kept) and not (kept[0].asks or kept[0].has_text)
    answered = [one for one in kept if one.has_text or (has_sections and not one.asks)]
    asking = sum(one.asks for one in answered) if form in _VAGUE else len(answered)
    # One line that asks below others is part of their text.
    is_text = form is plain and asking == 1 and any(one.text[:1] not in "#=" for one in lines[: kept[0].line])
    return _siblings(answered) if asking * 2 >= len(kept) and not is_text else []


def _in_order(*openers: Iterable[Opener]) -> list[Opener]:
    return sorted(chain(*openers), key=lambda one: one.line)


def _set_has_text(openers: Sequence[Opener], lines: Sequence[str]) -> None:
    """Set `has_text` of openers: a list of questions without texts is a table of contents."""
    for one, following in zip_longest(openers, openers[1:]):
        end = following.line - following.above if following else len(lines)
        if one.end is not None and (one.asks or one.end < end):
            end = one.end
        texts = map(str.strip, lines[one.below : end])
        one.has_text = bool(one.rest) or not all(map(DECORATION.fullmatch, texts))


def _siblings(openers: Sequence[Opener]) -> list[Opener]:
    """Return the openers that ask, and the others of a shape if at least half of that shape ask.

    All openers of the first one's shape are returned: it is no part of an answer, since no question is above
    it.
    """
    majority, texts = Counter[str](), Counter(one.text for one in openers)
    for one in openers:  # "Not included" below several questions is part of their answers
        majority[one.shape] += 1 if one.asks or (texts[one.text] == 1 and clearly_asks(one.text)) else -1
    if openers and not (openers[0].asks or openers[0].rest):
        majority[openers[0].shape] = 0
    return [one for one in openers if one.asks or majority[one.shape] >= 0]


def _tree(openers: Sequence[Opener]) -> list[Opener]:
    """Return copies of the openers of the highest levels, with those below them as their children.

    What is in a box is below it, but all of it is the answer if the box asks. A heading that does not ask is
    part of an answer, too, if the first heading of its level is directly below a question of another form. A
    heading without text is a section of questions on its own level, if its first sibling is such a section.
    If most openers of a level have labels such as `Q:`, the others that do not ask are sections, but for one
    that is alone below its section.
    """
    roots, above = list[Opener](), list[Opener]()
    begins_in_answer = dict[int, bool]()  # whether the first heading of a level is in an answer
    last: Opener | None = None
    labelled_levels = Counter(one.level for one in openers if one.is_explicit)
    other_levels = Counter(one.level for one in openers if not one.is_explicit)
    for opener, below in zip_longest(openers, openers[1:]):
        is_above = not opener.asks and below is not None and below.level == opener.level
        is_bare = is_above and not opener.has_text
        one = replace(opener, children=[], is_section=is_bare)
        above = list(takewhile(partial(_is_below, one), above))
        siblings = above[-1].children if above else roots
        one.is_section &= not siblings or siblings[-1].is_section
        is_other = not one.asks and labelled_levels[one.level] > other_levels[one.level]
        one.is_section |= is_other and (is_above or bool(siblings))
        is_in_answer = last is not None and last.level >= INNER and _TOP < one.level < INNER
        is_in_answer = begins_in_answer.setdefault(one.level, is_in_answer) and one.has_text and not one.asks
        is_in_asking_box = bool(above and above[-1].end and above[-1].asks)
        if not (is_in_answer or is_in_asking_box) and len(above) < _MAX_DEPTH:
            siblings.append(one)
            above.append(one)
            last = one
    repeated = {one.line for one in openers if one.is_section}
    for one in _walk(roots):
        is_box_of_questions = one.end is not None and any(inner.asks for inner in _walk(one.children))
        one.is_section |= is_box_of_questions or one.line in repeated
    return roots


def _is_below(one: Opener, above: Opener) -> bool:
    """Return whether an opener belongs below an earlier one: in its box, or on a lower level."""
    if above.end is not None:
        return one.line < above.end - 1  # the next box may begin on its last line
    is_group = above.is_section and not above.has_text and above.level == one.level and not one.is_section
    return is_group or above.level < one.level


def _title(roots: list[Opener], stated: str) -> Opener | None:
    """Return the first heading if it is the title: of level 1, or alone, and not one of several sections."""
    if not roots:
        return None
    first, others = roots[0], roots[1:]
    is_first = bool(stated) and first.has_text
    is_inner = first.level >= INNER and not says_faq(first.text)  # a bold line may be the title of an FAQ
    if is_inner or (first.asks and (others or is_first or not first.children)):
        return None
    alike = [one for one in others if one.level == first.level and bool(one.children) == bool(first.children)]
    # A heading that says FAQ is the title, unless it is one of several such as "1. General questions".
    is_section = first.text[:1].isdigit() or (first.children and link_key(stated) not in link_key(first.text))
    if says_faq(first.text) and not is_section:
        alike = [one for one in alike if says_faq(one.text)]
    if alike and (first.children or stated):
        return None
    is_lower = others and not first.children and first.level > others[0].level
    return first if first.level == 1 or is_lower or says_faq(first.text) else None


def _walk(roots: Sequence[Opener]) -> Iterator[Opener]:
    for one in roots:
        yield one
        yield from _walk(one.children)


def _readings(openers: Sequence[Opener], source: Source, title: str) -> Iterator[Outline]:
    """Yield the best reading for each level on which the questions may be."""
    _set_has_text(openers, source.lines)
    roots = _tree(openers)
    top = _title(roots, title)
    if top is not None:
        roots[:1] = top.children
    questions = [one for one in _walk(roots) if not one.is_section]
    levels = sorted({one.level for one in questions})
    if levels and levels[-1] >= INNER:
        levels = levels[-1:]
    elif not any(one.asks for one in questions):
        lowest = Counter(one.level for one in questions if not one.children)
        levels = [max(levels, key=lowest.__getitem__)] if levels else []
    for level in levels:
        reading = _best(roots, level)
        reading.title = top
        yield reading


def _best(siblings: Sequence[Opener], level: int) -> Outline:
    """Return the best reading of siblings, and of what is below them, if questions are on a level."""
    whole, majority = Outline(), Counter[int]()
    for one in siblings:  # on each level: the openers that ask minus those that do not
        majority[one.level] += 1 if one.asks else 0 if any(child.asks for child in one.children) else -1
    for one in siblings:
        has_problems = any(clearly_asks(child.text) for child in one.children)  # a section, or it would ask
        siblings_ask = majority[one.level] >= 0 and not has_problems
        readings = _readings_of(one, level, siblings_ask=siblings_ask)
        whole.add(max(readings, key=lambda reading: reading.score))
    return whole


def _readings_of(one: Opener, level: int, *, siblings_ask: bool) -> Iterator[Outline]:
    """Yield an opener as a question, as a question with others below it, as a section, and as other text.

    On another level than `level`, an opener that does not ask may be a question only if its siblings ask.
    """
    below = _best(one.children, level)
    gain = (_VAGUELY_ASKING if one.level == VAGUE else _ASKING) if one.asks else 0
    loss = _ELSEWHERE if one.level != level else 0 if one.asks else _NOT_ASKING
    if not one.is_section and (one.asks or one.level == level or siblings_ask):
        headings = 0 if one.has_text else sum(not inner.asks for inner in one.children)
        yield Outline(questions=[(one, None)], score=gain - loss - headings * _NOT_ASKING)
    if below.questions and one.asks and one.has_text:
        both = Outline(questions=[(one, None)], score=gain - loss - _DIVIDED)
        both.add(below)
        yield both
    elif below.questions:
        screens = 1 + (one.children[0].line - one.below) // _SCREEN
        is_left_out = one.has_text and not says_faq(one.text)
        section = Outline(sections=[one], score=-_LEFT_OUT * screens * is_left_out)
        section.add(below, one)
        yield section
    yield Outline(others=[one], score=-_LEFT_OUT * sum(1 for _ in _walk([one])))
