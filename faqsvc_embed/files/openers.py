"""The lines of Markdown that can begin a question, in the forms in which people write them.

A heading is one form (`markdown_source.py`). The others are labels (`Q:`), boxes that unfold (`details`,
`???`, `:::`, components), rows of tables, defined terms, bold lines, list items, and plain lines that ask.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from faqsvc_embed.files.asking import asks, ends_asking
from faqsvc_embed.files.fields import (
    ANSWER_LABELS,
    QUESTION_FIELDS,
    QUESTION_LABELS,
    find_columns,
    find_field,
    is_general,
)
from faqsvc_embed.files.markdown_lines import bare, without_tags

INNER: Final = 7
"""The level of an opener that is not a heading, below the six levels of headings."""
_CODE: Final = 4
"""The spaces before a line that can begin no question."""
_MAX_TITLE: Final = 8
"""Maximum lines of a tag with its attributes, or of the title of a box."""
_MAX_BOLD: Final = 3
"""Maximum lines of a bold question."""

_Place = tuple[int, int]
"""The numbers of a line and of a character in it."""
_LINE: Final = re.compile(
    r"(?P<quote>>[ \t]?)?(?P<mark>(?:[-*+]|[0-9]{1,3}[.)])[ \t]+)?"
    r"(?:(?:<a\s[^<>]*>[ \t]*</a>|\[\]\{[^{}]*\})[ \t]*)?(?P<text>.*)"
)
_BOLD: Final = re.compile(
    r"(?P<sign>\*\*\*|\*\*|__|\*|_)(?P<text>\S.*?)(?P=sign)[ \t]*[:：。]?[ \t\\]*(?P<rest>.*)"
)
_STRONG: Final = re.compile("</?(?:b|strong)>", re.I)
_TAG: Final = re.compile(
    r"(?P<sign><|\{\{[<%]|\{%)[ \t]*(?P<name>/?[ \t]*[\w.-]+)"
    r"|\A[ \t]*(?P<fence>:{3,}|`{3,}(?=\{dropdown\}|[ \t]*\Z))[ \t]*(?P<kind>.*)"
)
"""The beginning or the end of an element, of a shortcode or of a container."""
_SUMMARY: Final = re.compile(
    r"[^<>]*>\s*<summary[^<>]*>(?P<title>(?:(?!</?(?:summary|details)).){1,1000})</summary>", re.I | re.S
)
_FOLDING: Final = re.compile(
    r"\{?(?:details|question|faq|dropdown|collapse|spoiler|expand|accordion)\b[\w.-]*\}?:?[ \t]*(?P<title>[^\n]*)"
)
"""What is behind the sign of a container that unfolds."""
_HEAD: Final = re.compile(
    r"\s*(?:[\"“](?P<title>[^\"“”]+)[\"”])?(?:[^<>\"'{}]|\"[^\"]*\"|'[^']*'|\{[^{}]*\})*[>}]+"
)
"""The attributes of an element or a shortcode."""
_ATTRIBUTE: Final = re.compile(r"\b([\w-]+)=\{?([\"'])(.*?)\2", re.S)
_INDENTED: Final = re.compile(
    r"(?:\?\?\?\+?|!!!(?=[ \t]+(?:question|faq)\b))[ \t]*[\w.-]*[ \t]*(?P<title>\".*\"|[^\"].*)"
)
_COLUMNS: Final = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
_TERM: Final = re.compile(r":[ \t]+(?!\[[^\[\]]*(?:\Z|\]\(#))\S")
"""A definition that is no entry of a table of contents."""
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]")
_ASKED: Final = re.compile(r"([^?？]+[?？])[*_]*[ \t]+(.+)")
_SIGN: Final = re.compile(r"[^\w\s?*#>+`|~=\\<\"'!&.,:;/@%()\[\]{}«»“”‘’„¿¡「」『』《》（）-][^\n]*\w")
"""A line that begins with a sign, such as an arrow."""


def _label(names: Sequence[str], letters: str) -> re.Pattern[str]:
    """Return the pattern of a label, such as `Q:`, `**Frage 2:**` or `A.`, with the text after it."""
    words = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    space = "[ \\t\u00a0\u202f]*"
    word = rf"(?:(?P<word>{words})|{letters}){space}(?:[0-9]{{1,4}}{space})?"
    sign = rf"{word}(?P<end>(?:\*\*|__){space})?(?(word)[:：]|[.．)、])"
    # The end of the bold text may stand before or behind the sign.
    return re.compile(rf"(?P<bold>\*\*|__)?{sign}(?P<after>\*\*|__)?[ \t]*(?P<text>.*)", re.I)


_QUESTION_LABEL: Final = _label(QUESTION_LABELS, "[qｑ]")
_ANSWER_LABEL: Final = _label(ANSWER_LABELS, "[aａ]")
_LETTERS: Final = ("f", "p", "d", "v", "в")
"""Labels that often mean something else."""


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
    """What its last line has before the mark of the end; None if that line stays as it is."""
    is_explicit: bool = False
    """Whether its form says that it is a question, as a label does."""
    asks: bool = False
    has_text: bool = False
    """Whether a text stands between it and the next opener."""
    above: int = 0
    """The lines above it that belong to it, such as the header of a table."""
    children: "list[Opener]" = field(default_factory=list)


class Line(NamedTuple):
    """The parts of a line: the signs of a quotation and of a list item, and its text."""

    space: int
    quote: str
    mark: str
    text: str

    @classmethod
    def of(cls, line: str) -> "Line":
        """Return the parts of a line, without the tags of paragraphs and the anchors before its text."""
        found = _LINE.fullmatch(bare(line))
        if found is None:  # it has a line end of another kind
            return cls(0, "", "", line)
        text = _STRONG.sub("**", found["text"]) if "<" in line else found["text"]
        return cls(_space(line), (found["quote"] or "").strip(), found["mark"] or "", text)

    def opener(self, number: int, text: str, rest: str = "", kind: str = "") -> Opener:
        """Return the opener that the line is."""
        shape = f"{kind} {self.space} {self.quote} {self.mark.strip('0123456789 ')}"
        indent = self.space + len(self.mark)
        return Opener(number, number + 1, text.strip(), INNER, rest.strip(), shape, indent, self.quote)


Form = Callable[["Sequence[str]"], Iterator[Opener]]
"""Finds the openers of one form in the lines of a file, whose lines of code are empty."""


def _space(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def question_label(line: str) -> re.Match[str] | None:
    """Return the label of a question at the beginning of a line."""
    return _QUESTION_LABEL.fullmatch(Line.of(line).text)


def answer_label(line: str) -> re.Match[str] | None:
    """Return the label of an answer at the beginning of a line."""
    return _ANSWER_LABEL.fullmatch(Line.of(line).text)


def text_after(label: re.Match[str]) -> str:
    """Return the text after a label, without the end of bold text that begins before the label."""
    text, bold = label["text"].rstrip(" \t\\"), label["bold"]
    if bold and not (label["end"] or label["after"]):
        head, found, tail = text.rpartition(bold)
        return head + tail if found else text
    return text


def labelled(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the questions with labels, such as `Q: What does it cost?`, if answers have labels, too.

    A line that asks directly above the label of an answer is a question, too.
    """
    found, certain, has_answers = list[Opener](), 0, False
    above: Opener | None = None
    for number, line in ((n, Line.of(line)) for n, line in enumerate(lines) if line.strip()):
        label, is_answer = _QUESTION_LABEL.fullmatch(line.text), _ANSWER_LABEL.fullmatch(line.text)
        if label:
            found.append(line.opener(number, text_after(label)))
            is_word = bool(label["bold"]) and str(label["word"]).lower() not in _LETTERS
            certain += is_word or asks(found[-1].text)
        elif is_answer:
            has_answers = True
            is_answered = bool(found) and _ends_above(found[-1], lines, number)
            found += [above] if above is not None and asks(above.text) and not is_answered else []
        above = None if label or is_answer else line.opener(number, line.text)
    if has_answers or (len(found) > 1 and certain * 2 >= len(found)):
        for one in found:
            if not one.text and one.below < len(lines):  # the label stands alone on its line
                one.text, one.below = lines[one.below].strip(), one.below + 1
            one.is_explicit = True
            yield one


