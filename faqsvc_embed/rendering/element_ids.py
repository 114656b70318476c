"""Ids of elements: ASCII, unique on a page, and the same when questions are reordered.

An id is `faq-SLUG--QUESTION`, or `faq-SLUG__N--QUESTION` in the Nth FAQ of the same slug on a page. The words
of slug and question contain no underscore and no double hyphen, and what is added to them begins with an
underscore, so that no two combinations give the same id.
"""

import hashlib
import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Final

from faqsvc_embed.text import normalized

MAX_WORDS: Final = 60
SLUG_DIGEST: Final = 16
"""Hexadecimal digits of the digest of a slug; nobody can find two slugs with the same one."""
MAX_READ: Final = 1000
"""Characters of a text that are read for its words."""
MAX_HASHED: Final = 2047
"""Bytes that are hashed at once."""

_PLAIN_SLUG: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SEPARATORS: Final = bytes(set(range(256)) - set((string.ascii_lowercase + string.digits).encode()))
_TO_WORDS: Final = bytes.maketrans(_SEPARATORS, b" " * len(_SEPARATORS))


def root_id(slug: str, ordinal: int = 1) -> str:
    """Return the id of the `ordinal`th FAQ with this slug on a page, counted from 1."""
    base = f"faq-{slug}"
    if _PLAIN_SLUG.fullmatch(slug) is None:
        base = f"faq-{_shortened(_words(_lower(slug)))}_{_digest(slug, SLUG_DIGEST)}"
    return base if ordinal == 1 else f"{base}__{ordinal}"


def question_ids(slug: str, questions: Sequence[str], ordinal: int = 1) -> list[str]:
    """Return the ids of the questions of one FAQ, in their order.

    Questions with the same words are told apart by a digest, and identical ones by a number.
    """
    names = [_name(question) for question in questions]
    count, seen = Counter(names), Counter[str]()
    base, ids = root_id(slug, ordinal), list[str]()
    for question, name in zip(questions, names, strict=True):
        unique = name if count[name] == 1 else f"{name}_{_digest(question)}"
        seen[unique] += 1
        number = "" if seen[unique] == 1 else f"__{seen[unique]}"
        ids.append(f"{base}--{unique}{number}")
    return ids


def _name(text: str) -> str:
    """Return the ASCII words of a text, with a digest if they are not the whole text."""
    lower = _lower(text)
    words = _words(lower)
    if 0 < len(words) <= MAX_WORDS and len(text) <= MAX_READ and not _loses_letters(lower):
        return words
    return "_".join(filter(None, (_shortened(words), _digest(text))))


def _lower(text: str) -> str:
    return normalized("NFKD", text[:MAX_READ]).lower()


def _words(lower: str) -> str:
    return b"-".join(lower.encode("ascii", "replace").translate(_TO_WORDS).split()).decode()


def _loses_letters(lower: str) -> bool:
    return not lower.isascii() and any(c.isalnum() and not c.isascii() for c in lower)


def _shortened(words: str) -> str:
    return words[:MAX_WORDS].rstrip("-")


def _digest(text: str, length: int = 8) -> str:
    data, digest = text.encode("utf-8", "replace"), hashlib.sha256()
    # For longer input, hashlib releases the GIL so briefly that, in a loop, other threads starve.
    for start in range(0, len(data), MAX_HASHED):
        digest.update(data[start : start + MAX_HASHED])
    return digest.hexdigest()[:length]
