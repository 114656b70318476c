"""What a page shows to people and to machines, parsed from its HTML."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Final

_HIDDEN: Final = ("script", "style", "title")


class PageContent(HTMLParser):
    """The content of an HTML document."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.lang: str | None = None
        self.details = 0
        """The number of `<details>` elements."""
        self.nonces: list[str | None] = []
        """The nonce of each script and style element; None for one without."""
        self._texts: list[str] = []
        self._json_ld: list[str] = []
        self._hidden_in = ""
        self._is_json_ld = False
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        """The text that people see, as `normalize` returns it."""
        return normalize("".join(self._texts))

    @property
    def faq_pages(self) -> list[dict[str, Any]]:
        """Every FAQPage in the JSON-LD.

        Raises:
            ValueError: a JSON-LD script is not JSON.
        """
        return [
            node
            for script in self._json_ld
            for node in _objects(json.loads(script))
            if "FAQPage" in _as_list(node.get("@type"))
        ]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element."""
        attributes = dict(attrs)
        if tag == "html":
            self.lang = attributes.get("lang")
        elif tag == "details":
            self.details += 1
        if tag in _HIDDEN:
            self._hidden_in = tag
        if tag in ("script", "style"):
            self.nonces.append(attributes.get("nonce"))
        if tag == "script":
            self._is_json_ld = attributes.get("type") == "application/ld+json"
            if self._is_json_ld:
                self._json_ld.append("")

    def handle_endtag(self, tag: str) -> None:
        """Record the end of an element."""
        if tag == self._hidden_in:
            self._hidden_in = ""

    def handle_data(self, data: str) -> None:
        """Record text."""
        if not self._hidden_in:
            self._texts.append(data)
        elif self._hidden_in == "script" and self._is_json_ld:
            self._json_ld[-1] += data


def normalize(text: str) -> str:
    """Return a text without white space, which is not the same in Markdown and on the page."""
    return "".join(text.split())


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all JSON objects in a JSON value."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _objects(part)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
