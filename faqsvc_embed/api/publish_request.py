"""The requests that publish or change an FAQ and generate items, and the validation of their fields.

The field types and their limits are in `api/contract.py` and `api/fields.py`. Nothing here does I/O.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NotRequired, TypedDict, Unpack

from msgspec import UNSET, UnsetType

from faqsvc_embed.api.content import digest_of
from faqsvc_embed.api.contract import GenerateBody, NewItem, PublishBody
from faqsvc_embed.api.fields import MAX_BODY, MAX_ITEMS
from faqsvc_embed.api.requests import API_PATH, Request, faq_url, write_request
from faqsvc_embed.api.validation import change_problems, problems_of, publication_problems
from faqsvc_embed.errors import PublishRejected, quoted
from faqsvc_embed.languages import lookup
from faqsvc_embed.models import Item

Changes = Iterable[Mapping[str, Any]]


class GenerateFields(TypedDict, total=False):
    """The keywords of `FAQClient.generate_faq`."""

    lang: str | None
    count: int | None


class ChangeFields(TypedDict):
    """The keywords of `FAQClient.change_faq`."""

    if_match: str
    title: NotRequired[str | None]
    introduction: NotRequired[str | None]
    answer_format: NotRequired[str | None]
    lang: NotRequired[str | None]
    draft: NotRequired[bool]


class PublishFields(TypedDict):
    """The keywords of `FAQClient.publish_faq`."""

    website_url: NotRequired[str | None]
    website_name: NotRequired[str | None]
    items: Iterable[Item | Mapping[str, Any] | Sequence[str]]
    slug: NotRequired[str | None]
    title: NotRequired[str | None]
    introduction: NotRequired[str | None]
    lang: NotRequired[str | None]
    answer_format: NotRequired[str | None]
    page_url: NotRequired[str | None]
    draft: NotRequired[bool]
    if_match: NotRequired[str | None]
    if_none_match: NotRequired[str | None]
    idempotency_key: NotRequired[str | None]
    revision: NotRequired[int | UnsetType | None]
    overwrite: NotRequired[bool]
    republish: NotRequired[bool]


_ON_THE_WIRE: Final = dict(
    zip(PublishBody.__struct_fields__, PublishBody.__struct_encode_fields__, strict=True)
)
_HEADERS: Final = {
    "idempotency_key": ("idempotency-key", "[!-~]{1,255}", "1 to 255 visible ASCII characters"),
    "if_match": (
        "if-match",
        r'\*|(?:W/)?"[!#-~]*"',
        'the etag of a Publication, such as "0f5e" with its quotes',
    ),
    "if_none_match": ("if-none-match", r"\*", "'*', which creates an FAQ or translation and changes none"),
}
"""The keywords that are headers: the name of each on the wire, its form, and what is accepted."""
_FLAGS: Final = ("draft", "overwrite", "republish")
_ITEM_FIELDS: Final = NewItem.__struct_encode_fields__


def publish_body(**publication: Unpack[PublishFields]) -> dict[str, Any]:
    """Return the JSON body that publishes an FAQ; items that are an iterator are consumed.

    Raises:
        PublishRejected: a field is invalid; `problems` has every reason, with the index of the item.
    """
    fields: Mapping[str, Any] = publication
    _check_names(fields, PublishFields)
    body = _body(fields)
    if "items" in body:
        body["items"] = _entries(body["items"])
    if fields.get("revision", UNSET) is not UNSET:
        body["revision"] = fields["revision"]
    problems = [*publication_problems(body), *_header_problems(fields)]
    if fields.get("slug") is None and fields.get("if_match") is not None:
        problems.append("if_match needs the slug of its FAQ")
    if not problems and (size := len(encode(body))) > MAX_BODY:
        problems = [f"the body has {size} bytes; the limit is {MAX_BODY}"]
    if problems:
        raise _rejected(problems)
    return body


def idempotency_key(**publication: Unpack[PublishFields]) -> str:
    """Return the idempotency key of a publication: a digest of its body, so a repetition has the same."""
    return digest_of(encode(publish_body(**publication)).decode("utf-8", "replace"))


def publish_request(base_url: str, **publication: Unpack[PublishFields]) -> Request:
    """Return the request without the API key: a PUT with a slug, else a POST. Raises as `publish_body`."""
    fields: Mapping[str, Any] = publication
    body = publish_body(**publication)
    slug = body.pop("slug", None)
    given = {name: fields.get(name) for name in _HEADERS}
    headers = {_HEADERS[name][0]: value for name, value in given.items() if value is not None}
    if slug is None:
        return write_request("POST", base_url + API_PATH, encode(body), headers)
    # With `If-None-Match`, the address must name the new translation.
    lang = body.get("lang") if fields.get("if_none_match") else None
    return write_request("PUT", faq_url(base_url, slug, lang=lang), encode(body), headers)


def change_request(url: str, changes: Changes, **change: Unpack[ChangeFields]) -> Request:
    """Return the HTTP request that changes the FAQ at `url`, without the API key; an iterator is consumed.

    Raises:
        PublishRejected: a field is invalid; `problems` has every reason, with the index of the change.
    """
    fields: Mapping[str, Any] = change
    _check_names(fields, ChangeFields)
    is_list = isinstance(changes, Iterable) and not isinstance(changes, str | bytes | Mapping)
    body = _body({"changes": list(changes) if is_list else changes, **fields}, without=("lang",))
    if body.get("introduction") == "":
        body["introduction"] = None
    if body.get("changes") == [] and body.keys() & {"title", "introduction", "answerFormat"}:
        del body["changes"]
    problems = [*change_problems(body), *_header_problems(fields)]
    if fields.get("if_match") is None:
        problems.append("if_match is missing: use the etag of the revision that was read")
    if problems:
        raise _rejected(problems)
    return write_request("PATCH", url, encode(body), {"if-match": fields["if_match"]})


def _check_names(fields: Iterable[str], accepted: type) -> None:
    """Raise TypeError for a name that is no keyword, as a function does."""
    for name in fields:
        if name not in accepted.__annotations__:
            raise TypeError(f"got an unexpected keyword argument {name!r}")


def _body(fields: Mapping[str, Any], without: Sequence[str] = ()) -> dict[str, Any]:
    """Return the fields that are given, by their names on the wire; `en-US` is `en`."""
    body = {
        _ON_THE_WIRE.get(name, name): value
        for name, value in fields.items()
        if name not in (*_HEADERS, "revision", *without)
        and value is not None
        and not (value is False and name in _FLAGS)
    }
    if isinstance(lang := body.get("lang"), str):
        body["lang"] = lookup(lang) or lang
    return body


def generate_request(
    base_url: str, website_url: object, *, lang: object = None, count: object = None
) -> Request:
    """Return the request that generates items for a website, without the API key.

    Raises:
        PublishRejected: a field is invalid; `problems` has every reason.
    """
    body = _body({"website_url": website_url, "lang": lang, "count": count})
    if problems := problems_of(body, GenerateBody):
        raise _rejected(problems)
    return write_request("POST", f"{base_url}{API_PATH}/generate", encode(body))


def encode(body: Mapping[str, Any]) -> bytes:
    """Return a body as compact JSON."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _rejected(problems: Sequence[str]) -> PublishRejected:
    """Return the error for invalid fields; its message has the first five problems."""
    return PublishRejected(f"not sent: {summary(problems)}", problems=problems)


