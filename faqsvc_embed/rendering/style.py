"""The options that decide how an FAQ looks."""

import msgspec

from faqsvc_embed.rendering.answers import LOWEST_HEADING
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.validators import Look, Variant
from faqsvc_embed.theme import Theme


class Style(msgspec.Struct, frozen=True, cache_hash=True):
    """How an FAQ looks. It is a part of the cache key of a fragment."""

    theme: Theme = Theme()
    show_title: bool = True
    heading_level: int | None = 2
    variant: Variant = "details"
    exclusive: bool = False
    look: Look = "lines"

    @classmethod
    def of(cls, settings: Settings) -> "Style":
        return cls(**{name: getattr(settings, name) for name in cls.__struct_fields__})

    @property
    def question_level(self) -> int | None:
        """The level of a question's heading, one below the title."""
        return None if self.heading_level is None else min(self.heading_level + 1, LOWEST_HEADING)
