"""The page of a request, with the language that the host or the visitor prefers."""

from contextlib import suppress

from faqsvc_embed.languages import lookup, negotiate
from faqsvc_embed.page.context import Page
from faqsvc_embed.runtime.bounded_log import LogOnce

_log = LogOnce()


class RequestPage(Page):
    """The page of a request. An adapter says what the host and the visitor prefer."""

    _decided: tuple[str | None, str | None] | None = None
    """The language of a stream, and the default with which it was chosen."""

    def preferences(self) -> tuple[object, str | bytes]:
        """Return the language that the host chose, in any form, and the Accept-Language of the visitor."""
        return None, ""

    def language(self, default: str | None) -> str | None:
        """Return the language that the host, or else the visitor, prefers (RFC 4647, 3.4).

        The host may choose another one for a part of the page, such as an email.
        """
        if self._decided is not None and self._decided[0] == default:
            return self._decided[1]
        choice, accept_language = self.preferences()
        language = None if choice is None else lookup(str(choice))
        if language is not None:
            return language
        if self.may_negotiate:
            self.negotiated = True
            return negotiate(accept_language, default)
        _log.warning(
            "streamed",
            "an FAQ of a streamed page is not in the visitor's language, because the headers were sent: "
            "add Vary: Accept-Language to the response, or set the language",
        )
        return None

    def decide_language(self, default: str | None) -> None:
        """Choose the language of a stream now, because its headers depend on it."""
        with suppress(Exception):  # the host's own; the first FAQ reports it
            self._decided = default, self.language(default)
