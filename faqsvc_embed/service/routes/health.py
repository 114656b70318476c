"""Probes: `/livez` for the process, `/healthz` for its database, `/readyz` for load balancers."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.operation import ALWAYS, Operation
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import upgrade


@Operation(
    "get",
    "/livez",
    "checkLiveness",
    "Check that the process responds",
    (200,),
    ALWAYS,
    media_types=("application/json",),
    is_probe=True,
)
async def check_liveness(service: ServiceContext, _: Request) -> Response:
    """Return 200. If this does not respond, restart the process."""
    return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})


@Operation(
    "get",
    "/readyz",
    "checkReadiness",
    "Check that this process is ready: the database responds and needs no upgrade",
    (200,),
    (503, *ALWAYS),
    media_types=("application/json",),
    is_probe=True,
)
async def check_readiness(service: ServiceContext, _: Request) -> Response:
    """Return 200 if this process can serve: the database responds and needs no upgrade; else 503."""
    await run_blocking(service.storage.ping)
    if await run_blocking(upgrade.needs_upgrade, service.storage.database):
        raise Problem(503, "unavailable", "The database needs an upgrade", headers={"retry-after": "5"})
    return JSONResponse({"status": "ready"}, headers={"cache-control": "no-store"})


@Operation(
    "get",
    "/healthz",
    "checkHealth",
    "Check that the service and its database respond",
    (200,),
    (503, *ALWAYS),
    media_types=("application/json",),
    is_probe=True,
)
async def check_health(service: ServiceContext, _: Request) -> Response:
    """Return 200 if the database responds, else 503."""
    await run_blocking(service.storage.ping)
    return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})
