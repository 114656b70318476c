"""Plain text as Markdown that shows exactly this text, and back (CommonMark 0.31, sections 2.4 and 2.5)."""

import html
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_BLOCKS: Final = (
    "h1 h2 h3 h4 h5 h6 p div section article blockquote pre br hr ol ul li dl dt dd table tr th td center"
)
_INLINE: Final = (
    "a abbr b strong i em u s del ins strike cite code kbd small span sub sup mark font button img"
)
INLINE_TAGS: Final = frozenset(_INLINE.split())
TAGS: Final = INLINE_TAGS | frozenset(_BLOCKS.split())
"""The HTML elements whose tags are dropped; other tags, such as <name>, are text."""
TAG: Final = re.compile(rf"</?(?:{'|'.join(TAGS)})(?=[\s/>])[^<>]*>", re.IGNORECASE)
_SIGNS: Final = re.compile(r"[\\`*_\[\]<>#&|~]")
_SPECIAL: Final = re.compile(
    r"[\\`*\[\]]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?]|\Z)|&(?=#?\w+;|\Z)|~(?=~)|(?<=~)~"
    r"|#(?=[\w-]+\s*\})|(?<!#)#++(?=\s*\Z)"
)
"""What may begin or end markup within a line."""
_CONTROL: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_BLOCK_START: Final = re.compile(r"[+=#>|:-]|~(?!~[^~])|!(?=!!)|[0-9]{1,9}(?=[.)])|(?=[ \t])")
_ESCAPED: Final = re.compile(
    r"\\([\n!-/:-@\[-`{-~])|&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|[a-zA-Z][a-zA-Z0-9]*);"
)


def escape(text: str) -> str:
    """Return text as paragraphs of Markdown, from which `unescape` makes exactly this text again."""
    space, body, more_space = _split_outer_space(text)
    lines = [escape_inline(line) for line in body.split("\n")]
    escaped = lines[0]
    for above, line in pairwise(lines):
        # A backslash keeps a line end, which would be shown as a space; a blank line ends the paragraph. Some
        # parsers take other white space for blank, too, and would show the backslash.
        escaped += ("\\\n" if above.strip() and line.strip() else "\n") + line
    return _references(space) + escaped + _references(more_space)


def escape_line(text: str) -> str:
    """Return text as one line of Markdown, such as a heading, from which `unescape` makes the text again."""
    space, body, more_space = _split_outer_space(text)
    return _references(space) + escape_inline(body) + _references(more_space)


def unescape(markdown: str) -> str:
    """Return Markdown with every escaped character and character reference replaced by its character."""
    return _ESCAPED.sub(_character, markdown)


def _split_outer_space(text: str) -> tuple[str, str, str]:
    """Split off the white space at both ends, which Markdown drops."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    return text[:start], text[start:end], text[max(start, end) :]


def _references(characters: str) -> str:
    """Return a numeric character reference for each character."""
    return "".join(f"&#{ord(character)};" for character in characters)


def escape_inline(line: str) -> str:
    """Escape a line without outer space: special and control characters, and the start of a block."""
    return escape_start(escape_characters(line))


def escape_characters(text: str) -> str:
    """Escape the characters of a text that may be markup, wherever in a line it stands."""
    text = _SPECIAL.sub(r"\\\g<0>", text)
    return _CONTROL.sub(lambda control: _references(control[0]), text)


def escape_start(line: str) -> str:
    """Escape the start of a line that would begin a block, such as a heading or a list."""
    start = _BLOCK_START.match(line)
    if start is None or not line.strip(" \t"):
        return line
    if start[0].isdigit():
        return f"{start[0]}\\{line[start.end() :]}"
    return (_references(line[0]) if line[0] in " \t" else f"\\{line[0]}") + line[1:]


def _character(escaped: re.Match[str]) -> str:
    """Return the character that an escape or a character reference stands for."""
    character, decimal, hexadecimal = escaped.groups()
    if character:
        return character
    if decimal or hexadecimal:
        code = int(decimal) if decimal else int(hexadecimal, 16)
        return chr(code) if code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
    return html.unescape(escaped[0])


@cache
def parser() -> "MarkdownIt":
    """Return the parser of CommonMark."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("strikethrough")
    # Its first use sorts its rules and fills tables of characters. No other thread may see them half done.
    parser.parseInline("<https://a.example/%20>")
    return parser


@cache
def block_parser() -> "MarkdownIt":
    """Return the parser of files, with tables and the definitions of footnotes.

    It parses blocks only: the Markdown inside paragraphs and headings is the `content` of their tokens.
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.footnote import footnote_plugin

    parser = MarkdownIt("commonmark").enable("table")
    parser.use(footnote_plugin, inline=False, move_to_end=False)
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.parse("[a]: /%20")  # as above
    return parser


def plain_text(markdown: str, references: Mapping[str, Any]) -> str:
    """Return the text that a line of Markdown shows; code keeps its backticks.

    `references` holds the link reference definitions of the file, as the parser collects them.
    """
    if _SIGNS.search(markdown) is None:
        return " ".join(markdown.split())
    inline = parser().parseInline(markdown, {"references": references})[0]
    return " ".join("".join(_shown(token) for token in inline.children or ()).split())


def _shown(token: "Token") -> str:
    """Return the text that an inline token shows."""
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "code_inline":
        space = " " if "`" in (token.content[:1], token.content[-1:]) else ""
        return f"{token.markup}{space}{token.content}{space}{token.markup}"
    if token.type == "html_inline" and TAG.match(token.content):
        return " " if token.content[1:3].lower() == "br" else ""
    return token.content
