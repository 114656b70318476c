"""Lines of Markdown that begin a question, and the answers below them."""

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from faqsvc_embed.files.names import ANSWER_NAMES, QUESTION_NAMES

# Patterns match lines without leading white space: their time would grow with the square of its length.
_MARK: Final = r"((?:[-*+]|[0-9]{1,3}[.)])[ \t]+)?"
_BOLD: Final = re.compile(_MARK + r"(?:\*\*|__)(.+?)(?:\*\*|__)[ \t]*:?[ \t]*(.*)")
_LIST_ITEM: Final = re.compile(r"((?:[-*+]|[0-9]{1,3}[.)])[ \t]+)(.+)")
_SUMMARY: Final = re.compile(r"(?:<details[^<>]*>[ \t]*)?<summary[^<>]*>(.*?)</summary>(.*)", re.I)
_DETAILS: Final = re.compile(r"</?details[^<>]*>", re.I)
_DECORATION: Final = re.compile(r"(?:([-*_])(?:[ \t]*\1){2,}|<a [^<>]*>[ \t]*</a>|\[[^\[\]]*\]\(#[^()]*\))?")
"""A blank line, a rule, an anchor, or a link to one, without white space around it."""
_NO_TEXT: Final = re.compile(
    _DECORATION.pattern + rf"|{_MARK}\[[^\[\]]*\]\(#[^()]*\)|(?:</?[a-z][^<>]*>[ \t]*)+", re.I
)
"""Decoration, an entry in a table of contents, or tags alone, without white space around them."""
BELOW_HEADINGS: Final = 7
"""The level of a question that is not a heading, below the six levels of headings."""


def _label(names: Sequence[str], letter: str) -> re.Pattern[str]:
    """Return the pattern of a label, such as `Q:`, `**Frage 2:**` or `- A.`, with the text after it."""
    words = "|".join(sorted(names, key=len, reverse=True))
    space = "[ \\t\u00a0\u202f]*"
    sign = rf"(?:(?:{words}){space}(?:[0-9]+{space})?[:：]|{letter}[ \t]*(?:[0-9]+[ \t]*)?[.)])"
    return re.compile(rf"{_MARK}(?P<bold>\*\*|__)?{sign}(?(bold)(?P<end>(?P=bold))?)[ \t]*(?P<text>.*)", re.I)


_QUESTION_LABEL: Final = _label(QUESTION_NAMES, "q")
_ANSWER_LABEL: Final = _label(ANSWER_NAMES, "a")


@dataclass(slots=True)
class Entry:
    """A question and the lines below it, in Markdown."""

    question: str
    lines: list[str] = field(default_factory=list)
    level: int = BELOW_HEADINGS
    """The level of the question's heading."""
    indent: int = 0
    """Spaces before the lines of the answer if the question is a list item."""
    is_labelled: bool = False
    is_folded: bool = False
    """Whether question and answer are in a details element."""
    section: str = ""
    """The heading that it shares with other questions."""
    number: int = 0
    """The number of the question's line, from 0."""
    first: int = 0
    """The number of its first line in `lines`."""
    end: int = 0
    """The number of the line after its last."""

    @property
    def is_closed(self) -> bool:
        """Whether its details element has ended."""
        return self.is_folded and _DETAILS.search(self.lines[-1]) is not None

    def answer(self) -> tuple[str, int]:
        """Return the answer, and the number of its first line from 0.

        Its label, its indentation in a list, and rules and anchors around it are removed.
        """
        lines = [line[min(self.indent, len(line) - len(line.lstrip(" "))) :] for line in self.lines]
        labels = ((place, found) for place, line in enumerate(lines) if (found := _answer_label(line)))
        for place, found in islice(labels, 1 if self.is_labelled else 0):
            lines[place] = _text_after(found)
        if self.is_folded:
            lines = _DETAILS.split("\n".join(lines), maxsplit=1)[0].split("\n")
        kept = [place for place, line in enumerate(lines) if not _DECORATION.fullmatch(line.strip(" \t"))]
        if not kept:
            return "", self.first
        return "\n".join(lines[kept[0] : kept[-1] + 1]).rstrip(" \t"), self.first + kept[0]


Beginning = Callable[[str], Entry | None]
"""Returns the entry that a line begins, or None."""


def find_text(lines: Sequence[str], without: Container[int]) -> list[int]:
    """Return the lines at which text begins, counted from 1; `without` are numbers of lines, from 0."""
    found, is_text = list[int](), False
    for number, line in enumerate(lines):
        if number in without:
            is_text = False
        elif not is_text and not _NO_TEXT.fullmatch(line.strip(" \t")):
            is_text = True
            found.append(number + 1)
    return found


def ends_in_question_mark(text: str) -> bool:
    """Return whether a line ends in a question mark."""
    return text.rstrip("*_ ").endswith(("?", "？"))


def find_beginning(lines: Sequence[str]) -> Beginning | None:
    """Return the function that recognises the first line of each entry in a file, or None.

    Entries begin with labels, else with summaries, bold lines or list items.
    """
    if any(map(labelled, lines)) and any(map(_answer_label, lines)):
        return labelled
    return next((begin for begin in (_folded, _bold, _listed) if any(map(begin, lines))), None)


def labelled(line: str) -> Entry | None:
    """Return the entry that a label begins, such as `Q: What does it cost?`."""
    found = _QUESTION_LABEL.fullmatch(line.lstrip(" \t"))
    if found is None:
        return None
    return Entry(_text_after(found), indent=len(found[1] or ""), is_labelled=True)


def _answer_label(line: str) -> re.Match[str] | None:
    return _ANSWER_LABEL.fullmatch(line.lstrip(" \t"))


def _text_after(label: re.Match[str]) -> str:
    """Return the text after a label, without the end of bold text that begins before the label."""
    text = label["text"].rstrip()
    return text.removesuffix(label["bold"]) if label["bold"] and not label["end"] else text


def _folded(line: str) -> Entry | None:
    found = _SUMMARY.fullmatch(line.lstrip(" \t"))
    return Entry(found[1], [found[2]], is_folded=True) if found is not None else None


def _bold(line: str) -> Entry | None:
    found = _BOLD.fullmatch(line.lstrip(" \t"))
    if found is None or not ends_in_question_mark(found[2]):
        return None
    return Entry(found[2], [found[3]], indent=len(found[1] or ""))


def _listed(line: str) -> Entry | None:
    found = _LIST_ITEM.fullmatch(line)
    if found is None or not ends_in_question_mark(found[2]):
        return None
    return Entry(found[2], indent=len(found[1]))
