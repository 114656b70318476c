"""Documents from Markdown.

A file whose front matter states `answerFormat` has the form that `markdown_writer` writes: the title is the
heading of level 1, and every heading of level 2 is a question. In any other file, `outline` recognises the
usual ways to write questions, and an answer is the unchanged text up to the next question, without comments.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from typing import Any, Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.asking import asks, begins_as_guide, ends_asking, says_faq
from faqsvc_embed.files.data import parse_toml, parse_yaml, yaml_document
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.fields import (
    DOCUMENT_FIELDS,
    FRONT_MATTER_NAMES,
    SECTION_FIELDS,
    find_field,
    plain_name,
)
from faqsvc_embed.files.markdown_lines import (
    CONTENTS,
    LIST_TAG,
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
from faqsvc_embed.files.markdown_text import escape_line, unescape
from faqsvc_embed.files.markup import has_markdown, has_tags
from faqsvc_embed.files.openers import INNER, Line, Opener, answer_label, bold, labelled, text_after
from faqsvc_embed.files.outline import Outline, outline_of
from faqsvc_embed.models.wire import ITEM_ID_FORM, MAX_INTRODUCTION, is_item_id

_STATED: Final = frozenset(DOCUMENT_FIELDS.values()) - {"items"}
"""The fields that front matter states; the texts below it have the others."""
_RULE: Final = re.compile(r"[ ]{0,3}(?:-+|=+)[ \t]*\Z")
"""A line that makes the line above it a heading."""
_MAX_NAME: Final = 80
"""Characters of a field that may be the name of a page."""
_ABOUT: Final = ("description", "head", "keywords", "layout")
"""Fields for search engines and templates. They may mention an FAQ, but do not say that the page is one."""
_METADATA: Final = re.compile(r"[a-z][\w-]*:(?:[ \t]|$)")
"""A field in the lines above a text."""
_FIELD: Final = re.compile(r"([A-Za-z][\w -]*):(?:[ \t]|$)")
_LINK: Final = re.compile(r"\]\([^()\s]|\]\[[^\[\]]|<a\s[^<>]*href", re.I)


def read_markdown(text: str) -> Document:
    """Return the FAQ in a Markdown file.

    Raises:
        ValueError: the front matter is not closed, or is not YAML or TOML; there is no question; or the file
            is no FAQ. The message says what was found, and where.
    """
    lines = text.split("\n")
    fields, below = _front_matter(lines)
    has_text = any(map(is_text, lines[below:]))
    if not has_text and "answer" in fields and asks(str(fields.get("title"))):
        fields = {"question": fields["title"], **fields}
    other_fields = {"question"} if has_text else set[str]()  # the text answers that question
    if "/" in str(fields.get("slug")):  # the address of the page in the host's website
        other_fields.add("slug")
    stated = yaml_document({name: value for name, value in fields.items() if name not in other_fields})
    if stated.answer_format not in (None, "text", "markdown"):
        raise ValueError(f"answerFormat is {quoted(stated.answer_format)}: use text or markdown")
    own = stated.items if stated.positions or "items" in fields else None
    try:
        # Blank lines replace the front matter, so that the other lines keep their numbers.
        found = _questions_in("\n" * below + "\n".join(lines[below:]), fields, stated)
    except ValueError as error:
        if own is None and stated.draft is not True:
            raise
        found = Document(items=[], notes=[str(error)])
    has_more = has_text and isinstance(own, list) and len(own) < len(found.items)
    if own is not None and not has_more:
        texts = [n for n, line in enumerate(lines, 1) if n > below and is_text(line)]
        end = f" to line {texts[-1]}" if len(texts) > 1 else ""
        notes = [f"line {n}: the text{end} is left out: the front matter has questions" for n in texts[:1]]
        return replace(stated, answer_format=stated.answer_format or "markdown", notes=notes)
    if stated.answer_format == "text":
        items = [item | {"answer": unescape(item["answer"])} for item in found.items]
        found = replace(found, items=items, introduction=found.introduction and unescape(found.introduction))
    unknown = [*stated.unknown, *found.unknown, *(name for name in ("faqs", "questions") if fields.get(name))]
    replaced = {name: value for name in _STATED if (value := getattr(stated, name)) is not None}
    replaced.setdefault("answer_format", "text" if _is_plain(lines, found) else "markdown")
    if "introduction" in replaced:
        replaced["introduction_line"] = None
    if own:  # the front matter repeats some of the questions for search engines
        more = f"{stated.place(0, 0)}: the questions of the front matter are left out: the text has more"
        replaced["notes"] = [more, *found.notes]
    return replace(found, **replaced, unknown=unknown)


def _questions_in(text: str, fields: Mapping[str, Any], stated: Document) -> Document:
    """Return the title, the introduction and the items of a text below front matter with these fields."""
    source = Source(text, is_written=stated.answer_format is not None)
    front_title = stated.title if isinstance(stated.title, str) else ""
    outline = outline_of(source, front_title)
    title = source.plain(outline.title.text) if outline.title else ""
    says_so = any(map(says_faq, (title, front_title, *_names(fields)))) or outline.says_faq()
    is_faq = source.is_written or outline.is_faq(front_title or title, says_so=says_so)
    question = own if isinstance(own := fields.get("question"), str) else ""
    if asked := question or _only_question(outline, title, front_title, is_faq=is_faq):
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
        found = f'few of its headings ask, and the first is "{source.plain(one.text)[:60]}"'
        wanted = "end questions with a question mark, or let the title say FAQ"
        raise ValueError(f"line {one.line + 1}: this does not look like an FAQ: {found}: {wanted}")
    return _Reading(source, outline).document(front_title)


def _only_question(outline: Outline, title: str, front_title: str, *, is_faq: bool) -> str | None:
    """Return the title of a file if it is the only question, and everything below it is the answer."""
    if not outline.questions:
        return next(filter(asks, (title, front_title)), None)
    is_above = asks(front_title) and front_title != title and not begins_as_guide(front_title)
    return front_title if is_above and (len(outline.questions) == 1 or not is_faq) else None


def _is_plain(lines: Sequence[str], document: Document) -> bool:
    """Return whether a file is plain text: its questions are bare lines, and no text has markup."""
    bare = {one.strip() for one, below in zip(lines, [*lines[1:], ""], strict=True) if not _RULE.match(below)}
    texts = [document.introduction or "", *(item["answer"] for item in document.items)]
    joined = "" if any("\n" in text for text in texts) else "\n".join(texts)  # each may be one item of a list
    is_bare = all(item["question"] in bare for item in document.items)
    return is_bare and not any(has_markdown(text) or has_tags(text) for text in (*texts, joined))


def _front_matter(lines: Sequence[str]) -> tuple[Mapping[str, Any], int]:
    """Return the fields of front matter in YAML or TOML, and the number of its lines.

    Fields without lines of `---` around them, as MkDocs reads them, end at a blank line.
    """
    rule = lines[0].rstrip()
    top = [*takewhile(lambda line: line.strip() and not line.startswith("##"), lines)]
    ends = (rule, "...") if rule == "---" else (rule,)  # as YAML ends a document, and Pandoc reads it
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() in ends), None)
    if rule == "+++" and end is not None:
        return parse_toml("\n".join(["", *lines[1:end]])), end + 1
    if rule == "---" and end is not None:
        below, top = end + 1, ["", *lines[1:end]]  # with its first line, for numbers in errors
    elif rule == "---" and any(map(_is_known, top)):
        raise ValueError("line 1: the front matter is not closed: add a line of --- below its last field")
    elif all(map(_METADATA.match, top)) and (any(map(_is_known, top)) or len(top) > 1):
        below = len(top)
    else:
        return {}, 0
    fields = parse_yaml("\n".join(top)) if any(top) else {}
    if not isinstance(fields, Mapping):
        raise ValueError(f"the front matter between the lines of --- has no fields, but {quoted(fields)}")
    return fields, below


def _is_known(line: str) -> bool:
    """Return whether a line is a field of an FAQ."""
    found = _FIELD.match(line)
    return found is not None and plain_name(found[1]) in FRONT_MATTER_NAMES


def _names(value: object) -> Iterator[str]:
    """Yield the short texts in front matter, one of which may say that the page is an FAQ."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _names(inner) if name not in _ABOUT else ()
    elif isinstance(value, str) and len(value) <= _MAX_NAME:
        yield value


