"""The lines of Markdown that can begin a question, in the forms in which people write them.

A heading is one form. The others are labels (`Q:`), boxes that unfold (`details`, `???`, `:::`, components),
defined terms, bold lines, lines that begin with one sign, list items, and plain lines that ask.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from faqsvc_embed.files.asking import asks, ends_asking
from faqsvc_embed.files.fields import ANSWER_LABELS, QUESTION_FIELDS, QUESTION_LABELS, find_field
from faqsvc_embed.files.markdown_lines import bare, without_tags

BELOW_HEADINGS: Final = 7
"""The level of an opener that is not a heading, below the six levels of headings."""

# Patterns match lines without leading white space: their time would grow with the square of its length.
_MARK: Final = r"(?P<mark>(?:>[ \t]?)?(?:(?:[-*+]|[0-9]{1,3}[.)])[ \t]+)?)"
_ANCHOR: Final = r"(?P<anchor>(?:<a\s[^<>]*>[ \t]*</a>|\[\]\{[^{}]*\})[ \t]*)?"
_BOLD: Final = re.compile(
    _MARK
    + _ANCHOR
    + r"(?P<sign>\*\*\*|\*\*|__|\*|_|<(?:b|strong)>)(?P<text>\S.*?)(?:(?P=sign)|</(?:b|strong)>)"
    r"[ \t]*[:：。]?[ \t\\]*(?P<rest>.*)",
    re.I,
)
_MAX_TAG: Final = 8
"""Maximum lines of a tag with its attributes."""
_MAX_COMPONENT: Final = 300
"""Maximum lines in which the end of a component is searched."""
_MAX_BOLD: Final = 3
"""Maximum lines of a bold question."""
_LIST_ITEM: Final = re.compile(r"(?P<mark>(?:[-*+]|[0-9]{1,3}[.)])[ \t]+)(?P<text>.+)")
_TERM: Final = re.compile(r":[ \t]+(?!\[[^\[\]]*(?:\Z|\]\(#))\S")
"""A definition that is no entry of a table of contents."""
_SUMMARY: Final = re.compile(
    r"<summary[^<>]*>((?:(?!</?(?:summary|details)).){1,1000})</summary>", re.I | re.S
)
_DETAILS: Final = re.compile(r"<(/?)details\b[^<>]*>", re.I)
_BOX: Final = re.compile(
    r"(?P<open>\?\?\?\+?|!!!(?=[ \t]+(?:question|faq)\b)|`{3,}(?=\{dropdown\})"
    r"|:{3,}(?=[ \t]*\{?(?:details|question|faq|dropdown|collapse|spoiler|expand|accordion)\b))"
    r"[ \t]*\{?[\w.-]*\}?:?[ \t]*(?P<text>\[.*\]|\".*\"|[^\"\[{].*)"
)
_COMPONENT: Final = re.compile(
    r"(?:<(?P<name>[A-Z][\w.]*|[a-z]+-[\w-]+)|\{\{[<%]\s*(?P<code>[\w-]+)|\{%\s*(?P<tag>details|expand|faq|accordion|question)\b)"
    r"(?P<attributes>[^\n]*)"
)
_ENDS: Final = {"open": "close", "begin": "end", "start": "end"}
_ATTRIBUTE: Final = re.compile(r"\b([\w-]+)=\{?([\"'])(.*?)\2")
_ASKED: Final = re.compile(r"([^?？]+[?？])[*_]*[ \t]+(.+)")
_SIGN: Final = re.compile(r"[^\w\s?*#>+`|~=\\<\"'!&.,:;/@%()\[\]{}«»“”‘’„¿¡「」『』《》（）-]")
"""A sign that can stand before each question, such as an arrow."""
_QUOTED: Final = re.compile(r"[\"“](?P<text>[^\"“”]+)[\"”]")


def _label(names: Sequence[str], letters: str) -> re.Pattern[str]:
    """Return the pattern of a label, such as `Q:`, `**Frage 2:**` or `- A.`, with the text after it."""
    words = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    space = "[ \\t\u00a0\u202f]*"
    number = rf"(?:[0-9]{{1,4}}{space})?"
    word = rf"(?:(?P<word>{words})|{letters}){space}{number}"
    sign = rf"{word}(?P<end>(?:\*\*|__){space})?(?(word)[:：]|[.．)、])"
    # The end of the bold text may stand before or behind the sign.
    return re.compile(
        rf"{_MARK}(?P<head>\#+[ \t]+)?(?P<bold>\*\*|__)?{sign}(?P<after>\*\*|__)?[ \t]*(?P<text>.*)", re.I
    )


_QUESTION_LABEL: Final = _label(QUESTION_LABELS, "[qｑ]")
_ANSWER_LABEL: Final = _label(ANSWER_LABELS, "[aａ]")
_LETTERS: Final = ("f", "p", "d", "v", "в")
"""Labels that often mean something else."""
_UNLABELLED: Final = re.compile(_MARK + r"(?P<text>[^#\s].*)")


@dataclass(slots=True, eq=False)
class Opener:
    """A line that may begin a question or a section, and what is below it."""

    line: int
    """The number of its line, from 0."""
    below: int
    """The number of the first line of its text, which is `line` if `rest` is not empty."""
    text: str
    """The words of the question or section, in Markdown."""
    level: int = BELOW_HEADINGS
    rest: str = ""
    """The text after `text` on the same line."""
    indent: int = 0
    mark: str = ""
    """What stands before each line of its text: spaces, or the sign of a quotation."""
    has_text: bool = False
    """Whether a text stands between it and its first child."""
    end: int | None = None
    """The line after its text and what closes it, if that is marked."""
    tail: str | None = None
    """What its last line has before the closing tag; None if that line stays as it is."""
    is_labelled: bool = False
    is_explicit: bool = False
    """Whether its form says that it is a question."""
    asks: bool = False
    children: "list[Opener]" = field(default_factory=list)


Form = Callable[["Sequence[str]"], Iterator[Opener]]
"""Finds the openers of one form in the lines of a file, whose lines of code are empty."""


def answer_label(line: str) -> re.Match[str] | None:
    """Return the label of an answer at the beginning of a line."""
    return _ANSWER_LABEL.fullmatch(bare(line))


def question_label(line: str) -> re.Match[str] | None:
    """Return the label of a question at the beginning of a line."""
    return _QUESTION_LABEL.fullmatch(bare(line))


def text_after(label: re.Match[str]) -> str:
    """Return the text after a label, without the end of bold text that begins before the label."""
    text, bold = label["text"].rstrip(" \t\\"), label["bold"]
    if bold and not (label["end"] or label["after"]):
        head, found, tail = text.rpartition(bold)
        return head + tail if found else text
    return text


def _opener(line: int, found: re.Match[str], text: str, rest: str = "") -> Opener:
    mark = found.groupdict().get("mark") or ""
    quote = ">" if mark.startswith(">") else ""
    indent = len(mark) - (2 if mark.startswith("> ") else len(quote)) if mark else 0
    below = line if rest.strip() else line + 1
    return Opener(line, below, text.strip(), rest=rest, indent=indent, mark=quote)


def labelled(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the questions with labels, such as `Q: What does it cost?`, if answers have labels, too.

    A line that asks directly above the label of an answer is a question, too.
    """
    found, answers, above = list[tuple[int, re.Match[str], str]](), False, -1
    for number in (n for n, line in enumerate(lines) if line.strip()):
        question, answer = question_label(lines[number]), answer_label(lines[number])
        if question and not question["head"]:
            found.append((number, question, text_after(question)))
        elif answer:
            line = _UNLABELLED.fullmatch(bare(lines[above])) if above >= 0 else None
            found += [(above, line, line["text"])] if line and asks(line["text"]) else []
            answers = True
        above = -1 if question or answer else number
    if not answers:
        bold = [label["bold"] and str(label["word"]).lower() not in _LETTERS for _, label, _ in found]
        asking = sum(bool(sign) or asks(one[2]) for sign, one in zip(bold, found, strict=True))
        if len(found) < 2 or asking * 2 < len(found):
            return
    for number, label, text in found:
        opener = _opener(number, label, text)
        if not text and opener.below < len(lines):  # the label stands alone on its line
            opener.text, opener.below = lines[opener.below].strip(), opener.below + 1
        opener.is_labelled = opener.is_explicit = True
        yield opener


