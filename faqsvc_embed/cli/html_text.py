"""HTML where text is wanted. Its tags tell that it is HTML; text that has none is kept as it is.

`a<b and c>d`, `List<String>` and `type &amp;` are text: a tag is of an element that formats, its attributes
have values, and it is closed later, unless HTML lets it stand alone.
"""

import html
import re
from typing import Final

_ALONE: Final = frozenset(("br", "hr", "img", "li", "p"))
"""Elements that HTML lets stand without an end tag."""
_NAMES: Final = (
    "abbr|article|a|blockquote|br|big|b|center|cite|code|dd|del|div|dl|dt|em|font|h[1-6]|hr|img|ins|i|kbd|li|"
    "mark|ol|pre|p|q|samp|section|small|span|strike|strong|sub|sup|s|table|tbody|td|tfoot|thead|th|tr|tt|ul|"
    "u|var"
)
_ATTRIBUTE: Final = r"""\s+[a-z][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'|[^\s"'<>=`]+)"""
_TAG = re.compile(rf"<(?:/(?P<end>{_NAMES})\s*|(?P<begin>{_NAMES})(?:{_ATTRIBUTE})*\s*/?)>", re.IGNORECASE)
_PARTS_LINES = re.compile("br|hr|p|div|h[1-6]|[uo]l|li|table|tr|t[dh]|d[ltd]|blockquote|pre|section|article")


def is_html(text: str) -> bool:
    """Tell whether text has an element that formats it."""
    begun = set[str]()
    for tag in _TAG.finditer(text):
        if tag["begin"] is None:
            if tag["end"].lower() in begun:
                return True
        elif tag["begin"].lower() in _ALONE:
            return True
        else:
            begun.add(tag["begin"].lower())
    return False


def without_tags(text: str) -> str:
    """Return text without the tags that format it; a line break is one in the text."""
    return _TAG.sub(_as_text, text) if is_html(text) else text


def text_of(text: str) -> str:
    """Return HTML as the text that it shows, and text that is no HTML as it is, to the letter."""
    if not is_html(text):
        return text
    if not any(_as_text(tag) for tag in _TAG.finditer(text)):  # words in bold, in lines of text
        return html.unescape(_TAG.sub("", text)).strip()
    lines = _TAG.sub(_as_text, " ".join(text.split())).split("\n")
    shown = "\n".join(line for line in (" ".join(line.split()) for line in lines) if line)
    return html.unescape(re.sub(r"^-\n", "- ", shown, flags=re.MULTILINE))


def _as_text(tag: re.Match[str]) -> str:
    if tag["begin"] and tag["begin"].lower() == "li":
        return "\n- "
    return "\n" if _PARTS_LINES.fullmatch((tag["begin"] or tag["end"]).lower()) else ""
