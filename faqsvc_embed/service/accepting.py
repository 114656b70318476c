"""Which of the forms that we have answers an `Accept` header (RFC 9110, 12.5.1)."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from starlette.requests import Request

from faqsvc_embed.service.problems import Problem

LONGEST_HEADER: Final = 4096
"""The rest of a longer header is somebody's attempt at something, not a wish."""

_RANGE = re.compile(r"[!#$%&'*+.^`|~\w-]+/[!#$%&'*+.^`|~\w-]+", re.ASCII)
_QUALITY = re.compile(r"q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)", re.ASCII)


def accepted(request: Request, *offers: str) -> str:
    """Return the media type to answer with: the best of `offers`, the first of equals.

    Of types with the same quality, one that is named beats one that `*/*` stands for, and one that is
    named earlier beats a later one: the RFC leaves that to us, and so it is meant where it is written.

    Raises:
        Problem: none of them is acceptable (406).
    """
    header = ", ".join(request.headers.getlist("accept"))
    ranges = list(_parse(header))
    if not ranges:
        return offers[0]  # no header, or one that says nothing
    best = max(offers, key=lambda offer: _rank(offer, ranges))  # `max` returns the first of equals
    if _rank(best, ranges)[0] > 0:
        return best
    raise Problem(406, f"this address answers with {_listed(offers)}, and Accept has neither it nor */*")


def _parse(header: str) -> Iterator[tuple[str, float]]:
    """Yield the well-formed (range, quality) pairs; parameters other than the quality are not looked at."""
    for part in header[:LONGEST_HEADER].split(","):
        range_, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if _RANGE.fullmatch(range_) is None:
            continue
        stated = next((parameter for parameter in parameters if parameter.startswith("q=")), "q=1")
        if quality := _QUALITY.fullmatch(stated):
            yield range_, float(quality[1])


def _rank(offer: str, ranges: Sequence[tuple[str, float]]) -> tuple[float, int, int]:
    """Return the quality of an offer by the range that names it most closely, and how it is named."""
    family = offer.partition("/")[0] + "/*"
    for closeness, wanted in ((2, offer), (1, family), (0, "*/*")):
        for place, (range_, quality) in enumerate(ranges):
            if range_ == wanted:
                return quality, closeness, -place if closeness == 2 else 0
    return 0.0, 0, 0


def _listed(offers: Sequence[str]) -> str:
    return " or ".join(offers)
