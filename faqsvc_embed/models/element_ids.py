"""Ids of elements: ASCII, unique on a page, and the same when questions are reordered.

An id is `faq-SLUG--QUESTION`. A question that the page has already printed is `faq-SLUG__N--QUESTION` in the
Nth FAQ with its slug. The words of slug and question contain no underscore and no double hyphen, and what is
added to them begins with an underscore, so that no two combinations give the same id. An item that has an id
is `faq-SLUG--ID`, and the heading of a section `faq-SLUG_section-TITLE`. What follows the slug is an anchor.
"""

import hashlib
import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Final

from faqsvc_embed.models.items import Item
from faqsvc_embed.text import normalized

MAX_WORDS: Final = 60
SLUG_DIGEST: Final = 16
"""Hexadecimal digits of the digest of a slug: enough that nobody can find two slugs with the same digest."""
MAX_NUMBERED: Final = 90
"""Characters of a name before its number. In a part, names become ids of items, which have at most 100."""
MAX_READ: Final = 1000
"""Maximum number of characters of a text that are split into words."""
MAX_HASHED: Final = 2047
"""Bytes that are hashed at once."""

_LETTERS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o"})
"""Replacements for letters that NFKD does not decompose, or decomposes unlike German usage."""
_MARKS: Final = re.compile("[\u0300-\u036f]")
_PLAIN_SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SEPARATORS: Final = bytes(set(range(256)) - set((string.ascii_lowercase + string.digits).encode()))
_TO_WORDS: Final = bytes.maketrans(_SEPARATORS, b" " * len(_SEPARATORS))


def root_id(slug: str, ordinal: int = 0) -> str:
    """Return the id of an FAQ's element. On a page with several of its slug, later ids end with a number."""
    base = f"faq-{slug}"
    if _PLAIN_SLUG.fullmatch(slug) is None:
        base = f"faq-{ascii_words(slug, MAX_WORDS)}_{_digest(slug, SLUG_DIGEST)}"
    return f"{base}__{ordinal}" if ordinal > 1 else base


def anchored(slug: str, anchors: Sequence[str], numbers: Sequence[int | None]) -> list[str | None]:
    """Return the ids of the elements of one FAQ, which end with `anchors`.

    `numbers` has the number in each id: 0 for a plain id, None for no id. If it is empty, all ids are plain.
    The first FAQ of a slug has the number 1 if a later one was printed before it.
    """
    numbers = numbers or [0] * len(anchors)
    base = root_id(slug)
    return [
        None if number is None else f"{base}__{number}{anchor}" if number else f"{base}{anchor}"
        for anchor, number in zip(anchors, numbers, strict=True)
    ]


def question_names(items: Sequence[Item]) -> list[str]:
    """Return the ends of the ids of an FAQ's questions, all different.

    A digest distinguishes questions with the same words, and a number identical questions.
    """
    own = {item.id for item in items if item.id}
    words = ["" if item.id else _name(item.question) for item in items]
    count, numbers = Counter(words), Counter[tuple[bool, str]]()
    names: dict[str, None] = {}
    for item, word in zip(items, words, strict=True):
        name = item.id or (word if count[word] == 1 else f"{word}_{_digest(item.question)}")
        unique = name[:MAX_NUMBERED]
        while name in names or (name in own and name != item.id):
            numbers[bool(item.id), unique] += 1  # no number is tried twice, however many are equal
            name = f"{unique}__{numbers[bool(item.id), unique] + 1}"
        names[name] = None
    return list(names)


def section_names(titles: Sequence[str]) -> list[str]:
    """Return the ends of the ids of the headings of sections, whose titles are different."""
    names = [_name(title) for title in titles]
    count = Counter(names)
    return [
        name if count[name] == 1 else f"{name}_{_digest(title)}"
        for title, name in zip(titles, names, strict=True)
    ]


def ascii_words(text: str, limit: int) -> str:
    """Return the words of a text in ASCII, with hyphens between them: as many as `limit` characters hold."""
    return _first_words(_words(_letters(text)), limit)


def _name(text: str) -> str:
    """Return the ASCII words of a text, with a digest if they are not the whole text."""
    lower = _letters(text)
    words = _words(lower)
    if 0 < len(words) <= MAX_WORDS and len(text) <= MAX_READ and not _loses_letters(lower):
        return words
    return "_".join(filter(None, (_first_words(words, MAX_WORDS), _digest(text))))


def _letters(text: str) -> str:
    lower = normalized("NFC", text[:MAX_READ]).lower().translate(_LETTERS)
    return _MARKS.sub("", normalized("NFKD", lower))


def _words(lower: str) -> str:
    return b"-".join(lower.encode("ascii", "replace").translate(_TO_WORDS).split()).decode()


def _loses_letters(lower: str) -> bool:
    return not lower.isascii() and any(c.isalnum() and not c.isascii() for c in lower)


def _first_words(words: str, limit: int) -> str:
    """Return as many whole words as fit; if not even the first one fits, return its beginning."""
    if len(words) <= limit or words[limit] == "-":
        return words[:limit].rstrip("-")
    return words[:limit].rpartition("-")[0] or words[:limit].rstrip("-")


def _digest(text: str, length: int = 8) -> str:
    data, digest = text.encode("utf-8", "replace"), hashlib.sha256()
    # For longer input, hashlib releases the GIL so briefly that, in a loop, other threads starve.
    for start in range(0, len(data), MAX_HASHED):
        digest.update(data[start : start + MAX_HASHED])
    return digest.hexdigest()[:length]
