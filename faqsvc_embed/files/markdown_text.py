"""What stands in a Markdown file for itself: code, and what a backslash makes text (CommonMark 0.31)."""

import re
from collections.abc import Callable
from typing import Final

_FENCED: Final = r"^[ \t]*(`{3,}(?=[^`\n]*$)|~{3,})[^\n]*\n(?:[^\n]*\n)*?(?:[ \t]*\1[`~]*[ \t]*$|[^\n]*\Z)"
# Not across a blank line: a lone backtick in another paragraph is none of its ends.
CODE_SPAN: Final = r"(?<!`)(`+)(?!`)(?:[^`\n]++|`++|\n(?![ \t]*\n))+?(?<!`)\{group}(?!`)"
_LITERAL = re.compile(
    rf"{_FENCED}|{CODE_SPAN.format(group=2)}|\\([!-/:-@\[-`{{-~])|(?<![ \t])[ \t]*\\?(\n)", re.MULTILINE
)
_PLACE = re.compile("\0([0-9]+)\0")


def around_literals(text: str, change: Callable[[str], str] = str) -> str:
    """Return text with `change` made to what is neither code nor escaped.

    Code stays as it is; escaped characters and line ends lose their backslashes.
    """
    literals = list[str]()

    def put_aside(found: re.Match[str]) -> str:
        if found[4]:
            return "\n"
        literals.append(found[3] or found[0])
        return f"\0{len(literals) - 1}\0"

    changed = change(_LITERAL.sub(put_aside, text.replace("\0", "\ufffd")))
    return _PLACE.sub(lambda found: literals[int(found[1])], changed).strip()
