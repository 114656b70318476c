"""What a page shows to people and to machines, read from its HTML."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Final

_HIDDEN: Final = ("script", "style", "title")


class Sight(HTMLParser):
    """What there is to see in a document."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.lang: str | None = None
        self.details = 0
        self.nonces: list[str | None] = []
        """The nonces of the elements that a policy asks for one."""
        self._texts: list[str] = []
        self._scripts: list[str] = []
        self._inside = ""
        self._is_json_ld = False
        self.feed(html)
        self.close()

    @property
    def text(self) -> str:
        """The words that people see, with single spaces between them."""
        return plain(" ".join(self._texts))

    @property
    def faq_pages(self) -> list[dict[str, Any]]:
        """Every FAQPage in the JSON-LD of the document.

        Raises:
            ValueError: a script of JSON-LD holds no JSON.
        """
        return [
            node for script in self._scripts for node in _nodes(json.loads(script)) if _is(node, "FAQPage")
        ]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        attributes = dict(attrs)
        if tag == "html":
            self.lang = attributes.get("lang")
        elif tag == "details":
            self.details += 1
        if tag in _HIDDEN:
            self._inside = tag
        if tag in ("script", "style"):
            self.nonces.append(attributes.get("nonce"))
        if tag == "script":
            self._is_json_ld = attributes.get("type") == "application/ld+json"
            if self._is_json_ld:
                self._scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        """Note the end of an element."""
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if not self._inside:
            self._texts.append(data)
        elif self._inside == "script" and self._is_json_ld:
            self._scripts[-1] += data


def plain(text: str) -> str:
    """Return a text with every run of white space made one space."""
    return " ".join(text.split())


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _nodes(part)


def _is(node: dict[str, Any], kind: str) -> bool:
    types = node.get("@type")
    return kind in (types if isinstance(types, list) else [types])
