"""FAQs in Django: an application with template tags, a middleware, system checks and a command.

Start with `apps.py`, which creates the embed, and `middleware.py`, which completes each response.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faqsvc_embed.django.apps import faqs_from
    from faqsvc_embed.django.middleware import FAQMiddleware

__all__ = ["FAQMiddleware", "faqs_from"]


def __getattr__(name: str) -> Any:
    # Django imports this module before its settings can be read.
    if name == "FAQMiddleware":
        from faqsvc_embed.django.middleware import FAQMiddleware

        return FAQMiddleware
    if name == "faqs_from":
        from faqsvc_embed.django.apps import faqs_from

        return faqs_from
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
