"""Boxes that unfold, in dialects of Markdown: `<details>`, `???`, `::: details`, components, shortcodes."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from faqsvc_embed.files.fields import ANSWER_LABELS, QUESTION_FIELDS, QUESTION_LABELS, find_field, plain_name
from faqsvc_embed.files.openers import CODE, Line, Opener, space_before

_Place = tuple[int, int]
"""The numbers of a line and of a character in it."""
_TAG: Final = re.compile(
    r"(?P<sign><|\{\{[<%]|\{%|\A%(?=/?[a-z]+%))[ \t]*(?P<name>/?[ \t]*[\w.-]+)"
    r"|\A[ \t]*(?P<fence>:{3,}|`{3,}(?=\{dropdown\}|[ \t]*\Z))[ \t]*(?P<kind>.*)"
)
"""The beginning or the end of an element, of a shortcode or of a container."""
_SUMMARY: Final = re.compile(
    r"[^<>]*>\s*<summary[^<>]*>(?P<title>(?:(?!</?(?:summary|details)).){1,1000})</summary>", re.I | re.S
)
_FOLDING: Final = re.compile(
    r"\{?(?:details|question|faq|dropdown|collapse|spoiler|expand|accordion)\b[\w.-]*\}?:?[ \t]*"
    r"(?P<title>[^\n]*)"
)
"""What follows the sign of a container that unfolds."""
_HEAD: Final = re.compile(
    r"\s*+(?:[\"“](?P<title>[^\"“”]+)[\"”])?(?:[^<>\"'{}]|\"[^\"]*\"|'[^']*'|\{[^{}]*\})*+[>}]+"
)
"""The attributes of an element or a shortcode."""
_BETWEEN: Final = re.compile(r"%(?P<title>[^%\n]+)%[a-z]+%")
"""The title of a box of HonKit, as in `%accordion%What is it?%accordion%`."""
_ATTRIBUTE: Final = re.compile(r"\b([\w-]+)=\{?([\"'])(.*?)\2", re.S)
_INDENTED: Final = re.compile(
    r"(?:\?\?\?\+?|!!!(?=[ \t]+(?:question|faq)\b))"
    r"(?:[^\"]*\"(?P<title>.*)\"|[ \t]*[a-z-]*[ \t]+(?P<bare>[^\"]*\?))"
)
_MAX_TITLE: Final = 8
"""Maximum lines of a tag with its attributes, or of the title of a box."""


def boxes(texts: Sequence[Line]) -> Iterator[Opener]:
    """Yield the titles of boxes: `<details>`, `???`, `::: details`, `<Accordion title="">`, shortcodes."""
    lines, below = [line.written for line in texts], 0
    closings = _closings(lines)
    for number in range(len(lines)):
        if number >= below:
            one = _indented(number, lines)
            for tag in () if one else _TAG.finditer(lines[number]):
                one = one or _box(number, tag, lines, closings.get((number, tag.start())))
            if one:
                below = one.below
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
    """Return the name that the opening and the closing tag of a box share, and whether this tag closes it."""
    if tag["fence"]:
        return tag["fence"], not tag["kind"].strip()
    name = re.sub(r"\A(?:/[ \t]*|end|close)_?|[_-](?:end|close)\Z", "", tag["name"])
    return re.sub(r"[_-](?:open|begin|start)\Z", "", name), name != tag["name"]


def _box(number: int, tag: re.Match[str], lines: Sequence[str], closing: _Place | None) -> Opener | None:
    """Return the opener of a box whose tag has a title. A component must have an answer or an end, too."""
    is_component = not (tag["fence"] or tag[0] == "<details")
    text = "\n".join(lines[number : number + _MAX_TITLE])
    form = _FOLDING if tag["fence"] else _HEAD if is_component else _SUMMARY
    form = _BETWEEN if tag["sign"] == "%" else form
    head = form.match(text, tag.start("kind") if tag["fence"] else tag.end())
    is_other = tag["sign"] == "<" and is_component and not ("-" in tag["name"] or tag["name"][0].isupper())
    if head is None or is_other:
        return None
    title, answer, name = head["title"], None, None
    if is_component:
        fields = {name: value for name, _, value in _ATTRIBUTE.findall(head[0])}
        if title is None and (name := find_field(fields, (*QUESTION_FIELDS, "label"))):
            title = fields.pop(name)
        answer = fields.get(find_field(fields, (*ANSWER_LABELS, "content", "text")) or "")
        if title is None or (answer is None and closing is None):
            return None
    at = number + text.count("\n", 0, head.end())
    column = head.end() - text.rfind("\n", 0, head.end()) - 1
    one = Opener(at, at + 1, " ".join(title.strip('[]" \t').split()), indent=space_before(lines[number]))
    one.above, one.is_explicit = at - number, plain_name(name) in QUESTION_LABELS
    if answer is not None:
        one.rest, one.end, one.is_explicit = answer, one.below, True
    elif closing is None:
        one.rest = lines[at][column:].strip()
    else:
        one.end, one.tail = closing[0] + 1, lines[closing[0]][: closing[1]]
        one.rest = (one.tail if closing[0] == at else lines[at])[column:].strip()
        first = next(filter(str.strip, lines[one.below : closing[0]]), "")
        one.indent = space_before(first) if first else one.indent
    return one


def _indented(number: int, lines: Sequence[str]) -> Opener | None:
    """Return the opener of a box whose text is indented, such as `??? question "Why?"`."""
    found = _INDENTED.fullmatch(lines[number].strip(" \t\\"))
    title = (found["title"] or found["bare"] or "").strip() if found else ""
    if not title:
        return None
    indent, end = space_before(lines[number]), number + 1
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(("\t", "  "), indent)):
        end += 1
    one = Opener(number, number + 1, title, indent=indent + CODE)
    # Without an indented text, the answer is what follows, up to the next question.
    one.end = end if any(map(str.strip, lines[one.below : end])) else None
    return one
