"""Questions in Markdown as people write them: as headings, after labels, in bold, in boxes, lists and tables.

An answer is the unchanged text up to the next question, without comments.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.asking import asks, begins_as_guide, ends_asking, says_faq
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markdown_lines import (
    CONTENTS,
    NOT_SHOWN,
    NUMBER,
    TAG_LINE,
    TEMPLATE,
    has_words,
    is_template,
    is_text,
    split_id,
    unnumbered,
)
from faqsvc_embed.files.markdown_source import Source
from faqsvc_embed.files.markdown_text import escape_line
from faqsvc_embed.files.openers import INNER, Line, Opener, answer_label, bold, labelled, text_after
from faqsvc_embed.files.outline import Outline, outline_of
from faqsvc_embed.models.wire import MAX_INTRODUCTION

_SEVERAL: Final = 2
_LINK: Final = re.compile(r"\]\([^()\s]|\]\[[^\[\]]|<a\s[^<>]*href", re.I)


def find_questions(
    text: str,
    front_title: str = "",
    question: str = "",
    *,
    is_written: bool = False,
    is_faq: bool = False,
) -> Document:
    """Return the title, the introduction and the items of a Markdown file.

    `front_title` is the title in its front matter, and `question` the question of a file that has only one.
    `is_written` says that the file has the form of `markdown_writer`, which states what is a question.
    `is_faq` says that its front matter calls it an FAQ.

    Raises:
        ValueError: there is no question, or the file is no FAQ; the message says what was found, and where.
    """
    source = Source(text, is_written=is_written)
    outline = outline_of(source, front_title)
    title = source.plain(outline.title.text) if outline.title else ""
    says_so = is_faq or any(map(says_faq, (title, front_title))) or outline.says_faq()
    is_page = is_faq and not any(map(says_faq, (title, front_title)))  # its front matter names its FAQ
    is_faq = is_written or outline.is_faq(front_title or title, says_so=says_so)
    if asked := question or _only_question(outline, title, front_title, is_page=is_page, is_faq=is_faq):
        top = Opener(0, 0, "") if question or outline.title is None else outline.title
        text = top.text if asked == title else escape_line(asked)
        outline = Outline(questions=[(Opener(top.line, top.below, text), None)])
    elif not outline.questions:
        first = next((number for number, line in enumerate(source.lines) if is_text(line)), None)
        found = "" if first is None else f', but "{source.lines[first].strip()[:60]}"'
        wanted = "questions begin with ##, or with Q: above an answer that begins with A:"
        raise ValueError(f"line {(first or 0) + 1}: no question found{found}: {wanted}")
    elif not is_faq:
        one = outline.questions[0][0]
        raise ValueError(
            f"line {one.line + 1}: this does not look like an FAQ: few of its headings ask, and the first is"
            f' "{source.plain(one.text)[:60]}": end questions with a question mark, or let the title say FAQ'
        )
    return _Reading(source, outline).document(front_title)


def _only_question(
    outline: Outline, title: str, front_title: str, *, is_page: bool, is_faq: bool
) -> str | None:
    """Return the title of a file if it is the only question, and everything below it is the answer.

    `is_page` says that the file is a page of an FAQ and not the whole of it.
    """
    if is_page and ends_asking(title) and not any(one.asks for one, _ in outline.questions):
        return title
    top = outline.title if is_faq and outline.others and not says_faq(title) else None
    if not outline.questions or (top is not None and top.asks and top.has_text):
        return next(filter(asks, (title, front_title)), None)
    is_above = asks(front_title) and front_title != title and not begins_as_guide(front_title)
    return front_title if is_above and (len(outline.questions) < _SEVERAL or not is_faq) else None


class _Reading:
    """Makes a document of the questions of a file, and of the other texts in it."""

    def __init__(self, source: Source, outline: Outline) -> None:
        self._source = source
        self._outline = outline
        self._questions = [one for one, _ in outline.questions]
        shown = {section for _, section in outline.questions} | {outline.title}
        self._headings = [one for one in shown if one is not None]
        marks = [*self._questions, *self._headings, *outline.sections, *outline.others]
        starts = sorted({one.line - one.above for one in marks})
        self._following = dict(zip(starts, [*starts[1:], len(source.lines)], strict=True))
        # A tag for the generator of a website is not shown, unless it begins or ends a question.
        used = {number for one in marks for number in (*range(one.line, one.below), (one.end or 0) - 1)}
        tags = {number: line.strip() for number, line in enumerate(source.texts) if number not in used}
        tags = {number: tag for number, tag in tags.items() if TAG_LINE.fullmatch(tag)}
        for number in tags:
            source.lines[number] = ""
        self._tags = list(tags.values())
        self._notes = [f"line {number + 1}: not shown: {tag[:60]}" for number, tag in tags.items()]

    def document(self, front_title: str) -> Document:
        """Return the document of the file, whose front matter may state a title."""
        source, title = self._source, self._outline.title
        texts = [source.plain(source.without_break(one.text, one.below)) for one in self._questions]
        texts = texts if source.is_written else unnumbered(texts)
        names = {one: self._name(one) for one in {section for _, section in self._outline.questions} if one}
        items, lines = list[dict[str, str]](), list[tuple[str, int]]()
        for (one, section), question in zip(self._outline.questions, texts, strict=True):
            answer, line = self._answer(one)
            item = {"question": question, "answer": source.with_definitions(answer)}
            if section is not None and (name := names[section]):
                item["section"] = name
            if (id_ := split_id(one.text)[1]) is not None:
                item["id"] = id_
            items.append(item)
            lines.append((f"line {one.line + 1}", line + 1))
        answers = [item["answer"] for item in items if item["answer"]]
        self._refuse_template(answers)
        introduction, introduction_line, notes = self._rest()
        shown = title and source.plain(title.text)
        if title and front_title not in ("", shown):
            place = f"line {title.line + 1}"
            notes.append(f"{place}: this title is not shown: the front matter has {quoted(front_title)}")
        document = Document(
            title=shown or None,
            introduction=introduction,
            items=items,
            positions=[place for place, _ in lines],
            answer_lines=[line for _, line in lines],
            introduction_line=introduction_line,
            notes=[*notes, *(() if source.is_written else self._remarks()), *self._notes, *source.notes],
        )
        return document if source.is_written else document.without_unanswered()

    def _refuse_template(self, answers: list[str]) -> None:
        texts = [one.text for one in self._questions]
        made = [one for one in texts if TEMPLATE.search(one) and not has_words(one)]
        if len(made) * 2 < len(texts):
            made = (answers or self._tags) if all(map(is_template, answers)) else []
        if made:
            line = self._questions[0].line + 1
            raise ValueError(f"line {line}: the texts are made by a template: {quoted(made[0][:60])}")

    def _name(self, section: Opener) -> str:
        number = None if self._source.is_written else NUMBER.match(section.text)
        return self._source.plain(section.text[number.end() :] if number else section.text)

    def _end(self, one: Opener) -> int:
        """Return the number of the line after a question and its answer."""
        following = self._following[one.line - one.above]
        # The next question may begin on the line on which this answer ends.
        return one.end if one.end is not None and one.end <= following + 1 else following

    def _answer(self, one: Opener) -> tuple[str, int]:
        """Return the answer of a question, and the number of its first line from 0.

        Its label, its indentation in a list, and rules and anchors around it are removed.
        """
        lines = self._source.lines[one.below : self._end(one)]
        if lines and one.tail is not None and self._end(one) == one.end:
            lines[-1] = one.tail
        lines = [" " * one.indent + one.rest, *lines] if one.rest else lines
        if one.mark:
            lines = [re.sub(rf"^([ \t]*){one.mark}[ \t]?", r"\1", line, count=1) for line in lines]
        lines = [line[min(one.indent, len(line) - len(line.lstrip(" "))) :] for line in lines]
        for number, line in enumerate(lines if one.is_explicit else ()):
            if label := answer_label(line):
                lines[number] = text_after(label)
                break
        text, first = self._source.trimmed(lines, one.below - bool(one.rest))
        return self._source.without_break(text, self._end(one)), first

    def _rest(self) -> tuple[str | None, int, list[str]]:
        """Return the introduction with its line, and a note for each other text outside of questions."""
        lines, notes, above = self._source.lines, list[str](), list[str]()
        used = [range(one.line - one.above, self._end(one)) for one in self._questions]
        used += [range(one.line, one.below) for one in self._headings]
        taken = self._source.contents.union(*used)
        first = min(one.line - one.above for one in (*self._questions, *self._outline.sections))
        for number, line in enumerate(lines[:first]):
            above.append("" if number in taken or CONTENTS.fullmatch(line.strip()) else line)
        text, start = self._source.trimmed(above)
        introduction = self._source.with_definitions(text) if any(map(is_text, above)) else None
        if introduction is not None and len(introduction) > MAX_INTRODUCTION:
            notes.append(
                f"line {start + 1}: the text above the first question has more than {MAX_INTRODUCTION:,}"
                " characters, and is left out"
            )
            introduction = None
        for is_taken, numbers in groupby(range(first, len(lines)), key=taken.__contains__):
            texts = [] if is_taken else [number for number in numbers if is_text(lines[number])]
            if texts:
                end = f" to line {texts[-1] + 1}" if len(texts) > 1 else ""
                what = f"the text{end} belongs to no question, and is left out"
                notes.append(f'line {texts[0] + 1}: {what}: "{lines[texts[0]].strip()[:40]}"')
        return introduction, start + 1, notes

    def _remarks(self) -> Iterator[str]:
        """Yield notes on questions with links, and on lines in answers that may ask."""
        own = {one.line: one for one in self._questions}
        above: Opener | None = None
        lines = [Line.of(line, number) for number, line in enumerate(self._source.texts)]
        alone = (one for one in bold(lines) if not (one.rest or lines[one.line].mark))
        asking = {one.line: one for one in (*labelled(lines), *alone) if ends_asking(one.text)}
        openers = sorted((asking | {one.line: one for one in self._source.headings} | own).items())
        for (line, one), below in zip(openers, [*openers[1:], (len(self._source.lines), None)], strict=True):
            above = own.get(line, above)
            if one is above:
                if _LINK.search(NOT_SHOWN.sub("", one.text)):
                    yield f"line {line + 1}: a question is plain text, so its link is not shown"
                if not one.has_text and below[0] < self._end(one):
                    yield f"line {line + 1}: the answer of this question begins with a heading"
            elif above is not None and line < self._end(above):
                if line in asking:
                    yield f"line {line + 1}: this line asks, but belongs to the answer above it"
                elif one.asks or not above.has_text:
                    levels = f" (level {one.level}, below level {above.level})" if above.level < INNER else ""
                    what = "asks, but belongs" if one.asks else "belongs"
                    yield f"line {line + 1}: this heading {what} to the answer above it{levels}"
