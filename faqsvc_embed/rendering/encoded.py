"""The text of a page with a held FAQ in it, whose bytes are known: to encode it is to copy them.

A host sends bytes, and of a text beyond ASCII they take as long to make as all the rest of a page. A host
that asks for this (`splice`) says that nobody insists on `str` itself: the text is of a class of its own,
and a text in every other way.
"""

from typing import Any


class Encoded(str):
    """A text of which a part is encoded already."""

    __slots__ = ("_after", "_before", "_bytes")

    _before: str
    _bytes: bytes
    _after: str

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        """Return what `str.encode` returns."""
        if encoding != "utf-8" or errors != "strict":
            return super().encode(encoding, errors)
        try:
            return b"".join((self._before.encode(), self._bytes, self._after.encode()))
        except UnicodeEncodeError:
            return super().encode()  # which tells where in the whole text that is

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)  # whoever keeps it for later needs no module of ours to read it


def joined(parts: list[str], known: str, encoded: bytes) -> str:
    """Return the text of these parts, one of which may be a text whose bytes are known."""
    if known not in parts:  # to ask for its index would have all of it described in an error
        return "".join(parts)
    at = parts.index(known)
    before, after = "".join(parts[:at]), "".join(parts[at + 1 :])
    text = Encoded("".join((before, known, after)))
    text._before, text._bytes, text._after = before, encoded, after
    return text
