"""The lines of Markdown that can begin a question, in the forms in which people write them.

A heading is one form (`markdown_source.py`), and a box that unfolds is another (`boxes.py`). The others are
labels (`Q:`), rows of tables, defined terms, bold lines, list items, and plain lines that ask.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile, zip_longest
from typing import Final, NamedTuple

from faqsvc_embed.files.asking import asks, ends_asking
from faqsvc_embed.files.fields import (
    ANSWER_LABELS,
    QUESTION_LABELS,
    find_columns,
    is_general,
)
from faqsvc_embed.files.markdown_lines import bare, without_tags

INNER: Final = 7
"""The level of an opener that is not a heading, below the six levels of headings."""
VAGUE: Final = 8
"""The level of an opener of a form that also occurs in answers."""
CODE: Final = 4
"""A line with this many spaces before it is code."""
_MAX_BOLD: Final = 3
"""Maximum lines of a bold question."""
_SEVERAL: Final = 2

_LINE: Final = re.compile(
    r"(?P<quote>>[ \t]{0,3}(?:#{1,6}[ \t]+|\[![A-Za-z]+\][+-]?[ \t]+)?)?"
    r"(?P<mark>(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(?:#{1,6}[ \t]+)?)?(?P<inner>(?(mark)>[ \t]?|(?!)))?"
    r"(?:(?:<a\s[^<>]*>[ \t]*</a>|\[\]\{[^{}]*\}|:[a-z][a-z0-9_-]*:(?:\{[^{}]*\})?|<br[^<>]*>)[ \t]*)*+"
    r"(?P<text>.*)"
)
_BOLD: Final = re.compile(
    r"(?P<sign>\*\*\*|\*\*|__|\*|_)(?P<text>\S.*?)(?P=sign)[ \t]*[:：。]?(?:[ \t\\]|<br[^<>]*>)*(?P<rest>.*)"
)
_STRONG: Final = re.compile("</?(?:b|strong)>", re.I)
_COLUMNS: Final = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
_TERM: Final = re.compile(r":[ \t]+(?!\[[^\[\]]*(?:\Z|\]\(#))\S")
"""A definition that is no entry of a table of contents."""
_ASKED: Final = re.compile(r"([^?？]+[?？])[*_]*[ \t]+(.+)")
_SENTENCE_ENDS: Final = (".", "!", "。", "！")


def _label(names: Sequence[str], letters: str) -> re.Pattern[str]:
    """Return the pattern of a label, such as `Q:`, `**Frage 2:**` or `A.`, with the text after it."""
    words = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    space = "[ \\t\u00a0\u202f]*"
    word = rf"(?:(?P<word>{words})|{letters}){space}(?P<number>[0-9]{{1,4}}{space})?"
    # A number in a label may have other signs, but "v2.6" is a version.
    signs = r"[:：】]|[-–—](?=[ \t])|(?(word)(?(number)[.)、](?=[ \t])|(?!))|[.．)、])"
    sign = rf"{word}(?P<end>(?:\*\*|__){space})?(?:{signs})"
    icon = "(?:[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]{1,3}[ \\t]*)?【?"
    # An icon may stand before the sign, and the bold text may end before or after it.
    return re.compile(rf"(?P<bold>\*\*|__)?{icon}{sign}(?P<after>\*\*|__)?[ \t]*(?P<text>.*)", re.I)


_QUESTION_LABEL: Final = _label(QUESTION_LABELS, "[qｑ]")
_ANSWER_LABEL: Final = _label(ANSWER_LABELS, "[aａ]")


_KNOWN_LABELS: Final = {*QUESTION_LABELS, *ANSWER_LABELS}
_ANY_LABEL: Final = re.compile(
    r"(?P<before>[ ]{0,3}(?:(?P<heading>#{1,6}[ \t]+)|(?:>|[-*+]|[0-9]{1,3}[.)])[ \t]+)?(?:\*\*|__)?)"
    r"(?P<word>[^\W\d_]{1,12})(?P<after>[ \t]?[0-9]{0,3}(?P<end>\*\*|__)?)"
    r"(?:[ \t]?(?:[:：](?!//)|\\?\|(?=[ \t]))|(?(end)(?=[ \t]|\Z)|(?(heading)\Z|(?!))))"
)
"""A word that may be a label in any language: with a colon or a bar after it, bold, or alone in a heading."""


@dataclass(slots=True, eq=False)
class Opener:
    """Lines that may begin a question or a section, and what is below them."""

    line: int
    """The number of its line, from 0."""
    below: int
    """The number of the line after it."""
    text: str
    """The words of the question or section, in Markdown."""
    level: int = INNER
    rest: str = ""
    """The text after `text` on its last line."""
    shape: str = ""
    """How it is written; its siblings have the same shape."""
    indent: int = 0
    """The spaces that may stand before each line of its text."""
    mark: str = ""
    """The sign of a quotation or of a definition before each line of its text."""
    end: int | None = None
    """The line after its text, if its end is marked."""
    tail: str | None = None
    """The part of its last line before the mark of the end; None if the whole line belongs to it."""
    is_explicit: bool = False
    """Whether its form says that it is a question, as a label does."""
    asks: bool = False
    is_section: bool = False
    """Whether it can only be a section."""
    has_text: bool = False
    """Whether a text stands between it and the next opener."""
    above: int = 0
    """The number of lines above it that belong to it, such as the header of a table."""
    others: dict[str, str] = field(default_factory=dict)
    """The other cells in its row of a table, by the names of their columns."""
    children: "list[Opener]" = field(default_factory=list)


class Line(NamedTuple):
    """A line, and its parts: the signs of a quotation and of a list item, and its text."""

    number: int
    written: str
    space: int
    quote: str
    mark: str
    text: str

    @classmethod
    def of(cls, written: str, number: int = 0) -> "Line":
        """Return the parts of a line, without the tags of paragraphs and the anchors before its text."""
        found = _LINE.fullmatch(bare(written))
        if found is None:  # it contains a line break of another kind
            return cls(number, written, 0, "", "", written)
        text = _STRONG.sub("**", found["text"]) if "<" in written else found["text"]
        mark = found["mark"] or ""
        quote = (found["quote"] or found["inner"] or "")[:1]
        return cls(number, written, space_before(written), quote, mark, text)

    def opener(self, text: str, rest: str = "", kind: str = "") -> Opener:
        """Return the line as an opener."""
        shape = f"{kind} {self.space} {self.quote} {self.mark.strip('0123456789 ')}"
        indent = self.space + len(self.mark.partition("#")[0])
        below = self.number + 1
        text, rest = text.strip().rstrip("\\"), rest.strip()
        return Opener(self.number, below, text, INNER, rest, shape, indent, self.quote)


Form = Callable[["Sequence[Line]"], Iterator[Opener]]
"""Finds the openers of one form in the lines of a file, whose lines of code are empty."""


def space_before(line: str) -> int:
    """Return the number of the spaces before a line."""
    return len(line) - len(line.lstrip(" \t"))


def question_label(line: str) -> re.Match[str] | None:
    """Return the label of a question at the beginning of a line."""
    return _QUESTION_LABEL.fullmatch(Line.of(line).text)


def answer_label(line: str) -> re.Match[str] | None:
    """Return the label of an answer at the beginning of a line."""
    return _ANSWER_LABEL.fullmatch(Line.of(line.lstrip("# ")).text)


def text_after(label: re.Match[str]) -> str:
    """Return the text after a label, without the end of bold text that begins before the label."""
    text, bold = label["text"].rstrip(" \t\\"), label["bold"]
    if bold and not (label["end"] or label["after"]):
        head, found, tail = text.rpartition(bold)
        return head + tail if found else text
    return text


def usual_labels(lines: Sequence[str]) -> list[str]:
    """Replace two words that label questions and answers, in any language, by `Q:` and `A:`.

    They are the two most frequent labels of a text, and the first one labels questions. The lines are
    returned as they are if the two do not alternate, if few questions ask, or if many other lines ask: then
    the labels belong to examples in answers.
    """
    labels, is_code = dict[int, re.Match[str]](), False
    for number, line in enumerate(lines):
        is_code ^= line.lstrip().startswith(("```", "~~~"))
        if not is_code and (label := _ANY_LABEL.match(line.rstrip())):
            labels[number] = label
    most = [word for word, _ in Counter(label["word"] for label in labels.values()).most_common(2)]
    known = [word for word in most if word in "QA" or (word[1:] and word.lower() in _KNOWN_LABELS)]
    if len(known) == 1:
        return list(lines)  # the other word is no label: `Q:` and `Note:`
    own = {number: label for number, label in labels.items() if label["word"] in most}
    words = [label["word"] for label in own.values()]
    written = list(lines)
    for number, label in own.items():
        text, name = label.string[label.end() :], "Q" if label["word"] == words[0] else "A"
        below = next((n for n in range(number + 1, min(number + 3, len(lines))) if lines[n].strip()), number)
        if name == "Q" and below not in own and not text.strip("*_ \t"):
            text, written[below] = f"{text} {lines[below].strip()}", ""
        written[number] = f"{label['before']}{name}{label['after']}:{text}"
    questions = [written[number] for number, label in own.items() if label["word"] == words[0]]
    asking, answers = sum(map(ends_asking, questions)), len(own) - len(questions)
    is_in_turn = all(words[0] in pair for pair in pairwise(words)) and answers >= max(asking / 2, _SEVERAL)
    if not is_in_turn or asking * 2 <= len(questions):
        return list(lines)
    others = [line for number, line in enumerate(written) if number not in own]
    headings = sum(line.startswith(("#", "**")) and asks(line.lstrip("#* ")) for line in others)
    are_examples = asking <= max(headings * 2, sum(ends_asking(without_tags(line)) for line in others))
    return list(lines) if are_examples else written


def labelled(lines: Sequence[Line]) -> Iterator[Opener]:
    """Yield the questions with labels, such as `Q: What does it cost?`, if answers have labels, too.

    A line that asks directly above the label of an answer is a question, too.
    """
    found, has_answers, below_headings = list[Opener](), False, 0
    above: Line | None = None
    question: Opener | None = None
    for line in (line for line in lines if line.text):
        label, is_answer = _QUESTION_LABEL.fullmatch(line.text), _ANSWER_LABEL.fullmatch(line.text)
        if label:
            question = line.opener(text_after(label))
            below_headings += above is not None and above.text.startswith("#")
            text, mark, rest = question.text.partition("?")
            if _ANSWER_LABEL.fullmatch(rest.strip()):  # on the same line
                question.text, question.rest, has_answers = text + mark, rest.strip(), True
            elif not ends_asking(question.text):
                _join(question, lines)
            found.append(question)
        elif is_answer:
            is_above = question is not None and _ends_above(question, lines, line.number)
            if above is not None and asks(above.text) and not is_above:
                found.append(above.opener(above.text))
            has_answers, question = True, None
        above = None if label or is_answer else line
    # Without labels of answers, the heading is the question, and the label below it begins the answer.
    if has_answers or len(found) > max(below_headings * 2, 1):
        for one in found:
            one.is_explicit = True
            yield one


def _join(question: Opener, lines: Sequence[Line]) -> None:
    """Join the lines of a question of which a later line ends asking."""
    texts = [question.text]
    for line in takewhile(lambda line: line.text, lines[question.below : question.below + _MAX_BOLD]):
        texts.append(line.text.strip())
        if _ANSWER_LABEL.fullmatch(line.text) or line.text.endswith(_SENTENCE_ENDS):
            return
        if ends_asking(line.text):
            question.text, question.below = " ".join(texts), line.number + 1
            return


def _ends_above(question: Opener, lines: Sequence[Line], number: int) -> bool:
    """Return whether the paragraph of a question ends directly above a line; join its lines if it does."""
    texts = [line.text.strip() for line in lines[question.below : number]]
    more = "\n".join(texts).rstrip("\n").split("\n")
    if all(more):
        question.text, question.below = " ".join([question.text, *more]).strip(), question.below + len(more)
    return all(more) or not any(more)


def rows(lines: Sequence[Line]) -> Iterator[Opener]:
    """Yield the rows of the tables that have a column of questions and one of answers."""
    columns: tuple[int, int] | None = None
    header, names, above = list[str](), list[str](), 0
    for line in lines:
        cells = _cells(line.written) if "|" in line.written else []
        if header and columns is None and _COLUMNS.fullmatch(line.written.strip()):
            found = find_columns(header)
            if found is not None and not is_general(found[0]):
                columns, names, above = (header.index(found[0]), header.index(found[1])), header, 2
        elif columns is not None and len(cells) > max(columns):
            one = line.opener(cells[columns[0]], cells[columns[1]])
            one.end, one.is_explicit, one.above, above = one.below, True, above, 0
            others = [pair for at, pair in enumerate(zip(names, cells, strict=False)) if at not in columns]
            one.others = {name: cell for name, cell in others if name and cell}
            yield one
        columns, header = columns if cells else None, cells


def _cells(row: str) -> list[str]:
    """Return the texts in the row of a table."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def terms(lines: Sequence[Line]) -> Iterator[Opener]:
    """Yield the terms of definition lists, whose definitions begin with a colon."""
    for line in lines[:-1]:
        below = line.number + (1 if lines[line.number + 1].text else 2)
        is_term = line.text and not line.text.startswith(":")
        if is_term and below < len(lines) and _TERM.match(lines[below].text):
            yield Opener(line.number, below, line.written.strip(), indent=CODE, mark=":")


