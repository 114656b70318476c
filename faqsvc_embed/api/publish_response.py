"""What the answer to a write means. Whatever came, nothing is raised: an error is returned.

So no frame of a traceback holds the answer, which may quote the API key; the error has it masked.
Specification: Publish response body. How errors look is not stated there: RFC 9457 and common forms are read.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from faqsvc_embed.api.publishing import Suggestion, rejected
from faqsvc_embed.api.reading import REDIRECTS, Reply, is_slug, retry_after
from faqsvc_embed.errors import (
    AuthenticationError,
    FAQError,
    FAQNotFound,
    FAQUnavailable,
    RateLimited,
    Unanswered,
)
from faqsvc_embed.models import Publication
from faqsvc_embed.settings.api_key import APIKey

REFUSED: Final = (400, 409, 413, 415, 422)
NOT_OFFERED: Final = (404, 405, 410, 501)
"""How a service answers that has no generation, of which the specification names no endpoint."""
MOST_PROBLEMS: Final = 1_000
LONGEST_PROBLEM: Final = 300

_LISTS: Final = ("problems", "errors", "violations", "detail", "message", "error", "title")
_TEXTS: Final = ("detail", "message", "msg", "reason", "error", "title")
_PLACES: Final = ("pointer", "path", "loc", "field", "name", "location")


def published(reply: Reply, key: APIKey, now: datetime) -> Publication | FAQError:
    """Return what was published; only its slug must be there."""
    if reply.status != 201:
        error = refusal(reply, key, now)
        if 400 <= reply.status < 500 or reply.status in REDIRECTS:
            return error
        # A service that fails, or a gateway before it, may have been at any point of its work.
        return Unanswered(str(error), status=error.status, body=error.body, retry_after=error.retry_after)
    fields = _json(reply.body)
    slug = fields.get("slug") if isinstance(fields, dict) else None
    if not isinstance(fields, dict) or not isinstance(slug, str) or not is_slug(slug):
        return Unanswered("the answer names no slug", status=201, body=_shown(reply.body, key))
    install = _masked(fields.get("install"), key)
    return Publication(
        slug=slug,
        faq_url=_address(fields.get("faqUrl"), key),
        install=install if isinstance(install, dict) else {},
    )


def unsure(error: Unanswered, idempotency_key: str | None) -> Unanswered:
    """Return the error of a publication without a usable answer with what is known of it, and what to do."""
    advice = (
        "look before publishing it again; with an idempotency_key from the first attempt on, a second is safe"
        if idempotency_key is None
        else "another attempt with the same idempotency key publishes nothing twice"
    )
    known = f"{error}; it may have been published"
    if error.status == 201:
        known = f"the service took it (201), so it was published, but {error}"
    message = f"{known}: {advice}"
    return Unanswered(message, status=error.status, body=error.body, retry_after=error.retry_after)


def _address(value: object, key: APIKey) -> str:
    """Return the address of a page, if it is one that can be shown; a terminal may be where."""
    good = isinstance(value, str) and value.startswith(("http://", "https://")) and value.isprintable()
    return key.mask(str(value)) if good and " " not in str(value) else ""


def _masked(value: Any, key: APIKey) -> Any:
    """Return parsed JSON without the key, which a server may echo."""
    if isinstance(value, str):
        return key.mask(value)
    if isinstance(value, list):
        return [_masked(entry, key) for entry in value]
    if isinstance(value, dict):
        return {key.mask(name): _masked(inner, key) for name, inner in value.items()}
    return value


def generated(reply: Reply, key: APIKey, now: datetime) -> list[Suggestion] | FAQError:
    """Return the questions and answers that were generated; what is no such pair is left out."""
    if reply.status in NOT_OFFERED:
        message = f"the service generates no FAQs ({reply.status})"
        return FAQNotFound(message, status=reply.status, body=_shown(reply.body, key))
    if reply.status != 200:
        return refusal(reply, key, now)
    fields = _json(reply.body)
    items = fields.get("items") if isinstance(fields, dict) else None
    if not isinstance(items, list):
        return FAQUnavailable(
            "the service answered 200 without items", status=200, body=_shown(reply.body, key)
        )
    pairs = [item for item in items if isinstance(item, dict) and _is_pair(item)]
    return [
        Suggestion(
            position,
            key.mask(item["question"]),
            key.mask(item["answer"]),
            key.mask(_text(item.get("source"))),
        )
        for position, item in enumerate(pairs)
    ]


def refusal(reply: Reply, key: APIKey, now: datetime) -> FAQError:
    """Return the error of a write that was not done."""
    status, body = reply.status, _shown(reply.body, key)
    reasons = [key.mask(reason) for reason in _problems(reply.body)]
    because = f": {reasons[0]}" if reasons else ""
    if status in (401, 403):
        return AuthenticationError(
            f"the service refused the API key ({status}){because}", status=status, body=body
        )
    if status in (404, 410):
        return FAQNotFound(
            f"the service found nothing to write to ({status}){because}", status=status, body=body
        )
    if status in REFUSED:
        return rejected(reasons, status=status, body=body)
    wait = retry_after(reply.headers.get("retry-after"), now)
    if status == 429:
        when = f"in {wait:g} s" if wait is not None else "later"
        message = f"the service asks to try again {when} (429){because}"
        return RateLimited(message, status=429, body=body, retry_after=wait)
    if status in REDIRECTS:
        because = ": a redirect of a write is not followed; set base_url to where the service is"
    return FAQUnavailable(
        f"the service answered {status}{because}", status=status, body=body, retry_after=wait
    )


def _problems(body: bytes) -> list[str]:
    """Return the reasons that an answer gives, in whatever form."""
    fields = _json(body)
    if isinstance(fields, dict):
        for name in _LISTS:
            if found := list(_stated(fields.get(name))):
                return found[:MOST_PROBLEMS]
    elif fields is not None:
        return list(_stated(fields))[:MOST_PROBLEMS]
    return []


def _stated(value: object, levels: int = 4) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield _one_line(value)
    elif isinstance(value, list) and levels:
        for entry in value:
            yield from _stated(entry, levels - 1)
    elif isinstance(value, dict) and levels:
        told = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
        if told is not None:
            place = next((_place(value[name]) for name in _PLACES if value.get(name)), "")
            yield _one_line(f"{place}: {told}" if place else told)
        else:  # by field, as web frameworks do it
            for name, inner in value.items():
                yield from (_one_line(f"{name}: {text}") for text in _stated(inner, levels - 1))


def _place(value: object) -> str:
    return ".".join(str(part) for part in value) if isinstance(value, list) else str(value)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else "\ufffd" for c in line[:LONGEST_PROBLEM])


def _json(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value (RFC 8259)")


def _shown(body: bytes, key: APIKey) -> str:
    text = body.decode("utf-8", "replace")
    if "\\u" in text and (fields := _json(body)) is not None:  # escapes could hide the key
        text = json.dumps(fields, ensure_ascii=False)
    return key.mask(text)


def _is_pair(item: Mapping[str, object]) -> bool:
    return all(isinstance(item.get(name), str) and str(item[name]).strip() for name in ("question", "answer"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
