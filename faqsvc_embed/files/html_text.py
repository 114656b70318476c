"""HTML as text."""

import html
import re
from typing import Final

_TAGS: Final = (
    "h1 h2 h3 h4 h5 h6 p div section article blockquote pre br hr ol ul li dl dt dd table tr th td "
    "a b strong i em u s code kbd small span sub sup mark font center"
)
TAG: Final = re.compile(rf"</?(?:{'|'.join(_TAGS.split())})(?=[\s/>])[^<>]*>", re.IGNORECASE)
_BLOCK: Final = re.compile(
    r"</?(?:h[1-6]|p|div|section|article|blockquote|pre|br|hr|[dou]l|d[td]|table|tr|t[hd])>"
)
_LINK: Final = re.compile(r'<a(?: href="([^"]*)")?>(.*?)</a>', re.DOTALL)


def html_to_text(markup: str) -> str:
    """Return the text that HTML shows, each block on a line of its own, links followed by their addresses.

    A text without any tag keeps its lines; only its character references are resolved.
    """
    if TAG.search(markup) is None:
        return html.unescape(markup).strip()
    import nh3

    markup = nh3.clean(markup, tags=set(_TAGS.split()), attributes={"a": {"href"}}, link_rel=None)
    markup = _LINK.sub(_link_text, " ".join(markup.split()))
    markup = _BLOCK.sub("\n", re.sub("<li>(?: ?<p>)?", "\n- ", markup))
    lines = (" ".join(html.unescape(re.sub("<[^<>]*>", "", line)).split()) for line in markup.split("\n"))
    return "\n".join(line for line in lines if line)


def _link_text(link: re.Match[str]) -> str:
    address, words = link[1] or "", link[2]
    is_shown = re.sub("^(?:https?://|mailto:|tel:)", "", address).rstrip("/") in words
    return words if is_shown or ":" not in address else f"{words} ({address})"