def summary(problems: Sequence[str], count: int = 5) -> str:
    """Return the first problems and the number of the others."""
    more = f"; and {len(problems) - count} more" if len(problems) > count else ""
    return "; ".join(problems[:count]) + more


def _entries(items: object) -> object:
    """Return the items as in the body of a request, without positions; other values stay unchanged."""
    if not isinstance(items, Iterable) or isinstance(items, str | bytes | Mapping):
        return items
    if isinstance(items, Sequence) and len(items) > MAX_ITEMS:
        return items  # the validation counts and refuses them
    return [_entry(item) for item in islice(items, MAX_ITEMS + 1)]


def _entry(item: object) -> object:
    """Return an item as in the body of a request; any other value is returned unchanged."""
    if isinstance(item, Item):
        return item.to_fields()
    if isinstance(item, Mapping):
        # Other fields are sent without their values, so that the service names them in `ignored`.
        others = {str(name): None for name in item if name not in ("position", *_ITEM_FIELDS)}
        return others | {name: item[name] for name in _ITEM_FIELDS if item.get(name) is not None}
    if isinstance(item, Sequence) and not isinstance(item, str | bytes) and len(item) == 2:
        return {"question": item[0], "answer": item[1]}
    return item


def _header_problems(fields: Mapping[str, Any]) -> Iterator[str]:
    for name, (_, pattern, accepted) in _HEADERS.items():
        value = fields.get(name)
        if value is not None and (not isinstance(value, str) or re.fullmatch(pattern, value) is None):
            yield f"{name} is {quoted(value)}; use {accepted}"
