"""The body of a publication: what it must have, and everything that is wrong with it at once.

Specification: Publish request body.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from faqsvc_embed.api.fields import (
    MAX_ANSWER,
    MAX_ITEMS,
    MAX_NAME,
    MAX_QUESTION,
    lang_problems,
    slug_problems,
    text_problems,
    title_problems,
    url_problems,
)
from faqsvc_embed.errors import PublishRejected
from faqsvc_embed.models import Item

MAX_DIGITS: Final = 640
"""Of a number: Python lets nobody set its own limit lower, so this one is always met first."""


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
        fields = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant, parse_int=_integer)
    except RecursionError:
        raise _unreadable("the body is nested too deeply") from None
    except _TooManyDigits as error:
        raise _unreadable(
            f"the body has a number of {error} digits: at most {MAX_DIGITS} are accepted"
        ) from None
    except ValueError as error:  # which errors of JSON and of UTF-8 are
        raise _unreadable(f"the body is not JSON in UTF-8: {error}") from None
    if not isinstance(fields, dict):
        raise _unreadable("the body is not a JSON object")
    return fields


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value (RFC 8259)")


class _TooManyDigits(ValueError):
    pass


def _integer(text: str) -> int:
    digits = len(text.removeprefix("-"))
    if digits > MAX_DIGITS:
        raise _TooManyDigits(digits)
    return int(text)


def _unreadable(problem: str) -> PublishRejected:
    return PublishRejected(problem, problems=[problem])


def _problems(fields: dict[str, Any]) -> Iterator[str]:
    yield from url_problems(fields.get("websiteUrl"))
    yield from text_problems("websiteName", fields.get("websiteName"), MAX_NAME)
    yield from _items_problems(fields.get("items"))
    yield from title_problems(fields.get("title"))
    yield from lang_problems(fields.get("lang"))
    yield from slug_problems(fields.get("slug"))


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
                yield from text_problems(f"items[{index}].question", item.get("question"), MAX_QUESTION)
                yield from text_problems(f"items[{index}].answer", item.get("answer"), MAX_ANSWER)
            else:
                yield f"items[{index}] is not an object with question and answer"
