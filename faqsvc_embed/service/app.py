"""The service as an ASGI application: its addresses, and nothing else."""

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faqsvc_embed.api.fields import MAX_BODY
from faqsvc_embed.api.reading import API_PATH
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.service.addresses import Addresses
from faqsvc_embed.service.asking import ask
from faqsvc_embed.service.description import describe
from faqsvc_embed.service.generate import generate_route
from faqsvc_embed.service.hosted import Hosted
from faqsvc_embed.service.keyed import KeyCheck
from faqsvc_embed.service.limits import READS_PER_MINUTE, WRITES_PER_MINUTE, RateLimit
from faqsvc_embed.service.llms import List
from faqsvc_embed.service.problems import Problem
from faqsvc_embed.service.publishing import Publishing
from faqsvc_embed.service.reading import read_faq
from faqsvc_embed.service.resources import READABLE_ANYWHERE, Handler, Resource
from faqsvc_embed.service.storage import DEFAULT_URL, Storage, open_storage
from faqsvc_embed.settings import validators as checks


def create_app(
    database: str | Storage | None = None,
    *,
    base_url: str | None = None,
    max_body: int = MAX_BODY,
    body_timeout: float = 30.0,
    writes_per_minute: int | None = WRITES_PER_MINUTE,
    reads_per_minute: int | None = READS_PER_MINUTE,
    generate_allow: str | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Starlette:
    """Return the service over a database, which is created, or brought forward, if need be.

    `database` is an address such as `sqlite:///faqsvc.db`, by default FAQSVC_DATABASE_URL, or a storage
    that is open already. `base_url` is where the public reaches the service, by default FAQSVC_BASE_URL,
    else what each request says. `max_body` is in bytes, `body_timeout` in seconds.
    `writes_per_minute` is for each key and `reads_per_minute` for each address, both in this process,
    None for no limit; `clock` is what they are measured by. `generate_allow` names, as `host:port[,…]`, what
    generation may read although it is not public, by default FAQSVC_GENERATE_ALLOW.

    Raises:
        ConfigurationError: an address cannot be one, or a limit is no number.
        StorageUnavailable: the database cannot be opened.
    """
    addresses = Addresses(_base_url(base_url or os.environ.get("FAQSVC_BASE_URL")))
    if isinstance(database, Storage):
        storage = database
    else:
        storage = open_storage(database or os.environ.get("FAQSVC_DATABASE_URL") or DEFAULT_URL)
    key_check = KeyCheck(storage.keys, _limit("writes of this key", writes_per_minute, clock))
    publish = Publishing(
        storage=storage,
        addresses=addresses,
        key_check=key_check,
        max_body=max_body,
        body_timeout=body_timeout,
    )
    reads = _limit("requests of this address", reads_per_minute, clock)

    def public(path: str, get: Handler) -> Route:
        return Route(path, Resource(get=get, public=True, limit=reads))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        storage.close()

    app = Starlette(
        routes=[
            Route(API_PATH, Resource(post=publish)),
            generate_route(key_check, generate_allow=generate_allow),
            # `path`, so that a slug with an encoded slash is told to be none by the one who knows slugs.
            public(API_PATH + "/{slug:path}", partial(read_faq, storage)),
            public("/faq/{slug:path}", Hosted(storage, addresses)),
            public("/llms.txt", List(storage, addresses)),
            public("/openapi.json", describe),
            Route("/healthz", Resource(get=partial(_health, storage))),
        ],
        exception_handlers={404: _no_such_address, Exception: _broken},
        lifespan=lifespan,
    )
    # A redirect to the address without its slash would lead wherever the Host header says.
    app.router.redirect_slashes = False
    return app


def _limit(what: str, per_minute: int | None, clock: Callable[[], float]) -> RateLimit | None:
    return None if per_minute is None else RateLimit(per_minute, what=what, clock=clock)


def _base_url(value: str | None) -> str | None:
    try:
        url = checks.base_url(value) or None
    except ValueError as error:
        raise ConfigurationError(f"base_url is {quoted(value)}: {error}") from None
    if url is not None and not url.isascii():  # it goes into headers
        raise ConfigurationError(f"base_url is {quoted(value)}: an address in ASCII is accepted")
    return url


async def _health(storage: Storage, _: Request) -> Response:
    await ask(storage.ping)
    return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})


async def _no_such_address(request: Request, _: Exception) -> Response:
    response = Problem(404, "there is nothing at this address").response()
    if request.method in ("GET", "HEAD"):
        response.headers.update(READABLE_ANYWHERE)
    return response


async def _broken(_: Request, __: Exception) -> Response:
    # Starlette raises the exception again behind this answer, so that the server logs it.
    return Problem(500, "the service made a mistake; its log says which").response()
