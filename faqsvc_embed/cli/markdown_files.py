"""Questions and answers in a Markdown file: under headings, behind `Q:` and `A:`, or under bold lines.

Answers are taken as they stand, without backslashes before punctuation: they are shown as text.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"(#{1,6})(?:[ \t](.*)|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LABEL = r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?{}[ \t]*(?:[0-9]+[ \t]*)?[:.)](?:\*\*|__)?[ \t]*(.*)"
_Q = re.compile(_LABEL.format("(?:Q|Question)"), re.IGNORECASE)
_A = re.compile(_LABEL.format("(?:A|Answer)"), re.IGNORECASE)
_BOLD = re.compile(r"(?:\*\*|__)(.+?)(?:\*\*|__)[ \t]*")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENDINGS: Final = ("?", "？", "؟", ";")


@dataclass(slots=True)
class _Entry:
    question: str
    lines: list[str] = field(default_factory=list)


def read_markdown(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return what the front matter says, the first heading of level 1 as title, and the items."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT_MATTER.match(text)
    fields = _front_fields(front[1] or "") if front is not None else {}
    lines = (text[front.end() :] if front is not None else text).split("\n")
    code = list(_in_code(lines))
    headings = {
        number: (len(found[1]), _without_closing(found[2] or ""))
        for number, line in enumerate(lines)
        if not code[number] and (found := _HEADING.fullmatch(line))
    }
    if "title" not in fields and (title := next((t for level, t in headings.values() if level == 1), "")):
        fields["title"] = _unescaped(title)
    asking = any(level > 1 and _asks(text) for level, text in headings.values())
    # Where headings ask, a `Q:` is a part of an answer.
    if not asking and any(not code[number] and _Q.fullmatch(line) for number, line in enumerate(lines)):
        entries = _labelled(lines, code, headings)
    elif any(level > 1 for level, _ in headings.values()):
        entries = _headed(lines, headings)
    else:
        entries = _bold(lines, code)
    return fields, [
        {"question": _unescaped(_unbold(entry.question)), "answer": _answer(entry.lines)} for entry in entries
    ]


def _front_fields(text: str) -> dict[str, str]:
    found = (line.partition(":") for line in text.split("\n"))
    return {name.strip(): value.strip().strip("\"'") for name, colon, value in found if colon}


def _without_closing(heading: str) -> str:
    """Return the text of a heading without the number signs that may close it (CommonMark, 4.2)."""
    text = heading.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if bare == "" or bare[-1] in " \t" else text


def _in_code(lines: list[str]) -> Iterator[bool]:
    """Tell of each line whether it is in a fenced code block, where nothing is a heading."""
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        yield bool(fence) or found is not None
        if found is not None and not fence:
            fence = found[1]
        elif found is not None and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""


def _asks(text: str) -> bool:
    return text.rstrip("*_ ").endswith(_ENDINGS)


def _headed(lines: list[str], headings: dict[int, tuple[int, str]]) -> Iterator[_Entry]:
    """Yield the headings of the level that most questions have; deeper ones belong to answers."""
    below = [(level, text) for level, text in headings.values() if level > 1]
    asking = [level for level, text in below if _asks(text)]
    counts = Counter(asking or [level for level, _ in below])
    depth = min(counts, key=lambda level: (-counts[level], level))
    entry: _Entry | None = None
    for number, line in enumerate(lines):
        level, text = headings.get(number, (7, ""))
        if level <= depth and entry is not None:
            yield entry
            entry = None
        if level == depth:
            entry = _Entry(text)
        elif entry is not None:
            entry.lines.append(line)
    if entry is not None:
        yield entry


def _labelled(lines: list[str], code: list[bool], headings: dict[int, tuple[int, str]]) -> Iterator[_Entry]:
    entry: _Entry | None = None
    answering = False
    for number, line in enumerate(lines):
        if not code[number] and (asked := _Q.fullmatch(line)):
            if entry is not None:
                yield entry
            entry, answering = _Entry(asked[1]), False
        elif entry is None or (number in headings and not code[number]):
            continue
        elif not code[number] and not answering and (answered := _A.fullmatch(line)):
            answering = True
            entry.lines.append(answered[1])
        else:
            entry.lines.append(line)
    if entry is not None:
        yield entry


def _bold(lines: list[str], code: list[bool]) -> Iterator[_Entry]:
    entry: _Entry | None = None
    for number, line in enumerate(lines):
        bold = None if code[number] else _BOLD.fullmatch(line)
        if bold is not None and bold[1].rstrip().endswith(_ENDINGS):
            if entry is not None:
                yield entry
            entry = _Entry(bold[1])
        elif entry is not None:
            entry.lines.append(line)
    if entry is not None:
        yield entry


def _answer(lines: list[str]) -> str:
    return _unescaped("\n".join(line.removesuffix("\\").rstrip() for line in lines).strip())


def _unbold(text: str) -> str:
    bold = _BOLD.fullmatch(text.strip())
    return bold[1] if bold is not None else text.strip().removesuffix("**")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text).strip()
