"""The faults of a FAQ service, one module for each kind. `FAULTS` has all of them, and `SAMPLE` one of each
family for quick tests. `ODDITIES` are unusual responses that are valid all the same. `FEEDS` are the faults
of the change feed.
"""

from typing import Final

from faqsvc_embed.testing.chaos.faults.connections import CONNECTIONS
from faqsvc_embed.testing.chaos.faults.contents import CONTENTS
from faqsvc_embed.testing.chaos.faults.encodings import ENCODINGS
from faqsvc_embed.testing.chaos.faults.fault import Fault, Meaning
from faqsvc_embed.testing.chaos.faults.feeds import FEEDS
from faqsvc_embed.testing.chaos.faults.framing import FRAMING
from faqsvc_embed.testing.chaos.faults.oddities import ODDITIES
from faqsvc_embed.testing.chaos.faults.redirects import REDIRECTS
from faqsvc_embed.testing.chaos.faults.sizes import SIZES
from faqsvc_embed.testing.chaos.faults.statuses import STATUSES

FAULTS: Final = [*CONNECTIONS, *SIZES, *FRAMING, *ENCODINGS, *CONTENTS, *STATUSES, *REDIRECTS]
"""Every way in which the service fails. No fault may make a page blank, broken or late."""

_BY_NAME: Final = {fault.name: fault for fault in FAULTS}

SAMPLE: Final = [
    _BY_NAME[name]
    for name in (
        "connection refused",
        "connection reset",
        "hang before the head",
        "drip the body",
        "truncated body",
        "garbage instead of HTTP",
        "gzip bomb",
        "body too large",
        "deep nesting",
        "Latin-1",
        "login page with 200",
        "slug of another FAQ",
        "404 in plain text",
        "404 in JSON",
        "410",
        "429, Retry-After: 7",
        "500",
        "503, Retry-After: 120",
        "redirect to another origin",
        "redirect loop",
    )
]
"""One fault of each family."""

__all__ = ["FAULTS", "FEEDS", "ODDITIES", "SAMPLE", "Fault", "Meaning"]
