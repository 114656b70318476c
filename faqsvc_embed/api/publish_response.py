"""The meaning of the responses to requests with an API key.

A server may echo the API key, so `masked` takes it out of a response before anything else reads that. Errors
are returned, not raised. The message of an error quotes the service's text; `body` and `problems` have it
unquoted. Errors are problem documents (RFC 9457).
"""

import json
import shlex
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from faqsvc_embed.api.contract import GeneratedEntry, Problem, RevisionContent
from faqsvc_embed.api.fields import is_slug
from faqsvc_embed.api.publish_request import summary
from faqsvc_embed.api.requests import REDIRECTS, Request
from faqsvc_embed.api.responses import (
    NOT_OFFERED,
    Response,
    error_code,
    excerpt,
    json_value,
    parse_retry_after,
    validator,
)
from faqsvc_embed.errors import (
    AuthenticationError,
    Details,
    FAQError,
    FAQGone,
    FAQNotFound,
    FAQTimeout,
    FAQUnavailable,
    OutcomeUnknown,
    PublishRejected,
    RateLimited,
    RevisionConflict,
)
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.models.wire import Publication
from faqsvc_embed.settings.api_key import APIKey
from faqsvc_embed.text import clean_text

S = TypeVar("S", bound=msgspec.Struct)

REJECTED: Final = (400, 409, 413, 415, 422, 428)
MAX_PROBLEMS: Final = 1_000
MAX_PROBLEM: Final = 300
"""Characters of a problem."""

_REFUSALS: Final = {
    "missing-scope": "the API key may not do this",
    "not-your-site": "the FAQ belongs to another site",
}


class GeneratedItem(Item, frozen=True, kw_only=True):
    """A question and answer that the service found on a website."""

    source: str = ""
    """The address of the page that it comes from, if the service states it."""
    lang: str | None = None
    """The language tag of question and answer, if the service states it."""
    answer_markdown: str = ""
    """The answer as Markdown with links, lists and tables, if that is more than the text."""


def revert_command(slug: str, revision: int | None, lang: str | None) -> str:
    """Return the command that publishes a revision, by default of the default language."""
    return f"faqsvc revert {shlex.quote(slug)} {revision}{f' --lang {lang}' if lang else ''}"


class StoredRevision(RevisionContent, frozen=True, rename="camel"):
    """One complete revision of an FAQ. `etag` is the `if_match` of a write that must follow this revision."""

    @property
    def record(self) -> FAQ:
        """The FAQ as readers get it: with its website, which `faq` lacks."""
        return FAQ.from_dict({**msgspec.to_builtins(self.faq), "websiteUrl": self.website_url})


def masked(response: Response, key: APIKey) -> Response:
    """Return a response without the key, which a server may echo."""
    text = response.body.decode("utf-8", "replace")
    if "\\u" in text and (fields := json_value(response.body)) is not None:  # escapes could hide the key
        text = clean_text(json.dumps(fields, ensure_ascii=False))
    headers = {name: key.mask(value) for name, value in response.headers.items()}
    return replace(response, headers=headers, body=key.mask(text).encode())


def parse_publication(
    response: Response, now: datetime, accepted: Collection[int] = (201,)
) -> Publication | FAQError:
    """Return what was published; only the slug is required of the response."""
    if response.status not in accepted:
        return error_of(response, now, is_write=True)
    fields = _readable(json_value(response.body), Publication)
    if not is_slug(fields.get("slug")):
        body = excerpt(response.body)
        return OutcomeUnknown("the response has no slug", status=response.status, body=body)
    safe = {"faq_url": _address(fields.get("faq_url")), "etag": validator(response, "etag")}
    return Publication(**{**fields, **safe})


def parse_done(response: Response, now: datetime) -> FAQError | None:
    """Return None if the request succeeded, such as unpublishing an FAQ; else the error."""
    return None if response.status in (200, 204) else error_of(response, now, is_write=True)


def parse_revision(response: Response, now: datetime) -> StoredRevision | FAQError:
    revision = parse_struct(response, now, StoredRevision)
    if isinstance(revision, FAQError):
        return revision
    return replace(revision, etag=validator(response, "etag"))


def parse_struct(response: Response, now: datetime, struct: type[S]) -> S | FAQError:
    """Return the body of a successful response as a struct of the contract."""
    if response.status not in (200, 201):
        return error_of(response, now)
    try:
        return msgspec.json.decode(response.body, type=struct)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        message = (
            f"the response ({response.status}) is not what an FAQ service sends; check base_url: {error}"
        )
        return FAQUnavailable(message, status=response.status, body=excerpt(response.body))


