"""What every request with a key goes through: the key, how often it is used, and a body within bounds."""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
from starlette.requests import ClientDisconnect, Request

from faqsvc_embed.api.reading import KEY_HEADER
from faqsvc_embed.service.asking import ask
from faqsvc_embed.service.database import StorageUnavailable
from faqsvc_embed.service.keys import Keys
from faqsvc_embed.service.limits import RateLimit
from faqsvc_embed.service.problems import Problem

WRITERS: Final = 4
"""Threads that may wait for the disk; so many that readers always find one that does not."""
NOTE_PATIENCE: Final = 1.0
"""Seconds to wait for such a thread to note that a key is used; the next request notes it as well."""


@dataclass(frozen=True)
class KeyCheck:
    """Tells whose a request is; `limit` is how often one key may come, None as often as it likes.

    `writers` is what everything that writes for a request is to be limited by.
    """

    keys: Keys
    limit: RateLimit | None = None
    writers: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(WRITERS))

    async def owner(self, request: Request) -> str:
        """Return the id of the key of a request.

        Raises:
            Problem: there is none (401), it is wrong (403), or it comes too often (429).
        """
        key = request.headers.get(KEY_HEADER)
        if not key:
            raise Problem(
                401,
                f"an API key is needed, in the header {KEY_HEADER}",
                headers={"www-authenticate": f'ApiKey header="{KEY_HEADER}"'},
            )
        owner = await ask(partial(self.keys.owner, key))
        if owner is None:
            raise Problem(403, f"the API key in {KEY_HEADER} is unknown or was revoked")
        # Whether the request itself needs to write is not known here: it does not wait for this.
        with suppress(StorageUnavailable), anyio.move_on_after(NOTE_PATIENCE):
            await ask(partial(self.keys.note_use, owner), self.writers)
        if self.limit is not None:
            self.limit.count(owner)
        return owner


async def read_body(request: Request, *, most: int, timeout: float) -> bytes:
    """Return a body of at most `most` bytes that comes within `timeout` seconds.

    Raises:
        Problem: it is larger (413), slower (408), or ends early (400).
    """
    too_large = Problem(413, f"the body has more than {most} bytes")
    # What Content-Length says is believed only if it says that there is too much.
    if _declared_length(request) > most:
        raise too_large
    body = bytearray()
    try:
        with anyio.fail_after(timeout):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise too_large
    except TimeoutError:
        raise Problem(
            408, f"the body had not come in {timeout:g} s", headers={"connection": "close"}
        ) from None
    except ClientDisconnect:
        raise Problem(400, "the body ended early") from None
    return bytes(body)


def _declared_length(request: Request) -> int:
    declared = request.headers.get("content-length", "")
    return int(declared) if re.fullmatch("[0-9]{1,18}", declared) else 0