def bold(lines: Sequence[Line]) -> Iterator[Opener]:
    """Yield the lines that are bold or italic, and those that begin with a bold or italic question."""
    above = ""
    for line in lines:
        is_start, above = bool(line.mark) or not above or above.startswith("#"), line.written.strip()
        found, below = _bold_at(line, lines)
        if found is None or line.space >= CODE:
            continue
        text, rest, sign = found["text"], found["rest"], found["sign"]
        if rest.endswith(sign) and text[-1:].isspace():  # *Is *this* a question?*
            text, rest = f"{text}{sign}{rest.removesuffix(sign)}", ""
        if asks(text) or (is_start and (line.mark or not rest)):
            one = line.opener(text.rstrip(":："), rest, sign)
            one.below = below
            yield one


def _bold_at(line: Line, lines: Sequence[Line]) -> tuple[re.Match[str] | None, int]:
    """Return the bold text that begins on a line, and the number of the line after it."""
    found, text, below = _BOLD.fullmatch(line.text), line.text, line.number + 1
    last = min(len(lines), line.number + _MAX_BOLD)
    while found is None and text.startswith(("*", "_")) and below < last and lines[below].text:
        text += f" {lines[below].text.rstrip()}"
        found, below = _BOLD.fullmatch(text), below + 1
    return found, below


