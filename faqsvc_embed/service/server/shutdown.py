"""Graceful shutdown: requests that cannot finish in time get a 503 instead of a broken connection."""

import asyncio
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed.service.http.problems import Problem

GRACE: Final = 3
"""Seconds for requests to finish once the server is asked to stop."""


class GracefulShutdown:
    """ASGI middleware that responds with 503 when the server cancels a request because it shuts down.

    uvicorn cancels requests that have not finished in time, and would log a traceback for each.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, _shut_down_if_cancelled(receive), send)
            return
        has_started = False

        async def tracked_send(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, tracked_send)
        except asyncio.CancelledError:
            if not has_started:
                headers = {"retry-after": "1", "connection": "close"}
                problem = Problem(
                    503, "unavailable", "The service is shutting down; try again", headers=headers
                )
                await problem.response()(scope, receive, send)


def _shut_down_if_cancelled(receive: Receive) -> Receive:
    async def receive_shutdown() -> Message:
        try:
            return await receive()
        except asyncio.CancelledError:  # after a second Ctrl-C, database connections must still be closed
            return {"type": "lifespan.shutdown"}

    return receive_shutdown
