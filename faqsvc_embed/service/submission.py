"""The body of a publication: what it must have, and everything that is wrong with it at once.

Specification: Publish request body. The limits are ours; they keep a record within the 1 MiB that
clients accept.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from faqsvc_embed.errors import PublishRejected, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.records import Item
from faqsvc_embed.wire import MAX_SLUG, is_slug

MAX_BODY: Final = 1_000_000
"""Bytes."""
MAX_ITEMS: Final = 1_000
MAX_QUESTION: Final = 1_000
MAX_ANSWER: Final = 20_000
MAX_NAME: Final = 200
MAX_URL: Final = 2_000

WEB_ADDRESS: Final = (
    r"^[Hh][Tt][Tt][Pp][Ss]?://[A-Za-z0-9._~\u00a1-\u1fff\u3040-\ud7ff-]+(:[0-9]{1,5})?"
    r"([/?#][^\u0000-\u0020\u007f-\u00a0\u2028\u2029]*)?$"
)
"""A host by name, in any script, without user and password; behind it no white space and no controls."""

_WEB_ADDRESS = re.compile(WEB_ADDRESS)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Submission:
    """What is to be published. Without `slug` a new FAQ; without `lang` its own language, or English."""

    website_url: str
    website_name: str
    items: tuple[Item, ...]
    title: str | None = None
    lang: str | None = None
    slug: str | None = None


def parse_submission(body: bytes) -> Submission:
    """Read a body. Fields that are not known are ignored, positions too: items come in their order.

    Raises:
        PublishRejected: it cannot be published; `problems` has every reason.
    """
    fields = _load(body)
    problems = list(_problems(fields))
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise PublishRejected(f"the body has {count}", problems=problems)
    return Submission(
        website_url=fields["websiteUrl"],
        website_name=fields["websiteName"],
        items=tuple(
            Item(position, item["question"], item["answer"]) for position, item in enumerate(fields["items"])
        ),
        title=fields.get("title"),
        lang=fields.get("lang"),
        slug=fields.get("slug"),
    )


def _load(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except RecursionError:
        raise _unreadable("the body is nested too deeply") from None
    except ValueError as error:  # which errors of JSON and of UTF-8 are
        raise _unreadable(f"the body is not JSON in UTF-8: {error}") from None
    if not isinstance(fields, dict):
        raise _unreadable("the body is not a JSON object")
    return fields


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value (RFC 8259)")


def _unreadable(problem: str) -> PublishRejected:
    return PublishRejected(problem, problems=[problem])


def _problems(fields: dict[str, Any]) -> Iterator[str]:
    yield from _url_problems(fields.get("websiteUrl"))
    yield from _text_problems("websiteName", fields.get("websiteName"), MAX_NAME)
    yield from _items_problems(fields.get("items"))
    if (title := fields.get("title")) is not None:
        yield from _text_problems("title", title, MAX_NAME)
    if (lang := fields.get("lang")) is not None and lang not in LANGUAGES:
        yield f"lang is {quoted(lang)}: one of {', '.join(LANGUAGES)} is accepted"
    if (slug := fields.get("slug")) is not None and not is_slug(slug):
        yield (
            f"slug is {quoted(slug)}: 1 to {MAX_SLUG} characters without control characters, '/' and '\\' "
            "are accepted"
        )


def _url_problems(url: object) -> Iterator[str]:
    texts = list(_text_problems("websiteUrl", url, MAX_URL))
    yield from texts
    if not texts and _WEB_ADDRESS.fullmatch(str(url)) is None:
        yield f"websiteUrl is {quoted(url)}: an address such as https://www.example.com is accepted"


def _items_problems(items: object) -> Iterator[str]:
    if items is None:
        yield "items is missing"
    elif not isinstance(items, list):
        yield "items is not an array"
    elif not items:
        yield "items is empty"
    elif len(items) > MAX_ITEMS:
        yield f"items has {len(items)} items: at most {MAX_ITEMS} are accepted"
    else:
        for index, item in enumerate(items):
            if isinstance(item, dict):
                yield from _text_problems(f"items[{index}].question", item.get("question"), MAX_QUESTION)
                yield from _text_problems(f"items[{index}].answer", item.get("answer"), MAX_ANSWER)
            else:
                yield f"items[{index}] is not an object with question and answer"


def _text_problems(path: str, text: object, longest: int) -> Iterator[str]:
    if text is None:
        yield f"{path} is missing"
    elif not isinstance(text, str):
        yield f"{path} is not a string"
    elif not text.strip():
        yield f"{path} is empty"
    elif len(text) > longest:
        yield f"{path} has {len(text)} characters: at most {longest} are accepted"
    elif found := _UNSTORABLE.search(text):
        yield f"{path} has U+{ord(found[0]):04X} at character {found.start()}, which no text can hold"