def _ends_above(question: Opener, lines: Sequence[str], number: int) -> bool:
    """Return whether the paragraph of a question is directly above a line, and add all its lines to it."""
    more = [line.strip() for line in lines[question.below : number]]
    more = more[: next((place for place in range(len(more), 0, -1) if more[place - 1]), 0)]
    if all(more):
        question.text, question.below = " ".join([question.text, *more]).strip(), question.below + len(more)
    return all(more)


def boxes(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the titles of boxes: `<details>`, `???`, `::: details`, `<Accordion title="">`, shortcodes."""
    closings, end = _closings(lines), 0
    for number in range(len(lines)):
        if number >= end:
            one = _indented(number, lines)
            for tag in () if one else _TAG.finditer(lines[number]):
                one = one or _box(number, tag, lines, closings.get((number, tag.start())))
            if one is not None:
                end = one.below if one.end is None else one.end - 1  # its last line may begin another
                yield one


def _closings(lines: Sequence[str]) -> dict[_Place, _Place]:
    """Return where elements, shortcodes and containers end, by where they begin."""
    closings, opened, names = dict[_Place, _Place](), list[tuple[str, _Place]](), Counter[str]()
    for number, line in enumerate(lines):
        for tag in _TAG.finditer(line):
            name, is_end = _name_of(tag)
            if not is_end:
                opened.append((name, (number, tag.start())))
                names[name] += 1
            while is_end and names[name]:
                last, place = opened.pop()
                names[last] -= 1
                closings |= {place: (number, tag.start())} if last == name else {}
                is_end = last != name
    return closings


def _name_of(tag: re.Match[str]) -> tuple[str, bool]:
    """Return the name that the first and the last tag of a box have, and whether this one is the last."""
    if tag["fence"]:
        return tag["fence"], not tag["kind"].strip()
    name = re.sub(r"\A(?:/[ \t]*|end|close)_?|[_-](?:end|close)\Z", "", tag["name"])
    return re.sub(r"[_-](?:open|begin|start)\Z", "", name), name != tag["name"]


def _box(number: int, tag: re.Match[str], lines: Sequence[str], closing: _Place | None) -> Opener | None:
    """Return the opener that a tag with a title is; of a component, if it ends somewhere."""
    is_component = not (tag["fence"] or tag["name"] == "details")
    text = "\n".join(lines[number : number + _MAX_TITLE])
    form = _FOLDING if tag["fence"] else _HEAD if is_component else _SUMMARY
    head = form.match(text, tag.start("kind") if tag["fence"] else tag.end())
    is_other = tag["sign"] == "<" and is_component and not ("-" in tag["name"] or tag["name"][0].isupper())
    if head is None or is_other:
        return None
    title, answer = head["title"], None
    if is_component:
        fields = {name: value for name, _, value in _ATTRIBUTE.findall(head[0])}
        if title is None and (name := find_field(fields, (*QUESTION_FIELDS, "label"))):
            title = fields.pop(name)
        name = find_field(fields, (*ANSWER_LABELS, "content", "text"))
        answer = fields[name] if name else None
        if title is None or (answer is None and closing is None):
            return None
    at = number + text.count("\n", 0, head.end())
    column = head.end() - text.rfind("\n", 0, head.end()) - 1
    one = Opener(at, at + 1, " ".join(title.strip('[]" \t').split()), indent=_space(lines[number]))
    if answer is not None:
        one.rest, one.end, one.is_explicit = answer, one.below, True
    elif closing is None:
        one.rest = lines[at][column:].strip()
    else:
        one.end, one.tail = closing[0] + 1, lines[closing[0]][: closing[1]]
        one.rest = (one.tail if closing[0] == at else lines[at])[column:].strip()
        one.indent = _space(lines[one.below]) if is_component and closing[0] > at + 1 else one.indent
    return one


def _indented(number: int, lines: Sequence[str]) -> Opener | None:
    """Return the opener of a box whose text is indented, such as `??? question "Why?"`."""
    line = lines[number].strip(" \t\\")
    found = _INDENTED.fullmatch(line) if line.startswith(("???", "!!!")) else None
    if found is None or not (found["title"].startswith('"') or asks(found["title"])):
        return None
    indent, end = _space(lines[number]), number + 1
    while end < len(lines) and (not lines[end].strip() or lines[end][indent : indent + 2].isspace()):
        end += 1
    return Opener(number, number + 1, found["title"].strip('" '), indent=indent + _CODE, end=end)


def rows(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the rows of the tables that have a column of questions and one of answers."""
    columns: tuple[int, int] | None = None
    header, above = list[str](), 0
    for number, line in enumerate(lines):
        cells, names = _cells(line) if "|" in line else [], None
        if header and _COLUMNS.fullmatch(line.strip()):
            names = find_columns(header)
            if names is not None and not is_general(names[0]):
                columns, above = (header.index(names[0]), header.index(names[1])), 2
                continue
        columns = columns if cells else None
        if columns is not None and len(cells) > max(columns):
            one = Opener(number, number + 1, cells[columns[0]], rest=cells[columns[1]], end=number + 1)
            one.is_explicit, one.above, above = True, above, 0
            yield one
        header = cells


def _cells(row: str) -> list[str]:
    """Return the texts in the row of a table."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def terms(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the terms of definition lists, whose definitions begin with a colon."""
    for number, line in enumerate(lines[:-1]):
        below = number + 1 if lines[number + 1].strip() else number + 2
        is_term = line.strip() and not line.strip().startswith(":")
        if is_term and below < len(lines) and _TERM.match(lines[below].lstrip(" ")):
            yield Opener(number, below, line.strip(), indent=_CODE, mark=":")


def bold(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the lines that are bold or italic, and those that begin with a question in such letters."""
    for number, line in enumerate(map(Line.of, lines)):
        found, below = _bold_at(lines, number, line.text)
        if found is None or line.space >= _CODE:
            continue
        text, rest, sign = found["text"], found["rest"], found["sign"]
        if rest.endswith(sign) and text[-1:].isspace():  # *Is *this* a question?*
            text, rest = f"{text}{sign}{rest.removesuffix(sign)}", ""
        above = lines[number - 1].strip() if number else ""
        is_start = line.mark or not above or above.startswith("#")
        if asks(text) or (is_start and (not rest or (line.mark and text.endswith((":", "："))))):
            one = line.opener(number, text.rstrip(":："), rest, sign)
            one.below = below
            yield one


def _bold_at(lines: Sequence[str], number: int, text: str) -> tuple[re.Match[str] | None, int]:
    """Return the bold text that begins on a line, and the number of the line after it."""
    found, below = _BOLD.fullmatch(text), number + 1
    while found is None and text.startswith(("*", "_")) and below < min(len(lines), number + _MAX_BOLD):
        if not lines[below].strip():
            break
        text += " " + lines[below].lstrip("> ").rstrip()
        found, below = _BOLD.fullmatch(text), below + 1
    if found and below > number + 1 and found["rest"] and not found["rest"].endswith(found["sign"]):
        found = None
    return found, below


def listed(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the items of lists that are not nested."""
    for number, line in enumerate(map(Line.of, lines)):
        if line.mark and not (line.space or line.quote or line.text.startswith("[")):
            asked = _ASKED.match(line.text)
            text, rest = (line.text, "") if asked is None or asks(asked[2][-1:]) else asked.groups()
            yield line.opener(number, text, rest)


def plain(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the paragraphs and elements of one line that ask, and lines that begin with the same sign."""
    signs = Counter(line[0] for line in lines if _SIGN.match(line))
    above = ""
    for number, line in enumerate(lines):
        text = without_tags(line).strip()
        if signs[line[:1]] > 1:
            yield Opener(number, number + 1, line[1:].strip(" \t\ufe0f"), shape=line[0])
        elif ends_asking(text) and "](#" not in line and not (above or _ITEM.match(line)):
            yield Opener(number, number + 1, text, indent=_space(line))
        above = "" if text.startswith("#") else text  # a heading


FORMS: Final[tuple[Form, ...]] = (labelled, boxes, rows, terms, bold, listed, plain)
"""All forms, from the clearest to the vaguest."""
VAGUE: Final[tuple[Form, ...]] = (listed, plain)
"""Forms that answers have, too."""
