"""Finds the title, the sections and the questions among the openers of a Markdown file.

An opener is a line that may begin a question (`openers.py`). If most openers of a level ask, all openers of
this level are questions. An opener that does not ask, but has some below it that do, is a section.
"""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from faqsvc_embed.files.asking import asks, begins_as_guide, is_of_guide, says_faq
from faqsvc_embed.files.fields import find_columns, is_general
from faqsvc_embed.files.markdown_lines import PERMALINK
from faqsvc_embed.files.markdown_text import plain_text
from faqsvc_embed.files.openers import BELOW_HEADINGS, FORMS, VAGUE, Opener, question_label, text_after

if TYPE_CHECKING:
    from markdown_it.token import Token

_TOP: Final = 2
"""The level of a question without a section in a written file."""
ROW: Final = 8
"""The level of a row in a table of questions."""
_LINK: Final = re.compile(r"\]\([^()\s]|\]\[[^\[\]]|<a\s[^<>]*href", re.I)
_SEVERAL: Final = 2
_MOST: Final = 0.5
"""The share of possible questions that must ask, so that a file is an FAQ."""


@dataclass(slots=True)
class Outline:
    """The openers of a file, by what they are."""

    title: Opener | None = None
    questions: list[tuple[Opener, Opener | None]] = field(default_factory=list)
    """Each question with its section."""
    sections: list[Opener] = field(default_factory=list)
    others: list[Opener] = field(default_factory=list)
    """Headings with a text that is no answer."""

    def is_faq(self, *, says_so: bool) -> bool:
        """Return whether the file reads as an FAQ; `says_so` is whether a title says that it is one.

        Most of what could be a question asks, and not all begin as the headings of guides.
        In a file that says so, other headings may be questions, too, but not those of a guide.
        """
        questions = [one for one, _ in self.questions]
        asking = [one for one in questions if one.asks or one.is_explicit]
        others = sum(1 for _ in _walk(self.others))
        is_certain = says_so or any(one.is_explicit or not begins_as_guide(one.text) for one in asking)
        if asking and len(asking) >= _MOST * (len(questions) + len(self.others)):
            return is_certain or (self.title is None and len(questions) == 1)
        is_list = len(questions) >= max(_SEVERAL, others)
        return says_so and is_list and not any(is_of_guide(one.text) for one in questions)

    @property
    def says_faq(self) -> bool:
        """Whether the heading above each question, its section or the title of the file, says FAQ."""
        above = {section or self.title for _, section in self.questions}
        return all(one is not None and says_faq(one.text) for one in above)

    def remarks(self, headings: Sequence[Opener], ends: Mapping[int, int]) -> Iterator[str]:
        """Yield a note for each heading that asks within an answer, and for each question with a link.

        `ends` has the line at which the text of each question ends, by the line of the question.
        """
        own = {one.line: one for one, _ in self.questions}
        above: Opener | None = None
        for _, one in sorted(({one.line: one for one in headings} | own).items()):
            above = own.get(one.line, above)
            if one is above and _LINK.search(PERMALINK.sub("", one.text)):
                yield f"line {one.line + 1}: a question is plain text, so its link is not shown"
            if one.asks and above is not None and above.line < one.line < ends[above.line]:
                level = (
                    f"of level {one.level}, below one of level {above.level}, " if above.level < ROW else ""
                )
                yield f"line {one.line + 1}: this heading {level}asks, and is part of the answer above it"


def outline_of(
    lines: Sequence[str], headings: list[Opener], code: Container[int], *, title: str = ""
) -> Outline:
    """Return the outline of a file; `title` is the title that its front matter states."""
    inner = _inner(lines, headings, code)
    asking = sum(one.asks for one in headings)
    if any(one.is_explicit or one.asks for one in inner) and sum(one.asks for one in inner) >= asking:
        within, last = set[int](), 0
        for one in inner:
            within.update(range(max(last, one.line + 1), one.end or 0))
            last = max(last, one.end or 0)
        headings = [one for one in headings if one.line not in within]
    openers = sorted([*headings, *inner], key=lambda one: one.line)
    for one, following in zip_longest(openers, openers[1:]):
        below = lines[one.below : following.line if following else None]
        one.has_text = bool(one.rest) or any(line.strip() for line in below)
    roots, outline = _tree(openers), Outline()
    outline.title = _title(roots, title)
    if outline.title is not None:
        at = roots.index(outline.title)
        roots[at : at + 1] = outline.title.children
    level = _main_level(roots)
    if level < BELOW_HEADINGS:
        roots = _without_inner(roots, level)
    _sort(roots, level, None, outline)
    return outline


