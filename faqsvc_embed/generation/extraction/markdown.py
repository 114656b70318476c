"""Converts the answers of pages to Markdown, as in files."""

from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import urljoin, urlsplit

import turbohtml

from faqsvc_embed.files.html import Tag, to_markdown
from faqsvc_embed.files.markdown_text import TAGS
from faqsvc_embed.generation.extraction.dom import BLOCKS, STEPS_PER_ELEMENT, Element, Node
from faqsvc_embed.generation.extraction.text import is_unwritten, raw_text

SCHEMES: Final = ("http", "https", "mailto", "tel")


def base_of(document: turbohtml.Document, url: str) -> str:
    """Return the address to which the links of a page are relative, its own or that of its `<base>`."""
    base = document.find("base")
    try:
        return url if base is None else urljoin(url, (base.attr("href") or "").strip())
    except ValueError:
        return url


def markdown_of(nodes: Iterable[Node], url: str) -> str:
    """Return nodes as Markdown with absolute links, without buttons, boilerplate and decoration."""
    return to_markdown(_written(nodes, url))


def _written(nodes: Iterable[Node], url: str) -> Iterator[Tag | str]:
    """Yield the text of nodes, with the elements that Markdown has."""
    for node in nodes:
        if isinstance(node, str):
            yield node
            continue
        node.budget.spend(STEPS_PER_ELEMENT * node.weight)
        name = "div" if node.tag in BLOCKS and node.tag not in TAGS else node.tag
        if is_unwritten(node):
            continue
        if name in ("pre", "code"):
            yield Tag(name, {}, [raw_text(node)])
        elif name in TAGS and name != "img":
            attrs = {"href": _target(node, url), "start": node.attrs.get("start", "")}
            yield Tag(name, attrs, [*_written(node.children, url)])
        else:
            yield from _written(node.children, url)


def _target(element: Element, url: str) -> str:
    """Return the absolute address of a link to another page, or an empty text."""
    href = element.attrs.get("href", "").strip()
    try:
        target = urljoin(url, href)
        is_here = target.partition("#")[0] == url.partition("#")[0]
        return target if urlsplit(target).scheme in SCHEMES and not is_here else ""
    except ValueError:
        return ""
