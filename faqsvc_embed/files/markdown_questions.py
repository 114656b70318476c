"""Questions in Markdown as people write them: as headings, after labels, in bold, in boxes, lists and tables.

An answer is the unchanged text up to the next question, without comments.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise, zip_longest
from typing import TYPE_CHECKING, Any, Final

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.asking import asks, begins_as_guide, says_faq
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markdown_lines import (
    ATTRIBUTES,
    CONTENTS,
    DECORATION,
    HEADING,
    HTML_HEADING,
    NUMBER,
    PERMALINK,
    TAG_LINE,
    TEMPLATE,
    has_words,
    is_template,
    is_text,
    joined,
    split_id,
    unnumbered,
    without_comments,
    without_end,
)
from faqsvc_embed.files.markdown_text import block_parser, plain_text
from faqsvc_embed.files.openers import BELOW_HEADINGS, Opener, answer_label, question_label, text_after
from faqsvc_embed.files.outline import ROW, Outline, outline_of, table_rows, written_outline
from faqsvc_embed.wire import MAX_INTRODUCTION

if TYPE_CHECKING:
    from markdown_it.token import Token


_SEVERAL: Final = 2
_LETTERS: Final = 5
"""Characters of a heading that may have a number before its words."""


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
    `is_written` says that it has the form of `markdown_writer`, so nothing is recognised by how it reads, and
    `is_faq` that its front matter says FAQ.

    Raises:
        ValueError: there is no question, or the file is no FAQ; the message says what was found, and where.
    """
    text, scripts = without_comments(text)
    text = "\n".join(joined(text.split("\n")))
    environment = dict[str, Any]()
    tokens = block_parser().parse(text, environment)
    source = _Source(text.split("\n"), tokens, environment.get("references", {}), front_title, is_written)
    found = source.single(question) if question else source.document(tokens, is_faq=is_faq)
    return replace(found, notes=[*found.notes, *scripts])


def _is_code(token: "Token") -> bool:
    if token.type == "html_block":
        return token.content.lstrip().lower().startswith("<pre")
    return token.type == "code_block" or (token.type == "fence" and not token.info.startswith("{dropdown}"))