def parse_generation(response: Response, now: datetime) -> list[GeneratedItem] | FAQError:
    """Return the generated items; entries without a question and an answer are left out."""
    body = excerpt(response.body)
    if response.status in NOT_OFFERED:
        return FAQNotFound(
            f"the service does not generate FAQs ({response.status})", status=response.status, body=body
        )
    if response.status != 200:
        return error_of(response, now)
    fields = json_value(response.body)
    entries = fields.get("items") if isinstance(fields, dict) else None
    if not isinstance(entries, list):
        return FAQUnavailable("the response (200) has no items", status=200, body=body)
    items = [_readable(entry, GeneratedEntry) for entry in entries]
    pairs = [item for item in items if all(item.get(name, "").strip() for name in ("question", "answer"))]
    return [GeneratedItem(**{**item, "position": position}) for position, item in enumerate(pairs)]


def with_advice(error: OutcomeUnknown, request: Request) -> OutcomeUnknown:
    """Add to the message of an error whether the FAQ was published and how to continue, and return it."""
    if request.method == "PATCH":
        advice = "send it again with the same if_match: if the change was made, the response is a conflict"
    elif request.method == "PUT":
        advice = "publishing it again creates no second FAQ, at most another revision"
    elif "idempotency-key" in request.headers:
        advice = "a retry with the same idempotency key publishes nothing twice"
    else:
        advice = (
            "check before you publish again; if the first attempt has an idempotency_key, a retry is safe"
        )
    known = f"{error}; it may have been published"
    if error.status in (200, 201):
        known = f"the service published it ({error.status}), but {error}"
    error.args = (f"{known}: {advice}",)
    return error


def error_of(response: Response, now: datetime, *, is_write: bool = False) -> FAQError:
    """Return the error for an unsuccessful response to a request with a key.

    After a server error, a write may have been done or not.
    """
    problem = _readable(json_value(response.body), Problem)
    status, reasons = response.status, _reasons(problem)
    because = f": {reasons[0]!r}" if reasons else ""
    if status in (404, 405, 501) and not reasons:
        other = "there is no such FAQ, or " if status == 404 else ""  # services may say so in their own words
        because = f": {other}base_url is not the address of an FAQ service"
    wait = parse_retry_after(response.headers.get("retry-after"), now)
    details = Details(status=status, code=error_code(response.body), body=excerpt(response.body))
    if status in (401, 403):
        refusal = _REFUSALS.get(details["code"] or "", "the service refused the API key")
        return AuthenticationError(f"{refusal} ({status}){because}", **details)
    if status == 404:
        return FAQNotFound(f"not found (404){because}", **details)
    if status == 410:
        return FAQGone(f"{'gone' if reasons else 'the FAQ was unpublished'} (410){because}", **details)
    if status == 412:
        newest, current = problem.get("revision"), problem.get("current")
        known = f"; its newest revision is {newest}" if newest else ""
        message = f"nothing was written, as the FAQ has changed since it was read ({status}){known}{because}"
        return RevisionConflict(message, problems=reasons, revision=newest, current=current, **details)
    if status in REJECTED:
        shown = summary([repr(reason) for reason in reasons]) or "no reason given"
        message = f"the service refused it ({status}): {shown}"
        closest = problem.get("closest", ())
        return PublishRejected(message, problems=reasons, closest=closest, **details)
    details["retry_after"] = wait
    if status == 429:
        when = f"in {wait:g} s" if wait is not None else "later"
        return RateLimited(f"too many requests; try again {when} (429){because}", **details)
    kind = FAQTimeout if details["code"] == "generation-timeout" else FAQUnavailable
    if status in REDIRECTS:
        because = ": redirects are not followed; set base_url to the address of the service"
    elif is_write and not 400 <= status < 500:
        kind = OutcomeUnknown
    return kind(f"the service responded with {status}{because}", **details)


def _readable(value: object, struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the fields of a JSON object that fit a struct by name and type; others are left out."""
    found = dict[str, Any]()
    for field in msgspec.structs.fields(struct):
        if isinstance(value, dict) and value.get(field.encode_name) is not None:
            with suppress(msgspec.ValidationError):
                found[field.name] = msgspec.convert(value[field.encode_name], field.type)
    return found


def _reasons(problem: Mapping[str, Any]) -> list[str]:
    """Return the reasons in a problem document (RFC 9457)."""
    lists = [problem.get("problems", []), [problem.get("detail", "")], [problem.get("title", "")]]
    found = ([_one_line(text) for text in texts if text.strip()] for texts in lists)
    return next(filter(None, found), [])[:MAX_PROBLEMS]


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return "".join(c if c.isprintable() else "\ufffd" for c in line[:MAX_PROBLEM])


def _address(value: object) -> str:
    """Return the address of a page, or an empty text if it is not safe to show in a browser or terminal."""
    is_web = isinstance(value, str) and value.startswith(("http://", "https://"))
    return str(value) if is_web and str(value).isprintable() and " " not in str(value) else ""
