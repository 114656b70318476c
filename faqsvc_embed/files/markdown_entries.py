"""How a line of Markdown begins a question, and where the answer below it ends."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from faqsvc_embed.files.names import ANSWER_NAMES, QUESTION_NAMES

_MARK: Final = r"[ \t]*((?:[-*+]|[0-9]{1,3}[.)])[ \t]+)?"
_BOLD: Final = re.compile(_MARK + r"(?:\*\*|__)(.+?)(?:\*\*|__)[ \t]*:?[ \t]*(.*)")
_LIST_ITEM: Final = re.compile(r"((?:[-*+]|[0-9]{1,3}[.)])[ \t]+)(.+)")
_SUMMARY: Final = re.compile(r"[ \t]*(?:<details[^<>]*>[ \t]*)?<summary[^<>]*>(.*?)</summary>(.*)", re.I)
_DETAILS: Final = re.compile(r"</?details[^<>]*>", re.I)
_DECORATION: Final = re.compile(
    r"[ \t]*(?:([-*_])(?:[ \t]*\1){2,}|<a [^<>]*>[ \t]*</a>|\[[^\[\]]*\]\(#[^()]*\))?[ \t]*"
)
"""A blank line, a rule, an anchor, or a link to one."""
BELOW_HEADINGS: Final = 7
"""The level of a question that a line of text asks."""


def _label(names: Sequence[str], letter: str) -> re.Pattern[str]:
    """Match a label, such as `Q:`, `**Frage 2:**` or `- A.`, and the text after it."""
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
    """Of the heading that asks."""
    indent: int = 0
    """Of the answer's lines, where the question stands in a list."""
    is_labelled: bool = False
    is_folded: bool = False
    number: int = 0
    """Of the question's line."""

    def answer(self) -> str:
        """Return the answer without its label, its indentation in a list, and rules and anchors around it."""
        lines = [line[min(self.indent, len(line) - len(line.lstrip(" "))) :] for line in self.lines]
        labels = (
            (place, found) for place, line in enumerate(lines) if (found := _ANSWER_LABEL.fullmatch(line))
        )
        for place, found in islice(labels, 1 if self.is_labelled else 0):
            lines[place] = _after(found)
        if self.is_folded:
            lines = _DETAILS.split("\n".join(lines), maxsplit=1)[0].split("\n")
        kept = [place for place, line in enumerate(lines) if not _DECORATION.fullmatch(line)]
        return "\n".join(lines[kept[0] : kept[-1] + 1]).rstrip(" \t") if kept else ""


Beginning = Callable[[str], Entry | None]
"""Returns the entry that a line begins."""


def asks(text: str) -> bool:
    """Whether a line ends in a question mark."""
    return text.rstrip("*_ ").endswith(("?", "？"))


def find_beginning(lines: Sequence[str]) -> Beginning | None:
    """Return how lines of text begin an entry in a file, if they do: labels, or else bold lines or lists."""
    if any(map(labelled, lines)) and any(map(_ANSWER_LABEL.fullmatch, lines)):
        return labelled
    return next((begin for begin in (_folded, _bold, _listed) if any(map(begin, lines))), None)


def labelled(line: str) -> Entry | None:
    """Return the entry that a label begins, such as `Q: What does it cost?`."""
    found = _QUESTION_LABEL.fullmatch(line)
    return Entry(_after(found), indent=len(found[1] or ""), is_labelled=True) if found is not None else None


def _after(label: re.Match[str]) -> str:
    """Return the text after a label; `**Q: What?**` is bold to its end."""
    text = label["text"].rstrip()
    return text.removesuffix(label["bold"]) if label["bold"] and not label["end"] else text


def _folded(line: str) -> Entry | None:
    found = _SUMMARY.fullmatch(line)
    return Entry(found[1], [found[2]], is_folded=True) if found is not None else None


def _bold(line: str) -> Entry | None:
    found = _BOLD.fullmatch(line)
    if found is None or not asks(found[2]):
        return None
    return Entry(found[2], [found[3]], indent=len(found[1] or ""))


def _listed(line: str) -> Entry | None:
    found = _LIST_ITEM.fullmatch(line)
    return Entry(found[2], indent=len(found[1])) if found is not None and asks(found[2]) else None
