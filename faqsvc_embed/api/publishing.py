"""The REST contract of writing, as values: what to publish or generate, and all that is wrong with it.

Specification: Publish request body. Nothing here does I/O.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from faqsvc_embed.api.fields import (
    MAX_ANSWER,
    MAX_BODY,
    MAX_ITEMS,
    MAX_NAME,
    MAX_QUESTION,
    lang_problems,
    slug_problems,
    text_problems,
    title_problems,
    url_problems,
)
from faqsvc_embed.api.reading import API_PATH, Request
from faqsvc_embed.errors import PublishRejected, quoted
from faqsvc_embed.models import Item

_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")


class Suggestion(Item, frozen=True, eq=False):
    """A question and answer that generation proposes; equal to any item that says the same."""

    source: str = ""
    """Where on the website they come from, if the service says so."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Item):
            return NotImplemented
        return _content(self) == _content(other)

    def __hash__(self) -> int:
        return hash(_content(self))


def _content(item: Item) -> tuple[int, str, str]:
    return item.position, item.question, item.answer


def publication(
    *,
    website_url: object,
    website_name: object,
    items: object,
    lang: object = None,
    title: object = None,
    slug: object = None,
    idempotency_key: object = None,
) -> dict[str, Any]:
    """Return the body of a publication.

    Raises:
        PublishRejected: it cannot be published; `problems` has every reason, by item number.
    """
    entries, problems = _entries(items)
    problems = [
        *url_problems(website_url),
        *text_problems("websiteName", website_name, MAX_NAME),
        *problems,
        *title_problems(title),
        *lang_problems(lang),
        *slug_problems(slug),
        *_retry_problems(idempotency_key),
    ]
    if not problems:
        fields = {"websiteUrl": website_url, "websiteName": website_name, "items": entries}
        optional = {"lang": lang, "title": title, "slug": slug}
        body = {**fields, **{name: value for name, value in optional.items() if value is not None}}
        if (size := len(encoded(body))) <= MAX_BODY:
            return body
        problems = [f"the body has {size} bytes: at most {MAX_BODY} are accepted"]
    raise rejected(problems)


def generation(website_url: object, *, lang: object, count: object, topic: object) -> dict[str, Any]:
    """Return the body of a request to generate; raises PublishRejected as `publication` does."""
    problems = [
        *url_problems(website_url),
        *lang_problems(lang),
        *_count_problems(count),
        *(text_problems("topic", topic, MAX_NAME) if topic is not None else ()),
    ]
    if problems:
        raise rejected(problems)
    optional = {"lang": lang, "count": count, "topic": topic}
    return {"websiteUrl": website_url, **{name: v for name, v in optional.items() if v is not None}}


def publish_request(base_url: str, body: Mapping[str, Any], idempotency_key: str | None = None) -> Request:
    """Return the request that publishes; the key is added as it leaves."""
    headers = {"idempotency-key": idempotency_key} if idempotency_key is not None else {}
    return _write(base_url + API_PATH, body, headers)


def generate_request(base_url: str, body: Mapping[str, Any]) -> Request:
    """Return the request that generates; the key is added as it leaves."""
    return _write(f"{base_url}{API_PATH}/generate", body, {})


def _write(url: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Request:
    # Not compressed, for the answer to a write is small, and an error must be readable.
    form = {
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/json",
    }
    return Request(url, {**form, **headers}, "POST", encoded(body))


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return a body as it is sent."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def rejected(problems: Sequence[str], *, status: int | None = None, body: str = "") -> PublishRejected:
    """Return the error for what was refused, here or there; its message names the first problems."""
    shown = "; ".join(problems[:5])
    more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
    by = "refused" if status is None else f"the service refused it ({status})"
    return PublishRejected(
        f"{by}: {shown or 'no reason given'}{more}", problems=problems, status=status, body=body
    )


def _entries(items: object) -> tuple[list[dict[str, str]], list[str]]:
    """Return the items as the wire has them, without positions, and all that is wrong with them."""
    if items is None:
        return [], ["items is missing"]
    if not isinstance(items, Iterable) or isinstance(items, str | bytes | Mapping):
        return [], [f"items is {quoted(items)}: a list of items is accepted"]
    given = list(islice(items, MAX_ITEMS + 1))
    if not given:
        return [], ["items is empty"]
    if len(given) > MAX_ITEMS:
        return [], [f"items has more than {MAX_ITEMS} items, which are accepted at most"]
    entries, problems, asked = list[dict[str, str]](), list[str](), dict[str, int]()
    for index, item in enumerate(given):
        pair = _pair(item)
        if pair is None:
            problems.append(
                f"items[{index}] is {quoted(item)}: an Item, a mapping with question and answer, "
                "or a pair of both is accepted"
            )
            continue
        question, answer = pair
        wrong = [*text_problems(f"items[{index}].question", question, MAX_QUESTION)]
        if not wrong:
            first = asked.setdefault(_folded(str(question)), index)
            if first != index:
                wrong = [f"items[{index}].question is the same as that of items[{first}]: {quoted(question)}"]
        problems += [*wrong, *text_problems(f"items[{index}].answer", answer, MAX_ANSWER)]
        entries.append({"question": str(question), "answer": str(answer)})
    return entries, problems


def _pair(item: object) -> tuple[object, object] | None:
    if isinstance(item, Item):
        return item.question, item.answer
    if isinstance(item, Mapping):
        return item.get("question"), item.get("answer")
    if isinstance(item, Sequence) and not isinstance(item, str | bytes) and len(item) == 2:
        return item[0], item[1]
    return None


def _folded(question: str) -> str:
    """What two questions have in common if JSON-LD would mark only one of them up."""
    return " ".join(unicodedata.normalize("NFC", question).split())


def _count_problems(count: object) -> Iterator[str]:
    if count is not None and (
        not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_ITEMS
    ):
        yield f"count is {quoted(count)}: a whole number from 1 to {MAX_ITEMS} is accepted"


def _retry_problems(key: object) -> Iterator[str]:
    if key is not None and (not isinstance(key, str) or _IDEMPOTENCY_KEY.fullmatch(key) is None):
        yield f"idempotency_key is {quoted(key)}: 1 to 255 visible ASCII characters are accepted"