def listed(lines: Sequence[Line]) -> Iterator[Opener]:
    """Yield the items of lists that are not nested."""
    for line in lines:
        if line.mark and not (line.space or line.quote or line.text.startswith("[")):
            asked = _ASKED.match(line.text)
            text, rest = (line.text, "") if asked is None or asks(asked[2][-1:]) else asked.groups()
            yield line.opener(text, rest)


def plain(lines: Sequence[Line]) -> Iterator[Opener]:
    """Yield the lines that ask, and lines directly above lists, each at the beginning of a sentence."""
    above, is_title = "", False
    for line, below in zip_longest(lines, lines[1:]):
        text = without_tags(line.text).strip()
        text = text[1:-1].strip() if text[:1] == text[-1:] == "`" and text.count("`") == _SEVERAL else text
        is_lead = text and not above and below is not None and below.mark
        # A line above a question is its beginning, unless it is shorter: then it is a title.
        is_below_title = is_title and len(above) < len(text) and text.count(". ") < _SEVERAL
        is_begin = not above or above.endswith(_SENTENCE_ENDS) or is_below_title
        if is_begin and not line.mark and "](#" not in text and (is_lead or ends_asking(text)):
            yield line.opener(text)
        is_title = not (above or line.mark or text.endswith(":") or ends_asking(text))
        above = "" if text.startswith("#") else text  # a heading may be directly above
