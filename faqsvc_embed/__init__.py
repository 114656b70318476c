"""FAQs from an FAQ service on the pages of a Python web application.

To read the code, start with `embed.FAQEmbed` and follow one FAQ: `page.presenter` handles a call,
`cache.reader` looks the FAQ up, `cache.fetcher` fetches it from one of the `sources`, and
`rendering.renderer` makes the HTML. The adapters are `flask`, `django`, `starlette`, `fastapi`, `wsgi` and
`jinja`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from faqsvc_embed.errors import (
    AuthenticationError,
    ConfigurationError,
    FAQError,
    FAQGone,
    FAQNotFound,
    FAQUnavailable,
    InvalidFAQ,
    PublishRejected,
    RateLimited,
)
from faqsvc_embed.models import FAQ, FAQState, Item, Source
from faqsvc_embed.models.wire import Publication
from faqsvc_embed.page import border as _border  # noqa: F401  # sets the renderer of `Item.html`
from faqsvc_embed.settings import Settings
from faqsvc_embed.theme import Theme

if TYPE_CHECKING:
    from faqsvc_embed.client import FAQClient
    from faqsvc_embed.embed import FAQEmbed, aget_faq, get_faq
    from faqsvc_embed.rendering.json_ld import to_json_ld, to_json_ld_string

    __version__: str

__all__ = [
    "FAQ",
    "AuthenticationError",
    "ConfigurationError",
    "FAQClient",
    "FAQEmbed",
    "FAQError",
    "FAQGone",
    "FAQNotFound",
    "FAQState",
    "FAQUnavailable",
    "InvalidFAQ",
    "Item",
    "Publication",
    "PublishRejected",
    "RateLimited",
    "Settings",
    "Source",
    "Theme",
    "aget_faq",
    "get_faq",
    "to_json_ld",
    "to_json_ld_string",
]

_LAZY: Final = {
    "FAQClient": "client",
    "FAQEmbed": "embed",
    "aget_faq": "embed",
    "get_faq": "embed",
    "to_json_ld": "rendering.json_ld",
    "to_json_ld_string": "rendering.json_ld",
}
"""Names that are imported on first use, with their modules, so that the command starts sooner."""


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("faqsvc-embed")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