def written_outline(lines: Sequence[str], headings: Sequence[Opener]) -> Outline:
    """Return the outline of a file in the form of `markdown_writer`, whose questions need not ask.

    Every heading of level 2 is a question, but one that does not ask directly above one of level 3 is a
    section, whose questions are on level 3. Other headings belong to the answers.
    """
    outline, section = Outline(), None
    for one, following in zip_longest(headings, headings[1:]):
        is_above = following is not None and following.level == _TOP + 1 and not one.asks
        if one.level == 1 and not (outline.title or outline.questions or outline.sections):
            outline.title = one
        elif one.level == _TOP + 1 and section is not None:
            outline.questions.append((one, section))
        elif one.level == _TOP:
            has_text = is_above and any(line.strip() for line in lines[one.below : following.line])
            section = one if is_above and not has_text else None
            if section is None:
                outline.questions.append((one, None))
            else:
                outline.sections.append(one)
    return outline


def _inner(lines: Sequence[str], headings: Sequence[Opener], code: Container[int]) -> list[Opener]:
    """Return the openers that are not headings, of the form that asks most; earlier forms win."""
    best, most = list[Opener](), 0.0
    ends = {one.line for one in headings}
    texts = ["" if number in code else line for number, line in enumerate(lines)]
    for form in FORMS:
        found = [one for one in form(texts) if one.line not in ends]
        found = _with_text(found, lines, ends)
        for one in found:
            text = plain_text(one.text, {})
            if not one.is_labelled and (label := question_label(text)):
                text = one.text = text_after(label)
                one.is_labelled = True
            one.asks = one.asks or one.is_explicit or asks(text)
        asking = sum(one.asks for one in found)
        named = form.__name__ == "folded"
        if form.__name__ not in ("labelled", "folded", "terms"):
            most_ask = _indents_that_ask(found)
            found = [one for one in found if one.asks or one.indent in most_ask]
        is_stray = asking * 2 < len(headings) or _answered(headings, found, lines) >= _SEVERAL
        if form in VAGUE and is_stray:
            continue  # what asks below a heading that asks, and its text, is part of the answer
        score = asking + (0.5 * (len(found) - asking) if named else 0)
        if found and score > most * 1.2 and (asking or named):
            best, most = found, score
    return best


def _indents_that_ask(openers: Sequence[Opener]) -> set[int]:
    """Return the indentations at which most openers ask: items of lists are no siblings of other lines."""
    asking = Counter[int]()
    for one in openers:
        asking[one.indent] += 1 if one.asks else -1
    return {indent for indent, more in asking.items() if more >= 0}


def _answered(headings: Sequence[Opener], inner: Sequence[Opener], lines: Sequence[str]) -> int:
    """Return how many headings ask and have a text before any opener below them."""
    starts = {one.line for one in (*headings, *inner)}
    texts = ((n for n in range(one.below, len(lines)) if lines[n].strip()) for one in headings if one.asks)
    return sum(next(numbers, len(lines)) not in starts for numbers in texts)


def _with_text(openers: Sequence[Opener], lines: Sequence[str], ends: Container[int]) -> list[Opener]:
    """Return the openers that have a text of their own: a list of questions alone is a table of contents."""
    kept = list[Opener]()
    for one, following in zip_longest(openers, openers[1:]):
        end = one.end or (following.line if following else len(lines))
        for number in range(one.below, end):
            if number in ends:
                break
            if lines[number].strip() and (number > one.line or one.rest.strip()):
                kept.append(one)
                break
    return kept


def _tree(openers: Sequence[Opener]) -> list[Opener]:
    """Return the openers of the highest levels, with those below them as their children."""
    roots, above = list[Opener](), list[Opener]()
    for one in openers:
        while above and above[-1].level >= one.level:
            above.pop()
        (above[-1].children if above else roots).append(one)
        above.append(one)
    return roots


