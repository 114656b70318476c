"""HTML where text is wanted. Its tags tell that it is HTML; what has none is text.

`a<b and c>d` and `List<String>` are text: a tag is of an element that formats, its attributes have values,
and it is closed later, unless HTML lets it stand alone.
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
_VALUE: Final = r"""(?:"[^"<]*"|'[^'<]*'|[^\s"'<>=`]+)"""
_ATTRIBUTE: Final = rf"\s+[a-z][\w:.-]*\s*=\s*{_VALUE}"
_TAG = re.compile(rf"<(?:/(?P<end>{_NAMES})\s*|(?P<begin>{_NAMES})(?:{_ATTRIBUTE})*\s*/?)>", re.IGNORECASE)
_PARTS_LINES = re.compile("br|hr|p|div|h[1-6]|[uo]l|li|table|tr|t[dh]|d[ltd]|blockquote|pre|section|article")
# What a reader can use elsewhere, too; a path or a fragment is none.
_ADDRESS = re.compile(rf"\shref\s*=\s*(?=[\"']?\s*(?:https?://|mailto:|tel:))({_VALUE})", re.IGNORECASE)
# With its semicolon: `?a=1&copy=2` is an address.
_ENTITY = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")


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


def decoded(text: str) -> str:
    """Return text with the characters that references in HTML and Markdown (`&amp;`) stand for."""
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text)


def without_tags(text: str, *, addresses: bool = False) -> str:
    """Return text without the tags that format it, with a link's address behind it if that is wanted.

    A line break is one in the text. References stay, to be decoded last.
    """
    return _without_tags(text, addresses=addresses) if is_html(text) else text


def text_of(markup: str) -> str:
    """Return HTML as the text that it shows, with the addresses of its links; lines without tags stay."""
    if not is_html(markup):
        return decoded(markup)
    if not any(_as_text(tag) for tag in _TAG.finditer(markup)):  # words in bold, in lines of text
        return decoded(_without_tags(markup, addresses=True)).strip()
    lines = _without_tags(" ".join(markup.split()), addresses=True).split("\n")
    shown = "\n".join(line for line in (" ".join(line.split()) for line in lines) if line)
    return decoded(re.sub(r"^-\n", "- ", shown, flags=re.MULTILINE))


def text_if_html(text: str) -> str:
    """Return what may be HTML as the text that it shows, and text without tags to the letter."""
    return text_of(text) if is_html(text) else text


def _without_tags(text: str, *, addresses: bool) -> str:
    parts, place, link, address = list[str](), 0, 0, ""
    for tag in _TAG.finditer(text):
        parts.append(text[place : tag.start()])
        place = tag.end()
        if tag["begin"] in ("a", "A"):
            link, address = len(parts), _address(tag[0]) if addresses else ""
        elif tag["end"] in ("a", "A"):
            parts.append(_behind("".join(parts[link:]), address) if address else "")
            address = ""
        else:
            parts.append(_as_text(tag))
    return "".join([*parts, text[place:]])


def _address(tag: str) -> str:
    found = _ADDRESS.search(tag)
    return found[1].strip("\"' \t\n") if found is not None else ""


def _behind(words: str, address: str) -> str:
    """Return what stands behind the words of a link: its address, unless they are that."""
    bare = re.sub("(?:https?://|mailto:|tel:)", "", decoded(address), count=1, flags=re.IGNORECASE).rstrip(
        "/"
    )
    return "" if bare in decoded(words) else f" ({address})"


def _as_text(tag: re.Match[str]) -> str:
    if tag["begin"] and tag["begin"].lower() == "li":
        return "\n- "
    return "\n" if _PARTS_LINES.fullmatch((tag["begin"] or tag["end"]).lower()) else ""
