"""Decides which responses can be changed: complete HTML pages in a charset that Python knows."""

import codecs
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple, Self

from faqsvc_embed.runtime.bounded_log import LogOnce

_CHARSET: Final = r"""(?i)charset\s*=\s*["']?([^\s"';]{1,40})"""
_PROBE: Final = "<!--faqsvc 0-->"

_log: Final = LogOnce()


class ResponseHead(NamedTuple):
    """The status and the headers that decide whether the body of a response can be changed."""

    status: int
    content_type: str = ""
    content_encoding: str = ""
    content_range: str = ""

    @classmethod
    def of(cls, status: int, headers: Iterable[tuple[str, str]]) -> Self:
        """Return the head of a response."""
        values = {name.lower(): value for name, value in headers}
        names = ("content-type", "content-encoding", "content-range")
        return cls(status, *(values.get(name, "") for name in names))

    @property
    def is_compressed(self) -> bool:
        """Whether the body is encoded, and so cannot be read."""
        return self.content_encoding.strip().lower() not in ("", "identity")

    @property
    def charset(self) -> str | None:
        """The charset of a complete HTML page that can be changed; None for any other response."""
        if self.status < 200 or self.status in (204, 205, 206, 304) or self.content_range:
            return None
        return None if self.is_compressed else _html_charset(self.content_type)

    def warn_of_compression(self, remedy: str) -> None:
        """Log why the body of a response is not completed, if it is compressed, and what helps."""
        if self.is_compressed:
            _log.warning(
                remedy,
                "a compressed response cannot be completed, and lacks an FAQ or has two FAQPages: %s",
                remedy,
            )


@lru_cache
def _html_charset(content_type: str) -> str | None:
    if content_type.partition(";")[0].strip().lower() != "text/html":
        return None
    named = re.search(_CHARSET, content_type)
    try:
        charset = codecs.lookup(named[1] if named else "utf-8").name
        # Some codecs of Python, such as base64, are not charsets.
        return charset if _PROBE.encode(charset).decode(charset) == _PROBE else None
    except (LookupError, ValueError):
        return None
