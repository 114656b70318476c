"""The service as an ASGI application: all of its routes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from faqsvc_embed.service.context import ServiceContext, database_url, header_name, limit, public_url
from faqsvc_embed.service.desk.routes import Desk
from faqsvc_embed.service.http.access_log import observe
from faqsvc_embed.service.http.changes import ChangeFeed, Changes
from faqsvc_embed.service.http.operation import Endpoint, allow_any_origin, problem_document, responder
from faqsvc_embed.service.http.requests import RateLimiter, drain
from faqsvc_embed.service.http.response_cache import ResponseCache
from faqsvc_embed.service.http.responses import HTML, Problem
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.pages.hosted import OTHER_OFFERS, PAGE_OFFERS, error_response
from faqsvc_embed.service.routes import OPERATIONS
from faqsvc_embed.service.storage import Storage, StorageUnavailable, open_storage
from faqsvc_embed.service.storage.values import Quota

if TYPE_CHECKING:
    from faqsvc_embed.service.generator import Generator

FIRST_CLEARING: Final = 60.0
"""Seconds until the first portion of a bin is removed, so that the start is quick; and until the next one."""
CLEARING: Final = 3600.0
"""Seconds until an empty bin is looked at again."""
RECORDING: Final = 30.0
"""Seconds between two records of the uses of keys."""
NOT_FOUND: Final = Problem(
    404, "not-found", "There is nothing at this address; /openapi.json lists the routes"
)
FAILED: Final = Problem(500, "internal-error", "Internal server error")


def create_app(
    database: str | Storage | None = None,
    *,
    base_url: str | None = None,
    writes_per_minute: int | None = 600,
    max_faqs: int | None = 1_000_000,
    max_bytes: int | None = 10_000_000_000,
    reads_per_minute: int | None = 120_000,
    max_generations: int | None = 2,
    generate_allow: str | None = None,
    sign_in_header: str | None = None,
    access_log: bool = False,
    metrics: bool = False,
) -> Starlette:
    """Return the service for a database, and create or migrate the schema of the database.

    `database` is a URL such as `sqlite:///faqsvc.db`, by default FAQSVC_DATABASE_URL, or an open `Storage`.
    `base_url` is the public URL of the service, by default FAQSVC_BASE_URL, else the origin of each request.
    `generate_allow` is `host:port[,…]`: addresses that generation may read although they are not public; by
    default FAQSVC_GENERATE_ALLOW.

    Limits of a site: `max_faqs` FAQs and `max_bytes` of records with their history, unless the site has its
    own; `writes_per_minute` changes of its FAQs and `max_generations` at once, over all processes.
    `reads_per_minute` limits the requests from one address to one process, including writes. Responses from
    the cache do not count. The limit is high, because many visitors may share the address of a content
    delivery network or a university. None means no limit.

    `sign_in_header` is the header in which a trusted proxy of `faqsvc serve` names the person at the desk, by
    default FAQSVC_SIGN_IN_HEADER. Other servers do not use it.

    `access_log` logs a line for each request. `metrics` serves `/metrics` for Prometheus to everyone; let the
    proxy in front refuse it to the public.

    Raises:
        ConfigurationError: an argument or environment variable is not valid.
        StorageUnavailable: the database cannot be opened.
    """
    by_address = RateLimiter(limit("reads_per_minute", reads_per_minute))
    public_base = public_url(base_url)
    generator = _generator(generate_allow)
    most_generations = limit("max_generations", max_generations)
    storage = database if isinstance(database, Storage) else open_storage(database_url(database))
    storage.writer.quota = Quota(
        limit("max_faqs", max_faqs),
        limit("max_bytes", max_bytes),
        limit("writes_per_minute", writes_per_minute),
    )
    changes = Changes(storage)
    service = ServiceContext(
        feed=ChangeFeed(storage, changes),
        generator=generator,
        storage=storage,
        max_generations=most_generations,
        base_url=public_base,
        sign_in_header=header_name(sign_in_header),
    )

    app = Starlette(
        routes=[*_routes(service, by_address), *Desk(service, by_address).routes()],
        exception_handlers={
            404: partial(_error, service, NOT_FOUND),
            Exception: partial(_error, service, FAILED),
        },
        lifespan=partial(_lifespan, service),
    )
    # Starlette would redirect to the URL without a trailing slash, on whatever host the Host header names.
    app.router.redirect_slashes = False
    app.add_middleware(
        ResponseCache,
        changes=changes,
        operations=[operation for operation in OPERATIONS if operation.is_cached],
        has_base_url=public_base is not None,
    )
    observe(app, access_log=access_log, metrics=metrics)
    return app


@asynccontextmanager
async def _lifespan(service: ServiceContext, _: Starlette) -> AsyncIterator[None]:
    """Empty the bin and record the uses of keys while the service runs, then close its storage."""
    storage = service.storage

    async def repeat(function: Callable[[], object], delay: float, period: float) -> None:
        await asyncio.sleep(delay)
        while True:
            found: object = None
            with suppress(StorageUnavailable):  # the next call tries again
                found = await run_blocking(function, limiter=service.writers)
            await asyncio.sleep(delay if found else period)

    # Several processes may do this at once.
    clearing = repeat(storage.removal.empty_bin, FIRST_CLEARING, CLEARING)
    # Requests only note that a key is used, so that none waits for a write.
    recording = repeat(storage.keys.record_uses, RECORDING, RECORDING)
    tasks = [asyncio.create_task(task) for task in (clearing, recording)]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    with suppress(StorageUnavailable):
        await run_blocking(storage.keys.record_uses)
    storage.close()


def _routes(service: ServiceContext, limiter: RateLimiter) -> Iterator[Route]:
    """Yield a route for each path of the operations, those without parameters first."""
    for path in sorted({one.path for one in OPERATIONS}, key=lambda path: ("{" in path, path)):
        here = [one for one in OPERATIONS if one.path == path]
        is_page = any(HTML in one.media_types for one in here)
        endpoint = Endpoint(
            {one.method.upper(): responder(service, one) for one in here},
            RateLimiter(None) if here[0].is_probe else limiter,
            is_public=any(one.scope is None for one in here),
            error_response=partial(error_response, service, PAGE_OFFERS) if is_page else problem_document,
        )
        yield Route(path, endpoint)


def _generator(allow: str | None) -> "Generator | None":
    try:
        from faqsvc_embed.service.generator import Generator
    except ModuleNotFoundError:  # the extra `generation` is not installed
        return None
    return Generator.load(allow)


async def _error(service: ServiceContext, problem: Problem, request: Request, _: Exception) -> Response:
    # Starlette raises an unexpected exception again after this response, so that the server logs it.
    response = error_response(service, OTHER_OFFERS, request, problem)
    allow_any_origin(request, response)
    await drain(request)
    return response
