"""A real Firefox, driven by WebDriver BiDi over a WebSocket (W3C)."""

import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from websockets.sync.client import ClientConnection, connect

NAMES: Final = ("firefox", "firefox-esr")
_LISTENS: Final = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


def installed() -> str | None:
    """Return the path of an installed Firefox; None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Firefox:
    """One tab of a running Firefox."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._send("session.new", capabilities={})
        self._tab = self._send("browsingContext.getTree")["contexts"][0]["context"]

    def goto(self, address: str) -> None:
        """Open a page and wait until it is loaded.

        A blank page in between makes Firefox load a page again of which only the fragment changes.
        """
        self._send("browsingContext.navigate", context=self._tab, url="about:blank", wait="complete")
        self._send("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression, which must have a JSON form; a promise is awaited."""
        response = self._send(
            "script.evaluate",
            expression=f"Promise.resolve({expression}).then(JSON.stringify)",
            target={"context": self._tab},
            awaitPromise=True,
        )
        assert response["type"] == "success", response
        return json.loads(response["result"].get("value", "null"))  # JSON has no undefined

    def _send(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (response := json.loads(self._socket.recv(timeout=60))).get("id") != number:
            pass  # an event
        assert response["type"] == "success", response
        return response["result"]


@contextmanager
def running(path: str) -> Iterator[Firefox]:
    """Run a Firefox with a new profile."""
    with tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [path, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "MOZ_HEADLESS": "1", "HOME": profile},
        )
        assert process.stderr is not None
        try:
            address = next(found[1] for line in process.stderr if (found := _LISTENS.search(line)))
            with connect(f"{address}/session", proxy=None, max_size=None) as socket:
                yield Firefox(socket)
        finally:
            process.terminate()
            process.communicate(timeout=60)
