"""FAQs from a FAQ service on the pages of a Python web application.

Where to begin to read:

- how a call in a template becomes HTML: `jinja` (`flask` and `starlette` stand around it), `showing`, which
  decides how, and `rendering` with `answers`, `anchors`, `jsonld` and `styles`; `page` knows what a response
  shows already, `slots`, `filling` and `delivery` put in what comes later;
- how an FAQ is read: `reading`; `freshness`, which decides when to ask; `fetching`, which does; `transport`
  on `loops`; `wire` says what a request and its answer mean, `records` what an FAQ is; `stores` keep copies;
- how one is written: `client`, with `publishing` for what is sent and `replies` for what comes back;
- what is told before: `settings`, by the `checks` of each value; and in a call: `wishes`;
- beside it, each by itself: `cli`, `mcp`, `service`, `testing`.
"""

from typing import TYPE_CHECKING, Any

from faqsvc_embed.embed import FAQEmbed, aget_faq, get_faq
from faqsvc_embed.errors import (
    AuthenticationError,
    ConfigurationError,
    FAQError,
    FAQNotFound,
    FAQUnavailable,
    InvalidFAQ,
    PublishRejected,
    RateLimited,
)
from faqsvc_embed.events import FAQEvent
from faqsvc_embed.models import FAQ, FAQState, Item, Publication
from faqsvc_embed.rendering.json_ld import to_json_ld, to_json_ld_string
from faqsvc_embed.settings import Settings
from faqsvc_embed.theme import Theme

if TYPE_CHECKING:
    from faqsvc_embed.client import FAQClient

__all__ = [
    "FAQ",
    "AuthenticationError",
    "ConfigurationError",
    "FAQClient",
    "FAQEmbed",
    "FAQError",
    "FAQEvent",
    "FAQNotFound",
    "FAQState",
    "FAQUnavailable",
    "InvalidFAQ",
    "Item",
    "Publication",
    "PublishRejected",
    "RateLimited",
    "Settings",
    "Theme",
    "aget_faq",
    "get_faq",
    "to_json_ld",
    "to_json_ld_string",
]


def __getattr__(name: str) -> Any:
    """Import the client when it is asked for: a page has no use for what writes."""
    if name != "FAQClient":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from faqsvc_embed.client import FAQClient

    globals()[name] = FAQClient
    return FAQClient


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
