"""Converts the answers of pages to Markdown: their elements become plain HTML, which is read as in files."""

from collections.abc import Iterable
from html import escape
from typing import Final
from urllib.parse import urljoin, urlsplit

import turbohtml

from faqsvc_embed.files.html import html_to_markdown
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
    return html_to_markdown("".join(_html(node, url) for node in nodes))


def _html(node: Node, url: str) -> str:
    """Return a node as HTML with the elements that Markdown has."""
    if isinstance(node, str):
        return escape(node)
    node.budget.spend(STEPS_PER_ELEMENT * node.weight)
    if is_unwritten(node):
        return ""
    if node.tag in ("pre", "code"):
        return f"<{node.tag}>{escape(raw_text(node))}</{node.tag}>"
    inner = "".join(_html(child, url) for child in node.children)
    if node.tag == "br":
        return "<br>"
    if node.tag == "a":
        target = _target(node, url)
        return f'<a href="{escape(target)}">{inner}</a>' if target and not node.contains_blocks else inner
    tag = "div" if node.tag in BLOCKS and node.tag not in TAGS else node.tag
    start = f' start="{escape(node.attrs["start"])}"' if "start" in node.attrs else ""
    return f"<{tag}{start}>{inner}</{tag}>" if tag in TAGS else inner


def _target(link: Element, url: str) -> str | None:
    """Return the absolute address of a link, or None if it does not lead to another page."""
    href = link.attrs.get("href", "").strip()
    if not href or href.startswith("#"):
        return None
    try:
        target = urljoin(url, href)
        return target if urlsplit(target).scheme in SCHEMES else None
    except ValueError:
        return None
