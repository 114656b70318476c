"""Parameters in paths and queries."""

import re
from typing import Any, cast

from starlette.requests import Request

from faqsvc_embed.api.contract import DEFAULT_LIMIT, MAX_LIMIT
from faqsvc_embed.api.fields import Lang, Slug, is_slug
from faqsvc_embed.api.validation import field_problems
from faqsvc_embed.errors import quoted
from faqsvc_embed.languages import lookup
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.text import normalized


def slug_of(request: Request, *, is_new: bool = False) -> str:
    """Return the slug in the path, in NFC, so that each spelling of a letter is the same FAQ.

    Raises:
        Problem: it is not a valid slug (404, or with `is_new` 422).
    """
    slug = normalized("NFC", str(request.path_params["slug"]))
    if is_new and (problems := field_problems("slug", slug, Slug)):
        raise Problem.invalid(*problems, code="invalid-parameter")
    if not is_slug(slug):  # PostgreSQL refuses U+0000, for example
        raise Problem(404, "not-found", f"No FAQ has the slug {quoted(slug)}")
    return slug


def lang_of(request: Request) -> Lang | None:
    """Return the language in the query, such as `de` for `de-CH`.

    Raises:
        Problem: it is none of the seven (422).
    """
    lang = request.query_params.get("lang")
    if lang is not None:
        lang = lookup(lang) or lang
    if problems := field_problems("lang", lang, Lang | None):
        raise Problem.invalid(*problems, code="invalid-parameter")
    return cast("Lang | None", lang)


def cursor_of(request: Request, name: str) -> str | None:
    """Return the slug in a parameter. Raises Problem (422) if it is not a valid slug."""
    slug = request.query_params.get(name)
    if slug is not None and not is_slug(slug):
        raise Problem.invalid(f"{name} is {quoted(slug)}: expected a slug", code="invalid-parameter")
    return slug


def number_of(request: Request) -> int:
    """Return the revision number in the path. Raises Problem (404) if it is not a number from 1."""
    text = str(request.path_params["number"])
    if re.fullmatch("[1-9][0-9]{0,8}", text) is None:
        raise Problem(404, "not-found", f"There is no revision {quoted(text)}")
    return int(text)


def page_of(request: Request) -> dict[str, Any]:
    """Return `limit` and the cursor `after` of a list. Raises Problem (422) if `limit` is not valid."""
    limit = request.query_params.get("limit", str(DEFAULT_LIMIT))
    if re.fullmatch("[0-9]{1,9}", limit) is None or not 1 <= int(limit) <= MAX_LIMIT:
        detail = f"limit is {quoted(limit)}: expected a whole number from 1 to {MAX_LIMIT}"
        raise Problem.invalid(detail, code="invalid-parameter")
    return {"limit": int(limit), "after": request.query_params.get("after")}
