"""The lines of a Markdown file: which are headings, and which are code, where nothing means anything."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from faqsvc_embed.files.markdown_text import CODE_SPAN

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\n(.*?\n)?(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*)|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-{2,})[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_NO_TEXT = re.compile(r"[ \t]*(?:\Z|[-*+>|<_]|[0-9]{1,9}[.)]|[^\W\d_]{1,9}[ \t]*[0-9]*[:：])")
_COMMENT_BEGINS = re.compile(rf"{CODE_SPAN.format(group=1)}|\\.|(?P<mark><!--)")
_COMMENT_ENDS = re.compile("(?P<mark>-->)")
_ATTRIBUTES = re.compile(r"\{#[^{}]*\}\Z")


@dataclass(slots=True)
class Line:
    """A line; a heading has its level, and its text only."""

    text: str
    level: int = 0
    code: bool = False


def read_lines(text: str) -> tuple[dict[str, str], list[Line]]:
    """Return what the front matter says, and the lines below it without comments."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT_MATTER.match(text)
    fields = dict(_fields(front[2] or "", "=" if front[1] == "+++" else ":")) if front is not None else {}
    body = text[front.end() :] if front is not None else text
    lines = list(_without_comments(list(_fenced(body.split("\n")))))
    for line in lines:
        if not line.code and (found := _HEADING.fullmatch(line.text)) is not None:
            line.level, line.text = len(found[1]), _heading(found[2] or "")
    return fields, list(_underlined(lines))


def _fields(text: str, sign: str) -> Iterator[tuple[str, str]]:
    """Yield the simple fields of YAML or TOML, without comments behind them."""
    for name, found, value in (line.partition(sign) for line in text.split("\n")):
        value = value.strip()
        quote = value[:1] if value[:1] in ("'", '"') else ""
        value = value[1:].partition(quote)[0] if quote else f" {value}".partition(" #")[0].strip()
        if found:
            yield name.strip(), value


def _fenced(lines: list[str]) -> Iterator[Line]:
    fence = ""
    for line in lines:
        found = _FENCE.match(line)
        yield Line(line, code=bool(fence) or found is not None)
        if found is not None and not fence:
            fence = found[1]
        elif found is not None and found[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""


def _without_comments(lines: list[Line]) -> Iterator[Line]:
    """Take out `<!-- … -->`, also over several lines; what is never closed is none, and nor is code."""
    last = max((number for number, line in enumerate(lines) if "-->" in line.text), default=-1)
    inside = False
    for number, line in enumerate(lines):
        if number > last or (line.code and not inside):
            yield line
            continue
        kept, rest = "", line.text
        while rest:
            found = (_COMMENT_ENDS if inside else _COMMENT_BEGINS).finditer(rest)
            mark = next((match for match in found if match["mark"]), None)
            kept += "" if inside else rest[: mark.start() if mark is not None else len(rest)]
            rest = rest[mark.end() :] if mark is not None else ""
            inside = inside != (mark is not None)
        if kept == line.text or kept.strip():
            yield Line(kept)


def _heading(text: str) -> str:
    """Return the text of a heading without its id and what may close it (CommonMark, 4.2)."""
    text = text.strip()
    bare = text.rstrip("#")
    text = bare.rstrip() if bare == "" or bare[-1] in " \t" else text
    return _ATTRIBUTES.sub("", text).rstrip()


def _underlined(lines: list[Line]) -> Iterator[Line]:
    """Make headings of single lines that are underlined (CommonMark, 4.3).

    Where there are headings by number signs, a row of hyphens parts answers, with a blank line or without.
    """
    rules = any(line.level > 1 for line in lines)
    nothing, used = Line(""), False
    for above, line, below in zip([nothing, *lines], lines, [*lines[1:], nothing], strict=False):
        if used:
            used = False
            continue
        found = _UNDERLINE.fullmatch(below.text) if not below.code and not below.level else None
        used = found is not None and _is_text(line) and not _is_text(above) and not (rules and not found[1])
        yield Line(_heading(line.text), 1 if found is not None and found[1] else 2) if used else line


def _is_text(line: Line) -> bool:
    return not line.code and not line.level and _NO_TEXT.match(line.text) is None
