"""The requests that publish or change an FAQ and generate items, and the validation of their fields.

The field types and their limits are in `api/contract.py` and `api/fields.py`. Nothing here does I/O.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NotRequired, TypedDict

from msgspec import UNSET, UnsetType

from faqsvc_embed.api.contract import GenerateBody
from faqsvc_embed.api.fields import MAX_BODY, MAX_ITEMS
from faqsvc_embed.api.requests import API_PATH, Request, faq_url, write_request
from faqsvc_embed.api.validation import change_problems, problems_of, publication_problems
from faqsvc_embed.errors import PublishRejected, quoted
from faqsvc_embed.models import Item

Changes = Iterable[Mapping[str, Any]]

_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")


class GenerateFields(TypedDict, total=False):
    """The keywords of `FAQClient.generate_faq`."""

    lang: str | None
    count: int | None
    topic: str | None


class ChangeFields(TypedDict):
    """The keywords of `FAQClient.change_faq`."""

    if_match: str
    title: NotRequired[str | None]
    introduction: NotRequired[str | None]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishRequest:
    """The publication of an FAQ; `body` validates its fields."""

    website_url: object = None
    website_name: object = None
    items: object = None
    slug: object = None
    title: object = None
    introduction: object = None
    lang: object = None
    answer_format: object = None
    page_url: object = None
    draft: object = False
    if_match: object = None
    if_none_match: object = None
    idempotency_key: object = None
    revision: object = UNSET
    overwrite: object = False
    republish: object = False

    def body(self) -> dict[str, Any]:
        """Return the JSON body; items that are an iterator are consumed.

        Raises:
            PublishRejected: a field is invalid; `problems` has every reason, with the index of the item.
        """
        entries = _entries(self.items)
        body = _without_none(
            websiteUrl=self.website_url,
            websiteName=self.website_name,
            items=entries,
            lang=self.lang,
            title=self.title,
            introduction=self.introduction,
            answerFormat=self.answer_format,
            pageUrl=self.page_url,
            draft=None if self.draft is False else self.draft,
            slug=self.slug,
            overwrite=self.overwrite or None,
            republish=self.republish or None,
        )
        if self.revision is not UNSET:
            body["revision"] = self.revision
        problems = [
            *publication_problems(body),
            *_idempotency_key_problems(self.idempotency_key),
            *_if_match_problems(self.if_match),
            *_if_none_match_problems(self.if_none_match),
        ]
        if self.slug is None and self.if_match is not None:
            problems.append("if_match needs the slug of its FAQ")
        if not problems and (size := len(encode(body))) > MAX_BODY:
            problems = [f"the body has {size} bytes; the limit is {MAX_BODY}"]
        if problems:
            raise _rejected(problems)
        return body

    def to_http(self, base_url: str) -> Request:
        """Return the HTTP request, without the API key: a PUT if there is a slug, else a POST.

        Raises:
            PublishRejected: as `body` does.
        """
        body = self.body()
        slug = body.pop("slug", None)
        optional = {
            "idempotency-key": self.idempotency_key,
            "if-match": self.if_match,
            "if-none-match": self.if_none_match,
        }
        headers = {name: value for name, value in optional.items() if isinstance(value, str)}
        if slug is None:
            return write_request("POST", base_url + API_PATH, encode(body), headers)
        # With `If-None-Match`, the address must name the new translation.
        lang = body.get("lang") if self.if_none_match else None
        return write_request("PUT", faq_url(base_url, slug, lang=lang), encode(body), headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRequest:
    """The change of an FAQ; `body` validates its fields."""

    changes: object
    if_match: object
    title: object = None
    introduction: object = None
    lang: str | None = None
    draft: object = False

    def body(self) -> dict[str, Any]:
        """Return the JSON body; changes that are an iterator are consumed.

        Raises:
            PublishRejected: a field is invalid; `problems` has every reason, with the index of the change.
        """
        is_list = isinstance(self.changes, Iterable) and not isinstance(self.changes, str | bytes | Mapping)
        changes = list(self.changes) if is_list else self.changes  # type: ignore[call-overload]
        body = _without_none(
            changes=changes, title=self.title, draft=None if self.draft is False else self.draft
        )
        if self.introduction is not None:
            body["introduction"] = None if self.introduction == "" else self.introduction
        if changes == [] and body.keys() & {"title", "introduction"}:
            del body["changes"]
        problems = [*change_problems(body), *_if_match_problems(self.if_match)]
        if self.if_match is None:
            problems.append("if_match is missing: use the etag of the revision that was read")
        if problems:
            raise _rejected(problems)
        return body

    def to_http(self, url: str) -> Request:
        """Return the HTTP request for the FAQ at `url`, without the API key.

        Raises:
            PublishRejected: as `body` does.
        """
        return write_request("PATCH", url, encode(self.body()), {"if-match": str(self.if_match)})


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateRequest:
    """The generation of items for a website; `body` validates its fields."""

    website_url: object
    lang: object = None
    count: object = None
    topic: object = None

    def body(self) -> dict[str, Any]:
        """Return the JSON body.

        Raises:
            PublishRejected: a field is invalid; `problems` has every reason.
        """
        body = _without_none(websiteUrl=self.website_url, lang=self.lang, count=self.count, topic=self.topic)
        if problems := problems_of(body, GenerateBody):
            raise _rejected(problems)
        return body

    def to_http(self, base_url: str) -> Request:
        """Return the HTTP request, without the API key.

        Raises:
            PublishRejected: as `body` does.
        """
        return write_request("POST", f"{base_url}{API_PATH}/generate", encode(self.body()))


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


def _without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _entries(items: object) -> object:
    """Return the items as in the body of a request, without positions; other values stay unchanged."""
    if not isinstance(items, Iterable) or isinstance(items, str | bytes | Mapping):
        return items
    return [_entry(item) for item in islice(items, MAX_ITEMS + 1)]


def _entry(item: object) -> object:
    """Return an item as in the body of a request; any other value is returned unchanged."""
    if isinstance(item, Item):
        return item.to_fields()
    if isinstance(item, Mapping):
        optional = {name: item[name] for name in ("section", "id") if item.get(name) is not None}
        return {"question": item.get("question"), "answer": item.get("answer"), **optional}
    if isinstance(item, Sequence) and not isinstance(item, str | bytes) and len(item) == 2:
        return {"question": item[0], "answer": item[1]}
    return item


def _idempotency_key_problems(key: object) -> Iterator[str]:
    if key is not None and (not isinstance(key, str) or _IDEMPOTENCY_KEY.fullmatch(key) is None):
        yield f"idempotency_key is {quoted(key)}; use 1 to 255 visible ASCII characters"


def _if_match_problems(etag: object) -> Iterator[str]:
    if etag is not None and (not isinstance(etag, str) or re.fullmatch(r'\*|(?:W/)?"[!#-~]*"', etag) is None):
        yield f'if_match is {quoted(etag)}; use the etag of a Publication, such as "0f5e" with its quotes'


def _if_none_match_problems(value: object) -> Iterator[str]:
    if value not in (None, "*"):
        yield f"if_none_match is {quoted(value)}; use '*', with which an FAQ or translation is only created"
