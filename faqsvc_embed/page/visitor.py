"""The page of a request: its host, or else its visitor, may prefer a language."""

import logging
from functools import cache

from faqsvc_embed.languages import lookup, negotiate
from faqsvc_embed.page.context import Page

logger = logging.getLogger("faqsvc_embed")


class RequestPage(Page):
    """The page of a request, whose host, or else whose visitor, may prefer a language."""

    has_visitor = True

    _language: tuple[str | None, str | None] | None = None

    def preferences(self) -> tuple[object, str | bytes]:
        """Return the host's own choice of language, in whatever form, and the header of the visitor."""
        return None, ""

    def language(self, default: str | None = None) -> str | None:
        """Return which of the seven the host, or else the visitor, prefers; None if neither does.

        `default` is what a visitor gets who takes any.
        """
        known = self._language
        if known is not None and known[0] == default:
            return known[1]
        choice, accept_language = self.preferences()
        language = None if choice is None else lookup(str(choice))
        if language is None and self.may_negotiate:
            self.negotiated = True
            language = negotiate(accept_language, default)
        elif language is None:
            _warn_of_the_language()
        self._language = default, language
        return language


@cache
def _warn_of_the_language() -> None:
    logger.warning(
        "an FAQ of a streamed page is not in its visitor's language, for the headers have left, and by them "
        "visitors may share the page: have it say Vary: Accept-Language, or name the language"
    )
