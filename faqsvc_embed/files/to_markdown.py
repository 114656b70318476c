"""A record as Markdown: one heading for the title, one a question, all text escaped (CommonMark 0.31)."""

import re

from faqsvc_embed.models import FAQ, Item

_SPECIAL = re.compile(r"[\\`*_\[\]<>#&|~]")
_LINE_START = re.compile(r"([+=-]|[0-9]{1,9}(?=[.)]))")
_LABEL = re.compile(r"(?i:q|question|a|answer)[ \t]*(?:[0-9]+[ \t]*)?(?=[:.)])")
"""What `faqsvc publish` takes for the beginning of a question or an answer."""
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_LINE_END = re.compile("\r\n?|\x0b")
"""Word processors part the lines of a paragraph by a vertical tab."""


def to_markdown(faq: FAQ) -> str:
    """Return a record as Markdown, with the items that a page would show, in which its text is only text."""
    title = one_line(faq.title) or one_line(faq.website_name)
    return items_to_markdown(faq.items, title)


def items_to_markdown(items: tuple[Item, ...] | list[Item], title: str = "") -> str:
    """Return questions as headings of level 2 with their answers, under the title if there is one."""
    parts = [f"# {escaped_line(title)}"] if title else []
    for item in items:
        if item.question.strip() and item.answer.strip():
            parts += [f"## {escaped_line(item.question)}", _escaped(item.answer)]
    return "\n\n".join(parts) + "\n" if parts else ""


def one_line(text: str) -> str:
    """Return text on one line, without control characters."""
    return " ".join(printable(text).split())


def printable(text: str) -> str:
    """Return text without the control characters that could move a terminal's cursor or end a line."""
    return _CONTROL.sub("\ufffd", _LINE_END.sub("\n", text).replace("\f", " "))


def escaped_line(text: str) -> str:
    """Return text on one line, as Markdown that means just this text, also in a heading or a link."""
    return _escape(one_line(text))


def _escaped(text: str) -> str:
    """Blank lines part paragraphs, as on a page; a backslash keeps the other line ends."""
    paragraphs = re.split(r"\n[ \t]*(?:\n[ \t]*)+", printable(text).strip())
    return "\n\n".join(
        "\\\n".join(_escape(line) for line in map(str.strip, paragraph.split("\n")) if line)
        for paragraph in paragraphs
    )


def _escape(line: str) -> str:
    line = _SPECIAL.sub(r"\\\g<0>", line)
    if (label := _LABEL.match(line)) is not None:
        return f"{label[0]}\\{line[label.end() :]}"
    start = _LINE_START.match(line)
    if start is None:
        return line
    marker = start[1]
    return f"{marker}\\{line[len(marker) :]}" if marker.isdigit() else f"\\{line}"
