"""Questions and answers from a website, within the limits of the service. It needs the extra `generation`."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
from msgspec.structs import replace
from starlette.responses import Response

from faqsvc_embed.api.contract import GenerateBody, GenerateResponse
from faqsvc_embed.api.validation import problems_of
from faqsvc_embed.generation.crawl.fetcher import FetchError
from faqsvc_embed.generation.crawl.ssrf import BlockedURL, parse_allowed
from faqsvc_embed.generation.crawl.ssrf import Endpoint as Address
from faqsvc_embed.generation.engines.extractive import ExtractiveEngine
from faqsvc_embed.generation.engines.openai_compatible import from_environment
from faqsvc_embed.generation.engines.protocol import Engine, EngineError, GenerationRequest
from faqsvc_embed.generation.generator import generate
from faqsvc_embed.generation.threads import run_in_thread
from faqsvc_embed.service.context import ServiceContext, generation_timeout
from faqsvc_embed.service.http.operation import Call
from faqsvc_embed.service.http.requests import parse_body
from faqsvc_embed.service.http.responses import Problem, private_response
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import StorageUnavailable

MAX_CONCURRENT: Final = 4
"""Generations that one process runs at a time. Others wait, within their own deadline."""

logger: logging.Logger = logging.getLogger("faqsvc_embed.service")


@dataclass(frozen=True, kw_only=True)
class Generator:
    """The handler of generation, with its engine and limits.

    `allowed` are addresses that may be read although they are not public. `timeout` limits the seconds of
    one generation, including its wait for others.
    """

    engine: Engine
    allowed: frozenset[Address]
    timeout: float
    _slots: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(MAX_CONCURRENT))

    @classmethod
    def load(cls, allow: str | None) -> "Generator":
        """Return the generator that the environment configures.

        `allow` is `host:port[,…]`, by default FAQSVC_GENERATE_ALLOW. FAQSVC_LLM_URL and FAQSVC_LLM_MODEL
        select a language model.

        Raises:
            ConfigurationError: one of them is not valid.
        """
        allowed = parse_allowed(os.environ.get("FAQSVC_GENERATE_ALLOW", "") if allow is None else allow)
        if allowed:
            names = ", ".join(sorted(f"{host}:{port}" for host, port in allowed))
            logger.warning("generation may read %s, which need not be public (FAQSVC_GENERATE_ALLOW)", names)
        engine = from_environment(os.environ) or ExtractiveEngine()
        return cls(engine=engine, allowed=allowed, timeout=generation_timeout())

    async def respond(self, call: Call) -> Response:
        """Read a website; stop if the client disconnects."""
        wanted, ignored = parse_body(call.body, GenerateBody, partial(problems_of, struct=GenerateBody))
        request, response = call.request, Response(status_code=499)  # for a client that has disconnected
        try:
            async with anyio.create_task_group() as tasks:

                async def cancel_on_disconnect() -> None:
                    while (await request.receive())["type"] != "http.disconnect":
                        pass
                    tasks.cancel_scope.cancel()

                tasks.start_soon(cancel_on_disconnect)
                found = await self.run(wanted, call.access.site, call.service)
                # In a thread, because encoding megabytes takes a while.
                response = await run_in_thread(partial(private_response, replace(found, ignored=ignored)))
                tasks.cancel_scope.cancel()
        except ExceptionGroup as group:  # a task group wraps each error
            raise group.exceptions[0] from None
        return response

    async def run(self, wanted: GenerateBody, site: str, service: ServiceContext) -> GenerateResponse:
        """Read a website for a site.

        Raises:
            Problem: it cannot be read, the engine fails, or the site runs too many generations at once.
        """
        request = GenerationRequest(wanted.website_url, wanted.lang, wanted.count)
        try:
            with anyio.fail_after(self.timeout):
                async with _counted(service, site, self.timeout), self._slots:
                    return await generate(request, self.engine, allowed=self.allowed, timeout=self.timeout)
        except TimeoutError as error:
            detail = str(error) or f"No result after {self.timeout:g} s"
            raise Problem(504, "generation-timeout", detail) from None
        except BlockedURL as error:
            raise Problem.invalid(_with_setting(error), code="unreadable-website") from None
        except FetchError as error:
            raise Problem(502, "unreadable-website", str(error)) from None
        except EngineError as error:
            logger.warning("generation failed: %s", error)
            wait = {"retry-after": f"{error.retry_after:.0f}"} if error.retry_after is not None else {}
            status = 503 if error.status == 429 else 502
            raise Problem(status, "generation-failed", str(error), headers=wait) from None


@asynccontextmanager
async def _counted(service: ServiceContext, site: str, lifetime: float) -> AsyncIterator[None]:
    """Count a generation of a site, over all processes, while the block runs; raise Problem (429)."""
    sites, most, limiter = service.storage.sites, service.max_generations, service.writers
    if most is None:
        yield
        return
    token = await run_blocking(sites.begin_generation, site, most, lifetime, limiter=limiter)
    if token is None:
        detail = f"More than {most} generations at once; try again when one of them has ended"
        raise Problem(429, "rate-limited", detail, headers={"retry-after": "5"})
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True), suppress(StorageUnavailable):
            await run_blocking(sites.end_generation, token, limiter=limiter)


def _with_setting(error: BlockedURL) -> str:
    """Return the message with the setting that allows the URL, if there is one."""
    if error.endpoint is None:
        return str(error)
    host, port = error.endpoint
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return f"{error}; the service reads it only with FAQSVC_GENERATE_ALLOW={address}"
