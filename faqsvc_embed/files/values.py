"""Reads the values of records as text, also those of lists, translations and FAQPages in JSON-LD."""

from collections.abc import Iterator, Mapping
from typing import Any

from faqsvc_embed.files.fields import ANSWER_FIELDS, find_field, is_translated
from faqsvc_embed.files.markup import has_tags
from faqsvc_embed.languages import lookup


def is_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, Mapping) and is_translated(value))


def only_text(value: Any) -> Any:
    """Return the only entry of a list that has one; any other value is returned as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def text_in(value: Any, lang: Any) -> Any:
    """Return a text. If it is in several languages, prefer that of the document, then English."""
    if isinstance(value, Mapping) and is_translated(value):
        texts = {key: inner for key, inner in value.items() if isinstance(inner, str)}
        preferred = lang if isinstance(lang, str) and lang in texts else "en"
        return texts.get(preferred, next(iter(texts.values())))
    return value


def answer_text(value: Any, lang: Any) -> Any:
    """Return an answer as text: a list becomes a list of Markdown, a mapping with one text that text."""
    value = text_in(only_text(value), lang)
    if isinstance(value, Mapping):
        texts = [inner for inner in value.values() if isinstance(inner, str)]
        name = find_field([str(key) for key, inner in value.items() if isinstance(inner, str)], ANSWER_FIELDS)
        return value[name] if name else "\n\n".join(texts) if len(texts) == len(value) and texts else value
    if isinstance(value, list) and value:
        parts = [answer_text(one, lang) for one in value]
        if all(isinstance(part, str) for part in parts):
            if any(map(has_tags, parts)):  # lines of HTML
                return "\n".join(parts)
            is_prose = all(len(part) > 200 or part.endswith((".", "。", "!", "?")) for part in parts)
            return "\n\n".join(parts) if is_prose else "\n".join(f"- {part}" for part in parts)
    return value


def _nodes(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield the nodes of JSON-LD (schema.org), one of which may be a FAQPage."""
    for node in _list(value):
        if isinstance(node, Mapping):
            yield node
            yield from _nodes(node.get("@graph"))
            yield from _nodes(node.get("mainEntity"))


def faq_page(value: object) -> dict[str, Any] | None:
    """Return the fields of the FAQPage in JSON-LD, by the names of a document, if there is one."""
    page = next((node for node in _nodes(value) if "FAQPage" in _list(node.get("@type"))), None)
    if page is None:
        return None
    site = page.get("isPartOf")
    website = site.get("url") or site.get("@id") if isinstance(site, Mapping) else None
    return {
        "title": page.get("name"),
        "websiteUrl": website or page.get("url"),
        "lang": lookup(str(page.get("inLanguage"))),
        "items": _list(page.get("mainEntity")),
    }


def _list(value: Any) -> list[Any]:
    """Return a value as a list: JSON-LD may write a list of one value as the value."""
    return value if isinstance(value, list) else [] if value is None else [value]
