"""Where in a page a question is: ids that are ASCII, stable under reordering, and unique.

An id is `faq-SLUG--QUESTION`, or `faq-SLUG--N--QUESTION` in the Nth block of the same slug on a page.
Neither part can hold two hyphens in a row, so no two combinations meet.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

LONGEST_WORDS: Final = 60
_PLAIN_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_WORDS = re.compile(r"[a-z0-9]+")


def block_id(slug: str, ordinal: int = 1) -> str:
    """Return the id of the `ordinal`th block of an FAQ on a page, counted from 1."""
    plain = _PLAIN_SLUG.fullmatch(slug) is not None
    base = f"faq-{slug if plain else f'{name_of(slug)}-{_digest(slug)}'}"
    return base if ordinal == 1 else f"{base}--{ordinal}"


def question_ids(slug: str, questions: Sequence[str], ordinal: int = 1) -> list[str]:
    """Return the ids of the questions of one block, in their order.

    An id depends on its own question only, whatever the order; questions that read alike are told apart by
    a digest, and identical ones by counting.
    """
    return told_apart(slug, [(question, name_of(question)) for question in questions], ordinal)


def told_apart(slug: str, named: Sequence[tuple[str, str]], ordinal: int = 1) -> list[str]:
    """Return ids for questions that come with their names, as `question_ids` does."""
    count = Counter(name for _, name in named)
    seen = Counter[str]()
    base, ids = block_id(slug, ordinal), list[str]()
    for question, alike in named:
        name = alike if count[alike] == 1 else f"{alike}-{_digest(question)}"
        seen[name] += 1
        ids.append(f"{base}--{name}" if seen[name] == 1 else f"{base}--{name}-{seen[name]}")
    return ids


def name_of(text: str) -> str:
    """Return ASCII words of `text`; with a digest where they do not say all of it."""
    plain = unicodedata.normalize("NFKD", text).lower()
    words = "-".join(_WORDS.findall(plain))
    letters_lost = any(c.isalnum() and not c.isascii() for c in plain)
    if words and not letters_lost and len(words) <= LONGEST_WORDS:
        return words
    return "-".join(filter(None, (words[:LONGEST_WORDS].rstrip("-"), _digest(text))))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
