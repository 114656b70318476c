"""FAQs from a FAQ service on the pages of a Python web application."""

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
from faqsvc_embed.jsonld import to_json_ld, to_json_ld_string
from faqsvc_embed.records import FAQ, FAQState, Item, Publication
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
