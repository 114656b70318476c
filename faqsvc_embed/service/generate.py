"""POST /api/v1/faq/generate: who has a key gets the questions that a website answers. Nothing is stored."""

import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from faqsvc_embed.api.reading import API_PATH
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.generation import model
from faqsvc_embed.generation.engines import MAX_COUNT, Engine, Extracting, Found, Wish
from faqsvc_embed.generation.guard import Endpoint, Refused, check_url, parse_allowed
from faqsvc_embed.generation.site import Site
from faqsvc_embed.generation.visiting import Unreachable, Visitor
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.keyed import KeyCheck, read_body
from faqsvc_embed.service.problems import Problem
from faqsvc_embed.service.publishing import check_form
from faqsvc_embed.service.resources import Resource

PATH: Final = f"{API_PATH}/generate"
DEADLINE: Final = 30.0
MAX_BODY: Final = 16_384
BODY_TIMEOUT: Final = 10.0
MAX_URL: Final = 2_000
MAX_TOPIC: Final = 200
AT_ONCE: Final = 4
"""Generations of this process that run at a time; others wait, within their own deadline."""

logger = logging.getLogger("faqsvc_embed.service")


def generate_route(
    key_check: KeyCheck, *, generate_allow: str | None = None, environ: Mapping[str, str] = os.environ
) -> Route:
    """Return the route of generation, to be put before the one of slugs: `generate` is none that we give.

    `generate_allow` is `host:port[,…]`, by default FAQSVC_GENERATE_ALLOW. FAQSVC_GENERATE_TIMEOUT is the
    number of seconds for one generation, 30 by default. FAQSVC_LLM_URL and FAQSVC_LLM_MODEL choose a model.

    Raises:
        ConfigurationError: one of them cannot be.
    """
    allowed = parse_allowed(
        generate_allow if generate_allow is not None else environ.get("FAQSVC_GENERATE_ALLOW", "")
    )
    if allowed:
        listed = ", ".join(sorted(f"{host}:{port}" for host, port in allowed))
        logger.warning("generation may visit %s although they are not public: FAQSVC_GENERATE_ALLOW", listed)
    generate = Generating(
        key_check=key_check,
        engine=model.from_environment(environ) or Extracting(),
        allowed=allowed,
        deadline=_seconds(environ.get("FAQSVC_GENERATE_TIMEOUT", "")),
    )
    return Route(PATH, Resource(post=generate))


def _seconds(value: str) -> float:
    if not value:
        return DEADLINE
    if not re.fullmatch(r"[0-9]{1,4}(?:\.[0-9]{1,3})?", value) or float(value) == 0:
        raise ConfigurationError(
            f"FAQSVC_GENERATE_TIMEOUT is {quoted(value)}: a number of seconds, above 0, is accepted"
        )
    return float(value)


@dataclass(frozen=True, kw_only=True)
class Generating:
    """The handler of generations; `deadline` is the number of seconds for one of them, all in all."""

    key_check: KeyCheck
    engine: Engine
    allowed: frozenset[Endpoint] = frozenset()
    deadline: float = DEADLINE
    _running: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(AT_ONCE))

    async def __call__(self, request: Request) -> Response:
        """Check key, form and body, then visit; end at the deadline, or when the client has gone."""
        await self.key_check.owner(request)
        check_form(request)
        try:
            with anyio.fail_after(self.deadline):
                body = await read_body(request, most=MAX_BODY, timeout=BODY_TIMEOUT)
                wish = read_wish(body, self.allowed)
                return await self._while_connected(request, wish)
        except TimeoutError:
            return Problem(504, f"there was nothing to answer with after {self.deadline:g} s").response()

    async def _while_connected(self, request: Request, wish: Wish) -> Response:
        response = Response(status_code=499)  # for nobody: the client has gone
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            response = await self._answer(wish)
            tasks.cancel_scope.cancel()
        return response

    async def _answer(self, wish: Wish) -> Response:
        try:
            async with self._running:
                items = await self._generate(wish)
            if items is None:
                return Problem(504, f"{quoted(wish.website_url)} gave no page in time").response()
            return _found(items)
        except Refused as error:
            return Problem(422, str(error), problems=[str(error)]).response()
        except Unreachable as error:
            return Problem(502, str(error)).response()
        except model.EngineFailed as error:
            logger.warning("generation failed: %s", error)
            wait = {"retry-after": f"{error.retry_after:.0f}"} if error.retry_after is not None else {}
            return Problem(503 if error.status == 429 else 502, str(error), headers=wait).response()

    async def _generate(self, wish: Wish) -> list[Found] | None:
        """Read the site for a share of the time, then let the engine make of it what it can, if anything."""
        async with Visitor(self.allowed) as visitor:
            site = Site(visitor, wish.website_url, wish.lang)
            with anyio.move_on_after(self.engine.share * self.deadline):
                await site.visit()
        return await self.engine.write(site.pages, wish) if site.pages else None


def read_wish(body: bytes, allowed: frozenset[Endpoint] = frozenset()) -> Wish:
    """Read the body of a request; fields that are not known are ignored.

    Raises:
        Problem: it asks for what cannot be (422); `problems` has every reason.
    """
    try:
        fields = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        problem = "the body is no JSON object in UTF-8"
        raise Problem(422, problem, problems=[problem])
    problems = _problems(fields, allowed)
    if problems:
        raise Problem(422, problems[0], problems=problems)
    topic = (fields.get("topic") or "").strip() or None
    return Wish(fields["websiteUrl"].strip(), fields.get("lang"), fields.get("count"), topic)


def _problems(fields: dict[str, Any], allowed: frozenset[Endpoint]) -> list[str]:
    found: list[str] = []
    url, lang, count, topic = (fields.get(name) for name in ("websiteUrl", "lang", "count", "topic"))
    if not isinstance(url, str) or not 0 < len(url.strip()) <= MAX_URL:
        found.append(
            f"websiteUrl is {quoted(url)}: an address such as https://www.example.com, of up to {MAX_URL}"
            " characters, is accepted"
        )
    else:
        try:
            check_url(url.strip(), allowed)
        except Refused as error:
            found.append(f"websiteUrl: {error}")
    if lang is not None and lang not in LANGUAGES:
        found.append(f"lang is {quoted(lang)}: one of {', '.join(LANGUAGES)} is accepted")
    if count is not None and (type(count) is not int or not 1 <= count <= MAX_COUNT):
        found.append(f"count is {quoted(count)}: a whole number from 1 to {MAX_COUNT} is accepted")
    if topic is not None and (not isinstance(topic, str) or len(topic) > MAX_TOPIC):
        found.append(f"topic is {quoted(topic)}: a text of up to {MAX_TOPIC} characters is accepted")
    return found


def _found(items: list[Found]) -> Response:
    body = {
        "items": [
            {"position": position, "question": item.question, "answer": item.answer, "source": item.source}
            for position, item in enumerate(items)
        ]
    }
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return Response(
        json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"), 200, headers, "application/json"
    )
