"""Handles the errors of calls, so that none breaks the rest of the page."""

from typing import Final

from markupsafe import Markup

from faqsvc_embed.api.slugs import is_slug
from faqsvc_embed.cache.reader import Reader
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQUnavailable, quoted
from faqsvc_embed.models import FAQState
from faqsvc_embed.page.page import Page
from faqsvc_embed.rendering.elements import problem_element
from faqsvc_embed.runtime.bounded_log import LogOnce, LogThrottle, origin_of
from faqsvc_embed.settings import Settings

MAX_NAMED: Final = 20
"""Missing FAQs that are logged at once; then one a minute, because a visitor may invent slugs."""


class Problems:
    """Handles the errors of one embed."""

    def __init__(self, settings: Settings, log: LogOnce, reader: Reader) -> None:
        self._settings = settings
        self._reader = reader
        self._log = log
        self._reported = LogOnce()
        self._missing = LogThrottle(burst=MAX_NAMED)

    def handle(self, page: Page, slug_or_faq: object, error: Exception) -> Markup:
        """Handle an error: raise it if strict, show it in development, else log it once."""
        if self._settings.strict:
            raise error
        if not isinstance(error, FAQError):
            self._log.error(
                origin_of(error), "FAQ %s is not shown: %r", quoted(slug_or_faq), error, error=error
            )
        elif self._is_unreported(error, slug_or_faq):
            self._report(error)
        if page.shows_problems or self._settings.reload:
            return Markup(problem_element(str(error) or repr(error)))  # escaped there
        return Markup()

    def state(self, page: Page, slug: object, error: Exception) -> FAQState:
        """Handle an error of a call that only reads, and return it as a state."""
        self.handle(page, slug, error)
        if not isinstance(error, FAQError):
            error = FAQUnavailable(f"FAQ {quoted(slug)} cannot be read: {error!r}")
        return FAQState(error=error)

    def _report(self, error: FAQError) -> None:
        """Log once why an FAQ is not shown."""
        if self._reported.is_first(str(error)):
            self._missing.warning("%s", error)

    def _is_unreported(self, error: FAQError, slug_or_faq: object) -> bool:
        """Return whether no fetch has reported an error; a local source needs no fetch."""
        return isinstance(error, ConfigurationError) or self._reader.is_local or not is_slug(slug_or_faq)
