"""Probes: `/livez` for the process, `/healthz` for its database, `/readyz` for load balancers."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from faqsvc_embed.service.context import ServiceContext
from faqsvc_embed.service.http.operation import ALWAYS, Operation
from faqsvc_embed.service.http.problems import Problem
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.storage import upgrade


@Operation("get", "/livez", ALWAYS, media_types=("application/json",), is_probe=True)
async def check_liveness(service: ServiceContext, _: Request) -> Response:
    """Check that the process responds."""
    return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})


@Operation("get", "/readyz", (503, *ALWAYS), media_types=("application/json",), is_probe=True)
async def check_readiness(service: ServiceContext, _: Request) -> Response:
    """Check that this process is ready: the database responds and needs no upgrade."""
    await run_blocking(service.storage.ping)
    if await run_blocking(upgrade.needs_upgrade, service.storage.database):
        raise Problem(503, "unavailable", "The database needs an upgrade", headers={"retry-after": "5"})
    return JSONResponse({"status": "ready"}, headers={"cache-control": "no-store"})


@Operation("get", "/healthz", (503, *ALWAYS), media_types=("application/json",), is_probe=True)
async def check_health(service: ServiceContext, _: Request) -> Response:
    """Check that the service and its database respond."""
    await run_blocking(service.storage.ping)
    return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})
