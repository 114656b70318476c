"""One way to answer badly, and what a reader may make of it."""

from dataclasses import dataclass, field
from typing import Literal

from faqsvc_embed.testing.exchange import Behaviour


@dataclass(frozen=True, slots=True)
class Fault:
    """A way to answer, and what a reader may make of it."""

    name: str
    behaviour: Behaviour = field(repr=False)
    means: Literal["failed", "missing", "found"] = "failed"
    """`failed`: no usable answer, the good copy stays. `missing`: an answer, there is no such FAQ. `found`:
    a good answer after all. A 304 fails only where nothing conditional was asked."""
    holds: bool = False
    """It ends only when the client gives up, or long after."""
    big: bool = False
    """It sends megabytes, or what unpacks to them."""
    stray: bool = False
    """It leaves bytes behind on the connection, which may meet the next request, and cost it."""

    def __str__(self) -> str:
        return self.name


def holding(name: str, behaviour: Behaviour) -> Fault:
    """Return a fault that ends only when the client gives up."""
    return Fault(name, behaviour, holds=True)
