"""The FAQ service itself: publish with a key, read by slug."""

from faqsvc_embed.service.app import create_app

__all__ = ["create_app"]
