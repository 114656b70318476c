"""Reads the values of records as text, also those of lists, translations and FAQPages in JSON-LD."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from faqsvc_embed.files.fields import (
    ANSWER_FIELDS,
    LIST_FIELDS,
    PLAIN_FIELDS,
    differ_by_number,
    find_field,
    is_translated,
    plain_name,
)
from faqsvc_embed.files.markup import has_tags
from faqsvc_embed.languages import lookup

MAX_OBJECTS: Final = 50_000
"""Maximum objects that are read in one JSON text."""
MAX_FIELDS: Final = 100
"""Maximum fields of an answer in JSON-LD. Only the text of a larger one is read: many may refer to it."""


class Located(dict[str, Any]):
    """A mapping with its place in the file, such as `line 5`."""

    def __init__(self, place: str) -> None:
        self.place: str = place


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


def whole_answer(
    item: Mapping[str, Any], name: str | None, others: Iterable[str], lang: Any
) -> tuple[Any, list[str]]:
    """Return an answer, which may be no text, and the names of fields such as `answer2` that continue it."""
    more = [one for one in others if plain_name(one) in LIST_FIELDS or differ_by_number(one, name or "")]
    texts = {one: answer_text(item[one], lang) for one in more}
    texts = {one: text for one, text in texts.items() if text and isinstance(text, str)}
    answer = None if name is None else answer_text(item.get(name), lang)
    if isinstance(answer, str | None) and texts:
        answer = "\n\n".join(filter(None, (answer, *texts.values())))
    return answer, list(texts)


def unread_texts(name: str, value: object, lang: Any) -> Iterator[str]:
    """Yield the names of the texts in a field that are not read: translations, and texts beside an answer."""
    if not isinstance(value := only_text(value), Mapping):
        return
    read = text_in(value, lang) if is_text(value) else answer_text(value, lang)
    if isinstance(read, str):
        texts = {key: text for key, text in value.items() if isinstance(text, str) and key[:1] != "@"}
        yield from (f"{name}.{key}" for key, text in texts.items() if text not in read)


def is_stated(name: str, value: object) -> bool:
    """Return whether a field is one of a document. A mapping is not: `draft` may be the key of a question."""
    field = PLAIN_FIELDS.get(name)
    is_other = isinstance(value, Mapping) and field not in ("items", "cta") and not is_text(value)
    return field is not None and not is_other


def document_fields(value: Mapping[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a document that a mapping states."""
    fields = {
        PLAIN_FIELDS[plain_name(key)]: inner for key, inner in stated.items() if inner not in (None, "")
    }
    website = value.get("website")
    if isinstance(website, str) and website:
        is_address = website.startswith(("http://", "https://"))
        fields.setdefault("website_url" if is_address else "website_name", website)
    lang = fields.get("lang")
    return fields | {
        name: text_in(fields[name], lang) for name in ("title", "introduction") if name in fields
    }


def objects_of(data: Any) -> list[dict[str, Any]]:
    """Return all objects of a JSON value, the outer ones first."""
    found, pending = list[dict[str, Any]](), [data]
    while pending and len(found) < MAX_OBJECTS:
        value = pending.pop()
        if isinstance(value, dict):
            found.append(value)
            pending.extend(reversed(value.values()))
        elif isinstance(value, list):
            pending.extend(reversed(value))
    return found


def faq_pages(value: object) -> list[dict[str, Any]]:
    """Return the FAQPages in JSON-LD with plain names, such as `name` for `schema:name`.

    The questions and answers themselves replace references to them by `@id`.
    """
    nodes = [_plain(node) for node in objects_of(value)]
    named = dict[str, dict[str, Any]]()  # one node for each `@id`: JSON-LD 1.1, flattening
    for node in nodes:
        if isinstance(name := node.get("@id"), str):
            named.setdefault(name, {}).update(node)

    def stated(node: Any) -> Any:
        if not isinstance(node, dict):
            return named.get(node, node) if isinstance(node, str) else node
        own = _plain(node)
        words = own.keys() & {"name", "text", "acceptedAnswer"}
        is_answer = "Answer" in map(local_name, _list(own.get("@type")))
        # Templates give one `@id` to all questions, or to all answers.
        is_whole = len(words) > 1 or (is_answer and "text" in words)
        return own if is_whole else named.get(str(own.get("@id"))) or own

    def answer(node: Any) -> Any:
        found = stated(node)
        return {"text": found.get("text")} if isinstance(found, dict) and len(found) > MAX_FIELDS else found

    answered = dict[int, Any]()  # many pages may refer to one question

    def questions(page: dict[str, Any]) -> Iterator[Any]:
        nodes = map(stated, _list(page.get("mainEntity")))
        for one in {id(node): node for node in nodes}.values():  # a node that is named twice is one question
            if isinstance(one, dict) and "acceptedAnswer" in one and id(one) not in answered:
                one["acceptedAnswer"] = only_text([*map(answer, _list(one["acceptedAnswer"]))])
                answered[id(one)] = one
            yield one

    return [
        {**node, "mainEntity": [*questions(node)]}
        for node in nodes
        if "FAQPage" in map(local_name, _list(node.get("@type"))) and node.keys() - {"@type", "@id"}
    ]


def faq_page(value: object) -> dict[str, Any] | None:
    """Return the FAQPages in JSON-LD as the fields of one document, or None if there is none."""
    pages = faq_pages(value)
    if not pages:
        return None
    first, site = pages[0], pages[0].get("isPartOf")
    website = site.get("url") or site.get("@id") if isinstance(site, Mapping) else None
    return {
        "title": first.get("name"),
        "websiteUrl": website or first.get("url"),
        "lang": lookup(str(first.get("inLanguage"))),
        "items": [*{id(question): question for page in pages for question in page["mainEntity"]}.values()],
    }


def _plain(node: dict[str, Any]) -> dict[str, Any]:
    """Return a node of JSON-LD with plain names and values, which may be in `@list`, `@set` or `@value`."""
    plain = {local_name(key): _unwrapped(inner) for key, inner in node.items()}
    if "type" in plain and "@type" not in plain:  # the context of schema.org has both names
        plain["@type"] = plain.pop("type")
    return plain


def _unwrapped(value: Any) -> Any:
    if isinstance(value, list):
        return [one["@value"] if isinstance(one, dict) and "@value" in one else one for one in value]
    wrappers = ("@list", "@set", "@value")
    name = next((name for name in wrappers if name in value), None) if isinstance(value, dict) else None
    return value[name] if name else value


def local_name(name: object) -> str:
    """Return the last part of an address or prefixed name: `Question` of `https://schema.org/Question`."""
    return str(name).rpartition("/")[2].rpartition(":")[2]


def _list(value: Any) -> list[Any]:
    """Return a value as a list: JSON-LD may write a list of one value as the value."""
    return value if isinstance(value, list) else [] if value is None else [value]
