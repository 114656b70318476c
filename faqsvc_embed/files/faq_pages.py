"""schema.org's FAQPage, as websites have it in their JSON-LD: where it is, whose, and what it shows."""

from collections.abc import Mapping
from typing import Any

from faqsvc_embed.files.html_text import decoded, text_of, without_tags


def faq_page_of(value: object) -> object:
    """Return the FAQPage among the nodes of a page's JSON-LD, or the value itself if there is none."""
    nodes = value.get("@graph") if isinstance(value, Mapping) else value
    if not isinstance(nodes, list):
        return value
    inner = (node.get("mainEntity") for node in nodes if isinstance(node, Mapping))
    return next((node for node in (*nodes, *inner) if is_faq_page(node)), value)


def is_faq_page(node: object) -> bool:
    """Tell whether a node is a FAQPage, among other things that it may be."""
    types = node.get("@type") if isinstance(node, Mapping) else None
    return "FAQPage" in (types if isinstance(types, list) else [types])


def site_of(page: Mapping[Any, Any]) -> object:
    """Return the address of a page's website, or of the page."""
    site = page.get("isPartOf")
    found = site.get("url") or site.get("@id") if isinstance(site, Mapping) else None
    return found or page.get("url") or page.get("websiteUrl")


def as_shown(value: Any, name: str = "") -> Any:
    """Return the fields of somebody's page as search engines show them: all its texts are HTML."""
    if isinstance(value, dict):
        return {key: as_shown(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_shown(entry) for entry in value]
    if isinstance(value, str) and name in ("title", "question"):
        return " ".join(decoded(without_tags(value)).split())
    return text_of(value) if isinstance(value, str) and name == "answer" else value