class _Reading:
    """Makes the document of a file from its questions and its other texts."""

    def __init__(self, source: Source, outline: Outline) -> None:
        self._source = source
        self._outline = outline
        self._questions = [one for one, _ in outline.questions]
        shown = {section for _, section in outline.questions} | {outline.title}
        self._headings = [one for one in shown if one is not None]
        marks = [*self._questions, *self._headings, *outline.sections, *outline.others]
        starts = sorted({one.line - one.above for one in marks})
        self._following = dict(zip(starts, [*starts[1:], len(source.lines)], strict=True))
        # A tag for a website generator is removed with a note, unless it begins or ends a question.
        used = {number for one in marks for number in (*range(one.line, one.below), (one.end or 0) - 1)}
        tags = {number: line.strip() for number, line in enumerate(source.texts) if number not in used}
        self._tags = {number: tag for number, tag in tags.items() if TAG_LINE.fullmatch(tag)}
        for number in self._tags:
            source.lines[number] = ""
        self._notes = [f"line {n + 1}: not shown: {tag[:60]}" for n, tag in self._tags.items()]

    def document(self, front_title: str) -> Document:
        """Return the document of the file, whose front matter may state a title."""
        source, title = self._source, self._outline.title
        texts = [source.plain(source.without_break(one.text, one.below)) for one in self._questions]
        texts = texts if source.is_written else unnumbered(texts)
        names = {
            one: source.plain(one.text if source.is_written else NUMBER.sub("", one.text))
            for one in {section for _, section in self._outline.questions}
            if one is not None
        }
        items, answer_lines, unknown = list[dict[str, str]](), list[int](), dict[str, None]()
        for (one, section), question in zip(self._outline.questions, texts, strict=True):
            answer, line = self._answer(one)
            item = {"question": question, "answer": source.with_definitions(answer)}
            column, heading = find_field(one.others, SECTION_FIELDS), names[section] if section else ""
            if name := heading if column is None else source.plain(one.others[column]):
                item["section"] = name
            unknown |= dict.fromkeys(other for other in one.others if other != column)
            id_ = split_id(one.text)[1]
            if id_ is not None and is_item_id(id_):
                item["id"] = id_
            elif id_ is not None:  # Google Docs makes ids such as `what-is-it?`
                self._notes.append(
                    f"line {one.line + 1}: the id {quoted(id_)} is left out: it is not {ITEM_ID_FORM}"
                )
            items.append(item)
            answer_lines.append(line + 1)
        self._refuse_template([item["answer"] for item in items if item["answer"]])
        introduction, introduction_line, notes = self._other_texts()
        shown = title and source.plain(title.text)
        if title and front_title not in ("", shown):
            place = f"line {title.line + 1}"
            notes.append(f"{place}: this title is not shown: the front matter has {quoted(front_title)}")
        document = Document(
            title=shown or None,
            introduction=introduction,
            items=items,
            positions=[f"line {one.line + 1}" for one in self._questions],
            answer_lines=answer_lines,
            introduction_line=introduction_line,
            unknown=[*unknown],
            notes=[*notes, *(() if source.is_written else self._remarks()), *self._notes, *source.notes],
        )
        return document if source.is_written else document.without_incomplete()

    def _refuse_template(self, answers: list[str]) -> None:
        """Raise ValueError if half of the questions, or all answers, are code of a template.

        A tag such as `{{< faq >}}` above a single question is such code: it inserts the other questions.
        """
        texts = [one.text for one in self._questions]
        code = [one for one in texts if TEMPLATE.search(one) and not has_words(one)]
        if len(texts) == 1:
            above = (tag for number, tag in self._tags.items() if number < self._questions[0].line)
            code += filter(LIST_TAG.search, above)
        if len(code) * 2 < len(texts):
            code = (answers or [*self._tags.values()]) if all(map(is_template, answers)) else []
        if code:
            line = self._questions[0].line + 1
            raise ValueError(f"line {line}: the texts are made by a template: {quoted(code[0][:60])}")

    def _end(self, one: Opener) -> int:
        """Return the number of the line below a question and its answer."""
        following = self._following[one.line - one.above]
        # The next question may begin on the line on which this answer ends.
        return one.end if one.end is not None and one.end <= following + 1 else following

    def _answer(self, one: Opener) -> tuple[str, int]:
        """Return the answer of a question, and the number of its first line, counted from 0.

        The answer has no label, no indentation of a list, and no rules and anchors around it.
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

    def _other_texts(self) -> tuple[str | None, int, list[str]]:
        """Return the introduction, its line, and a note on each other text outside of questions."""
        lines, notes, above = self._source.lines, list[str](), list[str]()
        used = [range(one.line - one.above, self._end(one)) for one in self._questions]
        used += [range(one.line, one.below) for one in self._headings]
        taken = self._source.contents.union(*used)
        first = min(one.line - one.above for one in (*self._questions, *self._outline.sections))
        for one in self._outline.others:
            if one.line < first:
                notes.append(f"line {one.line + 1}: this heading belongs to the introduction")
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
        headings = {one.below: f" below {quoted(self._source.plain(one.text))}" for one in self._headings}
        for is_taken, numbers in groupby(range(first, len(lines)), key=taken.__contains__):
            top = next(numbers)
            texts = [] if is_taken else [number for number in (top, *numbers) if is_text(lines[number])]
            if texts:
                end = f" to line {texts[-1] + 1}" if len(texts) > 1 else ""
                what = f"the text{end}{headings.get(top, '')} belongs to no question, and is left out"
                notes.append(f'line {texts[0] + 1}: {what}: "{lines[texts[0]].strip()[:40]}"')
        return introduction, start + 1, notes

    def _remarks(self) -> Iterator[str]:
        """Yield notes on questions that may be none or have links, and on answers that may contain some."""
        own = {one.line: one for one in self._questions}
        forms = Counter((one.level, one.shape) for one in self._questions)
        above: Opener | None = None
        lines = [Line.of(line, number) for number, line in enumerate(self._source.texts)]
        alone = (one for one in bold(lines) if not (one.rest or lines[one.line].mark))
        asking = {one.line: one for one in (*labelled(lines), *alone) if ends_asking(one.text)}
        openers = sorted((asking | {one.line: one for one in self._source.headings} | own).items())
        for (line, one), below in zip(openers, [*openers[1:], (len(self._source.lines), None)], strict=True):
            above = own.get(line, above)
            if one is above:
                is_usual = one.is_explicit or forms[one.level, one.shape] * 4 >= len(self._questions)
                if not (is_usual or ends_asking(self._source.plain(one.text))):
                    yield f"line {line + 1}: read as a question: it does not ask, and most have another form"
                if _LINK.search(NOT_SHOWN.sub("", one.text)):
                    yield f"line {line + 1}: a question is plain text, so its link is not shown"
                if not one.has_text and below[0] < self._end(one):
                    yield f"line {line + 1}: the answer of this question begins with a heading"
            elif above is not None and line < self._end(above):
                if line in asking:
                    yield f"line {line + 1}: this line asks, but belongs to the answer above it"
                elif one.asks or not above.has_text or (not above.end and one.level < INNER <= above.level):
                    levels = f" (level {one.level}, below level {above.level})" if above.level < INNER else ""
                    what = "asks, but belongs" if one.asks else "belongs"
                    yield f"line {line + 1}: this heading {what} to the answer above it{levels}"
