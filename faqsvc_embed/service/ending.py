"""Ends what is still under way when the server ends, and answers it as far as it can be."""

import asyncio
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed.service.problems import Problem

GRACE: Final = 3
"""Seconds that requests have to end by themselves once the server is told to end."""


class Ending:
    """An application that takes a cancellation for the end of the server: nobody else cancels it.

    uvicorn cancels what is not done in time, and prints a traceback for everything that this ends.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or the whole life of the application."""
        if scope["type"] == "lifespan":
            await self._app(scope, _until_cancelled(receive), send)
            return
        has_begun = False

        async def noticed(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, noticed)
        except asyncio.CancelledError:
            if not has_begun:
                headers = {"retry-after": "1", "connection": "close"}
                problem = Problem(503, "the service is ending; try again", headers=headers)
                await problem.response()(scope, receive, send)


def _until_cancelled(receive: Receive) -> Receive:
    async def receive_or_end() -> Message:
        try:
            return await receive()
        except asyncio.CancelledError:  # a second Ctrl-C: connections to the database are closed all the same
            return {"type": "lifespan.shutdown"}

    return receive_or_end
