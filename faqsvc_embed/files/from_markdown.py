"""Questions and answers in a Markdown file: under headings, behind `Q:` and `A:`, in bold, in lists.

Answers are taken as they stand, code too, without backslashes before punctuation and with the characters
that `&amp;` and its like stand for: they are shown as text.
"""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from faqsvc_embed.files.html_text import decoded, without_tags
from faqsvc_embed.files.markdown_lines import Line, read_lines
from faqsvc_embed.files.markdown_text import around_literals

_LABEL = r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?:{})[ \t]*(?:[0-9]+[ \t]*)?[:.)：](?:\*\*|__)?[ \t]*(.*)"
_Q = re.compile(_LABEL.format("Q|Question"), re.IGNORECASE)
_A = re.compile(_LABEL.format("A|Answer"), re.IGNORECASE)
_BOLD = re.compile(r"(?:\*\*|__)(.+?)(?:\*\*|__)[ \t]*")
_NUMBER = r"[0-9]{1,3}[.)][ \t]+"
_NUMBERED = re.compile(_NUMBER + "(?=.)")
_MARK = rf"[ \t]*((?:[-*+][ \t]+|{_NUMBER})?)"
_IN_BOLD = re.compile(_MARK + r"(?:\*\*|__)(.+?)(?:\*\*|__)[ \t]*:?[ \t]*(.*)")
_IN_LIST = re.compile(rf"([-*+][ \t]+|{_NUMBER})(.+)")
_SUMMARY = re.compile(r"[ \t]*(?:<details[^<>]*>[ \t]*)?<summary[^<>]*>(.*?)</summary>(.*)", re.IGNORECASE)
_DETAILS = re.compile(r"</?details[^<>]*>", re.IGNORECASE)
_LINK = re.compile(r"\[([^\[\]]+)\]\([^()]*\)")
_ANCHOR = re.compile(r"[ \t]*(?:<a [^<>]*>[ \t]*</a>|\[[^\[\]]*\]\(#[^()]*\))[ \t]*")
"""An anchor, or a link to one."""
_ENDINGS: Final = ("?", "？", "؟", ";")


@dataclass(slots=True)
class _Entry:
    question: str
    lines: list[str] = field(default_factory=list)
    level: int = 7
    """Of the heading that asks; below all headings if a line does."""
    indent: int = 0
    """Of the answer's lines, where a mark of a list stands before the question."""
    labelled: bool = False
    folded: bool = False


