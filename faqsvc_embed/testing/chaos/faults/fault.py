"""A fault: a behaviour of the service with a name and a meaning."""

from dataclasses import dataclass, field
from typing import Literal

from faqsvc_embed.testing.chaos.exchange import Behaviour

Meaning = Literal["failed", "missing", "gone", "found"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A behaviour of the service, and the meaning of its response to a reader."""

    name: str
    behaviour: Behaviour = field(repr=False)
    means: Meaning = "failed"
    """How a reader treats the response, without a cached record and with one:

    | means     | nothing cached               | a record is cached                                   |
    | --------- | ---------------------------- | ---------------------------------------------------- |
    | `failed`  | backs off                    | keeps the record, however often, and backs off       |
    | `missing` | negative caching (RFC 2308)  | keeps the record until a second such response,       |
    |           |                              | `not_found_for` seconds after the first or later     |
    | `gone`    | negative caching             | drops the record at once (410, RFC 9110 15.5.11)     |
    | `found`   | uses the record              | uses the new record                                  |
    """
    hangs: bool = False
    """Whether the response ends only when the client gives up."""
    large: bool = False
    """Whether the response has megabytes, or decompresses to them."""

    def __str__(self) -> str:
        return self.name
