"""URLs of the texts that items come from."""

from typing import Final
from urllib.parse import quote

MAX_TEXT: Final = 300
"""Characters of a text fragment."""


def source_of(url: str, text: str, fragment: str | None = None) -> str:
    """Return a URL that opens a page at a text (URL Fragment Text Directives).

    A browser without text fragments opens it at the element with the id `fragment`.
    """
    identifier = quote(fragment, safe="/?:@!$&()*+,;=~-._") if fragment else ""
    # Commas, ampersands and hyphens have a meaning in the directive.
    directive = quote(text[:MAX_TEXT], safe="").replace("-", "%2D")
    return f"{url.partition('#')[0]}#{identifier}:~:text={directive}"