def _title(roots: list[Opener], stated: str) -> Opener | None:
    """Return the heading that is the title: the first of level 1, unless it is one of many sections.

    The first heading is one at any level, too, if it says FAQ and has no text, or if the next is higher.
    """
    if roots and not roots[0].asks:
        is_bare = len(roots) > 1 and not (roots[0].children or roots[0].has_text)
        is_only = len(roots) == 1 and roots[0].children
        if says_faq(roots[0].text) and (is_bare or is_only):
            return roots[0]
        if len(roots) > 1 and roots[0].level > roots[1].level and not roots[0].children:
            return roots[0]
    firsts = [one for one in roots if one.level == 1]
    if not firsts or (firsts[0].asks and (len(firsts) > 1 or not firsts[0].children)):
        return None
    first, others = firsts[0], firsts[1:]
    if any(one.asks for one in roots[: roots.index(first)]):
        return None
    alike = [one for one in others if bool(one.children) == bool(first.children)]
    if says_faq(first.text):  # a title, unless it is one of several such as "General questions"
        alike = [one for one in alike if says_faq(one.text)]
    return None if alike and (first.children or stated) else first


def _walk(roots: Sequence[Opener]) -> Iterator[Opener]:
    for one in roots:
        yield one
        yield from _walk(one.children)


def _main_level(roots: Sequence[Opener]) -> int:
    """Return the level on which most openers ask; if none asks, the level of most."""
    asking, own = Counter[int](), Counter[int]()
    for one in _walk(roots):
        asking[one.level] += one.asks
        own[one.level] += not one.children
    return max(own, key=lambda level: (asking[level], own[level], -level), default=BELOW_HEADINGS)


def _without_inner(openers: Sequence[Opener], level: int, *, is_section: bool = False) -> list[Opener]:
    """Return openers without those in the answers of headings; a section may have only such ones."""
    for one in openers:
        alone = one.level < level and not one.asks
        alone = alone and all(child.level == BELOW_HEADINGS for child in one.children)
        one.children = _without_inner(one.children, level, is_section=alone)
    return [one for one in openers if is_section or one.level < BELOW_HEADINGS]


def _sort(siblings: Sequence[Opener], level: int, section: Opener | None, outline: Outline) -> None:
    """Sort siblings into questions, sections and others."""
    asking = sum(one.asks and not one.children for one in siblings)
    few_ask = asking * 2 < max(len(siblings), _SEVERAL)
    sections = {one for one in siblings if _is_section(one, level, few_ask=few_ask)}
    more = Counter[int]()
    """How many more ask than do not, on each level."""
    for one in siblings:
        more[one.level] += 0 if one in sections else 1 if one.asks else -1
    for one, following in zip_longest(siblings, siblings[1:]):
        most = more[one.level] >= 0 and (one.level <= level or section is not None)
        is_above = following is not None and following.level == one.level and not _is_bare(following)
        if one in sections:
            outline.sections.append(one)
            _sort(one.children, level, one, outline)
        elif is_above and _is_bare(one):  # between questions, and as high as they are
            outline.sections.append(one)
            section = one
        elif one.asks or one.level == level or most:
            outline.questions.append((one, section))
        else:
            outline.others.append(one)


def _is_bare(one: Opener) -> bool:
    """Return whether an opener neither asks nor has anything below it."""
    return not (one.asks or one.is_explicit or one.has_text or one.children)


def _is_section(one: Opener, level: int, *, few_ask: bool) -> bool:
    """Return whether an opener is a section of questions below it; `few_ask` is about its siblings."""
    children = one.children
    if not children or one.level >= level:
        is_answer = one.asks or (one.has_text and len(children) == 1)
        return bool(children) and not is_answer and all(child.asks for child in children)
    below = list(_walk(children))
    is_asked = any(child.asks for child in below if child.level <= max(level, children[0].level))
    most = is_asked and sum(child.asks or bool(child.children) for child in children) * 2 >= len(children)
    return (most and few_ask) if one.asks else most or any(child.level == level for child in below)


def table_rows(tokens: "Sequence[Token]") -> Iterator[Opener]:
    """Yield the rows of the tables that have a column of questions and one of answers."""
    columns: tuple[int, int] | None = None
    row = list[str]()
    number = 0
    for token in tokens:
        if token.type == "thead_open":
            columns = None
        elif token.type == "tr_open":
            row, number = [], token.map[0] if token.map else 0
        elif token.type == "inline":
            row.append(token.content)
        elif token.type == "tr_close" and columns is None:
            names = find_columns(row)
            is_faq = names is not None and not is_general(names[0])
            columns = (row.index(names[0]), row.index(names[1])) if names and is_faq else (-1, -1)
        elif token.type == "tr_close" and columns and columns[0] >= 0:
            yield Opener(
                number, number, row[columns[0]], ROW, row[columns[1]], is_explicit=True, end=number + 1
            )
