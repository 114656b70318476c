"""Graceful shutdown: event streams end at once, and requests that cannot finish in time get a 503."""

import asyncio
import os
import signal
from multiprocessing.connection import Connection
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed.api.event_stream import FEED_PATH
from faqsvc_embed.service.http.problems import Problem

GRACE: Final = 3
"""Seconds for requests to finish once the server is asked to stop."""


class GracefulShutdown:
    """ASGI middleware of a worker process, which stops when the other end of a pipe is closed.

    The main process holds that end. It closes it to stop its workers, and so does its own death.
    """

    def __init__(self, app: ASGIApp, pipe: Connection) -> None:
        self._app = app
        self._pipe = pipe
        self._requests: dict[asyncio.Task[object] | None, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; when it is cancelled before the response has begun, respond with 503."""
        if scope["type"] != "http":
            asyncio.get_running_loop().add_reader(self._pipe.fileno(), self._stop)
            await self._app(scope, receive, send)
            return
        task = asyncio.current_task()
        self._requests[task] = scope["path"]
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
                detail = "The service is shutting down; try again"
                problem = Problem(503, "unavailable", detail, headers=headers)
                await problem.response()(scope, receive, send)
        finally:
            del self._requests[task]

    def _stop(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._pipe.fileno())
        os.kill(os.getpid(), signal.SIGTERM)  # the main process may have been killed
        self._cancel({FEED_PATH})
        loop.call_later(GRACE, self._cancel, None)

    def _cancel(self, paths: set[str] | None) -> None:
        for task, path in list(self._requests.items()):
            if task is not None and (paths is None or path in paths):
                task.cancel()
