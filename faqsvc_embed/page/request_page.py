"""The page of a request, with the language that the host or the visitor prefers."""

from faqsvc_embed.languages import lookup, negotiate
from faqsvc_embed.page.context import Page
from faqsvc_embed.runtime.bounded_log import LogOnce

_log = LogOnce()


class RequestPage(Page):
    """The page of a request. An adapter says what the host and the visitor prefer."""

    _language: tuple[str | None, str | None] | None = None

    def preferences(self) -> tuple[object, str | bytes]:
        """Return the language that the host chose, in any form, and the Accept-Language of the visitor."""
        return None, ""

    def language(self, default: str | None) -> str | None:
        """Return the language that the host, or else the visitor, prefers (RFC 4647, 3.4)."""
        known = self._language
        if known is not None and known[0] == default:
            return known[1]
        choice, accept_language = self.preferences()
        language = None if choice is None else lookup(str(choice))
        if language is None and self.may_negotiate:
            self.negotiated = True
            language = negotiate(accept_language, default)
        elif language is None:
            _log.warning(
                "streamed",
                "an FAQ of a streamed page is not in the visitor's language, because the headers were sent: "
                "add Vary: Accept-Language to the response, or set the language",
            )
        self._language = default, language
        return language