class _Source:
    """The lines of a file, and what the parser says about them."""

    def __init__(
        self,
        lines: list[str],
        tokens: "Sequence[Token]",
        references: Mapping[str, Any],
        title: str,
        is_written: bool,
    ) -> None:
        self._lines = lines
        self._is_written = is_written
        self._references = references
        self._front_title = title
        self._definitions = dict[str, tuple[int, str]]()
        places = {label: reference["map"] for label, reference in references.items()}
        for token in tokens:
            if token.type == "footnote_reference_open" and token.map:
                places[f"^{token.meta['label']}".lower().upper()] = token.map
        for label, (first, end) in places.items():
            self._definitions[label] = first, "\n".join(lines[first:end])
            lines[first:end] = [""] * (end - first)
        html = [token for token in tokens if token.type == "code_block" and self._is_html(token)]
        for token in html:
            first, end = token.map or (0, 0)
            lines[first:end] = [line.strip() for line in lines[first:end]]
        code = (token.map for token in tokens if _is_code(token) and token.map and token not in html)
        self._code = {number for first, end in code for number in range(first, end)}
        self._tables = [range(*token.map) for token in tokens if token.type == "table_open" and token.map]
        headings = sorted(self._found_headings(tokens), key=lambda one: one.line)
        contents = [
            one
            for one, below in zip_longest(headings, headings[1:])
            if (below is None or below.level <= one.level)
            and self._is_contents(one, below.line if below else len(lines))
        ]
        self._headings = [one for one in headings if one not in contents]
        self._contents = {one.line for one in contents}

    def _is_html(self, code: "Token") -> bool:
        """Return whether an indented text goes on with the HTML above it, as in many dialects."""
        above = (
            next((line for line in reversed(self._lines[: code.map[0]]) if line.strip()), "")
            if code.map
            else ""
        )
        return code.content.lstrip().startswith("<") and above.strip()[:1] == "<"

    def _is_contents(self, one: Opener, end: int) -> bool:
        """Return whether below a heading are the entries of a table of contents, and nothing else."""
        below = [
            line.strip() for line in self._lines[one.below : end] if not DECORATION.fullmatch(line.strip())
        ]
        return bool(below) and not self._is_written and all(map(CONTENTS.fullmatch, below))

    def plain(self, markdown: str) -> str:
        """Return the text that a line of Markdown shows."""
        return plain_text(PERMALINK.sub(" ", ATTRIBUTES.sub("", split_id(markdown)[0])), self._references)

    def _found_headings(self, tokens: "Sequence[Token]") -> Iterator[Opener]:
        """Yield the headings: those of the parser, those with other spaces, and those in HTML.

        In a file whose headings begin with number signs, a row of hyphens below a text is a rule.
        """
        openings = [
            (token, inline.content, token.map)
            for token, inline in pairwise(tokens)
            if token.type == "heading_open" and token.level == 0 and token.map
        ]
        has_signs = any(token.markup.startswith("##") for token, _, _ in openings)
        found = {
            first: Opener(first, end, " ".join(text.split("\n")), int(token.tag[1]))
            for token, text, (first, end) in openings
            if (token.markup != "-" or not has_signs) and (token.markup[0] == "#" or not self._is_written)
        }
        for number, line in () if self._is_written else enumerate(self._lines):
            stripped = line.strip()
            if (
                number in found
                or number in self._code
                or stripped[:1] not in ("#", "<")
                or (line[:4] == "    " and stripped[0] == "#")
            ):
                continue
            if heading := HEADING.fullmatch(stripped):
                found[number] = Opener(number, number + 1, without_end(heading[2]), len(heading[1]))
            elif heading := HTML_HEADING.fullmatch(stripped):
                level = int(heading[1][1]) if heading[1][1].isdigit() else BELOW_HEADINGS - 1
                rest = heading[3].strip()
                found[number] = Opener(number, number + (not rest), heading[2], level, rest)
        for one in found.values():
            if has_words(one.text) or TEMPLATE.search(one.text):
                label = None if self._is_written else question_label(one.text)
                if label and not label["mark"]:
                    one.text, one.is_labelled, one.is_explicit = text_after(label), True, True
                one.asks = one.is_explicit or asks(self.plain(one.text))
                yield one

    def document(self, tokens: "Sequence[Token]", *, is_faq: bool) -> Document:
        """Return the document of the file, which may say that it is an FAQ."""
        rows = [] if self._is_written else list(table_rows(tokens))
        outline = Outline()
        if self._is_written:
            outline = written_outline(self._lines, self._headings)
        elif len(rows) > sum(one.asks for one in self._headings):
            outline.questions = [(row, None) for row in rows]
            outline.title = next((one for one in self._headings if one.level == 1 and not one.asks), None)
        else:
            outline = outline_of(self._lines, self._headings, self._code, title=self._front_title)
        title = self.plain(outline.title.text) if outline.title else ""
        says_so = is_faq or says_faq(title) or outline.says_faq
        for asked in filter(asks, (title, self._front_title)):
            is_few = len(outline.questions) < _SEVERAL or not outline.is_faq(says_so=says_so)
            is_own = asked != title and is_few and not begins_as_guide(asked)  # above its page
            if not outline.questions or (is_own and not self._is_written):
                return self.single(asked, outline.title)
        self._check(outline, says_so)
        ends = self._ends(outline)
        texts = [one.text for one, _ in outline.questions]
        shown = [self.plain(text) for text in texts]
        shown = shown if self._is_written else unnumbered(shown)
        items, answer_lines, positions = list[dict[str, str]](), list[int](), list[str]()
        for (one, section), question in zip(outline.questions, shown, strict=True):
            answer, line = self._answer(one, ends[one.line])
            id_ = split_id(one.text)[1]
            item = {"question": question, "answer": self.with_definitions(answer)}
            if section is not None and (name := self._section(section)):
                item["section"] = name
            items.append(item | ({} if id_ is None else {"id": id_}))
            answer_lines.append(line + 1)
            positions.append(f"line {one.line + 1}")
        answers = [item["answer"] for item in items if item["answer"]]
        made = [one for one in texts if TEMPLATE.search(one) and not has_words(one)]
        if len(made) * 2 < len(texts):
            made = answers if all(map(is_template, answers)) else []
        if made:
            raise ValueError(f"{positions[0]}: the FAQ comes from a template: {quoted(made[0][:60])}")
        introduction, notes = self._rest(outline, ends)
        notes += [] if self._is_written else outline.remarks(self._headings, ends)
        if outline.title and self._front_title not in ("", title):
            stated = quoted(self._front_title)
            notes.append(
                f"line {outline.title.line + 1}: this title is not shown: the fields above say {stated}"
            )
        return Document(
            title=title or None,
            introduction=introduction,
            items=items,
            positions=positions,
            answer_lines=answer_lines,
            notes=notes,
        )

    def _section(self, section: Opener) -> str:
        number = None if self._is_written or len(section.text) < _LETTERS else NUMBER.match(section.text)
        return self.plain(section.text[number.end() :] if number else section.text)

    def single(self, question: str, title: Opener | None = None) -> Document:
        """Return the document of a file with one question, which is its title."""
        start = title.below if title is not None else 0
        answer, line = self._trimmed(self._lines[start:], start)
        if not any(map(is_text, answer.split("\n"))):
            raise ValueError(f"line {start + 1}: no answer found to {quoted(question)}")
        item = {"question": question, "answer": self.with_definitions(answer)}
        position = f"line {title.line + 1 if title is not None else 1}"
        return Document(items=[item], positions=[position], answer_lines=[line + 1])

    def _check(self, outline: Outline, says_so: bool) -> None:
        """Refuse a file that is no FAQ, and say what was found."""
        wanted = "questions begin with ##, or with Q: above an answer that begins with A:"
        if not outline.questions:
            first = next((n for n, line in enumerate(self._lines) if is_text(line)), None)
            found = "" if first is None else f', but "{self._lines[first].strip()[:60]}"'
            raise ValueError(f"line {(first or 0) + 1}: no question found{found}: {wanted}")
        if not (self._is_written or outline.is_faq(says_so=says_so)):
            first_one = outline.questions[0][0]
            what = self.plain(first_one.text)[:60]
            raise ValueError(
                f"line {first_one.line + 1}: this does not read as an FAQ: few of its headings ask, such as"
                f' "{what}": end them with a question mark, or let the title say FAQ'
            )

    def _ends(self, outline: Outline) -> dict[int, int]:
        """Return the line at which the text of each question ends, by the line of the question."""
        marks = [*(one for one, _ in outline.questions), *outline.sections, *outline.others]
        marks += [outline.title] if outline.title is not None else []
        starts = sorted({one.line for one in marks})
        following = dict(zip(starts, [*starts[1:], len(self._lines)], strict=True))
        return {
            one.line: min(one.end or following[one.line], following[one.line]) for one, _ in outline.questions
        }

    def _answer(self, one: Opener, end: int) -> tuple[str, int]:
        """Return the answer of a question, and the number of its first line from 0.

        Its label, its indentation in a list, and rules and anchors around it are removed.
        """
        start = max(one.below, one.line + 1) if one.rest.strip() else one.below
        lines = self._lines[start:end] if one.level != ROW else []
        if lines and one.tail is not None and end == one.end:
            lines[-1] = one.tail
        if one.rest.strip():
            lines.insert(0, " " * one.indent + one.rest.strip())
        if one.mark == ">":
            lines = [re.sub(r"^[ \t]*>[ \t]?", "", line, count=1) for line in lines]
        elif one.mark == ":":
            lines = [re.sub(r"^( {0,3}):", r"\1 ", line, count=1) for line in lines]
        lines = [line[min(one.indent, len(line) - len(line.lstrip(" "))) :] for line in lines]
        if one.is_labelled:
            for place, line in enumerate(lines):
                if label := answer_label(line):
                    lines[place] = text_after(label)
                    break
        return self._trimmed(lines, one.below)

    def _trimmed(self, lines: list[str], first: int) -> tuple[str, int]:
        kept = [place for place, line in enumerate(lines) if not DECORATION.fullmatch(line.strip(" \t"))]
        if not kept:
            return "", first
        return "\n".join(lines[kept[0] : kept[-1] + 1]).rstrip(" \t"), first + kept[0]

    def with_definitions(self, answer: str) -> str:
        """Return an answer followed by the link reference definitions that it uses."""
        if not self._definitions or "[" not in answer:
            return answer
        folded = " ".join(answer.lower().upper().split())  # as labels are matched (CommonMark 0.31, 4.7)
        labels = set(re.findall(r"\[([^\[\]]+)\]", folded))
        used = sorted(self._definitions[label] for label in labels & self._definitions.keys())
        return "\n\n".join(filter(None, [answer, "\n".join(text for _, text in used)]))

    def _rest(self, outline: Outline, ends: Mapping[int, int]) -> tuple[str | None, list[str]]:
        """Return the introduction, and a note for each other text that belongs to no question."""
        lines, notes, above = self._lines, list[str](), list[str]()
        questions = [one for one, _ in outline.questions]
        rows = {one.line for one in questions if one.level == ROW}
        tables = [table for table in self._tables if rows & set(table)]
        headings = [*outline.sections, *([outline.title] if outline.title is not None else [])]
        used = [range(one.line, ends[one.line]) for one in questions]
        used += [range(one.line, one.below) for one in headings]
        taken = self._contents.union(*used, *tables)
        starts = [one.line for one in (*questions, *outline.sections)]
        first = min([*starts, *(table.start for table in tables)])
        for number, line in enumerate(lines[:first]):
            stripped = line.strip()
            is_tag = TAG_LINE.fullmatch(stripped) is not None
            is_left = number in taken or is_tag or CONTENTS.fullmatch(stripped)
            above.append("" if is_left else line)
            if is_tag and number not in taken:
                notes.append(f"line {number + 1}: not shown: {stripped[:60]}")
        text, start = self._trimmed(above, 0)
        introduction = self.with_definitions(text) if any(map(is_text, above)) else None
        if introduction is not None and len(introduction) > MAX_INTRODUCTION:
            notes.append(
                f"line {start + 1}: the text above the first question has more than {MAX_INTRODUCTION:,}"
                " characters, and is left out"
            )
            introduction = None
        for is_taken, numbers in groupby(range(first, len(lines)), key=taken.__contains__):
            texts = [] if is_taken else [n for n in numbers if is_text(lines[n])]
            if texts := [n for n in texts if not CONTENTS.fullmatch(lines[n].strip())]:
                end = f" to line {texts[-1] + 1}" if len(texts) > 1 else ""
                notes.append(
                    f"line {texts[0] + 1}: the text{end} belongs to no question, and is left out:"
                    f' "{lines[texts[0]].strip()[:40]}"'
                )
        return introduction, notes
