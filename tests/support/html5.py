"""A fragment of HTML as an HTML5 parser reads it, with its parse errors."""

from typing import Any

import html5lib


class Parsed:
    """The tree of a fragment; `errors` are the codes of its parse errors."""

    def __init__(self, html: str) -> None:
        parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
        self.root: Any = parser.parseFragment(html)
        # Control characters in a text are parse errors, and part of the text all the same.
        self.errors = [code for _, code, _ in parser.errors if code != "invalid-codepoint"]

    @property
    def elements(self) -> list[Any]:
        """Every element, in document order."""
        return [e for e in self.root.iter() if isinstance(e.tag, str) and e is not self.root]

    def tagged(self, *tags: str) -> list[Any]:
        """Return the elements with one of these tags."""
        return [element for element in self.elements if element.tag in tags]

    def texts(self, class_name: str) -> list[str]:
        """Return the words of the elements of a class."""
        found = [e for e in self.elements if class_name in e.get("class", "").split()]
        return [words("".join(element.itertext())) for element in found]

    @property
    def words(self) -> str:
        """All words of the fragment."""
        return words("".join(self.root.itertext()))


def words(text: str) -> str:
    """Return a text as a page shows it, with runs of white space made one space."""
    return " ".join(text.replace("\0", "\ufffd").split())
