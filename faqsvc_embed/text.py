"""Text from outside: replaces what cannot be encoded, and compares questions in a bounded time."""

import re
import unicodedata
from collections.abc import Callable
from typing import Final, Literal

MAX_NORMALIZED: Final = 1000
"""Characters of a question that are normalized before questions are compared."""
PORTION: Final = 65_536
"""Characters that are converted in less than a millisecond."""

LINE_END: Final = re.compile("\r\n?|[\n\v\u2028]")
"""The end of a line. Word processors and layout programs end those of a paragraph with the last two."""

# Combining marks, which are neither letters nor digits, and two letters that NFKD turns into marks.
_COMBINING_RUN: Final = re.compile("(?:[^\\w\\s]|[\uff9e\uff9f]){31}")

_SUPERSCRIPTS: Final = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_SUPERSCRIPTS_USED: Final = frozenset(map(chr, _SUPERSCRIPTS.values()))
# Quotation marks, which are cut, and dashes.
_SIGNS: Final = dict.fromkeys(map(ord, "\"'`\u00b4\u02bc‘’‚‛“”„‟«»‹›′″「」『』＂＇")) | dict.fromkeys(
    map(ord, "\u2010\u2011\u2012–—―\u2212\ufe58\ufe63\uff0d"), "-"
)

_NO_TEXT: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029"  # control characters and separators
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # surrogates and noncharacters
    + "".join(chr(plane * 0x10000 + end) for plane in range(1, 17) for end in (0xFFFE, 0xFFFF))
    + "]"
)


def is_name(text: str) -> bool:
    """Return whether a text can be a name on one line, without characters that change those around it.

    Joiners, as in Persian and in emoji, are text; so are characters newer than this Python.
    """
    return _NO_TEXT.search(text) is None


def superscript(text: str) -> str:
    """Return a text in superscript digits and signs, so that 10 to the power of 6 is not 106; others stay."""
    raised = text.strip().translate(_SUPERSCRIPTS)
    return raised if all(map(_SUPERSCRIPTS_USED.__contains__, raised)) else text


def clean_text(text: str) -> str:
    """Replace lone surrogates, which no encoder can write, by U+FFFD; turn a subclass into `str`."""
    if type(text) is not str:
        text = str.__str__(text)
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


def question_key(question: str) -> tuple[str, str]:
    """Return a key for a question. A page marks up only one of several questions with equal keys.

    They are compared in Unicode's NFC, with white space collapsed and case kept.
    """
    return " ".join(normalized("NFC", question[:MAX_NORMALIZED]).split()), question[MAX_NORMALIZED:]


def spelling(question: str) -> str:
    """Return a question without what differs between two spellings of it; empty if it has only signs.

    That is case, quotation marks, kinds of dashes, white space, and punctuation at its ends.
    """
    folded = normalized("NFKC", question[:MAX_NORMALIZED].translate(_SIGNS)).casefold().translate(_SIGNS)
    return " ".join(folded.split()).lstrip(" ¿¡").rstrip(" ?!.…。:;,")


def letters(text: str) -> str:
    """Return the letters and digits of a text, without case and accents; a blank stands between words."""
    decomposed = normalized("NFKD", text.casefold())
    return " ".join("".join(c for c in decomposed if c.isalnum() or c.isspace()).split())


def normalized(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Return a text in a normalization form of Unicode, in a time that grows with its length only.

    Unicode's algorithm takes a time that is quadratic in the length of a run of combining marks, of which no
    word has more than a few; a line with longer runs stays as it is (UAX #15, Stream-Safe Text Format).
    """
    if text.isascii():
        return text
    return "\n".join(
        line if _COMBINING_RUN.search(line) is not None else unicodedata.normalize(form, line)
        for line in text.split("\n")
    )


def in_portions(convert: Callable[[str], str], text: str) -> str:
    """Return a text converted character by character, in portions between which other threads can run.

    A method of `str` holds the interpreter's lock until it is done, for 10 ms and more with a long text.
    """
    if len(text) <= PORTION:
        return convert(text)
    return "".join(convert(text[start : start + PORTION]) for start in range(0, len(text), PORTION))
