"""Finds markup that a reader would see as typed, in the HTML of an answer."""

import re
from collections.abc import Iterator
from html import unescape
from itertools import islice
from typing import Final

from faqsvc_embed.rendering.answers import Dropped

_CODE: Final = re.compile(r"<(pre|code)>.*?</\1>", re.DOTALL)
_BREAK: Final = re.compile(r"<br>|</?(?:p|li|d[td]|t[rdh]|h[1-6]|blockquote)>")
_TAGS: Final = re.compile(r"<[^<>]*>")
_KINDS: Final = {
    "Markdown": (
        r"\*\*|__(?=\w)|\]\((?=[^\s()])|\]\[(?=\w)|~~"
        r"|(?m:^[ \t]*\#{2,6}(?!\#))|(?<=[ \t])\#{2,6}(?=[ \t])"
        # A link of a wiki, a key of the keyboard, and marked text.
        r"|\[\[(?=\w[^\[\]\n]*\]\])|(?<![\w+])\+\+(?=[\w+-]{1,40}\+\+)|(?<![=!<>])==(?=\w[^=\n]*==(?!=))"
    ),
    "a footnote mark": r"\[\^[^\[\]\s]+\]",
    "a box": (
        r"(?m:^[ \t]*(?::{2,}[ \t]*\S*|(?:!!!|\?\?\?\+?|===)[ \t]+[\w\"].*))|\[![A-Z]+\]|(?<=[ \t]):{3,}(?!:)"
    ),
    "attributes": r"\{:[^{}\n]*\}?|\{ ?[#.][\w-]+[^{}\n]*\}|\{ ?[\w-]+=[^{}\n]*\}",
    "a template": r"\{\{[^{}\n]{0,60}(?:\}\})?|\{%[^{}\n]{0,60}\}?",
    "a table": r"(?m:^[ \t]*\|[^\n|]+\|(?=[^\n]*\|[ \t]*$))",
    "an icon": r"(?<![\w:/]):[a-z][a-z0-9+_-]*[a-z0-9]:(?![\w:/])",
    "HTML": r"</?[A-Za-z][\w.-]*(?:\s[^<>]*)?/?>|</[0-9]+>|<!--",
}
_LEFTOVER: Final = re.compile("|".join(f"(?P<k{n}>{pattern})" for n, pattern in enumerate(_KINDS.values())))

_MAX: Final = 1_000
"""Maximum signs that are looked for in one answer."""
_CONTEXT: Final = 3
"""Characters after a sign that are compared, too, to find the sign in the typed text."""


class Leftover(Dropped):
    """Markup in an answer that is shown as it is typed."""

    def __str__(self) -> str:
        return f"{self.what} is shown as typed"


def leftovers(html: str, answer: str) -> Iterator[Leftover]:
    """Yield each kind of markup that the HTML of an answer shows as text, outside code, with its line."""
    text = unescape(_TAGS.sub("", _BREAK.sub("\n", _CODE.sub("", html))))
    typed = answer.replace("\\", "")
    seen, place = set[tuple[int, str]](), 0
    for found in islice(_LEFTOVER.finditer(text), _MAX):
        kind = list(_KINDS)[int((found.lastgroup or "k0")[1:])]
        sign = found[0].strip()
        # The characters after a sign tell equal signs apart, unless they are rendered, as links are.
        longer = text[found.start() : found.end() + _CONTEXT].strip().split("\n", 1)[0]
        wanted = (longer, sign, sign.split(maxsplit=1)[0])
        starts = (typed.find(one, start) for start in (place, 0) for one in wanted)
        place = next((start for start in starts if start >= 0), place) + 1
        line = typed.count("\n", 0, place) + 1
        if (line, kind) not in seen:
            seen.add((line, kind))
            yield Leftover(line, f"{kind} (`{sign[:30]}`)")