def folded(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the questions that are the titles of boxes: `<details>`, `???`, `::: details`, `<Accordion>`."""
    end = 0
    for number, line in enumerate(lines):
        found = (form(number, line, lines) for form in (_details, _box, _component))
        if number >= end and (opener := next(filter(None, found), None)) is not None:
            end = opener.end or number + 1
            yield opener


def _details(number: int, line: str, lines: Sequence[str]) -> Opener | None:
    if "<summary" not in line.lower():
        return None
    text = "\n".join(lines[number : number + _MAX_TAG])
    found = _SUMMARY.search(text)
    if found is None or found.start() > len(line):
        return None
    at = number + text.count("\n", 0, found.end())
    end, tail = _closing(lines, at, found.end() - text.rfind("\n", 0, found.end()) - 1)
    rest = text[found.end() :].partition("\n")[0]
    rest = _DETAILS.split(rest)[0]
    below = at if rest.strip() else at + 1
    return Opener(number, below, " ".join(found[1].split()), rest=rest, end=end, tail=tail)


def _closing(lines: Sequence[str], at: int, start: int) -> tuple[int, str | None]:
    """Return the line after the element that is open at a place, and the text before its closing tag."""
    depth = 1
    for place in range(at, len(lines)):
        line = lines[place][start:] if place == at else lines[place]
        if depth == 1 and "<summary" in line.lower() and "<details" not in line.lower():
            return place, None  # the elements of the file are not closed
        for tag in _DETAILS.finditer(line):
            depth += -1 if tag[1] else 1
            if depth == 0:
                return place + 1, line[: tag.start()]
    return len(lines), None


def _box(number: int, line: str, lines: Sequence[str]) -> Opener | None:
    indent = len(line) - len(line.lstrip(" \t"))
    found = _BOX.fullmatch(line.strip(" \t\\"))
    if found is None:
        return None
    sign, text = found["open"], found["text"].strip('[]" \t')
    if sign[0] in "?!" and '"' not in found["text"] and not asks(text):
        return None  # a box without a title
    if sign[0] in ":`":
        ends = (place for place in range(number + 1, len(lines)) if lines[place].strip() == sign)
        end = next(ends, len(lines) - 1) + 1
        return Opener(number, number + 1, text, indent=indent, end=end, tail="")
    end = number + 1
    while end < len(lines) and (
        not lines[end].strip()
        or lines[end][indent : indent + 2] in ("  ", "\t")
        or lines[end].startswith("\t")
    ):
        end += 1
    return Opener(number, number + 1, text, indent=indent + 4, end=end)


def _component(number: int, line: str, lines: Sequence[str]) -> Opener | None:
    """Return the opener of a component such as `<Accordion title="Why?">` or `{{% details "Why?" %}}`."""
    found = _COMPONENT.match(line.strip(" \t"))
    if found is None:
        return None
    name = re.escape(found["name"] or found["code"] or found["tag"])
    written, place = found["attributes"], number
    while found["name"] and ">" not in written and place + 1 < min(len(lines), number + _MAX_TAG):
        place += 1
        written += " " + lines[place].strip()
    attributes = {attribute: text for attribute, _, text in _ATTRIBUTE.findall(written)}
    quote = None if found["name"] else _QUOTED.match(written.lstrip())
    if (title := find_field(attributes, (*QUESTION_FIELDS, "label"))) is not None:
        question = attributes.pop(title)
    elif quote is not None:
        question = quote["text"]
    else:
        return None
    if (answer := find_field(attributes, (*ANSWER_LABELS, "content", "text"))) is not None:
        return Opener(number, number, question, rest=attributes[answer], end=place + 1, is_explicit=True)
    other = re.escape(re.sub("open|begin|start", lambda found: _ENDS[found[0]], found["code"] or "-"))
    closing = re.compile(
        rf"\{{\{{[<%]\s*{other}\s*[>%]\}}\}}|</{name}\s*>|\{{[{{%][<%]?\s*(?:/\s*|end){name}\s*[>%]?[%}}]\}}?"
    )
    for end in range(place, min(len(lines), place + _MAX_COMPONENT)):
        if (closed := closing.search(lines[end])) is not None:
            tail = lines[end][: closed.start()]
            rest = tail.partition(">")[2] if end == place else ""
            below = number if rest.strip() else place + 1
            indent = len(lines[place + 1]) - len(lines[place + 1].lstrip(" ")) if place + 1 < end else 0
            return Opener(number, below, question, rest=rest, end=end + 1, indent=indent, tail=tail)
    return None


def terms(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the terms of definition lists, whose definitions begin with a colon."""
    for number in range(len(lines) - 1):
        line = lines[number].strip()
        if not line or line.startswith(":"):
            continue
        below = number + 1 if lines[number + 1].strip() else number + 2
        if below < len(lines) and _TERM.match(lines[below].lstrip(" ")):
            yield Opener(number, below, line, indent=4, mark=":")


def bold(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the lines that are bold, and those that begin with a bold question; all of them if most ask."""
    quoted = 0
    """The line after the quotation."""
    for number, line in enumerate(lines):
        found, below = _bold_at(lines, number)
        if found is None or line.startswith(("    ", "\t")):
            continue
        rest, text, sign = found["rest"], found["text"], found["sign"]
        if rest.endswith(sign) and text[-1:].isspace():  # *Is *this* a question?*
            rest, text = "", f"{text}{sign}{rest.removesuffix(sign)}"
        is_list = found["mark"].strip(" >") != ""
        above = lines[number - 1] if number else ""
        starts = is_list or not above.strip() or above.startswith("#")
        is_lead = is_list and text.endswith((":", "："))
        is_italic = len(sign) == 1 and not found["anchor"]
        if not asks(text) and (is_italic or not starts or (rest and not is_lead)):
            continue
        if is_italic and rest:
            continue
        opener = _opener(number, found, text.rstrip(":："), rest)
        opener.below = opener.below if rest.strip() else below
        if opener.mark:
            ends = (n for n in range(number, len(lines)) if lines[n].strip() and not lines[n].startswith(">"))
            opener.end = quoted = quoted if quoted > number else next(ends, len(lines))
        yield opener


def _bold_at(lines: Sequence[str], number: int) -> tuple[re.Match[str] | None, int]:
    """Return the bold text that begins on a line, and the number of the line after it."""
    text = bare(lines[number])
    found, below = _BOLD.fullmatch(text), number + 1
    is_open = text.lstrip("> ").startswith(("*", "_", "[]{"))
    while found is None and is_open and below < min(len(lines), number + _MAX_BOLD) and lines[below].strip():
        text += " " + lines[below].lstrip("> ").rstrip()
        found, below = _BOLD.fullmatch(text), below + 1
    if found and below > number + 1 and found["rest"] and not found["rest"].endswith(found["sign"]):
        found = None
    return found, below


def listed(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the items of lists that are not nested, whose first lines ask."""
    for number, line in enumerate(lines):
        found = _LIST_ITEM.fullmatch(line)
        if found is not None and not found["text"].startswith("["):
            text, rest = found["text"], ""
            if (asked := _ASKED.match(text)) is not None and not asks(asked[2][-1:]):
                text, rest = asked.groups()
            opener = _opener(number, found, text, rest)
            opener.indent = len(found["mark"])
            yield opener


def signed(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the lines that begin with the sign that most of them begin with, such as an arrow."""
    starts = Counter(line[0] for line in lines if len(line.strip()) > 3 and _SIGN.match(line))
    for sign, count in starts.most_common(1):
        for number, line in enumerate(lines):
            if count > 1 and line.startswith(sign):
                yield Opener(number, number + 1, line[1:].strip(" \t\ufe0f"))


def plain(lines: Sequence[str]) -> Iterator[Opener]:
    """Yield the paragraphs and elements of one line that ask."""
    above = ""
    for number, line in enumerate(lines):
        text = without_tags(line).strip()
        if ends_asking(text) and "](#" not in line and not above:
            yield Opener(number, number + 1, text, indent=len(line) - len(line.lstrip(" ")))
        above = "" if text.startswith("#") else text  # a heading


FORMS: Final[tuple[Form, ...]] = (labelled, folded, terms, bold, signed, listed, plain)
"""All forms, from the clearest to the vaguest."""
VAGUE: Final[tuple[Form, ...]] = (signed, listed, plain)
"""Forms that answers have, too."""