def read_markdown(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return what the front matter says, the first heading of level 1 as title, and the items."""
    fields, lines = read_lines(text)
    begin = _beginning(lines)
    headings = [number for number, line in enumerate(lines) if line.level > 1]
    if not headings and begin is None:  # a file with nothing but questions, at level 1
        headings = [number for number, line in enumerate(lines) if line.level and _asks(line.text)]
    asking = _questions(lines, headings, begin)
    titles = (line.text for number, line in enumerate(lines) if line.level == 1 and number not in asking)
    if "title" not in fields and (title := next(titles, "")):
        fields["title"] = _cleaned(title)
    entries = _entries(lines, asking, begin)
    if all(_NUMBERED.match(entry.question) for entry in entries):
        for entry in entries:
            entry.question = _NUMBERED.sub("", entry.question, count=1)
    return fields, [{"question": _cleaned(entry.question), "answer": _answer(entry)} for entry in entries]


# Lines that begin an entry, where no heading asks

_Beginning = Callable[[str], _Entry | None]


def _label(line: str) -> _Entry | None:
    found = _Q.fullmatch(line)
    return _Entry(found[1], labelled=True) if found is not None else None


def _summary(line: str) -> _Entry | None:
    found = _SUMMARY.fullmatch(line)
    return _Entry(found[1], [found[2]], folded=True) if found is not None else None


def _bold_line(line: str) -> _Entry | None:
    found = _IN_BOLD.fullmatch(line)
    if found is None or not _asks(found[2]):
        return None
    return _Entry(found[2], [found[3]], indent=len(found[1]))


def _list_item(line: str) -> _Entry | None:
    found = _IN_LIST.fullmatch(line)
    return _Entry(found[2], indent=len(found[1])) if found is not None and _asks(found[2]) else None


def _beginning(lines: list[Line]) -> _Beginning | None:
    """Return how lines of this file begin an entry, if any does: by labels, if there is one."""
    texts = [line.text for line in lines if not line.code and not line.level]
    ways = (_label, _summary, _bold_line, _list_item)
    return next((way for way in ways if any(map(way, texts))), None)


# Headings


def _asks(text: str) -> bool:
    return text.rstrip("*_ ").endswith(_ENDINGS)


def _questions(lines: list[Line], headings: list[int], begin: _Beginning | None) -> set[int]:
    """Return the headings that are questions.

    Sections are none: what begins with an entry of another kind, and what only has questions below it. Of
    the others all are that end in a question mark, and those on the level of most: not everybody writes it.
    """
    first = {number: _first_below(lines, number) for number in headings}
    sections = {number for number, line in first.items() if line is not None and begin and begin(line.text)}
    asking = {number for number in headings if number not in sections and _asks(lines[number].text)}
    if not asking and (sections or begin in (_label, _summary)):
        return set()
    counts = Counter(lines[number].level for number in asking or headings)
    depth = min(counts, key=lambda level: (-counts[level], level), default=0)
    above, parents = list[int](), set[int]()  # headings over one that asks
    for number in headings:
        above = [other for other in above if lines[other].level < lines[number].level]
        parents.update(above if number in asking else ())
        above.append(number)
    found, current = set[int](), 7
    for number in headings:
        level = lines[number].level
        if level > current or number in sections:
            continue
        current = 7
        if number in asking:
            is_question = number not in parents or level >= depth
        else:
            is_question = (
                level == depth and number not in parents and (not asking or first[number] is not None)
            )
        if is_question:
            found.add(number)
            current = level
    return found


def _first_below(lines: list[Line], heading: int) -> Line | None:
    """Return the first line of text below a heading, if there is one before the next heading."""
    number = next(
        (n for n in range(heading + 1, len(lines)) if lines[n].level or lines[n].text.strip()), None
    )
    return None if number is None or lines[number].level else lines[number]


# Entries


def _entries(lines: list[Line], questions: set[int], begin: _Beginning | None) -> list[_Entry]:
    entries = list[_Entry]()
    current: _Entry | None = None
    for number, line in enumerate(lines):
        entry: _Entry | None = None
        if number in questions:
            entry = _label(line.text) or _Entry(line.text)
            entry.level = line.level
        elif line.level and (current is None or line.level <= current.level):
            current = None
        elif not line.level and not line.code and begin and (current is None or current.level == 7):
            entry = begin(line.text)
        if entry is not None:
            entries.append(entry)
            current = entry
        elif current is not None:
            current.lines.append(f"{'#' * line.level} {line.text}" if line.level else line.text)
    return entries


def _answer(entry: _Entry) -> str:
    lines = entry.lines
    if entry.labelled:
        found = ((place, label[1]) for place, line in enumerate(lines) if (label := _A.fullmatch(line)))
        for place, text in islice(found, 1):
            lines[place] = text
    lines = [line[min(entry.indent, len(line) - len(line.lstrip(" "))) :] for line in lines]
    kept = [place for place, line in enumerate(lines) if not _parts_the_file(line)]
    text = "\n".join(lines[kept[0] : kept[-1] + 1]).removesuffix("\\") if kept else ""
    return around_literals(text, _unfolded if entry.folded else decoded)


def _unfolded(text: str) -> str:
    """Return what is inside of `<details>`, as text."""
    return decoded(without_tags(_DETAILS.split(text, maxsplit=1)[0], addresses=True))


def _parts_the_file(line: str) -> bool:
    """Tell of a line that says nothing at an answer's end: blank, an anchor, a rule."""
    bare = "".join(line.split())
    return (
        (len(bare) > 2 and bare[0] in "-*_" and not bare.strip(bare[0]))
        or not bare
        or bool(_ANCHOR.fullmatch(line))
    )


def _cleaned(question: str) -> str:
    """Return a question as text: not bold, no link, without an anchor behind it."""
    return around_literals(question, _without_marks)


def _without_marks(text: str) -> str:
    text = _LINK.sub(r"\1", " ".join(without_tags(text).split("\n"))).strip()
    bold = _BOLD.fullmatch(text)
    return decoded(bold[1] if bold is not None else text.removesuffix("**"))
